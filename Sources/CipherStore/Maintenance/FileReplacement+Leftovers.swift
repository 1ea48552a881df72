import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

extension FileReplacement {
    // MARK: - Names

    private static let digitCount = 16

    /// A name for a file or a folder that is not complete, beside the one that it will have.
    ///
    /// It ends with 16 hexadecimal digits, one of them a letter: dates, counters and points in time, which
    /// users give to copies of their own, do not.
    ///
    /// - parameter purpose: A word for the name, by which leftovers of a killed process are found.
    package static func temporaryName(for destination: String, purpose: String) -> String {
        while true {
            let digits = String(UInt64.random(in: .min ... .max), radix: 16)
            let padded = String(repeating: "0", count: digitCount - digits.count) + digits
            if isTemporary(padded[...]) { return "\(destination).\(purpose)-\(padded)" }
        }
    }

    /// Whether the end of a name is one that ``temporaryName(for:purpose:)`` gives, or that of what SQLite puts
    /// beside it.
    package static func isTemporary(_ suffix: Substring) -> Bool {
        let digits = suffix.utf8.prefix(while: isDigit)
        return digits.count == digitCount && digits.contains { $0 >= UInt8(ascii: "a") }
            && isSidecarSuffix(suffix, after: digits.count)
    }

    /// Whether the end of a name is one that older versions gave: such digits without padding. A user may name
    /// a copy so, too.
    static func isUnpadded(_ suffix: Substring) -> Bool {
        let digits = suffix.utf8.prefix(while: isDigit)
        return (1...digitCount).contains(digits.count) && !isTemporary(suffix)
            && isSidecarSuffix(suffix, after: digits.count)
    }

    static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }

    private static func isSidecarSuffix(_ suffix: Substring, after count: Int) -> Bool {
        // Counted in bytes: an accent would join the last digit.
        let rest = String(Substring(suffix.utf8.dropFirst(count)))
        return rest.isEmpty || sidecarSuffixes.contains(rest)
    }

    // MARK: - Removal

    /// Removes leftovers of killed processes. The caller holds a lock on the
    /// destination, or on its folder, so nobody else is at work on one.
    ///
    /// - parameters:
    ///     - source: A file that is read, which stays whatever its name is, with what SQLite keeps beside it.
    ///     - isLeftover: Whether the file at a path may be one, as far as its content says.
    static func removeLeftovers(
        of destination: String, purpose: String, sparing source: String? = nil,
        where isLeftover: (String) -> Bool = { _ in true }
    ) {
        let url = URL(fileURLWithPath: destination)
        let prefix = "\(url.lastPathComponent).\(purpose)-"
        let folder = url.deletingLastPathComponent().path
        let spared = identities(of: source)
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        where name.hasPrefix(prefix) && isTemporary(name.dropFirst(prefix.count)) {
            let path = folder + "/" + name
            if isLeftover(path) && !isSpared(path, spared) { unlink(path) }
        }
    }

    /// A file and those that SQLite keeps beside it.
    private static func identities(of source: String?) -> [FileIdentity] {
        guard let source else { return [] }
        // SQLite puts them beside the file to which a link leads.
        let file = URL(fileURLWithPath: source).resolvingSymlinksInPath().path
        return ([""] + sidecarSuffixes).compactMap { FileIdentity(path: file + $0) }
    }

    private static func isSpared(_ path: String, _ spared: [FileIdentity]) -> Bool {
        guard !spared.isEmpty, let identity = FileIdentity(path: path) else { return false }
        return spared.contains(identity)
    }

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
    ///     - source: A file that `body` reads. It stays, whatever its name is.
    package static func removingLeftovers<Result>(
        of destination: String, purpose: String, isFolder: Bool = false, sparing source: String? = nil,
        _ body: () throws -> Result
    ) rethrows -> Result {
        try sharingFolder(
            of: destination,
            whenAlone: {
                isFolder
                    ? removeLeftoverFolders(of: destination, purpose: purpose, sparing: source)
                    : removeLeftovers(of: destination, purpose: purpose, sparing: source)
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

    /// Removes folders of killed processes. The caller holds a lock on the folder of the destination.
    ///
    /// A link to a folder is never one of ours.
    private static func removeLeftoverFolders(
        of destination: String, purpose: String, sparing source: String?
    ) {
        let url = URL(fileURLWithPath: destination)
        let prefix = "\(url.lastPathComponent).\(purpose)-"
        let parent = url.deletingLastPathComponent().path
        let spared = identities(of: source)
        for name in (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? []
        where name.hasPrefix(prefix) && name.utf8.count == prefix.utf8.count + 16
            && isTemporary(name.dropFirst(prefix.count))
        {
            let path = parent + "/" + name
            let kind = try? FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
            guard kind == .typeDirectory else { continue }
            // Only files are removed, so that a folder with another one in it stays.
            for file in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] {
                if !isSpared(path + "/" + file, spared) { unlink(path + "/" + file) }
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
