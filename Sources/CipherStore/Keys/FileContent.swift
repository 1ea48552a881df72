#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// What a file is, as far as it says so without its key.
package enum FileContent: Equatable, Sendable {
    /// There is no file, or a link to nowhere.
    case missing
    /// A folder, a pipe or a device.
    case notRegular
    /// A file without bytes.
    case empty
    /// An SQLite database that is not encrypted.
    case plaintext
    /// An archive, or another file that is encrypted as one.
    case sealed
    /// An encrypted database, anything else, or a file that can't be read.
    case other

    /// Looks at the first bytes of a file.
    ///
    /// They are read through SQLite's own file object: this process may have the file open, and closing a descriptor
    /// of our own would drop the locks on it.
    package init(ofFile path: String) {
        var information = stat()
        guard stat(path, &information) == 0 else {
            self = errno == ENOENT || errno == ENOTDIR ? .missing : .other
            return
        }
        guard information.st_mode & S_IFMT == S_IFREG else {
            self = .notRegular
            return
        }
        guard information.st_size > 0 else {
            self = .empty
            return
        }
        let count = max(StoreFile.plaintextHeader.count, ArchiveHeader.magic.count)
        let start = SQLiteHandle.leadingBytes(ofFile: path, count: count)
        if start.starts(with: StoreFile.plaintextHeader) {
            self = .plaintext
        } else if start.starts(with: ArchiveHeader.magic) {
            self = .sealed
        } else {
            self = .other
        }
    }
}
