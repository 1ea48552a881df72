import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// What can be known of a database file without its key.
enum StoreFile: Equatable {
    /// The file has no bytes, or one, which SQLite does not count: it takes it as a new database.
    case empty
    /// An SQLite file that is not encrypted.
    case plaintext
    /// Too short for the smallest page; no database.
    case truncated
    /// Anything else: an encrypted database, or not a database at all.
    case encrypted(salt: [UInt8])

    /// The first bytes of a plaintext SQLite file.
    static let plaintextHeader = Array("SQLite format 3\0".utf8)

    /// What the first bytes of a file say.
    init(leadingBytes start: [UInt8]) {
        let salt = Array(start.prefix(CipherSettings.saltByteCount))
        if start.isEmpty {
            self = .empty
        } else if salt == Self.plaintextHeader {
            self = .plaintext
        } else {
            self = start.count < 512 ? .truncated : .encrypted(salt: salt)
        }
    }

    /// Checks that there is a regular file with content, without opening it: a pipe or a device could block for ever.
    ///
    /// - parameter content: What it should hold.
    /// - throws: A ``StoreError`` of code `missing`, `empty` or `cannotRead`.
    static func requireContent(_ path: String, of content: String = "database") throws {
        var information = stat()
        guard stat(path, &information) == 0 else {
            if errno == ENOENT || errno == ENOTDIR {
                throw StoreError(.missing, "there is no such file", path: path)
            }
            throw StoreError(.cannotRead, "cannot read: \(StoreError.systemText)", path: path)
        }
        guard information.st_mode & S_IFMT == S_IFREG else {
            throw StoreError(.cannotRead, "not a regular file", path: path)
        }
        guard information.st_size > 0 else {
            throw StoreError(.empty, "the file is empty, it holds no \(content)", path: path)
        }
    }

    /// Checks that there is a file of which SQLite would make no new database: it does not count a single byte.
    ///
    /// - throws: As ``requireContent(_:)``.
    static func requireDatabase(_ path: String) throws {
        try requireContent(path)
        var information = stat()
        guard stat(path, &information) == 0, information.st_size == 1 else { return }
        throw StoreError(.empty, "the file has a single byte, it holds no database", path: path)
    }

    /// What SQLite appends to the name of a database file for those that it keeps beside it.
    private static let companionSuffixes = ["-journal", "-wal", "-shm"]

    /// Checks that none of the files that SQLite keeps beside a database is a symbolic link. It would follow one, and
    /// write into whatever file it leads to.
    ///
    /// Who can write in the folder can still put one there later: it is no protection of folders that others share.
    ///
    /// - throws: A ``StoreError`` of code `linkedCompanion`.
    static func refuseLinkedCompanions(of path: String) throws {
        // They are beside the file that a link to the database leads to.
        let resolved = realpath(path, nil)
        defer { free(resolved) }
        let place = resolved.map { String(cString: $0) } ?? path
        for suffix in companionSuffixes {
            var information = stat()
            guard lstat(place + suffix, &information) == 0, information.st_mode & S_IFMT == S_IFLNK else {
                continue
            }
            throw StoreError(
                .linkedCompanion,
                "the file is a symbolic link, which SQLite would follow; find out who made it, and remove it",
                path: place + suffix)
        }
    }

    /// Where SQLite makes or opens a file: at the path, or where a symbolic link there leads, whether a file is there or
    /// not.
    static func place(of path: String) -> String {
        var place = path
        // The system follows no more links in a row.
        for _ in 0..<40 {
            var information = stat()
            guard lstat(place, &information) == 0, information.st_mode & S_IFMT == S_IFLNK,
                let target = try? FileManager.default.destinationOfSymbolicLink(atPath: place)
            else { return place }
            let folder = URL(fileURLWithPath: place).deletingLastPathComponent().path
            place = target.hasPrefix("/") ? target : folder + "/" + target
        }
        return path
    }

    /// Creates an empty file that only its owner can read. A symbolic link to nowhere counts as a file that is there.
    ///
    /// SQLite would create it with the process's umask, and gives its WAL and
    /// journal the mode of the database file.
    ///
    /// - throws: A ``StoreError``: `full`, `cannotWrite`.
    static func createPrivately(_ path: String) throws {
        // Another thread that finds the new file waits until it is closed here: that would drop the locks that it has.
        let errorNumber = creation.withLock { _ -> CInt in
            let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { return errno }
            close(descriptor)
            return 0
        }
        if errorNumber != 0 && errorNumber != EEXIST {
            throw creationError(errorNumber, path: path)
        }
    }

    /// The error of a file that the system did not make.
    static func creationError(_ errorNumber: CInt, path: String) -> StoreError {
        // A disk can be full for a name, too.
        errorNumber == ENOSPC || errorNumber == EDQUOT
            ? StoreError(.full, "the disk is full; nothing was changed", path: path)
            : StoreError(.cannotWrite, "cannot create: \(StoreError.systemText(errorNumber))", path: path)
    }

    /// Keeps threads from creating files at the same time.
    private static let creation = Lock<Void>(())
}
