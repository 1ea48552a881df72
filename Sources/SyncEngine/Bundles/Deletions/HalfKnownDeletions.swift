import CipherStore
import SyncWire

/// Deletions that end a row that their author had never seen: another replica had inserted it under the same
/// key, or had sent it again under a new identity.
///
/// A deletion is forgotten when all replicas know it. A replica that has forgotten it takes such a row for a
/// new one, and passes it on. A replica that saw the deletion end the row counts the row as known, and never
/// hears of it again. So the replica that sees both re-issues the deletion as its own change. The new
/// deletion is not forgotten before all replicas know the row as well, and it ends the row wherever the row
/// has come meanwhile.
final class HalfKnownDeletions {
    private let db: Database
    private let environment: SyncEnvironment
    private var isInUse = false

    init(_ db: Database, _ environment: SyncEnvironment) {
        self.db = db
        self.environment = environment
    }

    /// Notes a deletion that has to be re-issued, if the row that it meets is of an earlier life that its
    /// author did not know.
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

    /// Re-issues the deletions once the whole bundle is there. A bundle that mentions a row twice may have
    /// brought it back.
    func finish() throws {
        guard isInUse else { return }
        try ChangeLog(db).appendDeletions(ofDeadRowsIn: "_sync_ended", at: environment.milliseconds())
        try db.execute(sql: "DELETE FROM temp._sync_ended")
    }
}
