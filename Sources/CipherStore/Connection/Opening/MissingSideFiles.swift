#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The files of WAL mode that are not beside a database when it is opened, and that are of no use when that fails.
///
/// SQLite makes both to read a file in WAL mode. On a full disk it makes them without content, and leaves them when the
/// connection is closed.
struct MissingSideFiles {
    private let path: String
    /// The paths of the files, beside the file that a link to the database leads to.
    private let wal: String
    private let index: String
    private let isWALMissing: Bool
    private let isIndexMissing: Bool

    /// Looks at which of them are missing.
    ///
    /// - parameter path: The database file.
    init(_ path: String) {
        self.path = path
        let resolved = realpath(path, nil)
        defer { free(resolved) }
        let place = resolved.map { String(cString: $0) } ?? path
        (wal, index) = (place + "-wal", place + "-shm")
        (isWALMissing, isIndexMissing) = (Self.byteCount(wal) == nil, Self.byteCount(index) == nil)
    }

    /// Removes those that have come since, unless somebody uses them, or the WAL has content.
    ///
    /// Each connection that has one of them open holds a shared lock on the database from before it opened it, and SQLite
    /// removes them itself under the lock that this takes. Where that can't be had, they stay: the next connection
    /// that is closed removes them. The index of a WAL without content says nothing, whatever is in it.
    func removeUnused() {
        guard !unused.isEmpty,
            let handle = try? SQLiteHandle.open(path: path, readonly: false, creates: false, isURI: false)
        else { return }
        defer { SQLiteHandle.close(handle) }
        try? DatabaseFile(handle).withExclusiveLock {
            for file in unused { unlink(file) }
        }
    }

    private var unused: [String] {
        let walByteCount = Self.byteCount(wal)
        guard walByteCount ?? 0 == 0 else { return [] }
        var files: [String] = []
        if isIndexMissing, let byteCount = Self.byteCount(index), byteCount < Int.max { files.append(index) }
        if isWALMissing && walByteCount != nil { files.append(wal) }
        return files
    }

    /// The size of a file; nil when there is none. What is no regular file is left alone as if it had content.
    private static func byteCount(_ path: String) -> Int? {
        var information = stat()
        guard lstat(path, &information) == 0 else { return nil }
        return information.st_mode & S_IFMT == S_IFREG ? Int(information.st_size) : Int.max
    }
}
