import Foundation

/// Finds the key of a store whose first page is damaged.
///
/// Opening such a store looks like a wrong passphrase, because the first page is
/// what proves the key. Any other page proves it too.
struct DamagedStoreKey {
    let path: String
    let secret: Secret

    /// How many pages are tried.
    private static let pageCountMax = 64

    /// - returns: nil when no page proves the key.
    /// - throws: A ``StoreError``, for instance of a keyring that does not open.
    func find() throws -> EncryptionKey? {
        let handle = try SQLiteHandle.open(path: path, readonly: true, creates: false, isURI: false)
        defer { SQLiteHandle.close(handle) }
        let file = try DatabaseFile(handle)
        do {
            if let key = try keyringKeys().first(where: { try proves($0, file) }) { return key }
        } catch let error as StoreError where error.code == .wrongPassphrase && secret.kind == .passphrase {
            // The keyring may be that of another file, and the passphrase the store's own.
            guard let key = try derivedKeys(handle).first(where: { try proves($0, file) }) else {
                throw error
            }
            return key
        }
        return try derivedKeys(handle).first { try proves($0, file) }
    }

    /// The keys that the secret opens in the keyring. Their salt is known even when that of the file is damaged.
    private func keyringKeys() throws -> [EncryptionKey] {
        let keyring = Keyring(store: path)
        guard let content = try keyring.storage.read() else { return [] }
        let opened = try keyring.opened(content, secret)
        let keys = [opened.active] + (opened.pending.map { [$0] } ?? [])
        return try keys.map { try $0.encryptionKey(opened.file.settings, slotID: opened.slotID) }
    }

    /// The keys that a passphrase itself may give, of each page size.
    private func derivedKeys(_ handle: SQLiteConnection) throws -> [EncryptionKey] {
        guard secret.kind == .passphrase else { return [] }
        let salt = SQLiteHandle.leadingBytes(handle, count: CipherSettings.saltByteCount)
        guard salt.count == CipherSettings.saltByteCount else { return [] }
        return try secret.spellings.flatMap { spelling in
            try CipherSettings.Format.current.flatMap { try keys(spelling, salt, $0) }
        }
    }

    private func keys(
        _ passphrase: SecretBytes, _ salt: [UInt8], _ format: CipherSettings.Format
    ) throws -> [EncryptionKey] {
        let key = try KeyDerivation.derive(
            passphrase: passphrase, salt: salt, settings: CipherSettings(format: format))
        return CipherSettings.pageSizes.map {
            key.with(settings: CipherSettings(format: format, pageSize: $0))
        }
    }

    private func proves(_ key: EncryptionKey, _ file: DatabaseFile) throws -> Bool {
        let size = key.settings.pageSize
        let authenticator = PageAuthenticator(key: key)
        let page = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
        defer { page.deallocate() }
        for number in 1...Self.pageCountMax {
            guard try file.read(at: (number - 1) * size, into: page) else { return false }
            if authenticator.authenticates(UnsafeRawBufferPointer(page), number: UInt32(number)) {
                return true
            }
        }
        return false
    }
}
