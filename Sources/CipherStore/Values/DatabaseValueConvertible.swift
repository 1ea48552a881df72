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
public protocol DatabaseValueConvertible: SQLExpressible, StatementBinding {
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

    /// Returns nil: a missing column is an error.
    public static func fromMissingColumn() -> Self? { nil }
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

    /// Decodes a column that may be NULL, or returns nil when it does not fit.
    ///
    /// The caller guarantees that the column exists. Types whose initializer
    /// refuses NULL by itself save a look at the column by calling it at once.
    static func fromStatement(_ sqliteStatement: SQLiteStatement, atUncheckedIndex index: CInt) -> Self?
}

extension StatementColumnConvertible {
    /// Decodes a column that is not NULL, or returns nil.
    @inlinable
    public static func fromStatement(
        _ sqliteStatement: SQLiteStatement, atUncheckedIndex index: CInt
    ) -> Self? {
        if RawColumn.isNull(sqliteStatement, index) { return nil }
        return self.init(sqliteStatement: sqliteStatement, index: index)
    }
}
