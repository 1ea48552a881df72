import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The file of a connection, by which another one that takes its place is noticed.
struct WatchedFile {
    let identity: FileIdentity

    /// Where it is, from the root on: the process may enter another folder.
    let path: String

    /// - parameters:
    ///     - path: The path of the file.
    ///     - folder: The folder that a relative path begins in.
    /// - returns: nil when there is no file.
    init?(_ path: String, in folder: String = FileManager.default.currentDirectoryPath) {
        self.path = path.hasPrefix("/") ? path : folder + "/" + path
        guard let identity = FileIdentity(path: self.path) else { return nil }
        self.identity = identity
    }

    /// Whether another file is at the path now, or none.
    ///
    /// A file that can't be looked at is none of these: a file system of the network may be back in a moment.
    var isReplaced: Bool {
        if let now = FileIdentity(path: path) { return now != identity }
        return errno == ENOENT || errno == ENOTDIR
    }
}

extension Database {
    /// The identity of the file when it was opened.
    var fileIdentity: FileIdentity? { watchedFile?.identity }

    /// Where the file is, also when the process has entered another folder since it was opened.
    var filePath: String { watchedFile?.path ?? path }

    /// The file that is open, by which a later one at the path is told from it.
    ///
    /// - parameter before: The identity of the file before it was opened.
    /// - throws: A ``StoreError`` when another file took its place meanwhile.
    func openedFile(before: FileIdentity?) throws -> WatchedFile? {
        let file = WatchedFile(path)
        // SQLite compares its descriptor with the path; a link may lead to another path by now.
        guard !SQLiteHandle.hasMoved(handle), before == nil || before == file?.identity else {
            throw Self.replacedFileError(path: path)
        }
        return file
    }

    /// Notices that another file is now at the path: writes to the old one
    /// would be lost with it, so every statement fails from here on.
    func checkFileIdentity() {
        guard let watchedFile, watchedFile.isReplaced else { return }
        interruption.insert(.replaced)
    }
}
