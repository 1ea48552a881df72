import Foundation
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Lets one relay at a time have a storage.
///
/// Two would not hurt the file. But what one of them has committed would wake nobody who waits at the other, and each would
/// take the other's open uploads for abandoned ones.
final class StorageLock: Sendable {
    private let descriptor: Mutex<Int32?>
    /// The file that is locked, and whether it was made for that.
    private let path: String
    private let isNew: Bool

    /// Locks the file beside the storage that is there for that.
    ///
    /// - throws: ``RelayStorageError``: `inUse`, `cannotOpen`.
    init(path: String) throws {
        let file = path + "-lock"
        let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW
        var descriptor = open(file, flags | O_EXCL, 0o600)
        let isNew = descriptor >= 0
        if !isNew, errno == EEXIST { descriptor = open(file, flags, 0o600) }
        guard descriptor >= 0 else {
            let code = errno
            let isFolderMissing = code == ENOENT || code == ENOTDIR
            throw RelayStorageError(
                .cannotOpen,
                isFolderMissing
                    ? "there is no such folder"
                    : "cannot make a file beside it: \(String(cString: strerror(code)).lowercased())",
                path: path)
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw RelayStorageError(
                .inUse, "another relay has this storage open; end that one first, or use another file",
                path: path)
        }
        self.descriptor = Mutex(descriptor)
        self.path = file
        self.isNew = isNew
    }

    deinit { release() }

    /// Ends the lock of a file that is no storage, and leaves nothing beside it that was not there.
    func giveUp() {
        if isNew { unlink(path) }
        release()
    }

    /// Lets another relay have it.
    func release() {
        descriptor.withLock { descriptor in
            if let open = descriptor { close(open) }
            descriptor = nil
        }
    }
}
