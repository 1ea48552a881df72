import Foundation

/// A type that binds itself to a parameter of a statement.
public protocol StatementBinding {
    /// Binds the value to a parameter, counted from 1.
    ///
    /// - returns: An SQLite result code.
    func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt
}

/// A type that converts to and from a database value.
///
/// ```swift
/// let name = try String.fetchOne(db, sql: "SELECT name FROM player WHERE id = ?", arguments: [1])
/// ```
///
/// These types need no implementation of their own:
///
/// - A `RawRepresentable` type, such as an enum, is stored as its raw value.
/// - A `Codable` type is stored as the one value it encodes, or else as JSON
///   text; see ``databaseJSONEncoder()``.
///
/// ```swift
/// enum Color: Int, DatabaseValueConvertible { case red, white, rose }
/// ```
public protocol DatabaseValueConvertible: StatementBinding {
    /// The value as the database stores it.
    var databaseValue: DatabaseValue { get }

    /// Makes an instance of a stored value, or returns nil when it does not fit.
    static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Self?

    /// Returns the value of a column that a row does not have, or nil when that
    /// is an error. Only optional types have one, unless a type provides it.
    static func fromMissingColumn() -> Self?

    /// Returns the decoder of types that are stored as JSON text.
    static func databaseJSONDecoder() -> JSONDecoder

    /// Returns the encoder of types that are stored as JSON text.
    static func databaseJSONEncoder() -> JSONEncoder
}

extension DatabaseValueConvertible {
    /// Binds the database value.
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        databaseValue.bind(to: sqliteStatement, at: index)
    }

    /// Returns nil.
    public static func fromMissingColumn() -> Self? { nil }

    /// Decodes a value or explains why it can't be.
    static func decode(_ dbValue: DatabaseValue, context: @autoclosure () -> String) throws -> Self {
        if let value = fromDatabaseValue(dbValue) { return value }
        throw RowDecodingError(type: "\(Self.self)", value: dbValue, context: context())
    }
}

/// A type that decodes itself from a column without an intermediate value.
///
/// The types that come with the library decode a column as SQLite's own
/// accessors do: a number is read from text, and text from a number. This is
/// more than `fromDatabaseValue` accepts. A number that is out of range does not
/// decode on either path.
public protocol StatementColumnConvertible {
    /// Decodes a column that is not NULL, or returns nil when it does not fit.
    ///
    /// - parameter sqliteStatement: A statement with a current row.
    /// - parameter index: The position of the column, counted from 0.
    init?(sqliteStatement: SQLiteStatement, index: CInt)
}

/// A value of the database that does not have the expected type.
public struct RowDecodingError: Error, CustomStringConvertible, Sendable {
    /// The type that was asked for.
    public let type: String

    /// Where the value was found.
    public let context: String

    private let storage: String

    init(type: String, value: DatabaseValue, context: String) {
        self.type = type
        self.context = context
        switch value.storage {
        case .null: storage = "NULL"
        case .int64: storage = "an integer"
        case .double: storage = "a floating-point number"
        case .string: storage = "text"
        case .blob: storage = "a blob"
        }
    }

    /// A text without the value, so that it can be logged.
    public var description: String {
        "could not decode \(type) from \(storage) - \(context)"
    }
}
