import CipherStore
import SyncWire

/// What happens to a row whose parent was deleted on another replica.
///
/// Two replicas that were apart can leave a child without its parent: one deletes
/// the parent, the other adds the child. Which of the two was right is not for
/// SQLite to say; the foreign key's own actions have run where the parent was deleted.
///
/// A policy other than ``hold`` is for foreign keys of one column that refer to the primary key of their parent. Rows with
/// other foreign keys are held.
public enum OrphanPolicy: String, Sendable, CaseIterable {
    /// The row is hidden and kept. It comes back if the parent does.
    case hold
    /// The row is deleted, on all replicas.
    case delete
    /// The columns that refer to the parent become NULL, on all replicas. A row that
    /// can't have that is held.
    case setNull
}

/// Reads and carries out the policies of tables.
struct OrphanPolicies {
    let db: Database
    let environment: SyncEnvironment
    private let policies: [Int64: OrphanPolicy]
    private let deletions: UnfoldedDeletions
    private let parents: ParentSpellings

    init(_ db: Database, _ environment: SyncEnvironment) throws {
        self.db = db
        self.environment = environment
        deletions = UnfoldedDeletions(db)
        parents = ParentSpellings(db)
        policies = Dictionary(
            try Row.fetchAll(db, sql: "SELECT tbl, policy FROM _sync_orphan_policy").map {
                (
                    try $0.decode(Int64.self, atIndex: 0),
                    OrphanPolicy(rawValue: try $0.decode(atIndex: 1)) ?? .hold
                )
            }, uniquingKeysWith: { first, _ in first })
    }

    subscript(table: Int64) -> OrphanPolicy { policies[table] ?? .hold }

    /// Ends the use of the policies for orphans.
    func finish() { parents.finish() }

    private var edits: EngineEdits { EngineEdits(db: db, environment: environment) }

    /// Stores the policy of a table.
    static func set(_ db: Database, _ policy: OrphanPolicy, for name: String) throws {
        let table = try SyncedTable.loadAll(db).first {
            $0.isTracked && $0.name.isSameIdentifier(as: name)
        }
        guard let table else { throw SyncError(.noSuchTable, "table \(name) is not tracked") }
        try db.execute(sql: "DELETE FROM _sync_orphan_policy WHERE tbl = ?", arguments: [table.number])
        guard policy != .hold else { return }
        try db.execute(
            sql: "INSERT INTO _sync_orphan_policy (tbl, policy) VALUES (?, ?)",
            arguments: [table.number, policy.rawValue])
    }

    /// Deletes or changes an orphan, as a user would: with a stamp of this replica.
    ///
    /// - returns: False when the row is to be held.
    func carryOut(
        on table: AppliedTable, _ orphan: TouchedRows.Orphan, _ reference: ForeignKey
    ) throws -> Bool {
        let policy = self[table.table.number]
        guard policy != .hold, let parent = orphan.parent, try isDeleted(parent, of: reference) else {
            return false
        }
        return try withExtendedLifetime(orphan.key) {
            let key = RowKey(orphan.key.value)
            switch policy {
            case .hold: return false
            case .delete:
                try keep(table, orphan.key)
                try table.delete(key)
                try edits.log(table.table.number, key, ChangeLog.Operation.delete)
            case .setNull:
                guard let name = reference.keyColumn,
                    let column = table.table.presentColumns.first(where: {
                        $0.name.isSameIdentifier(as: name)
                    }), try table.update(key, [(column.name, .null)]) == nil
                else { return false }
                let group = column.number / ChangeLog.columnsPerGroup
                try edits.log(
                    table.table.number, key,
                    ChangeLog.Operation.update | group << ChangeLog.Operation.groupShift,
                    mask: 1 << Int64(column.number % ChangeLog.columnsPerGroup))
            }
            return true
        }
    }

    /// Keeps the values of a row that is about to be deleted, as the triggers do where a program deletes one. What counters
    /// keep stays until the fold.
    private func keep(_ table: AppliedTable, _ owner: OwnedValue) throws {
        let version = try Row.fetchOne(
            db, sql: "SELECT r, cl FROM _sync_row WHERE tbl = ? AND pk = ? AND cl & 1",
            arguments: [table.table.number, owner.value.databaseValue])
        guard let version else { return }
        let reader = table.reader
        try reader.load(key: RowKey(owner.value), hasParkedValues: true)
        defer { reader.finish() }
        var owned: [Int: OwnedValue] = [:]
        for (ordinal, column) in table.table.columns.enumerated() where reader.hasValue(ordinal) {
            owned[column.number] = OwnedValue(copying: reader.value(ordinal))
        }
        try withExtendedLifetime(owned) {
            try LastRows(db).keep(
                owned.mapValues(\.value), row: version.decode(atIndex: 0), life: version.decode(atIndex: 1),
                at: environment.milliseconds())
        }
    }

    /// Whether a parent existed and was deleted. One that was never here may still come. Where the parent's key takes several
    /// spellings for the same, each of them may be the parent.
    private func isDeleted(_ key: OwnedValue, of reference: ForeignKey) throws -> Bool {
        let statement = try db.cachedStatement(sql: parents.selection(reference))
        statement.reset()
        defer { statement.reset() }
        return try withExtendedLifetime(key) {
            _ = RawBinding.int64(statement.sqliteStatement, 1, reference.parent.number)
            key.value.bind(statement.sqliteStatement, 2)
            var isKnown = false
            while try statement.step() {
                isKnown = true
                if case .integer(0) = WireValue(statement.sqliteStatement, 0) { continue }
                let spelling = WireValue(statement.sqliteStatement, 1).databaseValue
                guard try deletions.contains(reference.parent.number, spelling) else { return false }
            }
            return isKnown
        }
    }
}
