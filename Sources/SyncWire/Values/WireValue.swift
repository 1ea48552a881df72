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

    /// Numbers in order; those that compare equal (0 and -0) or not at all
    /// (NaN) by their bits, so that the order is total.
    private static func compare(_ left: Double, _ right: Double) -> Int {
        if left < right { return -1 }
        if left > right { return 1 }
        return left.bitPattern < right.bitPattern ? -1 : (left.bitPattern == right.bitPattern ? 0 : 1)
    }

    private static func compare(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
        for (one, other) in zip(left, right) where one != other { return Int(one) - Int(other) }
        return left.count - right.count
    }
}
