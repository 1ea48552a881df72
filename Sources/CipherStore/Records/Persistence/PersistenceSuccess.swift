/// What is known about a record that was inserted.
public struct InsertionSuccess: Sendable {
    /// The rowid of the row.
    ///
    /// For a table without rowids, and when the `IGNORE` policy left the row
    /// out, it is that of another row.
    public var rowID: Int64

    /// The column that is an alias of the rowid, or nil when the table has none.
    public var rowIDColumn: String?

    /// The values that were written.
    ///
    /// It has the primary key that the library generated for a record without
    /// one:
    ///
    /// ```swift
    /// mutating func didInsert(_ inserted: InsertionSuccess) {
    ///     id = inserted.persistenceContainer["id"]
    /// }
    /// ```
    public var persistenceContainer: PersistenceContainer
}

/// What is known about a record that was inserted or updated.
public struct PersistenceSuccess: Sendable {
    /// The values that were written.
    public var persistenceContainer: PersistenceContainer

    /// Makes the same of an insertion.
    @inlinable
    public init(_ inserted: InsertionSuccess) {
        persistenceContainer = inserted.persistenceContainer
    }

    init(persistenceContainer: PersistenceContainer) {
        self.persistenceContainer = persistenceContainer
    }
}
