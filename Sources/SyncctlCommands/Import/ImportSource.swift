import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The bytes of an import, which are read twice: a file, or what came through a pipe.
///
/// What comes through a pipe waits in a file that only its owner can read and that has no name from the moment it
/// is there, so that nothing of it is left whatever ends the process.
final class ImportSource: Sendable {
    /// What stands for standard input on the command line.
    static let standardInput = "-"

    /// What messages call it.
    let path: String
    let size: Int64
    private let descriptor: Int32

    /// Opens a regular file.
    convenience init(path: String) throws(CSVError) {
        let descriptor = try Self.open(path)
        guard let status = Self.status(of: descriptor), status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw Self.refusal(
                path, "not a regular file", hint: "name a file, a pipe, or - for standard input")
        }
        self.init(path, descriptor, Int64(status.st_size))
    }

    /// Opens a file, a pipe, or standard input. What does not come from a file is read to its end.
    ///
    /// - throws: ``CSVError``, ``Failure`` when the user cancelled or the disk is full.
    convenience init(reading path: String, progress: StepProgress) throws {
        let isInput = path == Self.standardInput
        if isInput, isatty(STDIN_FILENO) == 1 {
            throw Failure.usage(
                "standard input is a terminal", hints: ["name a file, or send one through a pipe"])
        }
        let name = isInput ? "standard input" : path
        let descriptor = try isInput ? Self.duplicate(STDIN_FILENO) : Self.open(path)
        let kind = Self.status(of: descriptor).map { $0.st_mode & S_IFMT }
        guard kind == S_IFIFO || kind == S_IFSOCK || (isInput && kind != S_IFDIR) else {
            close(descriptor)
            try self.init(path: path)
            return
        }
        defer { close(descriptor) }
        let spool = try Self.makeSpool()
        do {
            let size = try Self.copy(from: descriptor, to: spool, name: name, progress: progress)
            self.init(name, spool, size)
        } catch {
            close(spool)
            throw error
        }
    }

    private init(_ path: String, _ descriptor: Int32, _ size: Int64) {
        (self.path, self.descriptor, self.size) = (path, descriptor, size)
    }

    deinit { close(descriptor) }

    /// Reads bytes from a place.
    ///
    /// - returns: Their number, 0 at the end, or -1 with `errno`.
    func read(into buffer: UnsafeMutableRawPointer, count: Int, at offset: Int64) -> Int {
        while true {
            let result = pread(descriptor, buffer, count, off_t(offset))
            if result >= 0 || errno != EINTR { return result }
        }
    }

    // MARK: - Private

    /// Without O_NONBLOCK, opening a pipe would wait for its writer, whatever the user presses.
    private static func open(_ path: String) throws(CSVError) -> Int32 {
        #if canImport(Glibc)
            let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        #elseif canImport(Musl)
            let descriptor = Musl.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        #else
            let descriptor = Darwin.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        #endif
        guard descriptor >= 0 else { throw refusal(path, Failure.systemText(errno)) }
        return descriptor
    }

    private static func duplicate(_ descriptor: Int32) throws(CSVError) -> Int32 {
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else { throw refusal("standard input", Failure.systemText(errno)) }
        return copy
    }

    private static func status(of descriptor: Int32) -> stat? {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? status : nil
    }

    private static func refusal(_ path: String, _ reason: String, hint: String? = nil) -> CSVError {
        CSVError(code: .cannotOpen, path: path, line: nil, message: "cannot open: \(reason)", hint: hint)
    }

    private static func makeSpool() throws -> Int32 {
        let template = NSTemporaryDirectory() + "/syncctl-XXXXXX"
        var name = Array(template.utf8CString)
        let descriptor = mkstemp(&name)
        guard descriptor >= 0 else {
            throw Failure.system("cannot create a file in \(NSTemporaryDirectory())", code: errno)
        }
        unlink(name)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        return descriptor
    }

    private static func copy(
        from source: Int32, to target: Int32, name: String, progress: StepProgress
    ) throws -> Int64 {
        var buffer = [UInt8](repeating: 0, count: 256 << 10)
        var size: Int64 = 0
        while true {
            // In steps, so that Ctrl-C ends the wait for a pipe that nobody writes to.
            var entry = pollfd(fd: source, events: Int16(POLLIN), revents: 0)
            let ready = poll(&entry, 1, 200)
            try progress.update(size, nil)
            if ready == 0 || (ready < 0 && errno == EINTR) { continue }
            let count = buffer.withUnsafeMutableBytes { systemRead(source, $0.baseAddress, $0.count) }
            if count == 0 { break }
            if count < 0 {
                if [EINTR, EAGAIN, EWOULDBLOCK].contains(errno) { continue }
                throw Failure.system("cannot read \(name)", code: errno)
            }
            let code = buffer.withUnsafeBytes {
                DescriptorOutput.write(UnsafeRawBufferPointer(rebasing: $0[..<count]), to: target)
            }
            guard code == 0 else {
                throw Failure.system(
                    "cannot keep what comes from \(name)", code: code,
                    hints: ["it waits in \(NSTemporaryDirectory()), or where TMPDIR says"])
            }
            size += Int64(count)
        }
        progress.finish()
        return size
    }

    private static func systemRead(_ descriptor: Int32, _ base: UnsafeMutableRawPointer?, _ count: Int) -> Int
    {
        #if canImport(Glibc)
            Glibc.read(descriptor, base, count)
        #elseif canImport(Musl)
            Musl.read(descriptor, base, count)
        #else
            Darwin.read(descriptor, base, count)
        #endif
    }
}
