import CipherStore
import Crypto
import Foundation
import SyncHTTP
import Testing

@testable import SyncRelay

@Suite struct RelayKeyTests {
    /// Each is HKDF by the words of Schemas/relay/v1.md, computed another way: RFC 5869 by HMAC alone.
    @Test func tokensAndPassphraseAreDerivedByTheContract() throws {
        let secret = [UInt8](0..<32)
        let key = try #require(RelayChannelKey(bytes: secret))
        func expected(_ info: String) -> String {
            let extracted = HMAC<SHA256>.authenticationCode(
                for: secret, using: SymmetricKey(data: [UInt8](repeating: 0, count: 32)))
            let code = HMAC<SHA256>.authenticationCode(
                for: Array(info.utf8) + [1], using: SymmetricKey(data: Array(extracted)))
            return ByteText.hex(code)
        }
        #expect(key.readToken.secretText == expected("cipherstore relay 1 read"))
        #expect(key.writeToken.secretText == expected("cipherstore relay 1 write"))
        let passphrase = try Passphrase(expected("cipherstore relay 1 files"))
        let isSame = try key.passphrase().matches(passphrase)
        #expect(isSame)
    }

    @Test func aKeyShowsNothing() throws {
        let key = RelayChannelKey()
        let channel = RelayChannel(id: .random(), key: key)
        var dumped = ""
        dump((key, channel), to: &dumped)
        for text in ["\(key)", "\(channel)", String(reflecting: key), String(reflecting: channel), dumped] {
            #expect(!text.contains(key.secretText) && !text.contains(key.writeToken.secretText))
        }
        #expect(RelayChannelKey(secretText: key.secretText) == key && RelayChannelKey() != key)
        #expect(RelayChannelKey(bytes: [1, 2, 3]) == nil && RelayChannelKey(secretText: "00") == nil)
    }
}
