import Crypto
import CryptoExtras
import Foundation

/// Decrypts and encrypts pages independently of SQLCipher.
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

    /// Decrypts the content of a page in its place.
    ///
    /// - parameter number: The page number, from 1.
    /// - throws: An error of the crypto library, which a page of the right size does not cause.
    func decrypt(_ page: UnsafeMutableRawBufferPointer, number: Int) throws {
        let content = content(of: page, number: number)
        try content.copyBytes(
            from: AES._CBC.decrypt(UnsafeRawBufferPointer(content), using: key, iv: iv(page), noPadding: true)
        )
    }

    /// Encrypts the content of a page in its place, with the IV that stands in the page.
    ///
    /// - parameter number: The page number, from 1.
    /// - throws: As ``decrypt(_:number:)``.
    func encrypt(_ page: UnsafeMutableRawBufferPointer, number: Int) throws {
        let content = content(of: page, number: number)
        try content.copyBytes(
            from: AES._CBC.encrypt(UnsafeRawBufferPointer(content), using: key, iv: iv(page), noPadding: true)
        )
    }

    private func content(
        of page: UnsafeMutableRawBufferPointer, number: Int
    ) -> UnsafeMutableRawBufferPointer {
        let start = number == 1 ? CipherSettings.saltByteCount : 0
        return UnsafeMutableRawBufferPointer(rebasing: page[start..<usableByteCount])
    }

    private func iv(_ page: UnsafeMutableRawBufferPointer) throws -> AES._CBC.IV {
        try AES._CBC.IV(ivBytes: page[usableByteCount..<(usableByteCount + 16)])
    }
}
