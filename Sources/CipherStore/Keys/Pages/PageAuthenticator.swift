import Crypto
import Foundation

/// Computes the MAC of pages independently of SQLCipher.
///
/// Each page of `n` bytes ends in a reserved area: 16 bytes of IV, the MAC, and
/// padding. The MAC covers the page up to and with the IV, and the page number
/// in little-endian order. The MAC key is PBKDF2 of the encryption key with two
/// rounds over the salt with each byte XOR 0x3a.
/// Source: <https://www.zetetic.net/sqlcipher/design/>
struct PageAuthenticator {
    private let macKey: SymmetricKey
    private let settings: CipherSettings

    init(key: EncryptionKey) {
        settings = key.settings
        let salt = key.salt.map { $0 ^ 0x3a }
        macKey = key.withKeyBytes { bytes in
            Self.twoRounds(key: bytes, salt: salt, format: key.settings.format)
        }
    }

    /// PBKDF2 with two rounds and one block, written out: `U1 ^ U2`.
    private static func twoRounds(
        key: UnsafeRawBufferPointer, salt: [UInt8], format: CipherSettings.Format
    ) -> SymmetricKey {
        let key = SymmetricKey(data: key)
        func derive<Hash: HashFunction>(_: Hash.Type) -> [UInt8] {
            var output: [UInt8] = []
            var block: UInt32 = 1
            while output.count < EncryptionKey.keyByteCount {
                let index = withUnsafeBytes(of: block.bigEndian) { Array($0) }
                let first = Array(HMAC<Hash>.authenticationCode(for: salt + index, using: key))
                let second = Array(HMAC<Hash>.authenticationCode(for: first, using: key))
                output += zip(first, second).map { $0 ^ $1 }
                block += 1
            }
            return Array(output.prefix(EncryptionKey.keyByteCount))
        }
        return switch format {
        case .version1, .version2, .version3: SymmetricKey(data: derive(Insecure.SHA1.self))
        case .version4: SymmetricKey(data: derive(SHA512.self))
        }
    }

    /// Returns whether a page carries the MAC that its content needs.
    ///
    /// - parameter number: The page number, from 1.
    func authenticates(_ page: UnsafeRawBufferPointer, number: UInt32) -> Bool {
        let size = settings.pageSize
        // Nothing proves a page of the oldest format.
        guard page.count >= size, settings.format.hasPageMACs else { return false }
        let offset = number == 1 ? CipherSettings.saltByteCount : 0
        let macStart = size - settings.reservedByteCount + 16
        let content = UnsafeRawBufferPointer(rebasing: page[offset..<macStart])
        switch settings.format {
        case .version1, .version2, .version3:
            return matches(Insecure.SHA1.self, content, number, page, macStart)
        case .version4: return matches(SHA512.self, content, number, page, macStart)
        }
    }

    /// Gives a page the MAC that its content and its IV need.
    ///
    /// - parameter number: The page number, from 1.
    func authenticate(_ page: UnsafeMutableRawBufferPointer, number: UInt32) {
        let offset = number == 1 ? CipherSettings.saltByteCount : 0
        let macStart = settings.pageSize - settings.reservedByteCount + 16
        let content = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(page)[offset..<macStart])
        func write<Hash: HashFunction>(_: Hash.Type) {
            code(Hash.self, content, number).withUnsafeBytes { bytes in
                UnsafeMutableRawBufferPointer(rebasing: page[macStart..<(macStart + bytes.count)])
                    .copyMemory(from: bytes)
            }
        }
        switch settings.format {
        case .version1: break
        case .version2, .version3: write(Insecure.SHA1.self)
        case .version4: write(SHA512.self)
        }
    }

    private func matches<Hash: HashFunction>(
        _: Hash.Type, _ content: UnsafeRawBufferPointer, _ number: UInt32,
        _ page: UnsafeRawBufferPointer, _ macStart: Int
    ) -> Bool {
        let stored = UnsafeRawBufferPointer(rebasing: page[macStart..<(macStart + Hash.Digest.byteCount)])
        return code(Hash.self, content, number) == Data(stored)
    }

    private func code<Hash: HashFunction>(
        _: Hash.Type, _ content: UnsafeRawBufferPointer, _ number: UInt32
    ) -> HMAC<Hash>.MAC {
        var code = HMAC<Hash>(key: macKey)
        code.update(data: content)
        withUnsafeBytes(of: number.littleEndian) { code.update(data: Data($0)) }
        return code.finalize()
    }
}
