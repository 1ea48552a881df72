/// A value of a column that says which rows a replica holds. It is the same value only when type and
/// content are the same: the text "1" is not the number 1.
public enum ScopeValue: Hashable, Sendable {
    /// NULL.
    case null
    /// An integer.
    case integer(Int64)
    /// Text.
    case text(String)
    /// Bytes, such as those of a UUID.
    case blob([UInt8])

    /// Calls a closure with the value as it is on the wire; its bytes are valid only during the call.
    public func withWireValue<Result>(_ body: (WireValue) throws -> Result) rethrows -> Result {
        switch self {
        case .null: try body(.null)
        case .integer(let number): try body(.integer(number))
        case .text(let text): try Array(text.utf8).withUnsafeBytes { try body(.text($0)) }
        case .blob(let bytes): try bytes.withUnsafeBytes { try body(.blob($0)) }
        }
    }

    /// Copies a value; nil of a floating-point number, and of text that is not UTF-8.
    public init?(_ value: WireValue) {
        switch value {
        case .null: self = .null
        case .integer(let number): self = .integer(number)
        case .real: return nil
        case .text(let bytes):
            guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
            self = .text(text)
        case .blob(let bytes): self = .blob(Array(bytes))
        }
    }
}

extension ScopeValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByNilLiteral {
    /// Text.
    public init(stringLiteral value: String) { self = .text(value) }
    /// An integer.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// NULL.
    public init(nilLiteral: ()) { self = .null }
}

extension ScopeValue: Comparable {
    /// The order of ``WireValue``.
    public static func < (left: ScopeValue, right: ScopeValue) -> Bool {
        left.withWireValue { left in right.withWireValue { left.compare($0) < 0 } }
    }

    /// Whether two texts are the same bytes: `String` takes different ones for equal that look alike.
    public static func == (left: ScopeValue, right: ScopeValue) -> Bool {
        left.withWireValue { left in right.withWireValue { left.compare($0) == 0 } }
    }
}
