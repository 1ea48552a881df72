extension Database {
    /// Opens a connection. One that refuses to write reads the file as it is where SQLite can't make the
    /// files beside it that it needs to read, because the disk is full or the folder does not let it.
    ///
    /// - throws: A ``DatabaseError`` or ``StoreError``.
    static func opening(
        path: String, configuration: Configuration, keyCache: KeyCache, label: String? = nil,
        memorySettings: CipherSettings = .default
    ) throws -> Database {
        do {
            return try Database(
                path: path, configuration: configuration, keyCache: keyCache, label: label,
                memorySettings: memorySettings)
        } catch let error as DatabaseError
            where configuration.readonly && DatabasePath(path).isFile && error.saysNoFileCanBeMade
        {
            guard let mode = OpeningMode.immutable(path) else {
                guard !error.saysDiskIsFull && OpeningMode.hasWAL(path) else { throw error }
                throw error.with(storeError: .unreadableWAL(path))
            }
            return try Database(
                path: path, configuration: configuration, keyCache: keyCache, label: label,
                memorySettings: memorySettings, mode: mode)
        }
    }

    /// Whether the connection may write, as far as it knows.
    package var canWrite: Bool { !isReadOnly && mode == .ordinary }

    /// Throws when the connection reads a file as it is, and somebody has written it since.
    func requireUnchangedFile() throws {
        guard case .immutable(let state) = mode, FileState(path: filePath) != state else {
            return
        }
        throw DatabaseError(
            resultCode: .SQLITE_BUSY, message: "database is locked",
            storeError: StoreError(
                .busy,
                "another process writes it, and nothing tells when it has done where files can't be written; open it again",
                path: path))
    }
}
