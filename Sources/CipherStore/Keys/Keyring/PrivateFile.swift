import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Small files that only their owner can read, which are there as a whole or not at all.
enum PrivateFile {
    /// Reads a file of at most `byteCountMax` bytes; nil when there is none.
    ///
    /// - throws: A ``StoreError`` of code `cannotRead`.
    static func read(_ path: String, byteCountMax: Int) throws -> [UInt8]? {
        // Not blocking: the name may be that of a pipe.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw StoreError(.cannotRead, "cannot open: \(StoreError.systemText)", path: path)
        }
        defer { close(descriptor) }
        return try read(descriptor, byteCountMax: byteCountMax, path: path)
    }

    static func read(_ descriptor: Int32, byteCountMax: Int, path: String) throws -> [UInt8] {
        var information = stat()
        guard fstat(descriptor, &information) == 0, information.st_mode & S_IFMT == S_IFREG else {
            throw StoreError(.cannotRead, "not a regular file", path: path)
        }
        guard information.st_size <= byteCountMax else {
            throw StoreError(.cannotRead, "longer than \(byteCountMax) bytes", path: path)
        }
        var bytes = [UInt8](repeating: 0, count: byteCountMax + 1)
        var count = 0
        while count < bytes.count {
            let read = pread(descriptor, &bytes[count], bytes.count - count, off_t(count))
            if read < 0 {
                if errno == EINTR { continue }
                throw StoreError(.cannotRead, "cannot read: \(StoreError.systemText)", path: path)
            }
            if read == 0 { break }
            count += read
        }
        guard count <= byteCountMax else {
            throw StoreError(.cannotRead, "longer than \(byteCountMax) bytes", path: path)
        }
        return Array(bytes.prefix(count))
    }

    /// Makes a new file.
    ///
    /// - throws: A ``StoreError`` of code `exists`, `reservedName`, `full` or `cannotWrite`. No file is left then.
    static func create(_ path: String, content: UnsafeRawBufferPointer) throws {
        try FileReplacement.requireNoOwner(of: path)
        let file = try FileReplacement(destination: path, purpose: "new")
        defer { file.discard() }
        try write(content, to: file, for: path)
        try file.moveIntoPlace()
    }

    /// Writes the content of a file that is still under its temporary name, down to the disk.
    ///
    /// - parameters:
    ///     - path: The file that an error names.
    ///     - owner: What the system tells of a file whose owner this one gets, where the process may give files away.
    static func write(
        _ content: [UInt8], to file: FileReplacement, for path: String, owner: stat? = nil
    ) throws {
        try content.withUnsafeBytes { try write($0, to: file, for: path, owner: owner) }
    }

    private static func write(
        _ content: UnsafeRawBufferPointer, to file: FileReplacement, for path: String, owner: stat? = nil
    ) throws {
        let descriptor = try file.openTemporary(O_WRONLY)
        defer { close(descriptor) }
        var written = 0
        while written < content.count {
            let count = pwrite(
                descriptor, content.baseAddress.map { $0 + written }, content.count - written, off_t(written))
            if count > 0 {
                written += count
            } else if errno != EINTR {
                throw writeError(path)
            }
        }
        if let owner {
            // Only root may give files away; for others the owner is the same.
            _ = fchown(descriptor, owner.st_uid, owner.st_gid)
        }
        guard fsync(descriptor) == 0 else { throw writeError(path) }
    }

    private static func writeError(_ path: String) -> StoreError {
        errno == ENOSPC || errno == EDQUOT
            ? StoreError(.full, "the disk is full; nothing was changed", path: path)
            : StoreError(.cannotWrite, "cannot write: \(StoreError.systemText)", path: path)
    }
}
