import CipherStore
import SyncWire

/// What becomes of shares when two files counted under one identity (see ``ReplicaIdentity``).
///
/// What was counted here beyond the last common change moves to a column of its own, as a whole, so
/// that the other file's share has its column to itself. What both hold counts once, because the
/// entries say so (see ``CounterTotal``), whoever moves it, and however often.
struct ShareRenewal {
    let db: Database
    /// The new identity, its number here, and the number of the change that moves everything.
    let replica: ReplicaID
    let sid: Int64
    let sequence: Int64

    /// Moves what was counted under a forked identity.
    ///
    /// - parameter number: The number of that identity.
    func move(_ fork: Fork, number: Int64) throws {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT c.r, s.tbl, h.counter, c.col, p.val FROM _sync_cell AS c CROSS JOIN _sync_row AS s ON s.r = c.r
                CROSS JOIN _sync_share AS h ON h.tbl = s.tbl AND h.col = c.col
                CROSS JOIN _sync_part AS p ON p.r = c.r AND p.col = c.col
                WHERE c.sid = ? AND c.oseq > ? AND h.rid = ? ORDER BY +c.r, c.col
                """, arguments: [number, fork.common, fork.replica.data])
        let branch = CounterShare.branch(of: fork.replica, by: replica)
        assert(
            branch != fork.replica && branch != replica, "shares would move to a column that somebody writes")
        for row in rows {
            let value = OwnedValue.make(try row.decode(atIndex: 4))
            guard let share = withExtendedLifetime(value, { CounterShare(value.value) }) else { continue }
            let (r, table): (Int64, Int64) = (try row.decode(atIndex: 0), try row.decode(atIndex: 1))
            let (counter, column): (Int, Int) = (try row.decode(atIndex: 2), try row.decode(atIndex: 3))
            let known = try SyncedTable.load(db, number: table).columns.first { $0.number == counter }
            guard let known else { continue }
            let target = try CounterStore.shareColumn(db, of: known, in: table, replica: branch)
            try VersionTable.copyCell(db, row: r, from: column, to: target, of: sid, as: sequence)
            try CounterStore.copyShare(db, row: r, from: column, to: target)
            try setBack(share.upTo(fork.common), r, column)
        }
    }

    /// A share is again what it was at the common change.
    private func setBack(_ share: CounterShare?, _ row: Int64, _ column: Int) throws {
        guard let share, let last = share.entries.last else {
            try VersionTable.forget(db, column: column, ofRow: row)
            return try CounterStore.removeShare(db, row: row, column: column)
        }
        try VersionTable.setBack(db, row: row, column: column, to: last.timestamp, last.sequence)
        try CounterStore.setShare(db, share, row: row, column: column)
    }
}
