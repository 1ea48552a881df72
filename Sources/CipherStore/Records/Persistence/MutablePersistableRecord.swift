/// A type whose instances are written to a table.
///
/// ```swift
/// struct Player: MutablePersistableRecord, Encodable {
///     var id: Int64?
///     var name: String
///
///     mutating func didInsert(_ inserted: InsertionSuccess) {
///         id = inserted.rowID
///     }
/// }
///
/// var player = Player(id: nil, name: "Arthur")
/// try player.insert(db)
/// ```
///
/// Conform to it when inserting an instance changes it, as above, else to
/// ``PersistableRecord``.
///
/// The callbacks are called by the methods of instances alone: not by requests
/// that update or delete many rows, nor by SQL.
public protocol MutablePersistableRecord: EncodableRecord, TableRecord {
    /// What becomes of records that violate a constraint.
    static var persistenceConflictPolicy: PersistenceConflictPolicy { get }

    /// Called before the record is inserted, within `aroundSave`.
    mutating func willInsert(_ db: Database) throws

    /// Called around the insertion. It must call the function.
    func aroundInsert(_ db: Database, insert: () throws -> InsertionSuccess) throws

    /// Called after the record was inserted.
    mutating func didInsert(_ inserted: InsertionSuccess)

    /// Called before the record is updated, within `aroundSave`.
    ///
    /// - parameter db: The connection.
    /// - parameter columns: The columns that are written.
    func willUpdate(_ db: Database, columns: Set<String>) throws

    /// Called around the update. It must call the function.
    ///
    /// - parameter db: The connection.
    /// - parameter columns: The columns that are written.
    /// - parameter update: What writes the columns.
    func aroundUpdate(_ db: Database, columns: Set<String>, update: () throws -> PersistenceSuccess) throws

    /// Called after the record was updated.
    func didUpdate(_ updated: PersistenceSuccess)

    /// Called before the record is inserted or updated.
    func willSave(_ db: Database) throws

    /// Called around the insertion or update. It must call the function.
    func aroundSave(_ db: Database, save: () throws -> PersistenceSuccess) throws

    /// Called after the record was inserted or updated.
    func didSave(_ saved: PersistenceSuccess)

    /// Called before the record is deleted.
    func willDelete(_ db: Database) throws

    /// Called around the deletion. It must call the function.
    func aroundDelete(_ db: Database, delete: () throws -> Bool) throws

    /// Called after the record was deleted, or was not found.
    func didDelete(deleted: Bool)
}

extension MutablePersistableRecord {
    /// The `ABORT` policy, which is SQLite's.
    public static var persistenceConflictPolicy: PersistenceConflictPolicy { PersistenceConflictPolicy() }

    /// Does nothing.
    @inlinable public mutating func willInsert(_ db: Database) throws {}

    /// Calls the function.
    @inlinable public func aroundInsert(_ db: Database, insert: () throws -> InsertionSuccess) throws {
        _ = try insert()
    }

    /// Does nothing.
    @inlinable public mutating func didInsert(_ inserted: InsertionSuccess) {}

    /// Does nothing.
    @inlinable public func willUpdate(_ db: Database, columns: Set<String>) throws {}

    /// Calls the function.
    @inlinable public func aroundUpdate(
        _ db: Database, columns: Set<String>, update: () throws -> PersistenceSuccess
    ) throws {
        _ = try update()
    }

    /// Does nothing.
    @inlinable public func didUpdate(_ updated: PersistenceSuccess) {}

    /// Does nothing.
    @inlinable public func willSave(_ db: Database) throws {}

    /// Calls the function.
    @inlinable public func aroundSave(_ db: Database, save: () throws -> PersistenceSuccess) throws {
        _ = try save()
    }

    /// Does nothing.
    @inlinable public func didSave(_ saved: PersistenceSuccess) {}

    /// Does nothing.
    @inlinable public func willDelete(_ db: Database) throws {}

    /// Calls the function.
    @inlinable public func aroundDelete(_ db: Database, delete: () throws -> Bool) throws {
        _ = try delete()
    }

    /// Does nothing.
    @inlinable public func didDelete(deleted: Bool) {}
}

/// A type whose instances are written to a table, and are not changed by it.
///
/// ```swift
/// struct Player: PersistableRecord, Encodable {
///     var id: UUID
///     var name: String
/// }
///
/// try Player(id: UUID.v7(), name: "Arthur").insert(db)
/// ```
public protocol PersistableRecord: MutablePersistableRecord {
    /// Called before the record is inserted, within `aroundSave`.
    func willInsert(_ db: Database) throws

    /// Called after the record was inserted.
    func didInsert(_ inserted: InsertionSuccess)
}

extension PersistableRecord {
    /// Does nothing.
    @inlinable public func willInsert(_ db: Database) throws {}

    /// Does nothing.
    @inlinable public func didInsert(_ inserted: InsertionSuccess) {}
}
