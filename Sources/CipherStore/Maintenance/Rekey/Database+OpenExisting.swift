extension Database {
    /// Opens an existing encrypted file, waiting a little for its lock.
    static func openExisting(path: String, secret: Secret) throws -> Database {
        var configuration = Configuration()
        configuration.encryption = .required
        configuration.requiresExistingFile = true
        configuration.busyMode = .timeout(2)
        configuration.useKeySlot(secret)
        return try Database(path: path, configuration: configuration, keyCache: KeyCache())
    }

    /// Opens an existing encrypted file by its key, waiting a little for its lock.
    static func openExisting(path: String, key: EncryptionKey) throws -> Database {
        var configuration = Configuration()
        configuration.encryption = .required
        configuration.requiresExistingFile = true
        configuration.busyMode = .timeout(2)
        configuration.prepareDatabase { try $0.use(key, isProven: true) }
        return try Database(path: path, configuration: configuration, keyCache: KeyCache())
    }
}
