import CipherStore
import SyncWire

/// Deletions that end a row of which their writer knew nothing: somebody else had made it under the same key, or had
/// got another identity, under which it told of the row anew.
///
/// A deletion is forgotten when everybody knows it. If it was, whoever did so takes such a row for a new one, and gives
/// it to others; whoever saw the deletion end it counts it as known, and never hears of it again. So the deletion is
/// told anew by whoever sees both: that one is not forgotten before everybody knows the row as well, and ends it
/// wherever it came to meanwhile.
final class HalfKnownDeletions {
    private let db: Database
    private let environment: SyncEnvironment
    private var isInUse = false

    init(_ db: Database, _ environment: SyncEnvironment) {
        self.db = db
        self.environment = environment
    }

    /// Notes a deletion that has to be told anew, if the row that it meets is one of an earlier life that its writer did
    /// not know.
    ///
    /// - parameters:
    ///     - change: What the bundle says: the row, or the deletion.
    ///     - local: What was here: the other one of the two.
    ///     - part: What is known of the table, by the sender and here.
    func note(
        _ change: RowChange, beside local: RowVersion, _ part: AppliedPart, _ table: Int64, _ key: RowKey
    ) throws {
        assert(change.isAlive != local.isAlive, "a deletion meets a row")
        guard let base = change.base, change.isAlive ? change.life < local.life : change.life > local.life,
            !part.known.contains(base), !part.peer.contains(local.base)
        else { return }
        if !isInUse {
            try db.execute(
                sql: """
                    CREATE TEMP TABLE IF NOT EXISTS _sync_ended (tbl INTEGER NOT NULL, pk NOT NULL,
                        PRIMARY KEY (tbl, pk)) WITHOUT ROWID;
                    DELETE FROM temp._sync_ended;
                    """)
            isInUse = true
        }
        let statement = try db.cachedStatement(
            sql: "INSERT OR IGNORE INTO temp._sync_ended (tbl, pk) VALUES (?, ?)")
        statement.reset()
        _ = RawBinding.int64(statement.sqliteStatement, 1, table)
        key.value.bind(statement.sqliteStatement, 2)
        while try statement.step() {}
        statement.reset()
    }

    /// Tells the deletions anew, once all of the bundle is there. One that speaks of a row twice may have brought it back.
    func finish() throws {
        guard isInUse else { return }
        try ChangeLog(db).appendDeletions(ofDeadRowsIn: "_sync_ended", at: environment.milliseconds())
        try db.execute(sql: "DELETE FROM temp._sync_ended")
    }
}
