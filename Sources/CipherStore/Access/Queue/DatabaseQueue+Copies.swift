extension DatabaseQueue {
    /// Makes an in-memory copy of a database file, for tests and previews.
    ///
    /// ```swift
    /// let dbQueue = try DatabaseQueue.inMemoryCopy(fromPath: path, configuration: configuration)
    /// ```
    ///
    /// - parameters:
    ///     - path: The file.
    ///     - configuration: The configuration of the file's connection, its
    ///       passphrase included, and of the copy's.
    /// - throws: A ``DatabaseError`` or ``StoreError``.
    public static func inMemoryCopy(
        fromPath path: String, configuration: Configuration = Configuration()
    ) throws -> DatabaseQueue {
        try copy(fromPath: path, to: ":memory:", configuration)
    }

    /// Makes a copy of a database file that vanishes with the queue.
    ///
    /// SQLite keeps it in memory, because a temporary file would hold plaintext.
    ///
    /// - parameters:
    ///     - path: The file.
    ///     - configuration: The configuration of the file's connection, its
    ///       passphrase included, and of the copy's.
    /// - throws: A ``DatabaseError`` or ``StoreError``.
    public static func temporaryCopy(
        fromPath path: String, configuration: Configuration = Configuration()
    ) throws -> DatabaseQueue {
        try copy(fromPath: path, to: "", configuration)
    }

    private static func copy(
        fromPath path: String, to copyPath: String, _ configuration: Configuration
    ) throws -> DatabaseQueue {
        var sourceConfiguration = configuration
        sourceConfiguration.readonly = true
        // The copy is made inside of an access to the source: on one serial
        // target queue it would wait for itself.
        sourceConfiguration.targetQueue = nil
        let source = try SerializedDatabase(
            path: path, configuration: sourceConfiguration, keyCache: KeyCache(), label: "CipherStore.copy",
            isReader: true)
        return try source.sync { source in
            let copy = try DatabaseQueue(
                path: copyPath, configuration: configuration, keyCache: KeyCache(),
                memorySettings: source.encryptionKey?.settings ?? .default)
            try copy.writeWithoutTransaction { db in
                try source.backup(to: db)
                if configuration.readonly { try db.refuseWrites() }
            }
            return copy
        }
    }
}
