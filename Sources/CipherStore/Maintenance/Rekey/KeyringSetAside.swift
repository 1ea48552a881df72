#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A keyring that has another name, under which nobody looks for it.
struct KeyringSetAside {
    /// The name that it has now; nil where only a copy was there.
    fileprivate(set) var path: String?
    /// The name that its copy has now; nil where that was removed, or not there.
    fileprivate(set) var copyPath: String?
    /// The content of a copy that was removed.
    fileprivate(set) var copy: [UInt8]?
    /// What the system told of that copy: a service keeps its keyring when root carries out the operation.
    fileprivate var copyInformation: stat?
}

extension KeyringStorage {
    /// Gives the file another name, under which nobody looks for it. Its copy goes, for whoever misses a keyring takes
    /// it for that of the store; one that differs, or whose keyring is gone, is renamed, too.
    ///
    /// - parameter content: What the file holds; nil where only a copy may be there.
    /// - returns: What ``restore(_:)`` needs.
    /// - throws: A ``StoreError``: `cannotWrite`, `exists` when the file has another content by now, `reservedName` when a
    ///   file that is no keyring has the name of the copy. The files are as they were then.
    @discardableResult
    func setAside(ifContent content: [UInt8]?) throws -> KeyringSetAside {
        try requireOwnBackup()
        guard try read() == content else {
            throw StoreError(.exists, "the store was given another keyring meanwhile", path: path)
        }
        var aside = KeyringSetAside()
        if content != nil { aside.path = try renamed(path) }
        guard Self.isTaken(backupPath) else { return aside }
        var information = stat()
        if lstat(backupPath, &information) == 0 { aside.copyInformation = information }
        let copy = try? PrivateFile.read(backupPath, byteCountMax: KeyringFile.byteCountMax)
        if let copy, copy == content {
            unlink(backupPath)
            aside.copy = copy
            return aside
        }
        do {
            aside.copyPath = try renamed(backupPath)
        } catch {
            restore(aside)
            throw error
        }
        return aside
    }

    /// Gives a keyring that was set aside its name again, and its copy, where no other file has them by now.
    func restore(_ aside: KeyringSetAside) {
        if let stale = aside.path {
            guard !Self.isTaken(path), rename(stale, path) == 0 else { return }
        }
        guard !Self.isTaken(backupPath) else { return }
        if let copyPath = aside.copyPath {
            _ = rename(copyPath, backupPath)
        } else if let copy = aside.copy,
            let file = try? FileReplacement(destination: backupPath, purpose: "new")
        {
            // The keyring is in its place: without room for its copy it is as good as before.
            defer { file.discard() }
            let written: Void? = try? PrivateFile.write(
                copy, to: file, for: path, owner: aside.copyInformation)
            guard written != nil else { return }
            try? file.moveIntoPlace()
        }
    }

    /// Renames a file, and returns its new name.
    private func renamed(_ name: String) throws -> String {
        let stale = FileReplacement.temporaryName(for: path, purpose: "stale")
        guard rename(name, stale) == 0 else {
            throw StoreError(
                .cannotWrite, "cannot rename the keyring: \(StoreError.systemText)", path: name)
        }
        return stale
    }

    /// Whether anything has a name, a link to nowhere included.
    private static func isTaken(_ path: String) -> Bool {
        var information = stat()
        return lstat(path, &information) == 0
    }
}
