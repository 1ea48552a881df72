import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The file of a keyring: read as a whole, replaced as a whole, with a copy beside it.
struct KeyringStorage {
    /// The path of the keyring: that of the database file, which a symbolic link may name, and `.keys`.
    let path: String

    /// The database file.
    let storePath: String

    static let suffix = ".keys"
    static let backupSuffix = ".bak"

    init(storePath: String) {
        // The user knows the path that was given: it is followed only where it is a link.
        var information = stat()
        let isLink = lstat(storePath, &information) == 0 && information.st_mode & S_IFMT == S_IFLNK
        self.storePath = isLink ? URL(fileURLWithPath: storePath).resolvingSymlinksInPath().path : storePath
        path = self.storePath + Self.suffix
    }

    var backupPath: String { path + Self.backupSuffix }

    /// The file's bytes; nil when there is none.
    ///
    /// - throws: A ``StoreError`` of code `cannotRead`.
    func read() throws -> [UInt8]? {
        try PrivateFile.read(path, byteCountMax: KeyringFile.byteCountMax)
    }

    /// The salt of the database file, which says which data key it has; nil when there is none.
    func storeSalt() -> [UInt8]? {
        let salt = SQLiteHandle.leadingBytes(ofFile: storePath, count: CipherSettings.saltByteCount)
        return salt.count == CipherSettings.saltByteCount ? salt : nil
    }

    /// What the system tells of the database file; nil when there is none. Its owner has the keyring that root makes: the
    /// programs of that user open the store by it.
    private var storeInformation: stat? {
        var information = stat()
        guard lstat(storePath, &information) == 0, information.st_mode & S_IFMT == S_IFREG else { return nil }
        return information
    }

    /// Writes the names of the database file and of the keyring to the disk, which are in one folder.
    ///
    /// - returns: Whether that was possible.
    func synchronizeFolder() -> Bool { FolderSynchronization.current.run(folderOf: storePath) }

    /// Throws where the folder can't be written to the disk. Nothing orders the changes of its names there: a loss of
    /// power could keep the new file and lose the keyring that has its key, or the other way round.
    ///
    /// - throws: A ``StoreError`` of code `cannotWrite`.
    func requireSynchronizedFolder() throws {
        guard synchronizeFolder() else { throw folderError }
    }

    /// The error for a folder that can't be written to the disk.
    var folderError: StoreError {
        StoreError(
            .cannotWrite,
            "its folder can't be written to the disk, so that a loss of power could leave it beside a keyring without its key; nothing was changed: move both to a folder that can be listed, on a file system that writes folders to the disk, and try again",
            path: storePath)
    }

    /// Throws when a file that is no keyring has the name of the copy, which would replace it. It may be another database.
    ///
    /// - throws: A ``StoreError`` of code `reservedName`, which names that file.
    func requireOwnBackup() throws {
        var information = stat()
        // A link is replaced itself, and not the file that it leads to.
        guard lstat(backupPath, &information) == 0, information.st_mode & S_IFMT != S_IFLNK else { return }
        guard !Self.beginsAsKeyring(backupPath) else { return }
        throw StoreError(
            .reservedName,
            "the copy of the keyring of \(storePath) has this name, and the file that is there is no keyring; move it away",
            path: backupPath)
    }

    /// Throws when a symbolic link has the name of the keyring: a change would take the place of the link, and where it
    /// leads the keyring would stay as it is, and open nothing after the next change of the data key.
    ///
    /// - throws: A ``StoreError`` of code `reservedName`.
    func requireNoLink() throws {
        var information = stat()
        guard lstat(path, &information) == 0, information.st_mode & S_IFMT == S_IFLNK else { return }
        throw StoreError(
            .reservedName,
            "the keyring is a symbolic link, and a change would put a file in the place of the link and leave the one that it leads to as it is; nothing was changed: put the keyring's file itself beside the store, and copies of it elsewhere",
            path: path)
    }

    /// Whether the file at a path begins as a keyring does. One that can't be read does not.
    private static func beginsAsKeyring(_ path: String) -> Bool {
        SQLiteHandle.leadingBytes(ofFile: path, count: KeyringFile.magic.count) == KeyringFile.magic
    }

    /// Whether a killed process may have left the file at a path when it wrote a keyring: the file is empty, or
    /// begins as a keyring does.
    fileprivate static func mayBeLeftover(_ path: String) -> Bool {
        var information = stat()
        guard lstat(path, &information) == 0, information.st_mode & S_IFMT == S_IFREG else { return false }
        return information.st_size == 0 || beginsAsKeyring(path)
    }

    /// Makes the file, and its copy. A copy that is there stays: it may be all that opens a backup of another store.
    ///
    /// - returns: Whether it is known that both are there after a loss of power, too.
    /// - throws: A ``StoreError``: `exists`, `reservedName` when a file that is no keyring has the name of the copy,
    ///   `full`, `cannotWrite`. Neither is left then.
    @discardableResult
    func create(_ bytes: [UInt8]) throws -> Bool {
        try requireOwnBackup()
        let file = try FileReplacement(destination: path, purpose: "new")
        defer { file.discard() }
        let copy = try FileReplacement(destination: backupPath, purpose: "new")
        defer { copy.discard() }
        let owner = storeInformation
        try PrivateFile.write(bytes, to: file, for: path, owner: owner)
        try PrivateFile.write(bytes, to: copy, for: path, owner: owner)
        let isOnDisk = try file.takeFreePlace()
        do {
            let isCopyOnDisk = try copy.takeFreePlace()
            return isOnDisk && isCopyOnDisk
        } catch {
            unlink(path)
            throw error
        }
    }

    /// Removes the file that was made for an operation that failed.
    func remove(ifContent content: [UInt8]) {
        guard (try? read()) == content else { return }
        unlink(path)
        unlink(backupPath)
    }

    /// Gives access to the file while nobody else can change it.
    ///
    /// - parameter waits: Whether to wait a few seconds for somebody who is changing it.
    /// - throws: A ``StoreError``: `keyringMissing`, `busy`, `cannotRead`, `cannotWrite` when the file can't be opened or the
    ///   file system can't lock it; what `body` throws.
    func withLock<Result>(waits: Bool = true, _ body: (inout KeyringAccess) throws -> Result) throws -> Result
    {
        var access = try KeyringAccess(storage: self, attempts: waits ? KeyringAccess.attempts : 1)
        defer { access.end() }
        return try body(&access)
    }
}

/// A keyring's file that is locked, so that nobody else changes it.
struct KeyringAccess {
    private let storage: KeyringStorage
    private var descriptor: Int32

    /// The content.
    private(set) var bytes: [UInt8]

    /// Locks the file that the path names now. A writer replaces it, so that the lock is on the
    /// file that somebody else has when the path names another one.
    fileprivate init(storage: KeyringStorage, attempts: Int) throws {
        self.storage = storage
        for _ in 0..<attempts {
            let descriptor = open(storage.path, O_RDWR | O_CLOEXEC | O_NONBLOCK)
            guard descriptor >= 0 else { throw Self.openError(storage.path) }
            let errorNumber = flock(descriptor, LOCK_EX | LOCK_NB) == 0 ? 0 : errno
            if let error = Self.lockError(errorNumber, storage.path) {
                close(descriptor)
                throw error
            }
            if errorNumber == 0, Self.isNamed(descriptor, storage.path) {
                do {
                    bytes = try PrivateFile.read(
                        descriptor, byteCountMax: KeyringFile.byteCountMax, path: storage.path)
                } catch {
                    close(descriptor)
                    throw error
                }
                self.descriptor = descriptor
                return
            }
            close(descriptor)
            usleep(Self.pauseMicroseconds)
        }
        throw StoreError(.busy, "another process is changing the keyring", path: storage.path)
    }

    fileprivate func end() { close(descriptor) }

    /// What the system tells of the file.
    private var information: stat? {
        var information = stat()
        return fstat(descriptor, &information) == 0 ? information : nil
    }

    fileprivate static let attempts = 250
    private static let pauseMicroseconds: UInt32 = 20_000

    private static func isNamed(_ descriptor: Int32, _ path: String) -> Bool {
        var named = stat()
        var opened = stat()
        return fstat(descriptor, &opened) == 0 && stat(path, &named) == 0
            && named.st_ino == opened.st_ino && named.st_dev == opened.st_dev
    }

    /// The error of a lock that the system did not give, for another reason than that somebody else has it; nil when
    /// another attempt may get it.
    static func lockError(_ errorNumber: CInt, _ path: String) -> StoreError? {
        guard ![0, EWOULDBLOCK, EAGAIN, EINTR].contains(errorNumber) else { return nil }
        return StoreError(
            .cannotWrite,
            "cannot lock the keyring: \(StoreError.systemText(errorNumber)); move the store and its keyring to a file system that can lock files",
            path: path)
    }

    private static func openError(_ path: String) -> StoreError {
        errno == ENOENT || errno == ENOTDIR
            ? StoreError(.keyringMissing, "there is no keyring", path: path)
            : StoreError(.cannotWrite, "cannot open the keyring: \(StoreError.systemText)", path: path)
    }

    /// Replaces the file, and its copy. The lock goes over to the new file.
    ///
    /// Both are on the disk before the first of them is renamed, so that a full disk changes
    /// nothing. The copy follows when the file was read back: one of the two is always whole, and
    /// no removed slot stays behind in the copy.
    ///
    /// - returns: Whether it is known that both have the new bytes after a loss of power, too. If not, they may have the
    ///   old ones.
    /// - throws: A ``StoreError``: `full`, `cannotWrite`, `reservedName` when a file that is no keyring has the name of
    ///   the copy, or a symbolic link that of the keyring. The file is as it was, or has the new bytes.
    @discardableResult
    mutating func replace(with new: [UInt8]) throws -> Bool {
        try storage.requireNoLink()
        try storage.requireOwnBackup()
        // Those of a process that was killed: whoever is at work has the lock.
        for path in [storage.path, storage.backupPath] {
            FileReplacement.removeLeftovers(of: path, purpose: "new", where: KeyringStorage.mayBeLeftover)
        }
        let file = try FileReplacement(destination: storage.path, purpose: "new")
        defer { file.discard() }
        let copy = try FileReplacement(destination: storage.backupPath, purpose: "new")
        defer { copy.discard() }
        // Not of what has the store's name now: somebody else may have put that there.
        let owner = information
        try PrivateFile.write(new, to: file, for: storage.path, owner: owner)
        try PrivateFile.write(new, to: copy, for: storage.path, owner: owner)
        let next = try file.openTemporary(O_RDWR)
        let isOnDisk: Bool
        do {
            guard flock(next, LOCK_EX | LOCK_NB) == 0 else {
                throw StoreError(.cannotWrite, "cannot lock: \(StoreError.systemText)", path: storage.path)
            }
            isOnDisk = try file.exchangeDestination()
        } catch {
            close(next)
            throw error
        }
        close(descriptor)
        descriptor = next
        bytes = new
        guard try storage.read() == new else {
            throw StoreError(
                .cannotWrite, "the keyring can't be read back as it was written", path: storage.path)
        }
        let isCopyOnDisk = try copy.exchangeDestination()
        return isOnDisk && isCopyOnDisk
    }
}
