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
    /// A text, such as a file of CSV: an encrypted database has bytes that no text has.
    case text
    /// An encrypted database, anything else, or a file that can't be read.
    case other

    /// So much of a file is looked at to find out whether it is a text: the smallest page of a database.
    private static let textByteCount = 512

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
        let start = SQLiteHandle.leadingBytes(ofFile: path, count: Self.textByteCount)
        if start.starts(with: StoreFile.plaintextHeader) {
            self = .plaintext
        } else if start.starts(with: ArchiveHeader.magic) {
            self = .sealed
        } else {
            self = Self.isText(start) ? .text : .other
        }
    }

    /// Whether bytes are UTF-8 without controls. The last character may be cut off.
    private static func isText(_ bytes: [UInt8]) -> Bool {
        let controls = bytes.contains { ($0 < 0x20 && !(0x09...0x0D).contains($0)) || $0 == 0x7F }
        guard !bytes.isEmpty, !controls else { return false }
        return (0...min(3, bytes.count - 1)).contains {
            String(validating: bytes.dropLast($0), as: UTF8.self) != nil
        }
    }
}
