import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A file that is built under a temporary name beside its destination, and
/// takes its place in one step or not at all.
package struct FileReplacement {
    package let destination: String
    package let temporary: String

    /// What SQLite puts beside a database file.
    static let sidecarSuffixes = ["-wal", "-shm", "-journal"]

    /// What the names of a keyring and of its copy end with.
    private static let keyringSuffixes = [
        KeyringStorage.suffix, KeyringStorage.suffix + KeyringStorage.backupSuffix,
    ]

    /// Throws unless a new database can be made at a path.
    ///
    /// SQLite takes a `-wal` or `-journal` for what a crash left of the file beside it, and would write
    /// the pages of a database that is gone into the new one. The slots of a keyring that is there would open the new
    /// one, or count for nothing.
    ///
    /// - throws: A ``StoreError`` of code `exists`, which names the file that is in the way, or of code `reservedName`.
    package static func requireFree(_ path: String) throws {
        try requireNoOwner(of: path)
        guard FileIdentity(path: path) == nil else {
            throw StoreError(.exists, "there is a file already", path: path)
        }
        try requireNoSidecars(of: path)
        try requireNoKeyring(of: path)
    }

    /// Throws when there is what SQLite keeps beside a database file.
    package static func requireNoSidecars(of path: String) throws {
        for suffix in sidecarSuffixes where FileIdentity(path: path + suffix) != nil {
            let advice =
                mayHoldChanges(suffix)
                ? "move it away, beside the database that it belongs to: it may hold the latest changes of that one"
                : "remove it or move it away"
            throw StoreError(
                .exists, "a database that was there left it, and it would change the new one; \(advice)",
                path: path + suffix)
        }
    }

    /// Whether a name is that of a file in which SQLite keeps changes that its database may not have yet, or must
    /// not have any more. Without it, that database is not whole.
    package static func mayHoldChanges(_ path: String) -> Bool {
        let folded = path.foldedIdentifier
        return ["-wal", "-journal"].contains { folded.hasSuffix($0) }
    }

    /// Throws when there is the keyring of a store that is gone, or its copy.
    package static func requireNoKeyring(of path: String) throws {
        let storage = KeyringStorage(storePath: path)
        for keyring in [storage.path, storage.backupPath] where FileIdentity(path: keyring) != nil {
            throw StoreError(
                .exists,
                "a store that was there left its keyring, which is not that of a new one; move it away, for it may open a copy of that store",
                path: keyring)
        }
    }

    /// Throws when a path is that of a file which SQLite or a keyring keeps beside a file that is there.
    ///
    /// SQLite would take what is made there for the journal of that file, and remove it or write it into the file; a
    /// keyring would be written over it. Letters of the other case are the same name on many volumes.
    ///
    /// - throws: A ``StoreError`` of code `reservedName`, which names both files.
    package static func requireNoOwner(of path: String) throws {
        let folded = path.foldedIdentifier
        for suffix in sidecarSuffixes + keyringSuffixes where folded.hasSuffix(suffix) {
            let owner = String(path.dropLast(suffix.count))
            var information = stat()
            guard stat(owner, &information) == 0, information.st_mode & S_IFMT == S_IFREG else { continue }
            let use =
                keyringSuffixes.contains(suffix)
                ? "the keyring of \(owner) has this name" : "SQLite keeps a file of this name for \(owner)"
            throw StoreError(
                .reservedName,
                "\(use)\(path.hasSuffix(suffix) ? "" : ", in letters of another case"), and one of the two would destroy the other; choose another name",
                path: path)
        }
    }

    /// Creates the temporary file, readable by its owner only.
    ///
    /// - parameter purpose: A word for the name, by which leftovers of a killed
    ///   process are found.
    package init(destination: String, purpose: String) throws {
        self.destination = destination
        temporary = Self.temporaryName(for: destination, purpose: purpose)
        do {
            try StoreFile.createPrivately(temporary)
        } catch let error as StoreError {
            // The user knows the name of the destination only.
            throw StoreError(error.code, error.message, path: destination)
        }
    }

    /// Removes the temporary file and what SQLite put beside it.
    package func discard() {
        for suffix in [""] + Self.sidecarSuffixes { unlink(temporary + suffix) }
    }

    /// Puts the temporary file at the destination, where no file may be.
    package func moveIntoPlace() throws { _ = try takeFreePlace() }

    /// Puts the temporary file at the destination, where no file may be.
    ///
    /// - returns: Whether it is known that the name leads to the file after a loss of power, too.
    /// - throws: A ``StoreError``; there is no file at the destination then, or still the one that was there.
    func takeFreePlace() throws -> Bool {
        try synchronize(temporary)
        // A hard link fails when the destination exists, a rename would not.
        if link(temporary, destination) == 0 {
            unlink(temporary)
        } else if errno == EEXIST {
            throw StoreError(.exists, "there is a file already", path: destination)
        } else {
            try rename()
        }
        return FolderSynchronization.current.run(folderOf: destination)
    }

    /// Puts the temporary file in the place of the destination.
    package func replaceDestination() throws { _ = try exchangeDestination() }

    /// Puts the temporary file in the place of the destination.
    ///
    /// - returns: Whether it is known that the name leads to the new file after a loss of power, too. If not, it may
    ///   lead to the old one.
    /// - throws: A ``StoreError``; the destination is as it was.
    func exchangeDestination() throws -> Bool {
        try synchronize(temporary)
        try rename()
        return FolderSynchronization.current.run(folderOf: destination)
    }

    private func rename() throws {
        #if canImport(Glibc)
            let code = Glibc.rename(temporary, destination)
        #elseif canImport(Musl)
            let code = Musl.rename(temporary, destination)
        #else
            let code = Darwin.rename(temporary, destination)
        #endif
        guard code == 0 else {
            throw Self.lastWriteError("cannot rename", path: destination)
        }
    }

    /// Opens the temporary file. Who can write into the folder may have put a link to a file of somebody else in its
    /// place, which is not followed: what root does with the descriptor would be done to that file.
    ///
    /// - returns: The descriptor, which the caller closes.
    /// - throws: A ``StoreError`` of code `cannotWrite`.
    func openTemporary(_ flags: CInt) throws -> CInt {
        let descriptor = open(temporary, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw StoreError(
                .cannotWrite, "cannot open the new file beside it: \(Self.lastError)", path: destination)
        }
        var information = stat()
        guard fstat(descriptor, &information) == 0, information.st_mode & S_IFMT == S_IFREG,
            information.st_nlink <= 1
        else {
            close(descriptor)
            throw StoreError(
                .cannotWrite,
                "another program changed the new file beside it; nothing was changed: see who can write into the folder, and try again",
                path: destination)
        }
        return descriptor
    }

    /// Gives the temporary file the mode, the owner, the rights and the attributes of the file that it will replace.
    ///
    /// - throws: A ``StoreError`` of code `cannotWrite`.
    func copyMode(of information: stat) throws {
        let descriptor = try openTemporary(O_RDONLY)
        defer { close(descriptor) }
        fchmod(descriptor, information.st_mode & 0o7777)
        // Only root may give files away; for others the owner is the same.
        _ = fchown(descriptor, information.st_uid, information.st_gid)
        FilePlace.copyAttributes(of: destination, to: temporary)
    }

    /// Lets other users read the file once it has its name.
    package func allowReading() {
        guard let descriptor = try? openTemporary(O_RDONLY) else { return }
        fchmod(descriptor, 0o644)
        close(descriptor)
    }

    private static var lastError: String { StoreError.systemText }

    private static func lastWriteError(_ what: String, path: String) -> StoreError {
        if errno == ENOSPC || errno == EDQUOT {
            return StoreError(.full, "the disk is full; nothing was changed", path: path)
        }
        return StoreError(.cannotWrite, "\(what): \(lastError)", path: path)
    }

    /// Waits until what was written into the temporary file is on the disk.
    func synchronize() throws { try synchronize(temporary) }

    private func synchronize(_ path: String) throws {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw StoreError(.cannotRead, "cannot open: \(Self.lastError)", path: path)
        }
        defer { close(descriptor) }
        #if canImport(Darwin)
            // Only local file systems know how to empty the disk's own cache. On others, such as SMB and NFS, this
            // fails, and what they have is the ordinary way.
            let code = fcntl(descriptor, F_FULLFSYNC) == 0 ? 0 : fsync(descriptor)
        #else
            let code = fsync(descriptor)
        #endif
        guard code == 0 else {
            throw Self.lastWriteError("cannot write to the disk", path: path)
        }
    }
}
