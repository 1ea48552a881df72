import CipherStore
import SyncWire

/// Finds the rows that hold what another row claims under UNIQUE indexes.
///
/// Where that is not for the indexes to say (``IndexedRivals``), SQLite itself is asked, since it alone knows partial and
/// expression indexes: `INSERT OR REPLACE` deletes each row that stands in the way,
/// a temporary trigger notes which, and a savepoint undoes it all. As the trigger was made in the same transaction, SQLite reads the
/// schema anew after each of these, which takes milliseconds.
final class UniqueRivals {
    private let db: Database
    private let table: SyncedTable
    private let indexes: IndexedRivals?
    private let trigger: String
    private var hasTrigger = false
    /// What stands against the row that was asked for last, beside its rivals: an expression fails for its values, or for a rival's.
    private(set) var failure: ConstraintFailure?

    init(_ db: Database, _ table: AppliedTable) throws {
        self.db = db
        self.table = table.table
        indexes = try IndexedRivals(db, table)
        trigger = "_sync_rival_\(table.table.number)"
    }

    /// Creates the trigger, in the open transaction.
    private func makeTrigger() throws {
        guard !hasTrigger else { return }
        hasTrigger = true
        try db.execute(
            sql: """
                CREATE TEMP TABLE IF NOT EXISTS _sync_rivals (pk);
                DROP TRIGGER IF EXISTS temp.\(trigger);
                CREATE TEMP TRIGGER \(trigger) AFTER DELETE ON \(table.qualifiedName) BEGIN
                    INSERT INTO _sync_rivals (pk) VALUES (OLD.\(table.key.quotedDatabaseIdentifier));
                END;
                PRAGMA recursive_triggers = ON;
                """)
    }

    /// Drops the trigger.
    func finish() {
        guard hasTrigger else { return }
        try? db.execute(sql: "DROP TRIGGER IF EXISTS temp.\(trigger)")
    }

    /// Returns the keys of the rows that are in the way of a row that is not in the table.
    func rivals(_ key: RowKey, _ values: [(name: String, value: WireValue)]) throws -> [OwnedValue] {
        failure = nil
        if let found = try indexes?.rivals(key, values), !found.isEmpty { return found }
        return try probe(key, values)
    }

    /// Asks SQLite for the same.
    func probe(_ key: RowKey, _ values: [(name: String, value: WireValue)]) throws -> [OwnedValue] {
        try makeTrigger()
        let names = ([table.key] + values.map(\.name)).map(\.quotedDatabaseIdentifier)
        let insertion = try db.cachedStatement(
            sql: """
                INSERT OR REPLACE INTO \(table.qualifiedName) (\(names.joined(separator: ", ")))
                VALUES (\(names.map { _ in "?" }.joined(separator: ", ")))
                """)
        assert(db.isInsideTransaction, "the end of the probe would commit")
        try db.execute(sql: "SAVEPOINT _sync_probe; DELETE FROM temp._sync_rivals")
        do {
            insertion.reset()
            for (index, value) in ([key.value] + values.map(\.value)).enumerated() {
                value.bind(insertion.sqliteStatement, CInt(index + 1))
            }
            while try insertion.step() {}
            insertion.reset()
        } catch let error as DatabaseError
            where (error.resultCode == .SQLITE_CONSTRAINT || error.mayConcernValues) && db.isInsideTransaction
        {
            // A trigger of the user's forbids it; what it allowed so far says enough.
            insertion.reset()
            if error.mayConcernValues { failure = ConstraintFailure.expression(error, mayBeTrigger: true) }
        }
        let found = try Row.fetchAll(db, sql: "SELECT DISTINCT pk FROM temp._sync_rivals")
            .map { OwnedValue.make(try $0.decode(atIndex: 0)) }
        try db.execute(sql: "ROLLBACK TO _sync_probe; RELEASE _sync_probe")
        return found.filter { RowKey($0.value).isSame(as: key) == false }
    }
}

extension RowKey {
    /// Compares keys byte for byte.
    func isSame(as other: RowKey) -> Bool {
        isText == other.isText && bytes.elementsEqual(other.bytes)
    }
}
