// What a table's `all` fetches, as functions of the table's type. A type that is a record as well has them already, so these are
// disfavored.

extension Table
where DefaultScope.QueryValue == (), DefaultScope.Joins == NoJoins, DefaultScope.From == Self {
    /// All rows of the table: those of ``all``.
    ///
    /// ```swift
    /// let reminders = try Reminder.fetchAll(db)
    /// ```
    ///
    /// - parameter db: The database.
    /// - throws: A `DatabaseError`, or a ``QueryDecodingFailure``.
    @_disfavoredOverload
    public static func fetchAll(_ db: Database) throws -> [QueryOutput] { try all.fetchAll(db) }

    /// The first row of the table, or nil.
    ///
    /// - parameter db: The database.
    /// - throws: A `DatabaseError`, or a ``QueryDecodingFailure``.
    @_disfavoredOverload
    public static func fetchOne(_ db: Database) throws -> QueryOutput? { try all.fetchOne(db) }

    /// A cursor of all rows of the table.
    ///
    /// - parameter db: The database.
    /// - throws: A `DatabaseError`.
    @_disfavoredOverload
    public static func fetchCursor(_ db: Database) throws -> QueryCursor<QueryOutput> {
        try all.fetchCursor(db)
    }
}

extension Table {
    /// The number of rows of the table: of those of ``all``.
    ///
    /// - parameter db: The database.
    /// - throws: A `DatabaseError`.
    @_disfavoredOverload
    public static func fetchCount(_ db: Database) throws -> Int { try all.fetchCount(db) }
}
