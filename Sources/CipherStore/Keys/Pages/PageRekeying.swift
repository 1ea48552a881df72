/// Takes pages from one key to another, independently of SQLCipher.
///
/// Nothing of a page's content changes. Its encryption, IV and MAC do, and the salt at the start of
/// page 1. Source: <https://www.zetetic.net/sqlcipher/design/>
struct PageRekeying: Sendable {
    /// The size of a page in bytes.
    let pageSize: Int

    private let current: (authenticator: PageAuthenticator, cipher: PageCipher)
    private let next: (authenticator: PageAuthenticator, cipher: PageCipher)
    private let salt: [UInt8]
    private let usableByteCount: Int

    /// - throws: A ``StoreError`` of code `encryptionMismatch` when pages under the two keys are not
    ///   alike, or carry no MAC.
    init(from current: EncryptionKey, to next: EncryptionKey) throws {
        guard current.settings.hasPagesLike(next.settings), current.settings.format.hasPageMACs else {
            throw StoreError(.encryptionMismatch, "pages of the two formats are not alike")
        }
        self.current = (PageAuthenticator(key: current), PageCipher(key: current))
        self.next = (PageAuthenticator(key: next), PageCipher(key: next))
        salt = next.salt
        pageSize = next.settings.pageSize
        usableByteCount = self.next.cipher.usableByteCount
    }

    /// Gives a page the other key, in its place.
    ///
    /// - parameter number: The page number, from 1.
    /// - returns: False when the page is not authentic; it is as it was then.
    /// - throws: An error of the crypto library.
    func rekey(_ page: UnsafeMutableRawBufferPointer, number: Int) throws -> Bool {
        guard current.authenticator.authenticates(UnsafeRawBufferPointer(page), number: UInt32(number))
        else { return false }
        try current.cipher.decrypt(page, number: number)
        fillReserved(page)
        try next.cipher.encrypt(page, number: number)
        if number == 1 { page.copyBytes(from: salt) }
        next.authenticator.authenticate(page, number: UInt32(number))
        return true
    }

    /// A new IV, and random bytes where the MAC is not long enough.
    private func fillReserved(_ page: UnsafeMutableRawBufferPointer) {
        var generator = SystemRandomNumberGenerator()
        for offset in stride(from: usableByteCount, to: pageSize, by: 8) {
            page.storeBytes(of: generator.next() as UInt64, toByteOffset: offset, as: UInt64.self)
        }
    }
}
