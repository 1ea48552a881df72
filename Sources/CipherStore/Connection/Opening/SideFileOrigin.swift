#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Whether files in the places of those that SQLite keeps beside a database are such files.
///
/// Beside a new database SQLite removes what has the name of its journal, and it writes into what has the name of its
/// index. Either may be another database.
enum SideFileOrigin {
    /// What the files begin with, by what their names end with.
    private static let beginnings: [(suffix: String, values: [[UInt8]])] = [
        ("-journal", [[0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]]),
        ("-wal", [[0x37, 0x7F, 0x06, 0x82], [0x37, 0x7F, 0x06, 0x83]]),
        // A version, in the machine's order of bytes.
        ("-shm", [[0x18, 0xE2, 0x2D, 0x00], [0x00, 0x2D, 0xE2, 0x18]]),
    ]

    /// Throws when a file beside a database that is not there yet is somebody else's.
    ///
    /// - throws: A ``StoreError`` of code `exists`, which names that file.
    static func requireOwn(of path: String) throws {
        for (suffix, values) in beginnings {
            guard !isOwn(path + suffix, values) else { continue }
            throw StoreError(
                .exists,
                "SQLite would take the file for its own, and it is none of SQLite's; move it away, or choose another name",
                path: path + suffix)
        }
    }

    private static func isOwn(_ path: String, _ beginnings: [[UInt8]]) -> Bool {
        var information = stat()
        guard stat(path, &information) == 0, information.st_mode & S_IFMT == S_IFREG else { return true }
        guard information.st_size > 0 else { return true }
        // By SQLite: it may be a database that this process has open, and closing a descriptor of our own would drop its locks.
        let bytes = SQLiteHandle.leadingBytes(ofFile: path, count: 8)
        // It can't be read, or has one byte, which SQLite does not count and never writes alone.
        guard !bytes.isEmpty else { return false }
        // SQLite has made it, or emptied it, and not yet written its head.
        return bytes.allSatisfy { $0 == 0 } || beginnings.contains { bytes.starts(with: $0) }
    }
}
