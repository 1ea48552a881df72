/// A database value whose bytes belong to somebody else.
///
/// Text and blobs point into a buffer that outlives the value's use, so that a
/// row goes from the wire into a statement without a copy.
public enum WireValue {
    /// NULL.
    case null
    /// A 64-bit integer.
    case integer(Int64)
    /// A floating-point number.
    case real(Double)
    /// UTF-8 text, as the database holds it: it may contain zero bytes.
    case text(UnsafeRawBufferPointer)
    /// Bytes.
    case blob(UnsafeRawBufferPointer)

    private var rank: Int {
        switch self {
        case .null: 0
        case .integer: 1
        case .real: 2
        case .text: 3
        case .blob: 4
        }
    }

    /// Compares two values in a total order: by type, then by content.
    ///
    /// - returns: A negative number, zero, or a positive number.
    public func compare(_ other: WireValue) -> Int {
        switch (self, other) {
        case (.null, .null): 0
        case (.integer(let left), .integer(let right)): left < right ? -1 : (left == right ? 0 : 1)
        case (.real(let left), .real(let right)): Self.compare(left, right)
        case (.text(let left), .text(let right)), (.blob(let left), .blob(let right)):
            Self.compare(left, right)
        default: rank - other.rank
        }
    }

    /// IEEE 754's totalOrder: -NaN, numbers with -0 before 0, NaN; NaN by their
    /// payloads. `<` alone leaves NaN unordered, and so no order at all.
    private static func compare(_ left: Double, _ right: Double) -> Int {
        let (one, other) = (rank(left), rank(right))
        return one < other ? -1 : (one == other ? 0 : 1)
    }

    /// The bits as an integer that rises with the number: for negative numbers
    /// all but the sign are turned round.
    private static func rank(_ number: Double) -> Int64 {
        let bits = Int64(bitPattern: number.bitPattern)
        return bits ^ Int64(bitPattern: UInt64(bitPattern: bits >> 63) >> 1)
    }

    private static func compare(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
        for (one, other) in zip(left, right) where one != other { return Int(one) - Int(other) }
        return left.count - right.count
    }
}
