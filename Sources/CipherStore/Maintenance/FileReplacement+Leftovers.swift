import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

extension FileReplacement {
    /// Removes what killed processes left of a destination, and keeps others from removing the files of `body`.
    ///
    /// All who make files of this kind in a folder have a shared lock on the folder meanwhile. Who gets it
    /// alone knows that nobody is at work, so that temporary files are leftovers. On a file system that
    /// can't lock a folder, they stay.
    ///
    /// - parameters:
    ///     - destination: The file that is made.
    ///     - purpose: The word in the names of its temporary files.
    static func removingLeftovers<Result>(
        of destination: String, purpose: String, _ body: () throws -> Result
    ) rethrows -> Result {
        let folder = URL(fileURLWithPath: destination).deletingLastPathComponent().path
        let descriptor = open(folder, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return try body() }
        defer { close(descriptor) }
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 {
            removeLeftovers(of: destination, purpose: purpose)
        }
        // Others have the folder for themselves only while they remove files. Who keeps it longer is not
        // one of us, and lets none of us remove anything.
        for _ in 0..<Self.attempts {
            if flock(descriptor, LOCK_SH | LOCK_NB) == 0 || errno != EAGAIN { break }
            usleep(Self.pauseMicroseconds)
        }
        return try body()
    }

    /// Removes the temporary names of a file that has its own: those that were left between the two calls of
    /// ``moveIntoPlace()``. Nobody is at work on them, whatever made the file.
    static func removeSecondNames(of destination: String) {
        guard let identity = FileIdentity(path: destination) else { return }
        for path in StoreLeftovers.find(beside: destination) where FileIdentity(path: path) == identity {
            unlink(path)
        }
    }

    private static let attempts = 250
    private static let pauseMicroseconds: UInt32 = 20_000
}
