// An enum, or another type with a raw value, is stored as that value.

extension StatementBinding where Self: RawRepresentable, RawValue: StatementBinding {
    /// Binds the raw value.
    @inlinable
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        rawValue.bind(to: sqliteStatement, at: index)
    }
}

extension StatementColumnConvertible where Self: RawRepresentable, RawValue: StatementColumnConvertible {
    /// Decodes a raw value from a column.
    @inlinable
    public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        guard let rawValue = RawValue(sqliteStatement: sqliteStatement, index: index) else { return nil }
        self.init(rawValue: rawValue)
    }

    /// Decodes a raw value from a column, or returns nil for NULL and for what
    /// does not fit.
    @inlinable
    public static func fromStatement(
        _ sqliteStatement: SQLiteStatement, atUncheckedIndex index: CInt
    ) -> Self? {
        guard let rawValue = RawValue.fromStatement(sqliteStatement, atUncheckedIndex: index) else {
            return nil
        }
        return Self(rawValue: rawValue)
    }
}

extension DatabaseValueConvertible where Self: RawRepresentable, RawValue: DatabaseValueConvertible {
    /// The raw value as the database stores it.
    public var databaseValue: DatabaseValue { rawValue.databaseValue }

    /// The raw value as an expression.
    public var sqlExpression: SQLExpression { rawValue.sqlExpression }

    /// Makes an instance of a stored raw value.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Self? {
        RawValue.fromDatabaseValue(dbValue).flatMap { Self(rawValue: $0) }
    }

    /// Binds the raw value.
    @inlinable
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        rawValue.bind(to: sqliteStatement, at: index)
    }
}

// The raw value comes before the encoding that the compiler derives from it.

extension DatabaseValueConvertible
where Self: RawRepresentable & Encodable, RawValue: DatabaseValueConvertible {
    /// The raw value as the database stores it.
    public var databaseValue: DatabaseValue { rawValue.databaseValue }
}

extension DatabaseValueConvertible
where Self: RawRepresentable & Decodable, RawValue: DatabaseValueConvertible {
    /// Makes an instance of a stored raw value.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Self? {
        RawValue.fromDatabaseValue(dbValue).flatMap { Self(rawValue: $0) }
    }
}

// A generic wrapper is an expression when what it wraps is one.

extension SQLExpressible where Self: RawRepresentable, RawValue: SQLExpressible {
    /// The raw value as an expression.
    public var sqlExpression: SQLExpression { rawValue.sqlExpression }
}

extension SQLSelectable where Self: RawRepresentable, RawValue: SQLSelectable {
    /// The raw value as a result column.
    public var sqlSelection: SQLSelection { rawValue.sqlSelection }
}

extension SQLOrderingTerm where Self: RawRepresentable, RawValue: SQLOrderingTerm {
    /// The raw value as an ordering term.
    public var sqlOrdering: SQLOrdering { rawValue.sqlOrdering }
}

extension ColumnExpression where Self: RawRepresentable, RawValue: SQLExpressible {
    /// The column, and not its name, as an expression.
    public var sqlExpression: SQLExpression { .column(name) }
}
