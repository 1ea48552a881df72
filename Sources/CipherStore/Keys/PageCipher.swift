import Crypto
import CryptoExtras
import Foundation

/// Decrypts pages independently of SQLCipher, to tell what a page is a part of.
///
/// A page is AES-256-CBC of its content, whose IV stands at the start of the
/// reserved bytes. The first 16 bytes of page 1 are the salt, and not encrypted.
/// Source: <https://www.zetetic.net/sqlcipher/design/>
struct PageCipher {
    private let key: SymmetricKey
    private let settings: CipherSettings

    /// The bytes of a page that SQLite uses.
    var usableByteCount: Int { settings.pageSize - settings.reservedByteCount }

    init(key: EncryptionKey) {
        settings = key.settings
        self.key = key.withKeyBytes { SymmetricKey(data: $0) }
    }

    /// The content of a page that is authentic, without the reserved bytes; nil when it is too short.
    ///
    /// - parameter number: The page number, from 1.
    func open(_ page: [UInt8], number: Int) -> [UInt8]? {
        guard page.count == settings.pageSize else { return nil }
        let start = number == 1 ? CipherSettings.saltByteCount : 0
        let end = usableByteCount
        guard let iv = try? AES._CBC.IV(ivBytes: page[end..<(end + 16)]),
            let content = try? AES._CBC.decrypt(page[start..<end], using: key, iv: iv, noPadding: true)
        else { return nil }
        return [UInt8](repeating: 0, count: start) + content
    }
}
