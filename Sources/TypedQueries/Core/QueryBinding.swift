import Foundation

/// A value of a statement's parameter.
public enum QueryBinding: Hashable, Sendable {
    /// NULL.
    case null
    /// An integer.
    case int(Int64)
    /// A floating-point number.
    case double(Double)
    /// A text.
    case text(String)
    /// Bytes.
    case blob([UInt8])
    /// A truth value, stored as 0 or 1.
    case bool(Bool)
    /// An unsigned integer, which has to be at most `Int64.max`.
    case uint(UInt64)
    /// A date, stored as text: `2026-11-25 20:15:00.000` in UTC.
    case date(Date)
    /// A UUID, stored as lower-case text.
    case uuid(UUID)
    /// A UUID, stored as 16 bytes.
    case uuidBytes(UUID)
    /// A value that could not be encoded, with the reason. A statement that has one throws.
    case invalid(QueryBindingError)
}

extension QueryBinding {
    /// Whether two values are the same to SQLite, which compares texts by their bytes: `"é"` in one scalar and in two are
    /// different.
    public static func == (left: QueryBinding, right: QueryBinding) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.int(let left), .int(let right)): left == right
        case (.double(let left), .double(let right)): left == right
        case (.text(let left), .text(let right)): left.hasSameBytes(as: right)
        case (.blob(let left), .blob(let right)): left == right
        case (.bool(let left), .bool(let right)): left == right
        case (.uint(let left), .uint(let right)): left == right
        case (.date(let left), .date(let right)): left == right
        case (.uuid(let left), .uuid(let right)): left == right
        case (.uuidBytes(let left), .uuidBytes(let right)): left == right
        case (.invalid(let left), .invalid(let right)): left == right
        default: false
        }
    }
}

/// Why a value can't be stored.
public struct QueryBindingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reason.
    public let description: String

    /// Makes an error of the error of an encoder.
    public init(underlyingError: any Error) { description = "\(underlyingError)" }

    /// Makes an error of a reason.
    public init(_ description: String) { self.description = description }
}

extension QueryBinding {
    /// Binds the value to the next parameter.
    func bind(to binder: inout ParameterBinder) throws {
        switch self {
        case .null: binder.bindNull()
        case .int(let value): binder.bind(value)
        case .double(let value): binder.bind(value)
        case .text(let value): binder.bind(value)
        case .blob(let value): value.withUnsafeBytes { binder.bind(blob: $0) }
        case .bool(let value): binder.bind(value ? 1 : 0 as Int64)
        case .uint(let value): binder.bind(try Self.signed(value))
        case .date(let value): binder.bind(try ISO8601Text.required(of: value))
        case .uuid(let value): UUIDText.withLowercasedBytes(of: value) { binder.bind(text: $0) }
        case .uuidBytes(let value): withUnsafeBytes(of: value.uuid) { binder.bind(blob: $0) }
        case .invalid(let error): throw error
        }
    }

    private static func signed(_ value: UInt64) throws -> Int64 {
        guard let value = Int64(exactly: value) else {
            throw QueryBindingError("the integer is greater than what SQLite can store")
        }
        return value
    }

    /// The value as the record layer knows it.
    ///
    /// - throws: A ``QueryBindingError``.
    package func databaseValue() throws -> DatabaseValue {
        switch self {
        case .null: .null
        case .int(let value): value.databaseValue
        case .double(let value): value.databaseValue
        case .text(let value): value.databaseValue
        case .blob(let value): Data(value).databaseValue
        case .bool(let value): (value ? 1 : 0 as Int64).databaseValue
        case .uint(let value): try Self.signed(value).databaseValue
        case .date(let value): try ISO8601Text.required(of: value).databaseValue
        case .uuid(let value): value.uuidString.lowercased().databaseValue
        case .uuidBytes(let value): value.databaseValue
        case .invalid(let error): throw error
        }
    }
}

extension QueryBinding: CustomDebugStringConvertible {
    /// The value as an SQL literal.
    public var debugDescription: String {
        switch self {
        case .null: "NULL"
        case .int(let value): "\(value)"
        case .double(let value): "\(value)"
        case .text(let value): Self.literal(value)
        case .blob(let value): Self.literal(value)
        case .bool(let value): value ? "1" : "0"
        case .uint(let value): "\(value)"
        case .date(let value):
            ISO8601Text.text(of: value).map(Self.literal)
                ?? "<invalid: a date \(value.timeIntervalSince1970) s from 1970>"
        case .uuid(let value): Self.literal(value.uuidString.lowercased())
        case .uuidBytes(let value): Self.literal(withUnsafeBytes(of: value.uuid) { [UInt8]($0) })
        case .invalid(let error): "<invalid: \(error)>"
        }
    }

    /// SQL that every engine reads as the value, wherever a parameter can stand, or nil.
    ///
    /// An old engine reads nothing after a NUL. Two signs in a row begin a comment.
    var exactText: String? {
        switch self {
        case .int(let value) where value < 0: "(\(value))"
        case .uint(let value) where value > UInt64(Int64.max): nil
        case .text(let value) where value.utf8.contains(0): nil
        case .date(let value) where ISO8601Text.text(of: value) == nil: nil
        case .double(let value): value.exactSQL
        case .invalid: nil
        default: debugDescription
        }
    }

    private static func literal(_ text: String) -> String { text.quotedSQLText }

    private static func literal(_ bytes: [UInt8]) -> String {
        "X'" + bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined() + "'"
    }
}
