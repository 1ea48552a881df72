import CipherStore

/// The place of the triggers that log among those of their table.
///
/// SQLite runs the newest trigger of a table first. One that ends its statement, by `RAISE(IGNORE)`, by `RAISE(FAIL)` or
/// by a constraint under `OR FAIL`, keeps what was written, and the older ones do not run. So those that log have to be the
/// newest of their table, or such a write has no version, and no peer gets it.
///
/// Triggers of the schema `temp` run before all others, wherever they stand: nothing can be done about these.
struct CaptureOrder {
    let db: Database

    /// Makes the triggers that log anew in each table where one of the user's that runs after a change is newer.
    ///
    /// Their texts stay as they are. Nothing is written where they are the newest, because each new trigger is a change of
    /// the schema, and all statements are prepared anew for it.
    func restore() throws {
        let newest = try newestOfTheUser()
        guard !newest.isEmpty else { return }
        let logging = try triggersThatLog()
        let late = Set(
            logging.filter { $0.number < newest[$0.trigger.table.identifierKey] ?? 0 }
                .map { $0.trigger.table.identifierKey })
        for (trigger, _) in logging where late.contains(trigger.table.identifierKey) {
            try UserTriggers.drop(db, trigger)
            try UserTriggers.create(db, trigger)
        }
    }

    /// The numbers of the user's newest triggers that run after a change, by the case-folded names of their tables. Only those are looked at
    /// that are newer than some trigger that logs: mostly an app makes its triggers first, and then there are none.
    private func newestOfTheUser() throws -> [String: Int64] {
        var newest: [String: Int64] = [:]
        let triggers = try db.rows(
            """
            SELECT tbl_name, sql, rowid FROM main.sqlite_master
            WHERE type = 'trigger' AND substr(name, 1, 6) <> '_sync_' AND rowid > (
                SELECT min(rowid) FROM main.sqlite_master WHERE type = 'trigger' AND name GLOB '\(Self.pattern)')
            ORDER BY rowid
            """
        ) { row in
            (
                table: try row.decodeStrictly(String.self, atIndex: 0),
                text: try row.decodeStrictly(String.self, atIndex: 1),
                number: try row.decodeStrictly(Int64.self, atIndex: 2)
            )
        }
        for trigger in triggers where Self.runsAfter(trigger.text) {
            newest[trigger.table.identifierKey] = trigger.number
        }
        return newest
    }

    private func triggersThatLog() throws -> [(trigger: UserTriggers.Trigger, number: Int64)] {
        try db.rows(
            """
            SELECT name, tbl_name, sql, rowid FROM main.sqlite_master
            WHERE type = 'trigger' AND name GLOB '\(Self.pattern)' ORDER BY rowid
            """
        ) { row in
            let trigger = UserTriggers.Trigger(
                schema: "main", name: try row.decodeStrictly(String.self, atIndex: 0),
                table: try row.decodeStrictly(String.self, atIndex: 1),
                sql: try row.decodeStrictly(String.self, atIndex: 2))
            return (trigger, try row.decodeStrictly(Int64.self, atIndex: 3))
        }
    }

    private static let pattern = "_sync_[iudk]*_[0-9]*"

    /// Whether a trigger runs after a change. Without a word about it, it runs before.
    private static func runsAfter(_ sql: String) -> Bool {
        SQLTokens(sql).tokens.prefix { !$0.isKeyword("begin") }.contains { $0.isKeyword("after") }
    }
}
