/// A value that a record has set.
///
/// It owns nothing, so that it is copied and forgotten at no cost: the bytes of
/// a text or a blob are in the memory of the storage that has the value.
@usableFromInline struct EncodedValue: Sendable {
    /// The storage classes.
    enum Kind: Sendable {
        case null, int64, double, text, blob
    }

    let kind: Kind

    /// How many bytes a text or a blob has.
    let count: Int

    /// An integer, the bits of a floating-point number, or where the bytes are.
    let bits: Int

    private init(_ kind: Kind, count: Int = 0, bits: Int) {
        self.kind = kind
        self.count = count
        self.bits = bits
    }

    static let null = EncodedValue(.null, bits: 0)

    @inline(__always)
    init(_ value: Int64) { self.init(.int64, bits: Int(value)) }

    @inline(__always)
    init(_ value: Double) { self.init(.double, bits: Int(bitPattern: UInt(value.bitPattern))) }

    @inline(__always)
    static func text(at offset: Int, count: Int) -> EncodedValue {
        EncodedValue(.text, count: count, bits: offset)
    }

    @inline(__always)
    static func blob(at offset: Int, count: Int) -> EncodedValue {
        EncodedValue(.blob, count: count, bits: offset)
    }

    @inline(__always)
    var int64: Int64 { Int64(bits) }

    @inline(__always)
    var double: Double { Double(bitPattern: UInt64(UInt(bitPattern: bits))) }

    /// Where the bytes of a text or a blob begin.
    @inline(__always)
    var offset: Int { bits }
}
