import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Why SQLite could not open, read or write a database, which it says with one number for all of it: the file, or its
/// folder, that the system does not let this process use.
struct FileObstacle: Equatable {
    /// The file or folder.
    let path: String
    /// The number of the system's error.
    let code: Int32
    /// Whether it is the folder, in which SQLite makes files of its own.
    let isFolder: Bool

    /// Looks for what stands against reading and writing a database.
    ///
    /// - parameter mayBeMissing: Whether a file that is not there is none: it was to be made.
    /// - returns: nil when the system allows it.
    static func find(_ path: String, mayBeMissing: Bool = false) -> FileObstacle? {
        let file = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        let folder = URL(fileURLWithPath: file).deletingLastPathComponent().path
        for (candidate, isFolder) in [
            (file, false), (file + "-wal", false), (file + "-shm", false), (folder, true),
        ] {
            let shown = candidate == file ? path : candidate
            // Only the database itself has to be there.
            if candidate != file || mayBeMissing, access(candidate, F_OK) != 0, errno == ENOENT { continue }
            if access(candidate, R_OK | W_OK | (isFolder ? X_OK : 0)) != 0 {
                return FileObstacle(path: shown, code: errno, isFolder: isFolder)
            }
        }
        return nil
    }

    /// What happened, beginning with the file.
    func message(_ store: String) -> String {
        let reason = Failure.systemText(code)
        guard isFolder else { return "\(path): cannot be read and written: \(reason)" }
        return "\(store): cannot write into its folder \(path): \(reason)"
    }

    /// What to do about it.
    var hint: String {
        switch code {
        case EROFS: "copy the store to where it can be written"
        case EACCES, EPERM:
            "let this user read and write it: chmod u+rw\(isFolder ? "x" : "") \(CommandWords.path(path))"
        default: "look at it with: ls -ld \(CommandWords.path(path))"
        }
    }
}
