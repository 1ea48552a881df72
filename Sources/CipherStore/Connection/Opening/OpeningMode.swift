import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// How SQLite opens the file of a connection.
///
/// SQLite makes two files beside a database in WAL mode, also to read it, and gives them the mode of the
/// database. Where the folder does not let it, it can't read; beside a file that nobody may write, it leaves
/// files that lock out everybody. So a file that can't be written, and whose content is all in it, is read as
/// it is: without a WAL, without locks, and with a look at the end of each read at whether somebody wrote it
/// meanwhile.
enum OpeningMode: Equatable {
    /// As SQLite does it.
    case ordinary
    /// As it is, with SQLite's `immutable`; what the file was then.
    case immutable(FileState)

    /// Chooses the mode for a file.
    ///
    /// - parameter readonly: Whether the connection refuses to write.
    /// - throws: A ``DatabaseError`` of code `SQLITE_CANTOPEN` when a part of the content is in a WAL that
    ///   can't be read.
    static func choose(_ path: String, readonly: Bool) throws -> OpeningMode {
        let side = SideFiles(path)
        let canWriteFile = access(side.file, W_OK) == 0
        if canWriteFile && (!readonly || side.canWriteFolder) { return .ordinary }
        // What can't be rolled back SQLite refuses itself.
        guard FileIdentity(path: side.file) != nil, !side.hasJournal else { return .ordinary }
        if side.isUsable { return .ordinary }
        if let mode = immutable(path) { return mode }
        // From SQLite 3.22 on, both files can be read that somebody else may write.
        if side.isReadable { return .ordinary }
        throw DatabaseError(
            resultCode: .SQLITE_CANTOPEN, message: "unable to open database file",
            storeError: .unreadableWAL(path))
    }

    /// The mode in which a file is read as it is.
    ///
    /// - returns: nil when a part of the content may be elsewhere, or there is no file.
    static func immutable(_ path: String) -> OpeningMode? {
        // Looked at before the WAL: what a writer puts into the file from now on is noticed.
        guard let state = FileState(path: path) else { return nil }
        let side = SideFiles(path)
        return side.hasWAL || side.hasJournal ? nil : .immutable(state)
    }

    /// Whether there may be changes of a database that are not in its file yet.
    static func hasWAL(_ path: String) -> Bool { SideFiles(path).hasWAL }

    /// What means nothing else in a URI: https://www.sqlite.org/uri.html
    private static let plainCharacters = CharacterSet(
        charactersIn: "/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")

    /// What SQLite is to call the file.
    func name(of path: String) -> String {
        guard case .immutable = self else { return path }
        // An absolute path, because a URI's first part may be taken for a host.
        let absolute = URL(fileURLWithPath: path).path
        let escaped = absolute.addingPercentEncoding(withAllowedCharacters: Self.plainCharacters)
        return "file://\(escaped ?? absolute)?immutable=1"
    }
}

/// What tells whether a file was written.
struct FileState: Equatable {
    private let identity: FileIdentity
    private let byteCount: Int64
    private let seconds: Int
    private let nanoseconds: Int

    /// Reads the state, or returns nil when there is no file.
    init?(path: String) {
        var information = stat()
        guard stat(path, &information) == 0, let identity = FileIdentity(path: path) else { return nil }
        self.identity = identity
        byteCount = Int64(information.st_size)
        #if canImport(Darwin)
            let time = information.st_mtimespec
        #else
            let time = information.st_mtim
        #endif
        seconds = Int(time.tv_sec)
        nanoseconds = Int(time.tv_nsec)
    }
}

/// The files beside a database in which a part of its content can be.
private struct SideFiles {
    let file: String

    init(_ path: String) { file = URL(fileURLWithPath: path).resolvingSymlinksInPath().path }

    /// Whether SQLite could make them.
    var canWriteFolder: Bool {
        access(URL(fileURLWithPath: file).deletingLastPathComponent().path, W_OK | X_OK) == 0
    }

    /// Whether there may be changes that are not in the database file yet.
    var hasWAL: Bool { hasContent("-wal") }
    /// Whether a transaction was not finished.
    var hasJournal: Bool { hasContent("-journal") }
    /// Whether a WAL is there that this process can use as any other.
    var isUsable: Bool { ["-wal", "-shm"].allSatisfy { access(file + $0, R_OK | W_OK) == 0 } }
    /// Whether a WAL is there that this process can read at least.
    var isReadable: Bool { ["-wal", "-shm"].allSatisfy { access(file + $0, R_OK) == 0 } }

    private func hasContent(_ suffix: String) -> Bool {
        var information = stat()
        return stat(file + suffix, &information) == 0 && information.st_size > 0
    }
}

extension StoreError {
    /// The error of a database of which only a part is in its file.
    static func unreadableWAL(_ path: String) -> StoreError {
        StoreError(
            .cannotRead,
            """
            it can't be written, and its latest changes are in \(path)-wal, which is read only where files can be made \
            beside it; copy both files to such a place, and open them there
            """, path: path)
    }
}
