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

    /// Locks the file beside the storage that is there for that.
    ///
    /// - throws: ``RelayStorageError``: `inUse`, `cannotOpen`.
    init(path: String) throws {
        let descriptor = open(path + "-lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
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
    }

    deinit { release() }

    /// Lets another relay have it.
    func release() {
        descriptor.withLock { descriptor in
            if let open = descriptor { close(open) }
            descriptor = nil
        }
    }
}
