import Foundation

/// A value as SQLite stores it: NULL, an integer, a floating-point number,
/// text, or a blob.
public struct DatabaseValue: Hashable, Sendable {
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

    /// The storage of the value.
    public let storage: Storage

    /// The NULL value.
    public static let null = DatabaseValue(storage: .null)

    @usableFromInline init(storage: Storage) {
        self.storage = storage
    }

    /// Copies a column of a statement's current row.
    @usableFromInline init(sqliteStatement: SQLiteStatement, index: CInt) {
        switch RawColumn.storageClass(sqliteStatement, index) {
        case RawColumn.nullClass: storage = .null
        case RawColumn.integerClass: storage = .int64(RawColumn.int64(sqliteStatement, index))
        case RawColumn.realClass: storage = .double(RawColumn.double(sqliteStatement, index))
        case RawColumn.textClass: storage = .string(RawColumn.string(sqliteStatement, index))
        default: storage = .blob(Data(RawColumn.blob(sqliteStatement, index)))
        }
    }

    /// Whether the value is NULL.
    public var isNull: Bool { storage == .null }

    /// Binds the value to a statement's parameter, counted from 1.
    ///
    /// - returns: An SQLite result code.
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        switch storage {
        case .null: RawBinding.null(sqliteStatement, index)
        case .int64(let value): RawBinding.int64(sqliteStatement, index, value)
        case .double(let value): RawBinding.double(sqliteStatement, index, value)
        case .string(let value): RawBinding.string(sqliteStatement, index, value)
        case .blob(let value):
            value.withUnsafeBytes { RawBinding.blob(sqliteStatement, index, $0) }
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
        switch storage {
        case .null: "NULL"
        case .int64(let value): value.description
        case .double(let value): value.description
        case .string(let value): "\"\(value)\""
        case .blob(let value): "Data(\(value.count) bytes)"
        }
    }
}
