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
    public var persistenceContainer: PersistenceContainer {
        get { written.container(rowID: rowID, in: rowIDColumn) }
        set { written = newValue }
    }

    /// What the record encoded. The key of a new row is added when somebody asks.
    @usableFromInline var written: PersistenceContainer

    init(rowID: Int64, rowIDColumn: String?, persistenceContainer: PersistenceContainer) {
        self.rowID = rowID
        self.rowIDColumn = rowIDColumn
        written = persistenceContainer
    }
}

extension PersistenceContainer {
    /// The container with the rowid of the row that it was written to.
    fileprivate func container(rowID: Int64?, in column: String?) -> PersistenceContainer {
        guard let rowID, let column, value(of: column)?.isNull != false else { return self }
        var container = self
        container.set(rowID.databaseValue, for: column)
        return container
    }
}

/// What is known about a record that was inserted or updated.
public struct PersistenceSuccess: Sendable {
    /// The values that were written, with the key of a row that was inserted.
    public var persistenceContainer: PersistenceContainer {
        get { written.container(rowID: rowID, in: rowIDColumn) }
        set { written = newValue }
    }

    @usableFromInline var written: PersistenceContainer
    @usableFromInline let rowID: Int64?
    @usableFromInline let rowIDColumn: String?

    /// Makes the same of an insertion.
    @inlinable
    public init(_ inserted: InsertionSuccess) {
        written = inserted.written
        rowID = inserted.rowID
        rowIDColumn = inserted.rowIDColumn
    }

    init(persistenceContainer: PersistenceContainer) {
        written = persistenceContainer
        rowID = nil
        rowIDColumn = nil
    }
}
