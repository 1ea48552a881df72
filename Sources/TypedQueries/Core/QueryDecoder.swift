import Foundation

/// Reads the columns of a row one after the other.
///
/// Each function reads the next column, and returns nil when it is NULL.
public protocol QueryDecoder {
    /// Reads bytes.
    mutating func decode(_ type: [UInt8].Type) throws -> [UInt8]?
    /// Reads a floating-point number; integers are numbers too.
    mutating func decode(_ type: Double.Type) throws -> Double?
    /// Reads an integer; a floating-point number without a fraction is one too.
    mutating func decode(_ type: Int64.Type) throws -> Int64?
    /// Reads a text.
    mutating func decode(_ type: String.Type) throws -> String?
    /// Gives the UTF-8 bytes of a text to a function, without a copy.
    mutating func decodeText<Value>(_ body: (UnsafeRawBufferPointer) throws -> Value) throws -> Value?
    /// Gives bytes to a function, without a copy.
    mutating func decodeBlob<Value>(_ body: (UnsafeRawBufferPointer) throws -> Value) throws -> Value?
    /// Whether the next column is a text.
    var isText: Bool { get }
    /// Whether that many columns from the next one on are all NULL.
    func areNull(_ count: Int) -> Bool
    /// Goes past columns.
    mutating func skip(_ count: Int)
}

extension QueryDecoder {
    /// Reads a value of the next columns.
    ///
    /// - returns: The value, or nil when its columns are all NULL.
    @inlinable
    public mutating func decode<Value: QueryRepresentable>(_ type: Value.Type) throws -> Value.QueryOutput? {
        guard !areNull(Value.columnWidth) else {
            skip(Value.columnWidth)
            return nil
        }
        return try Value(decoder: &self).queryOutput
    }

    /// Reads a value of the next columns.
    ///
    /// - throws: ``QueryDecodingError``, also when a column is NULL and the type is not optional.
    @inlinable @inline(__always)
    public mutating func value<Value: QueryRepresentable>(_ type: Value.Type) throws -> Value.QueryOutput {
        try Value(decoder: &self).queryOutput
    }
}

/// What is wrong with a column, in the words of the type that reads it.
///
/// What fetches gives it its place: ``QueryDecodingFailure``.
public enum QueryDecodingError: Error, Hashable, Sendable {
    /// NULL, where the type has no place for it.
    case missingRequiredColumn
    /// A value of another kind.
    case typeMismatch(expected: String, found: String)
    /// A value of the right kind that means nothing.
    case invalidValue(String)
    /// The row has another number of columns than the type.
    case columnCount(expected: Int, found: Int)
}

/// Why a row could not be read, and where.
///
/// It holds no value of the row.
public struct QueryDecodingFailure: Error, Sendable, CustomStringConvertible {
    /// What is wrong.
    public let reason: QueryDecodingError
    /// The table that the row type is of, if it is one.
    public let table: String?
    /// The name of the column.
    public let column: String?
    /// The position of the column, counted from 0.
    public let columnIndex: Int
    /// The type that rows are read as.
    public let rowType: String
    /// The statement.
    public let sql: String

    /// The problem, the column, the table, the row type and the statement.
    public var description: String {
        let place = column.map { "column \"\($0)\" (\(columnIndex))" } ?? "column \(columnIndex)"
        let owner = table.map { " of \"\($0)\"" } ?? ""
        let what =
            switch reason {
            case .missingRequiredColumn: "NULL in \(place)\(owner), which is not optional"
            case .typeMismatch(let expected, let found): "\(place)\(owner) is \(found), not \(expected)"
            case .invalidValue(let text): "\(place)\(owner): \(text)"
            case .columnCount(let expected, let found):
                "the row has \(found) columns, not \(expected)\(owner.isEmpty ? "" : " as" + owner.dropFirst(3))"
            }
        return "could not decode \(rowType): \(what) - sql: `\(sql)`"
    }
}

/// Reads the columns of a statement's current row.
public struct SQLiteQueryDecoder: QueryDecoder {
    @usableFromInline let statement: SQLiteStatement
    @usableFromInline var index: CInt = 0

    @inlinable @inline(__always)
    init(_ statement: SQLiteStatement) { self.statement = statement }

    @inlinable @inline(__always)
    mutating func next() -> RawValue {
        let value = RawValue(statement, index)
        index &+= 1
        return value
    }

    /// Reads bytes.
    @inlinable
    public mutating func decode(_ type: [UInt8].Type) throws -> [UInt8]? { try decodeBlob { [UInt8]($0) } }

    /// Reads a number.
    @inlinable @inline(__always)
    public mutating func decode(_ type: Double.Type) throws -> Double? {
        let value = next()
        let kind = value.storageClass
        if kind == RawColumn.realClass || kind == RawColumn.integerClass { return value.double }
        return try nothing(kind, "a number")
    }

    /// Reads an integer.
    @inlinable @inline(__always)
    public mutating func decode(_ type: Int64.Type) throws -> Int64? {
        let value = next()
        let kind = value.storageClass
        if kind == RawColumn.integerClass { return value.int64 }
        if kind == RawColumn.realClass, let integer = Int64(exactly: value.double) { return integer }
        return try nothing(kind, "an integer")
    }

    /// Reads a text.
    @inlinable @inline(__always)
    public mutating func decode(_ type: String.Type) throws -> String? {
        let value = next()
        let kind = value.storageClass
        if kind == RawColumn.textClass { return value.string }
        return try nothing(kind, "text")
    }

    /// Gives the bytes of a text to a function.
    @inlinable @inline(__always)
    public mutating func decodeText<Value>(
        _ body: (UnsafeRawBufferPointer) throws -> Value
    ) throws -> Value? {
        let value = next()
        let kind = value.storageClass
        if kind == RawColumn.textClass { return try body(value.text) }
        _ = try nothing(kind, "text") as Int?
        return nil
    }

    /// Gives bytes to a function.
    @inlinable @inline(__always)
    public mutating func decodeBlob<Value>(
        _ body: (UnsafeRawBufferPointer) throws -> Value
    ) throws -> Value? {
        let value = next()
        let kind = value.storageClass
        if kind == RawColumn.blobClass { return try body(value.blob) }
        _ = try nothing(kind, "a blob") as Int?
        return nil
    }

    /// Whether the next column is a text.
    public var isText: Bool { RawColumn.storageClass(statement, index) == RawColumn.textClass }

    /// Whether columns are all NULL.
    @inlinable
    public func areNull(_ count: Int) -> Bool {
        for offset in 0..<CInt(truncatingIfNeeded: count)
        where !RawColumn.isNull(statement, index &+ offset) { return false }
        return true
    }

    /// Goes past columns.
    @inlinable
    public mutating func skip(_ count: Int) { index &+= CInt(truncatingIfNeeded: count) }

    /// Nil for NULL.
    ///
    /// - throws: What says that the column holds something else.
    @usableFromInline func nothing<Value>(
        _ kind: RawColumn.StorageClass, _ expected: String
    ) throws -> Value? {
        guard kind != RawColumn.nullClass else { return nil }
        let found =
            switch kind {
            case RawColumn.integerClass: "an integer"
            case RawColumn.realClass: "a floating-point number"
            case RawColumn.textClass: "text"
            default: "a blob"
            }
        throw QueryDecodingError.typeMismatch(expected: expected, found: found)
    }
}
