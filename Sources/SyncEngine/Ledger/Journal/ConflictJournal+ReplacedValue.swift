import CipherStore
import SyncWire

/// A value that won and gave way to the one that had lost, because a policy prefers that one.
///
/// Its writer's edit is replaced by one of this replica, so nobody else would keep it.
struct ReplacedValue {
    let table: Int64
    let key: OwnedValue
    let column: Int
    let life: Int64
    let value: OwnedValue
    /// When and by whom it was written.
    let stamp: Stamp
    /// When and by whom the value was written that stands.
    let preferred: Stamp

    /// Adds it to the journal as a conflict that was merged.
    func journal(_ db: Database, now: Int64) throws { try ConflictJournal.append(self, db, at: now) }
}

extension ConflictJournal {
    /// Adds a value that gave way as a conflict that was merged, unless it is there.
    fileprivate static func append(_ replaced: ReplacedValue, _ db: Database, at now: Int64) throws {
        let stamp = replaced.stamp
        let preferred = replaced.preferred
        let number = "(SELECT sid FROM _sync_replica WHERE rid ="
        let (author, winner) = ("\(number) ?9)", "\(number) ?10)")
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO _sync_conflict (at, tbl, pk, col, val, hlc, sid, won, why, life, won_hlc, resolved, how)
                SELECT ?1, ?2, ?3, ?4, ?5, ?6, \(author), \(winner), 'newer', ?7, ?8, ?1, 'merged'
                WHERE NOT EXISTS (
                    SELECT 1 FROM _sync_conflict WHERE tbl = ?2 AND pk = ?3 AND col = ?4 AND hlc = ?6
                      AND sid = \(author) AND val IS ?5 AND typeof(val) = typeof(?5))
                """)
        statement.reset()
        defer { statement.reset() }
        // Bound as bytes: text that is not well-formed stays as it was written.
        let raw = statement.sqliteStatement
        let numbers = [
            (1, now), (2, replaced.table), (4, Int64(replaced.column)), (6, stamp.timestamp.rawValue),
            (7, replaced.life),
            (8, preferred.timestamp.rawValue),
        ]
        for (index, number) in numbers { _ = RawBinding.int64(raw, CInt(index), number) }
        replaced.key.value.bind(raw, 3)
        replaced.value.value.bind(raw, 5)
        try stamp.replica.bytes.withUnsafeBytes { author in
            WireValue.blob(author).bind(raw, 9)
            try preferred.replica.bytes.withUnsafeBytes { winner in
                WireValue.blob(winner).bind(raw, 10)
                while try statement.step() {}
            }
        }
    }
}
