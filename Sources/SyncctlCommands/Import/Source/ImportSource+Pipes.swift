import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

extension ImportSource {
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
        let spool = try ImportSpool()
        try Self.copy(from: descriptor, to: spool, name: name, progress: progress)
        self.init(name, spool, spool.byteCount)
    }

    private static func duplicate(_ descriptor: Int32) throws(CSVError) -> Int32 {
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else { throw refusal("standard input", Failure.systemText(errno)) }
        return copy
    }

    private static func copy(
        from source: Int32, to spool: ImportSpool, name: String, progress: StepProgress
    ) throws {
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
                spool.append(UnsafeRawBufferPointer(rebasing: $0[..<count]))
            }
            guard code == 0 else {
                throw Failure.system(
                    "cannot keep what comes from \(name)", code: code,
                    hints: ["it waits in \(NSTemporaryDirectory()), or where TMPDIR says"])
            }
            size += Int64(count)
        }
        progress.finish()
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
