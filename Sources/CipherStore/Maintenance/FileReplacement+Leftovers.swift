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
    ///     - destination: The file that is made, or the folder.
    ///     - purpose: The word in the names of its temporary files.
    ///     - isFolder: Whether a folder is made.
    package static func removingLeftovers<Result>(
        of destination: String, purpose: String, isFolder: Bool = false, _ body: () throws -> Result
    ) rethrows -> Result {
        try sharingFolder(
            of: destination,
            whenAlone: {
                isFolder
                    ? removeLeftoverFolders(of: destination, purpose: purpose)
                    : removeLeftovers(of: destination, purpose: purpose)
            }, body)
    }

    /// Runs a block with a shared lock on the folder of a file. On a file system that can't lock a folder, it runs without.
    ///
    /// - parameters:
    ///     - path: The file.
    ///     - whenAlone: Runs before, where nobody else has such a lock: what killed processes left is nobody's then.
    ///     - body: The block.
    /// - returns: What the block returns.
    /// - throws: What the block throws.
    static func sharingFolder<Result>(
        of path: String, whenAlone: () -> Void, _ body: () throws -> Result
    ) rethrows -> Result {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        let descriptor = open(folder, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return try body() }
        defer { close(descriptor) }
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { whenAlone() }
        // Others have the folder for themselves only while they remove files. Who keeps it longer is not
        // one of us, and lets none of us remove anything.
        for _ in 0..<Self.attempts {
            if flock(descriptor, LOCK_SH | LOCK_NB) == 0 || errno != EAGAIN { break }
            usleep(Self.pauseMicroseconds)
        }
        return try body()
    }

    /// A name for a folder that is not complete, beside the one that it will have.
    package static func temporaryFolder(for destination: String, purpose: String) -> String {
        let digits = String(UInt64.random(in: .min ... .max), radix: 16)
        return "\(destination).\(purpose)-\(String(repeating: "0", count: 16 - digits.count))\(digits)"
    }

    /// Removes folders of killed processes. The caller holds a lock on the folder of the destination.
    ///
    /// A date is hexadecimal, too, so that a folder of somebody else's is told by the number of digits. A link to a folder
    /// is never one of ours.
    private static func removeLeftoverFolders(of destination: String, purpose: String) {
        let url = URL(fileURLWithPath: destination)
        let prefix = "\(url.lastPathComponent).\(purpose)-"
        let parent = url.deletingLastPathComponent().path
        for name in (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? []
        where name.hasPrefix(prefix) && name.utf8.count == prefix.utf8.count + 16
            && isTemporary(name.dropFirst(prefix.count))
        {
            let path = parent + "/" + name
            let kind = try? FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
            guard kind == .typeDirectory else { continue }
            // Only files are removed, so that a folder with another one in it stays.
            for file in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] {
                unlink(path + "/" + file)
            }
            rmdir(path)
        }
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
