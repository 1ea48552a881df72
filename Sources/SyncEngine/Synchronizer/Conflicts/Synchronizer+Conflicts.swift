import CipherStore

/// A conflict and the row that it is about, as it is now.
public struct ConflictDetail: Equatable, Sendable {
    /// The conflict.
    public let conflict: Conflict
    /// Whether the row is in its table.
    public let rowExists: Bool
    /// The column's value now; nil when the row or the column is not there.
    public let current: DatabaseValue?
    /// What else the journal keeps of the same life of the row, by column.
    public let others: [Conflict]
}

extension Synchronizer {
    /// Reads the conflicts of the journal, newest first.
    ///
    /// ```swift
    /// for conflict in try synchronizer.conflicts(ConflictFilter(table: "note")) {
    ///     print(conflict.column, conflict.lost, "lost against", conflict.winner.replica)
    /// }
    /// ```
    ///
    /// - parameter filter: Which ones; by default all that are open.
    /// - throws: ``SyncError``, `DatabaseError`.
    public func conflicts(_ filter: ConflictFilter = .open) throws -> [Conflict] {
        try upgradeIfNeeded()
        return try database.read { try Conflict.request(filter).fetchAll($0) }
    }

    /// Counts the conflicts of the journal. The filter's limit is ignored.
    ///
    /// - throws: ``SyncError``, `DatabaseError`.
    public func conflictCount(_ filter: ConflictFilter = .open) throws -> Int {
        try upgradeIfNeeded()
        var filter = filter
        filter.limit = nil
        let request = Conflict.request(filter)
        return try database.read { try request.fetchCount($0) }
    }

    /// Reads a conflict with the value that stands now.
    ///
    /// - returns: nil when there is no such conflict.
    /// - throws: ``SyncError``, `DatabaseError`.
    public func conflict(id: Int64) throws -> ConflictDetail? {
        try upgradeIfNeeded()
        return try database.read { db in
            guard let detail = try detail(db, id) else { return nil }
            let conflict = detail.conflict
            let others = try Conflict.request(
                ConflictFilter(state: nil, table: conflict.table, key: conflict.key, includesRows: true)
            ).fetchAll(db).filter { $0.life == conflict.life && $0.id != id }.sorted { $0.id < $1.id }
            return ConflictDetail(
                conflict: conflict, rowExists: detail.rowExists, current: detail.current, others: others)
        }
    }

    /// Reads a conflict with the value that stands now, and counts what else the journal keeps of the row.
    ///
    /// - returns: nil when there is no such conflict.
    package func conflictAndCount(_ db: Database, id: Int64) throws -> (detail: ConflictDetail, others: Int)?
    {
        guard let detail = try detail(db, id) else { return nil }
        let (table, key) = (detail.conflict.table, detail.conflict.key)
        let count = try Conflict.request(
            ConflictFilter(state: nil, table: table, key: key, includesRows: true)
        ).fetchCount(db)
        return (detail, max(0, count - 1))
    }

    /// A conflict with the value that stands now, without the others of its row.
    private func detail(_ db: Database, _ id: Int64) throws -> ConflictDetail? {
        let filter = ConflictFilter(state: nil, ids: [id])
        guard let conflict = try Conflict.request(filter).fetchOne(db) else { return nil }
        let row = try currentRow(db, conflict)
        return ConflictDetail(
            conflict: conflict, rowExists: row != nil, current: row?[conflict.column], others: [])
    }

    private func currentRow(_ db: Database, _ conflict: Conflict) throws -> Row? {
        guard
            let table = try SchemaInspection(db: db).tables()
                .first(where: { $0.name.isSameIdentifier(as: conflict.table) })
        else { return nil }
        return try Row.fetchOne(
            db, sql: "SELECT * FROM \(table.qualifiedName) WHERE \(table.keyMatch("?1"))",
            arguments: [conflict.key])
    }

    /// The open conflicts, again whenever they change: by a synchronization in this
    /// process, or because somebody deals with them.
    ///
    /// ```swift
    /// for try await conflicts in try synchronizer.conflictUpdates() {
    ///     badge.count = conflicts.count
    /// }
    /// ```
    ///
    /// - throws: ``SyncError``, `DatabaseError`; so does the sequence.
    public func conflictUpdates(
        _ filter: ConflictFilter = .open
    ) throws -> AsyncValueObservation<[Conflict]> {
        try upgradeIfNeeded()
        return ValueObservation.tracking { try Conflict.request(filter).fetchAll($0) }
            .removeDuplicates().values(in: database)
    }

    /// The number of conflicts, again whenever it changes, see ``conflictUpdates(_:)``.
    public func conflictCountUpdates(
        _ filter: ConflictFilter = .open
    ) throws -> AsyncValueObservation<Int> {
        try upgradeIfNeeded()
        return ValueObservation.tracking { try Conflict.request(filter).fetchCount($0) }
            .removeDuplicates().values(in: database)
    }

    /// Brings the metadata of a store that was only opened to this version.
    func upgradeIfNeeded() throws {
        let metadata = try database.read { try StoreMetadata.require($0) }
        guard metadata.format < MetadataSchema.version else { return }
        try database.write { db in
            try db.withoutReportingSchemaChanges { try MetadataSchema.upgrade(db) }
        }
    }
}
