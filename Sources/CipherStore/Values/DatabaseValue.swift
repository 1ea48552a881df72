import Foundation

/// A value as SQLite stores it: NULL, an integer, a floating-point number,
/// text, or a blob.
///
/// ```swift
/// let dbValue: DatabaseValue = row[0]
/// if dbValue.isNull {
///     // NULL
/// } else if let grape = Grape.fromDatabaseValue(dbValue) {
///     // A known grape
/// } else {
///     // Something else
/// }
/// ```
public struct DatabaseValue: Sendable {
    /// The storage of a value.
    public enum Storage: Hashable, Sendable {
        /// NULL.
        case null
        /// A 64-bit signed integer.
        case int64(Int64)
        /// A floating-point number.
        case double(Double)
        /// Text.
        case string(String)
        /// Bytes.
        case blob(Data)

        /// The value as an optional of the matching Swift type.
        public var value: (any DatabaseValueConvertible & Sendable)? {
            switch self {
            case .null: nil
            case .int64(let value): value
            case .double(let value): value
            case .string(let value): value
            case .blob(let value): value
            }
        }
    }

    /// The same as `Storage`, except that 16 bytes, which most keys are, are
    /// always in place, where they cost no allocation.
    enum Content: Sendable {
        case null
        case int64(Int64)
        case double(Double)
        case string(String)
        case blob(Data)
        case sixteenBytes(UInt64, UInt64)
        case unencodable(UnencodableValue)
    }

    let content: Content

    /// The storage of the value.
    ///
    /// It is a fatal error to ask for the storage of a value that SQLite can't
    /// store, such as `UInt64.max.databaseValue`. What writes such a value throws.
    public var storage: Storage {
        switch content {
        case .null: .null
        case .int64(let value): .int64(value)
        case .double(let value): .double(value)
        case .string(let value): .string(value)
        case .blob(let value): .blob(value)
        case .sixteenBytes(let first, let second): .blob(withUnsafeBytes(of: (first, second)) { Data($0) })
        case .unencodable(let value): fatalError(value.message)
        }
    }

    /// The NULL value.
    public static let null = DatabaseValue(storage: .null)

    @usableFromInline init(storage: Storage) {
        switch storage {
        case .null: content = .null
        case .int64(let value): content = .int64(value)
        case .double(let value): content = .double(value)
        case .string(let value): content = .string(value)
        case .blob(let value): content = value.withUnsafeBytes { Self.sixteen($0) } ?? .blob(value)
        }
    }

    /// Makes what stands for a value that SQLite can't store.
    ///
    /// Conversions can't throw. So the error is reported by what uses the value
    /// and can: a statement, or the encoding of a record.
    init(unencodable message: String) {
        content = .unencodable(UnencodableValue(message))
    }

    /// Copies bytes.
    init(bytes: UnsafeRawBufferPointer) {
        content = Self.content(of: bytes)
    }

    private static func content(of bytes: UnsafeRawBufferPointer) -> Content {
        sixteen(bytes) ?? .blob(Data(bytes))
    }

    private static func sixteen(_ bytes: UnsafeRawBufferPointer) -> Content? {
        guard bytes.count == 16 else { return nil }
        return .sixteenBytes(
            bytes.loadUnaligned(as: UInt64.self), bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }

    /// Copies a column of a statement's current row.
    @usableFromInline init(sqliteStatement: SQLiteStatement, index: CInt) {
        let column = RawValue(sqliteStatement, index)
        switch column.storageClass {
        case RawColumn.nullClass: content = .null
        case RawColumn.integerClass: content = .int64(column.int64)
        case RawColumn.realClass: content = .double(column.double)
        case RawColumn.textClass: content = .string(column.string)
        default: content = Self.content(of: column.blob)
        }
    }

    /// Whether the value is NULL.
    public var isNull: Bool {
        if case .null = content { true } else { false }
    }

    /// Makes the database value of a value of any type that has one.
    ///
    /// - returns: nil when the type is not ``DatabaseValueConvertible``.
    public init?(value: Any) {
        guard let value = value as? any DatabaseValueConvertible else { return nil }
        self = value.databaseValue
    }

    /// Binds the value to a statement's parameter, counted from 1.
    ///
    /// - returns: An SQLite result code.
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        switch content {
        case .null: RawBinding.null(sqliteStatement, index)
        case .int64(let value): RawBinding.int64(sqliteStatement, index, value)
        case .double(let value): RawBinding.double(sqliteStatement, index, value)
        case .string(let value): RawBinding.string(sqliteStatement, index, value)
        case .blob(let value):
            value.withUnsafeBytes { RawBinding.blob(sqliteStatement, index, $0) }
        case .sixteenBytes(let first, let second):
            withUnsafeBytes(of: (first, second)) { RawBinding.blob(sqliteStatement, index, $0) }
        case .unencodable: RawBinding.unencodable
        }
    }
}

extension DatabaseValue: Hashable {
    /// Returns whether two values are the same.
    ///
    /// As in SQLite, an integer and a floating-point number are equal when they
    /// are the same number, and texts are compared by their bytes: `"é"` in one
    /// scalar and in two are different. NULL equals NULL.
    public static func == (left: DatabaseValue, right: DatabaseValue) -> Bool {
        switch (left.content, right.content) {
        case (.null, .null): true
        case (.int64(let left), .int64(let right)): left == right
        case (.double(let left), .double(let right)): left == right
        case (.int64(let integer), .double(let double)), (.double(let double), .int64(let integer)):
            Int64(exactly: double) == integer
        case (.string(let left), .string(let right)): left.hasSameBytes(as: right)
        case (.blob(let left), .blob(let right)): left == right
        case (.sixteenBytes(let left1, let left2), .sixteenBytes(let right1, let right2)):
            left1 == right1 && left2 == right2
        case (.unencodable(let left), .unencodable(let right)): left === right
        default: false
        }
    }

    /// Feeds the value to a hasher, so that equal numbers have one hash.
    public func hash(into hasher: inout Hasher) {
        switch content {
        case .null: hasher.combine(0 as UInt8)
        case .int64(let value): hasher.combine(value)
        case .double(let value):
            if let integer = Int64(exactly: value) { hasher.combine(integer) } else { hasher.combine(value) }
        case .string(let value): hasher.combine(value)
        case .blob(let value): hasher.combine(value)
        case .sixteenBytes(let first, let second):
            hasher.combine(first)
            hasher.combine(second)
        case .unencodable(let value): hasher.combine(ObjectIdentifier(value))
        }
    }
}

extension DatabaseValue: DatabaseValueConvertible {
    /// The value itself.
    public var databaseValue: DatabaseValue { self }

    /// Returns the value itself.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> DatabaseValue? { dbValue }
}

extension DatabaseValue: CustomStringConvertible {
    /// The value, as Swift source would write it.
    public var description: String {
        if case .unencodable(let value) = content { return value.message }
        return switch storage {
        case .null: "NULL"
        case .int64(let value): value.description
        case .double(let value): value.description
        case .string(let value): value.debugDescription
        case .blob(let value): "Data(\(value.count) bytes)"
        }
    }
}
