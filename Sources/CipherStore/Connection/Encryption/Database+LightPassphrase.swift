import Foundation

extension Database {
    /// Uses a passphrase whose key costs nothing to derive, for tests that are not about keys.
    ///
    /// The key of a new file is derived in two rounds, and its copies have that number, too. A file that was made
    /// otherwise is opened as ``usePassphrase(_:)-(String)`` does. Never for somebody's data: the passphrase of such
    /// a file is found by trying.
    package func useLightPassphrase(_ passphrase: String) throws {
        let settings = CipherSettings(format: CipherSettings.default.format, kdfIterations: 2)
        let secret = try Passphrase(passphrase)
        guard DatabasePath(path).isFile else { return try usePassphrase(secret) }
        if try useKeyring(KeySlotSecret(secret)) { return }
        let start = SQLiteHandle.leadingBytes(handle, count: 65_536)
        switch StoreFile(leadingBytes: start) {
        case .empty:
            try use(keyCache.keyForNewFile(passphrase: secret.bytes, settings: settings), isProven: true)
            isNewFile = true
        case .encrypted(let salt):
            let key = try keyCache.key(passphrase: secret.bytes, salt: salt, settings: settings)
            let isLight = start.withUnsafeBytes { PageAuthenticator(key: key).authenticates($0, number: 1) }
            try isLight ? use(key, isProven: true) : usePassphrase(secret)
        case .plaintext, .truncated:
            try usePassphrase(secret)
        }
    }
}
