// An optional is a value of its own: NULL, and a column that is not there,
// are nil.

extension Optional: StatementBinding where Wrapped: StatementBinding {
    /// Binds the value, or NULL.
    @inlinable
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        switch self {
        case .some(let value): value.bind(to: sqliteStatement, at: index)
        case .none: RawBinding.null(sqliteStatement, index)
        }
    }
}

extension Optional: DatabaseValueConvertible where Wrapped: DatabaseValueConvertible {
    /// The value as the database stores it, or NULL.
    public var databaseValue: DatabaseValue { self?.databaseValue ?? .null }

    /// Decodes a value; NULL is nil.
    ///
    /// - returns: `.some(nil)` for NULL, and nil when the value does not fit.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Wrapped?? {
        if let value = Wrapped.fromDatabaseValue(dbValue) { return .some(value) }
        return dbValue.isNull ? .some(nil) : nil
    }

    /// Returns nil as the value: a missing column is no error.
    public static func fromMissingColumn() -> Wrapped?? { .some(nil) }
}

extension Optional: StatementColumnConvertible where Wrapped: StatementColumnConvertible {
    /// Decodes a column that is not NULL, or returns nil when it does not fit.
    @inlinable
    public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        guard let value = Wrapped(sqliteStatement: sqliteStatement, index: index) else { return nil }
        self = value
    }

    /// Decodes a column; NULL is nil.
    @inlinable
    public static func fromStatement(
        _ sqliteStatement: SQLiteStatement, atUncheckedIndex index: CInt
    ) -> Wrapped?? {
        if let value = Wrapped.fromStatement(sqliteStatement, atUncheckedIndex: index) { return .some(value) }
        return RawColumn.isNull(sqliteStatement, index) ? .some(nil) : nil
    }
}
