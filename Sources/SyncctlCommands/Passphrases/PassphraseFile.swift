import CipherStore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Reads a passphrase from a file or a pipe that has a path, such as `/dev/fd/3` or `<(command)`.
package enum PassphraseFile {
    static func read(_ path: String) throws -> Passphrase {
        let name = "passphrase file \(path)"
        return try content(of: path, name: name).passphrase(from: name)
    }

    /// The text of a file that holds a secret, without one newline at its end.
    ///
    /// - parameter name: What messages call the file.
    /// - throws: A ``Failure``, as for a passphrase.
    package static func text(of path: String, name: String) throws -> String {
        try content(of: path, name: name).text(from: name)
    }

    /// What a file that holds a secret has, without one newline at its end.
    ///
    /// - parameter name: What messages call the file.
    /// - throws: A ``Failure`` for what is neither a file nor a pipe, for a file that others can read or change, and
    ///   for one that is too long.
    static func content(of path: String, name: String) throws -> SecretBuffer {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else {
            throw Failure.system("cannot open \(name)", code: errno)
        }
        defer { close(descriptor) }
        // The open file is checked, not the path, which could be another file by then.
        try check(descriptor, path: path, name: name)
        var buffer = try SecretBuffer()
        guard try buffer.fill(from: descriptor, origin: name) == .ended else {
            throw SecretBuffer.tooLong(name)
        }
        buffer.removeTrailingNewline()
        return buffer
    }

    /// Refuses what is neither a file nor a pipe, and a file that other users can read.
    ///
    /// A pipe has no lasting content to protect, and the one a shell makes for `<(command)` has
    /// whatever mode the shell gives it.
    private static func check(_ descriptor: Int32, path: String, name: String) throws {
        var information = stat()
        guard fstat(descriptor, &information) == 0 else {
            throw Failure.system("cannot examine \(name)", code: errno)
        }
        let mode = UInt32(information.st_mode)
        let type = mode & UInt32(S_IFMT)
        if type == UInt32(S_IFIFO) || type == UInt32(S_IFSOCK) { return }
        guard type == UInt32(S_IFREG) else {
            throw Failure("\(name) is neither a regular file nor a pipe")
        }
        // Whoever may write to it could put in a secret of their own.
        guard mode & 0o066 == 0 else {
            let permissions = String(mode & 0o777, radix: 8)
            throw Failure(
                "other users can read or change \(name) (mode \(permissions))",
                hints: ["chmod 600 \(CommandWords.path(path))"])
        }
    }
}
