#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Writes to a file descriptor as a whole, whatever interrupts it.
///
/// `FileHandle` is not used: it raises an exception that Swift cannot catch when a pipe is closed.
enum DescriptorOutput {
    /// Writes all of the text. Returns 0, or the error number of the write that failed.
    static func write(_ text: String, to descriptor: Int32) -> Int32 {
        var text = text
        return text.withUTF8 { write(UnsafeRawBufferPointer($0), to: descriptor) }
    }

    /// Writes all of the bytes. Returns 0, or the error number of the write that failed.
    static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int32 {
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = UnsafeRawBufferPointer(rebasing: rest)
            let written = systemWrite(descriptor, part.baseAddress, part.count)
            if written >= 0 {
                rest = rest.dropFirst(written)
            } else if errno == EAGAIN || errno == EWOULDBLOCK {
                // Whoever shares the descriptor has made it non-blocking.
                var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&entry, 1, -1)
            } else if errno != EINTR {
                return errno
            }
        }
        return 0
    }

    private static func systemWrite(_ descriptor: Int32, _ base: UnsafeRawPointer?, _ count: Int) -> Int {
        #if canImport(Glibc)
            Glibc.write(descriptor, base, count)
        #elseif canImport(Musl)
            Musl.write(descriptor, base, count)
        #else
            Darwin.write(descriptor, base, count)
        #endif
    }
}
