import CipherStore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Memory for a passphrase on its way into `Passphrase`: a page of its own that is locked, kept
/// out of core dumps, and overwritten with zeros before it is given back.
///
/// `String`, `Data` and arrays copy their bytes as they grow and leave the copies behind.
struct SecretBuffer: ~Copyable {
    /// How `fill` ended.
    enum FillResult {
        /// At the end of the input.
        case ended
        /// With more bytes than a passphrase may have.
        case overflowed
        /// At the deadline.
        case timedOut
    }

    /// The most bytes a passphrase may have.
    static let limit = 1024
    /// Room for the newline after the longest passphrase, and for one byte too many.
    private static let room = limit + 3

    private let base: UnsafeMutableRawPointer
    private let pageSize: Int
    private(set) var count = 0

    init() throws {
        pageSize = max(Int(getpagesize()), Self.room)
        let page = mmap(nil, pageSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0)
        guard let page, page != MAP_FAILED else {
            throw Failure.system("cannot get memory for a passphrase", code: errno)
        }
        base = page
        // Locking fails where the limit of locked memory is used up. A page that could be swapped
        // out is better than no way to open a store.
        mlock(base, pageSize)
        #if os(Linux)
            madvise(base, pageSize, MADV_DONTDUMP)
        #endif
    }

    deinit {
        Self.erase(base, pageSize)
        munlock(base, pageSize)
        munmap(base, pageSize)
    }

    /// Whether not even one more byte has room.
    var isFull: Bool { count == Self.room }

    /// The last byte, such as the newline that ends a line.
    var lastByte: UInt8? {
        count == 0 ? nil : base.load(fromByteOffset: count - 1, as: UInt8.self)
    }

    // MARK: - Filling

    /// Reads once, as read(2) does: the number of bytes, 0 at the end of the input, -1 on error.
    mutating func readOnce(from descriptor: Int32, upTo limit: Int = .max) -> Int {
        precondition(!isFull, "A full buffer would make read(2) report the end of the input.")
        let received = read(descriptor, base + count, min(Self.room - count, limit))
        count += max(0, received)
        return received
    }

    /// Reads to the end of the input, or until there is more than a passphrase may have.
    ///
    /// - Parameters:
    ///   - origin: What the descriptor is, for the message of an error.
    ///   - deadline: When to give up; never by default.
    mutating func fill(
        from descriptor: Int32, origin: String, until deadline: ContinuousClock.Instant? = nil
    ) throws -> FillResult {
        while !isFull {
            guard Self.waitForInput(descriptor, until: deadline) else { return .timedOut }
            let received = readOnce(from: descriptor)
            if received == 0 { return .ended }
            if received < 0, errno != EINTR, errno != EAGAIN {
                throw Failure.system("cannot read \(origin)", code: errno)
            }
        }
        return .overflowed
    }

    /// Reads one line, and leaves what follows it to whoever reads next. Its newline is removed.
    mutating func fillLine(from descriptor: Int32, origin: String) throws {
        while !isFull {
            _ = Self.waitForInput(descriptor, until: nil)
            let received = readOnce(from: descriptor, upTo: 1)
            if received == 0 { return }
            if received < 0, errno != EINTR, errno != EAGAIN {
                throw Failure.system("cannot read \(origin)", code: errno)
            }
            if lastByte == UInt8(ascii: "\n") { return removeTrailingNewline() }
        }
        throw Self.tooLong(origin)
    }

    /// Copies bytes from memory; those beyond the room are left away, which is one too many.
    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        let part = bytes.prefix(Self.room - count)
        UnsafeMutableRawBufferPointer(start: base + count, count: part.count).copyBytes(from: part)
        count += part.count
    }

    /// Removes one LF or CRLF from the end.
    mutating func removeTrailingNewline() {
        guard lastByte == UInt8(ascii: "\n") else { return }
        count -= 1
        if lastByte == UInt8(ascii: "\r") { count -= 1 }
    }

    // MARK: - Result

    /// The bytes as a passphrase.
    ///
    /// - Parameter origin: Where they come from, for the message of an error.
    borrowing func passphrase(from origin: String) throws -> Passphrase {
        guard count > 0 else { throw Failure("\(origin) is empty") }
        guard count <= Self.limit else { throw Self.tooLong(origin) }
        return try Passphrase(utf8: UnsafeRawBufferPointer(start: base, count: count))
    }

    /// The bytes as text, which nothing protects any more: for what is not to be kept, such as an invitation.
    ///
    /// - Parameter origin: Where they come from, for the message of an error.
    borrowing func text(from origin: String) throws -> String {
        guard count > 0 else { throw Failure("\(origin) is empty") }
        let bytes = UnsafeRawBufferPointer(start: base, count: count)
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Failure("\(origin) is not UTF-8")
        }
        return text
    }

    static func tooLong(_ origin: String) -> Failure {
        Failure("\(origin) is longer than \(HumanFormat.count(limit)) bytes")
    }

    /// Overwrites memory in a way that no optimiser removes.
    static func erase(_ base: UnsafeMutableRawPointer, _ count: Int) {
        #if canImport(Darwin)
            memset_s(base, count, 0, count)
        #else
            explicit_bzero(base, count)
        #endif
    }

    /// Waits until the descriptor has input or is at its end. False at the deadline.
    private static func waitForInput(
        _ descriptor: Int32, until deadline: ContinuousClock.Instant?
    ) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while true {
            var milliseconds: Int32 = -1
            if let deadline {
                let left = ContinuousClock.now.duration(to: deadline)
                guard left > .zero else { return false }
                milliseconds = Int32(min(1_000_000, (left / Duration.milliseconds(1)).rounded(.up)))
            }
            let ready = poll(&entry, 1, milliseconds)
            // An error other than an interruption shows up in the read that follows.
            if ready > 0 || (ready < 0 && errno != EINTR) { return true }
        }
    }
}
