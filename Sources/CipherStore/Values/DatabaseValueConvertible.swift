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
public protocol DatabaseValueConvertible: StatementBinding {
    /// The value as the database stores it.
    var databaseValue: DatabaseValue { get }

    /// Makes an instance of a stored value, or returns nil when it does not fit.
    static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Self?

    /// Makes an instance for a column that a row does not have, or returns nil
    /// when a missing column is an error.
    static func fromMissingColumn() -> Self?
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
public protocol StatementColumnConvertible {
    /// Decodes a column that is not NULL, or returns nil when it does not fit.
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

extension RawRepresentable where Self: DatabaseValueConvertible, RawValue: DatabaseValueConvertible {
    /// The raw value as the database stores it.
    public var databaseValue: DatabaseValue { rawValue.databaseValue }

    /// Makes an instance of a stored raw value.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Self? {
        RawValue.fromDatabaseValue(dbValue).flatMap(Self.init(rawValue:))
    }
}
