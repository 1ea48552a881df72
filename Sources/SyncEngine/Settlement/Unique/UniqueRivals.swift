import CipherStore
import SyncWire

/// Finds the rows that hold what another row claims under UNIQUE indexes.
///
/// SQLite itself is asked, since it alone knows collations, types, partial and
/// expression indexes: `INSERT OR REPLACE` deletes each row that stands in the way,
/// a temporary trigger notes which, and a savepoint undoes it all.
final class UniqueRivals {
    private let db: Database
    private let table: SyncedTable
    private let trigger: String
    /// What stands against the row that was asked for last, beside its rivals: an expression fails for its values, or for a rival's.
    private(set) var failure: ConstraintFailure?

    /// Creates the trigger, in the open transaction.
    init(_ db: Database, _ table: SyncedTable) throws {
        self.db = db
        self.table = table
        trigger = "_sync_rival_\(table.number)"
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
        try? db.execute(sql: "DROP TRIGGER IF EXISTS temp.\(trigger)")
    }

    /// Returns the keys of the rows that are in the way of a row that is not in the table.
    func rivals(_ key: RowKey, _ values: [(name: String, value: WireValue)]) throws -> [OwnedValue] {
        let names = ([table.key] + values.map(\.name)).map(\.quotedDatabaseIdentifier)
        let insertion = try db.cachedStatement(
            sql: """
                INSERT OR REPLACE INTO \(table.qualifiedName) (\(names.joined(separator: ", ")))
                VALUES (\(names.map { _ in "?" }.joined(separator: ", ")))
                """)
        failure = nil
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
