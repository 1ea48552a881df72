/// A base class for records.
///
/// Prefer structs, or classes of your own, that conform to ``FetchableRecord``
/// and ``PersistableRecord``. This class exists for programs that have it.
///
/// It knows whether it has changes that the database does not have.
open class Record: FetchableRecord, PersistableRecord {
    /// The values that are in the database, as far as the record knows.
    private var reference: [String: DatabaseValue]?

    /// The table. A subclass must override it.
    open class var databaseTableName: String {
        fatalError("subclass must override databaseTableName")
    }

    /// What requests of the record select. The default is all columns.
    open class var databaseSelection: [any SQLSelectable] { [AllColumns()] }

    /// What becomes of records that violate a constraint. The default is `ABORT`.
    open class var persistenceConflictPolicy: PersistenceConflictPolicy { PersistenceConflictPolicy() }

    /// Makes a record that is not in the database.
    public init() {}

    /// Makes a record of a row.
    public required init(row: Row) throws {
        // A row that the program made is no news from the database.
        if row.isFetched { reference = Dictionary(row, uniquingKeysWith: { leftmost, _ in leftmost }) }
    }

    /// Puts the values to store into a container. A subclass that has any
    /// overrides it.
    open func encode(to container: inout PersistenceContainer) throws {}

    // MARK: Changes

    /// Whether the record has changes that the database may not have.
    ///
    /// To set it to false does not touch the database.
    public var hasDatabaseChanges: Bool {
        get { (try? !databaseChanges.isEmpty) ?? true }
        set { reference = newValue ? nil : try? PersistenceContainer(self).dictionary }
    }

    /// The columns that have changes, with the values they had, or nil where
    /// that is not known.
    ///
    /// - throws: What encoding throws.
    public var databaseChanges: [String: DatabaseValue?] {
        get throws {
            let container = try PersistenceContainer(self)
            var changes: [String: DatabaseValue?] = [:]
            for (position, column) in container.columns.enumerated() {
                let old = value(ofColumn: column)
                if old != container.value(at: position) { changes.updateValue(old, forKey: column) }
            }
            return changes
        }
    }

    /// The value that the database has for a column, as far as it is known.
    private func value(ofColumn column: String) -> DatabaseValue? {
        guard let reference else { return nil }
        return reference[column] ?? reference.first { $0.key.isSameName(as: column) }?.value
    }

    /// Updates the columns that have changes.
    ///
    /// - returns: Whether there were any.
    /// - throws: ``RecordError/recordNotFound(databaseTableName:key:)`` when
    ///   there is no such row, a ``DatabaseError``, and what the callbacks throw.
    @discardableResult
    public final func updateChanges(_ db: Database) throws -> Bool {
        let columns = try databaseChanges.keys
        guard !columns.isEmpty else { return false }
        try update(db, columns: Array(columns))
        return true
    }

    // MARK: Callbacks

    /// Called before the record is saved. Call `super`.
    open func willSave(_ db: Database) throws {}

    /// Called before the record is inserted. Call `super`.
    open func willInsert(_ db: Database) throws {}

    /// Called around the insertion. Call `super`.
    open func aroundInsert(_ db: Database, insert: () throws -> InsertionSuccess) throws {
        let inserted = try insert()
        noteSaved(inserted.persistenceContainer, rowID: inserted)
    }

    /// Called after the record was inserted. Call `super`.
    open func didInsert(_ inserted: InsertionSuccess) {}

    /// Called before the record is updated. Call `super`.
    open func willUpdate(_ db: Database, columns: Set<String>) throws {}

    /// Called around the update. Call `super`.
    open func aroundUpdate(
        _ db: Database, columns: Set<String>, update: () throws -> PersistenceSuccess
    ) throws {
        let updated = try update()
        noteUpdated(updated.persistenceContainer, columns)
    }

    /// Called after the record was updated. Call `super`.
    open func didUpdate(_ updated: PersistenceSuccess) {}

    /// Called around the insertion or update. Call `super`.
    open func aroundSave(_ db: Database, save: () throws -> PersistenceSuccess) throws {
        _ = try save()
    }

    /// Called after the record was saved. Call `super`.
    open func didSave(_ saved: PersistenceSuccess) {}

    /// Called before the record is deleted. Call `super`.
    open func willDelete(_ db: Database) throws {}

    /// Called around the deletion. Call `super`.
    open func aroundDelete(_ db: Database, delete: () throws -> Bool) throws {
        _ = try delete()
        // What was deleted can be inserted again.
        hasDatabaseChanges = true
    }

    /// Called after the record was deleted, or was not found. Call `super`.
    open func didDelete(deleted: Bool) {}

    private func noteSaved(_ container: PersistenceContainer, rowID inserted: InsertionSuccess) {
        var values = container.dictionary
        if let column = inserted.rowIDColumn {
            let name = values.keys.first { $0.isSameName(as: column) } ?? column
            values[name] = inserted.rowID.databaseValue
        }
        reference = values
    }

    private func noteUpdated(_ container: PersistenceContainer, _ columns: Set<String>) {
        var values = reference ?? [:]
        for (position, column) in container.columns.enumerated()
        where columns.contains(where: { $0.isSameName(as: column) }) {
            values[column] = container.value(at: position)
        }
        reference = values
    }
}
