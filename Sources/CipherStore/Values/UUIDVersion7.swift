import Foundation

extension UUID {
    /// Makes a time-ordered UUID, version 7 of RFC 9562.
    ///
    /// Keys made in one process are strictly ascending, so that the rows of a
    /// table and of its indexes are appended instead of scattered.
    ///
    /// ```swift
    /// let id = UUID.v7()
    /// ```
    public static func v7() -> UUID {
        UUIDVersion7.shared.withLock { generator in
            var random = SystemRandomNumberGenerator()
            let milliseconds = UInt64(max(0, Date().timeIntervalSince1970 * 1000))
            return generator.next(milliseconds: milliseconds, using: &random)
        }
    }
}

/// A generator of version 7 UUIDs, with time and randomness passed in.
///
/// The 12 bits after the time are a counter with a random start below half of
/// its range (RFC 9562 section 6.2, method 1). When it runs over, or when the
/// clock steps back, the generator keeps counting from its own time.
package struct UUIDVersion7: Sendable {
    static let shared = Lock(UUIDVersion7())

    private var milliseconds: UInt64 = 0
    private var counter: UInt16 = 0

    package init() {}

    /// Makes the next UUID.
    ///
    /// - parameter milliseconds: The Unix time in milliseconds.
    package mutating func next(
        milliseconds now: UInt64, using random: inout some RandomNumberGenerator
    ) -> UUID {
        let bits: UInt64 = random.next()
        if now > milliseconds {
            milliseconds = now & 0xFFFF_FFFF_FFFF
            counter = UInt16(truncatingIfNeeded: bits >> 53)
        } else if counter < 0xFFF {
            counter += 1
        } else {
            milliseconds = (milliseconds + 1) & 0xFFFF_FFFF_FFFF
            counter = UInt16(truncatingIfNeeded: bits >> 53)
        }
        let high = milliseconds << 16 | 0x7000 | UInt64(counter & 0xFFF)
        let tail: UInt64 = random.next()
        let low = 0x8000_0000_0000_0000 | (tail & 0x3FFF_FFFF_FFFF_FFFF)
        let words = (high.bigEndian, low.bigEndian)
        return withUnsafeBytes(of: words) { UUID(uuid: $0.load(as: uuid_t.self)) }
    }
}
