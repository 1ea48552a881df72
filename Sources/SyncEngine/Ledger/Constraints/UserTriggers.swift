import CipherStore

/// The user's triggers while a peer's changes are written.
///
/// What a trigger wrote to a tracked table where the change was made comes from
/// there as a change of its own, as the deletes of a cascade do. If it ran here as
/// well, each replica would write it again, and a row that is only hidden would
/// take others with it. So such triggers are taken out of the way, in the same
/// transaction. Triggers that write to other tables, such as search indexes, run.
struct UserTriggers {
    struct Trigger {
        /// `main`, or `temp` for one of this connection alone.
        let schema: String
        let name: String
        let table: String
        let sql: String
    }

    private let db: Database
    private let suspended: [Trigger]
    /// SQLite's number of the schema before any of them was put out of the way.
    private let schemaVersion: Int64

    /// Takes the triggers that write to tracked tables out of the way.
    static func suspend(_ db: Database, tables: [SyncedTable]) throws -> UserTriggers {
        let tracked = Set(tables.filter(\.isTracked).map { $0.name.identifierKey })
        let candidates = try all(db)
        let views = viewsThatWrite(to: tracked, candidates)
        let triggers = candidates.filter { writes($0.sql, toOneOf: tracked, orViews: views) }
        let version = try SettlementMark.schemaVersion(db)
        for trigger in triggers { try drop(db, trigger) }
        try debugAssert(!all(db).contains { writes($0.sql, toOneOf: tracked, orViews: views) })
        return UserTriggers(db: db, suspended: triggers, schemaVersion: version)
    }

    /// Returns the views by which triggers write to tables, directly or by other views.
    ///
    /// Nothing can write to a view whose INSTEAD OF trigger is out of the way: SQLite would refuse to
    /// prepare a change of any table that has a trigger which does.
    private static func viewsThatWrite(to tables: Set<String>, _ triggers: [Trigger]) -> Set<String> {
        let insteadOf = triggers.filter { isInsteadOf($0.sql) }
        var views: Set<String> = []
        while true {
            let found = insteadOf.filter { writes($0.sql, toOneOf: tables, orViews: views) }
                .map { $0.table.identifierKey }
            guard !views.isSuperset(of: found) else { return views }
            views.formUnion(found)
        }
    }

    private static func isInsteadOf(_ sql: String) -> Bool {
        let tokens = SQLTokens(sql).tokens
        return zip(tokens, tokens.dropFirst()).contains { $0.isKeyword("instead") && $1.isKeyword("of") }
    }

    /// Puts them back, as they were.
    func restore() throws {
        for trigger in suspended { try Self.create(db, trigger) }
        // They are the newest now, as are those that were out of the way for single rows.
        guard try SettlementMark.schemaVersion(db) != schemaVersion else { return }
        try CaptureOrder(db: db).restore()
    }

    /// Returns the tables on which the user has triggers, by the keys of their names.
    static func tables(_ db: Database) throws -> Set<String> {
        Set(try all(db).map { $0.table.identifierKey })
    }

    /// Returns whether a trigger of the user's can fail and leave what it ran for: `RAISE(FAIL)` undoes nothing, whatever the
    /// clause of the statement is.
    static func mayFailHalfWay(_ db: Database) throws -> Bool {
        try all(db).contains { trigger in
            let tokens = SQLTokens(trigger.sql).tokens
            return tokens.indices.contains { index in
                tokens[index].isKeyword("raise") && index + 2 < tokens.count
                    && tokens[index + 2].isKeyword("fail")
            }
        }
    }

    /// Runs a block without the user's triggers of a table.
    static func withoutTriggers(_ db: Database, on table: SyncedTable, _ body: () throws -> Void) throws {
        let triggers = try all(db).filter { $0.table.isSameIdentifier(as: table.storageName) }
        for trigger in triggers { try drop(db, trigger) }
        try body()
        for trigger in triggers { try create(db, trigger) }
    }

    private static func all(_ db: Database) throws -> [Trigger] {
        try Row.fetchAll(
            db,
            sql: """
                SELECT 'main', name, tbl_name, sql, rowid AS number FROM main.sqlite_master
                WHERE type = 'trigger' AND substr(name, 1, 6) <> '_sync_'
                UNION ALL
                SELECT 'temp', name, tbl_name, sql, rowid FROM sqlite_temp_master
                WHERE type = 'trigger' AND substr(name, 1, 6) <> '_sync_' ORDER BY 1, 5
                """
        ).map {
            Trigger(
                schema: try $0.decode(atIndex: 0), name: try $0.decode(atIndex: 1),
                table: try $0.decode(atIndex: 2), sql: try $0.decode(atIndex: 3))
        }
    }

    static func drop(_ db: Database, _ trigger: Trigger) throws {
        try db.execute(sql: "DROP TRIGGER \(trigger.schema).\(trigger.name.quotedDatabaseIdentifier)")
    }

    /// Makes a trigger, in its schema. Those that log have their place among the others already, or get it afterwards.
    static func create(_ db: Database, _ trigger: Trigger) throws {
        // The stored text names no schema, and a temporary table could have the name of the trigger's.
        var sql = SQLTokens(trigger.sql)
        if let keyword = sql.tokens.firstIndex(where: { $0.isKeyword("trigger") }),
            keyword + 1 < sql.tokens.count
        {
            let start = sql.tokens[keyword + 1].range.lowerBound
            sql.replace(bytes: start..<start, with: trigger.schema + ".")
        }
        let text = sql.sql
        try db.withoutReportingSchemaChanges { try db.execute(sql: text) }
    }

    /// Returns whether the statements of a trigger write to one of some tables.
    ///
    /// - parameters:
    ///     - tables: Their names, in lower case.
    ///     - views: The names of views that can't be written to, in lower case.
    static func writes(
        _ sql: String, toOneOf tables: Set<String>, orViews views: Set<String> = []
    ) -> Bool {
        let tokens = SQLTokens(sql).tokens
        guard let begin = tokens.firstIndex(where: { $0.isKeyword("begin") }) else { return false }
        // With this condition it does not run anyway, but SQLite prepares it.
        let runs = !tokens[..<begin].contains { $0.isName("_sync_state") }
        let targets = runs ? tables.union(views) : views
        return writtenNames(tokens[begin...]).contains { targets.contains($0.identifierKey) }
    }

    /// The names of the tables and views that statements write to.
    static func writtenNames(_ tokens: ArraySlice<SQLToken>) -> [String] {
        tokens.indices.compactMap { index -> String? in
            var target = index + 1
            switch true {
            case tokens[index].isKeyword("into"): break
            case tokens[index].isKeyword("update"):
                if target < tokens.endIndex, tokens[target].isKeyword("or") { target += 2 }
            case tokens[index].isKeyword("delete"):
                guard target < tokens.endIndex, tokens[target].isKeyword("from") else { return nil }
                target += 1
            default: return nil
            }
            return target < tokens.endIndex ? tokens[target].text : nil
        }
    }
}
