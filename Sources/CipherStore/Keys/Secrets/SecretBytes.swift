#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Bytes that stay out of swap and core dumps, and are zeroed when released.
///
/// The memory is a page-aligned mapping of its own. Locking it may fail when
/// the process is over its limit; the bytes are then still zeroed.
///
/// It is `@unchecked Sendable` because the bytes are written only while the
/// initialiser runs, before anybody else can hold a reference.
final class SecretBytes: @unchecked Sendable {
    private let base: UnsafeMutableRawPointer
    private let mapped: Int
    private let didZero: (@Sendable (UnsafeRawBufferPointer) -> Void)?

    /// The number of bytes.
    let count: Int

    #if os(Linux)
        /// `MADV_DONTDUMP`, which the C library's module does not export.
        private static let excludeFromCoreDump: Int32 = 16
    #endif

    /// Makes bytes that `initialize` fills; it returns how many it used.
    ///
    /// - parameter didZero: For tests, which can't look at memory that is gone: what is given the memory
    ///   between its zeroing and its end.
    /// - throws: ``StoreError`` of code `outOfMemory`, and what `initialize` throws.
    init(
        capacity: Int, didZero: (@Sendable (UnsafeRawBufferPointer) -> Void)? = nil,
        initializingWith initialize: (UnsafeMutableRawBufferPointer) throws -> Int
    ) throws {
        let page = Int(sysconf(Int32(_SC_PAGESIZE)))
        mapped = max(page, (capacity + page - 1) / page * page)
        let flags = MAP_PRIVATE | MAP_ANON
        guard let base = mmap(nil, mapped, PROT_READ | PROT_WRITE, flags, -1, 0), base != MAP_FAILED else {
            throw StoreError(.outOfMemory, "no memory for a key")
        }
        self.base = base
        self.didZero = didZero
        _ = mlock(base, mapped)
        #if os(Linux)
            _ = madvise(base, mapped, Self.excludeFromCoreDump)
        #endif
        do {
            count = try initialize(UnsafeMutableRawBufferPointer(start: base, count: capacity))
        } catch {
            SecretBytes.release(base, mapped, didZero)
            throw error
        }
    }

    /// Copies bytes.
    convenience init(_ bytes: UnsafeRawBufferPointer) throws {
        try self.init(capacity: bytes.count) { buffer in
            buffer.copyMemory(from: bytes)
            return bytes.count
        }
    }

    deinit { SecretBytes.release(base, mapped, didZero) }

    private static func release(
        _ base: UnsafeMutableRawPointer, _ mapped: Int, _ didZero: ((UnsafeRawBufferPointer) -> Void)?
    ) {
        SecretBytes.zero(UnsafeMutableRawBufferPointer(start: base, count: mapped))
        didZero?(UnsafeRawBufferPointer(start: base, count: mapped))
        _ = munlock(base, mapped)
        _ = munmap(base, mapped)
    }

    /// Gives access to the bytes.
    func withUnsafeBytes<Result>(
        _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        try body(UnsafeRawBufferPointer(start: base, count: count))
    }

    /// Returns whether the bytes are the same, in a time that does not depend
    /// on where they differ.
    func matches(_ other: SecretBytes) -> Bool {
        guard count == other.count else { return false }
        return withUnsafeBytes { left in
            other.withUnsafeBytes { right in
                zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
            }
        }
    }

    /// Overwrites memory in a way that the compiler does not remove.
    static func zero(_ buffer: UnsafeMutableRawBufferPointer) {
        guard let base = buffer.baseAddress else { return }
        #if os(Linux)
            explicit_bzero(base, buffer.count)
        #else
            memset_s(base, buffer.count, 0, buffer.count)
        #endif
    }
}

extension SecretBytes: CustomReflectable {
    /// A mirror without children: what holds secret bytes shows neither where they are nor how many.
    var customMirror: Mirror { Mirror(self, children: []) }
}
