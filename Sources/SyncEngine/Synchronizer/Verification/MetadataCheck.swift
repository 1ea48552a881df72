import CipherStore
import SyncWire

/// The check of a store's sync metadata: against itself, the triggers and the tables.
///
/// ```swift
/// let report = try StoreCheck.run(path: path, opening: secret, isDeep: true) {
///     try MetadataCheck.problems(of: $0, isDeep: true)
/// }
/// ```
public enum MetadataCheck {
    /// Checks the metadata; nothing is written.
    ///
    /// What the next synchronization brings up to date by itself, such as columns that were added or
    /// log entries that were not folded yet, is no problem.
    ///
    /// - parameters:
    ///     - db: A connection in a transaction.
    ///     - isDeep: Whether each row is compared with its versions, and objects of others are looked for that reach into the
    ///       metadata.
    /// - returns: The problems; none when the database has no metadata.
    /// - throws: A `DatabaseError`.
    public static func problems(of db: Database, isDeep: Bool) throws -> [StoreProblem] {
        let metadata: StoreMetadata
        let tables: [SyncedTable]
        do {
            guard let loaded = try StoreMetadata.load(db) else { return [] }
            metadata = loaded
            _ = try metadata.replicaID()
            tables = try SyncedTable.loadAll(db)
        } catch let error as SyncError {
            return [StoreProblem(.metadata, error.message)]
        } catch let error as RowDecodingError {
            return [
                StoreProblem(
                    .metadata, "the sync metadata has a value of another type than it should: \(error)")
            ]
        }
        let check = MetadataCheckRun(db: db, metadata: metadata, tables: tables)
        let isLookedThrough = isDeep && metadata.format == MetadataSchema.version
        let foreign = try isLookedThrough ? ForeignSchema.problems(db) : []
        var problems = try check.schemaProblems()
        // The other checks ask tables that may not be there.
        guard problems.isEmpty else { return problems + foreign }
        problems += try check.typeProblems()
        // What is no number can't be counted with.
        guard problems.isEmpty else { return problems + foreign }
        problems += try ImplausibleMetadata(db: db, metadata: metadata).problems()
        problems += try check.vectorProblems()
        problems += try check.tables.filter(\.isTracked).flatMap { try check.triggerProblems($0) }
        problems += try check.strayTriggerProblems()
        if isDeep {
            problems += try RowCheck(db: db, metadata: metadata, tables: check.tables).problems()
            problems += try check.digestProblems()
        }
        return problems + foreign
    }
}

/// The checks that cost little, however many rows there are.
private struct MetadataCheckRun {
    let db: Database
    let metadata: StoreMetadata
    let tables: [SyncedTable]

    /// The tables, indexes and the guard of the log, compared by meaning with what creates them.
    func schemaProblems() throws -> [StoreProblem] {
        let expected = try DatabaseQueue().write { db in
            try db.execute(sql: MetadataSchema.sql)
            return try Self.objects(db)
        }
        let found = try Self.objects(db)
        return expected.keys.sorted().compactMap { name in
            guard let sql = found[name] else {
                // The next synchronization makes the index.
                return name == ConstraintSchema.indexName
                    ? nil : StoreProblem(.metadata, "\(name) is missing in the sync metadata", table: name)
            }
            guard sql != expected[name], !(name == "_sync_last" && Self.isFormerLast(sql)) else { return nil }
            return StoreProblem(.metadata, "\(name) of the sync metadata was changed", table: name)
        }
    }

    private static func isFormerLast(_ definition: [StatementTokens.Token]) -> Bool {
        definition + [.symbol(";")] == StatementTokens.tokens(of: LastRows.formerSchema)
    }

    /// Whether the triggers of deletions are those from before ``LastRows/formerSchema`` was given up.
    private func hasFormerDeletions() throws -> Bool {
        let sql = try String.fetchOne(db, sql: "SELECT sql FROM sqlite_master WHERE name = '_sync_last'")
        return sql.map { Self.isFormerLast(StatementTokens.tokens(of: $0)) } == true
    }

    /// The types of the values in these tables.
    func typeProblems() throws -> [StoreProblem] {
        let tables = try String.fetchAll(
            db,
            sql: """
                SELECT name FROM sqlite_master WHERE type = 'table' AND substr(name, 1, 6) = '_sync_'
                AND name NOT GLOB '_sync_dropped_*' ORDER BY name
                """)
        return try MetadataTypes(db: db).problems(tables)
    }

    private static func objects(_ db: Database) throws -> [String: [StatementTokens.Token]] {
        let rows = try Row.fetchAll(
            db, sql: "SELECT name, sql FROM sqlite_master WHERE substr(name, 1, 6) = '_sync_'")
        return Dictionary(
            try rows.map {
                (
                    try $0.decode(String.self, atIndex: 0),
                    StatementTokens.tokens(of: try $0.decode(String.self, atIndex: 1))
                )
            }, uniquingKeysWith: { first, _ in first })
    }

    /// The sums of all versions, computed anew.
    func digestProblems() throws -> [StoreProblem] {
        let digests = try DigestLedger(db, metadata)
        guard digests.isValid else { return [] }
        let (found, expected) = (try digests.sums(), try digests.recomputed())
        return Set(found.keys).union(expected.keys).filter { found[$0] != expected[$0] }
            .sorted { ($0.table, $0.column) < ($1.table, $1.column) }
            .map { part in
                let table = tables.first { $0.number == part.table }
                let column =
                    table?.columns.first { $0.number == part.column }.map { ", column \($0.name)," } ?? ""
                let name = table?.name ?? "\(part.table)"
                return StoreProblem(
                    .metadata, "the digest of table \(name)\(column) is not that of its versions",
                    table: table?.name)
            }
    }

    /// The log's numbers, and those that replicas are known up to.
    func vectorProblems() throws -> [StoreProblem] {
        var problems: [StoreProblem] = []
        let applying = try Int64.fetchOne(db, sql: "SELECT applying FROM _sync_state")
        if applying != 0 {
            problems.append(
                StoreProblem(.metadata, "changes are not tracked: the mark of a synchronization stayed"))
        }
        let last = try Int64.fetchOne(db, sql: "SELECT max(seq) FROM _sync_log") ?? 0
        if last < metadata.folded {
            problems.append(
                StoreProblem(
                    .metadata,
                    "the change log ends at \(last), before entry \(metadata.folded) that is in use",
                    table: "_sync_log"))
        }
        let coverage = try Coverage.load(db, metadata)
        problems += try coverageProblems(coverage)
        for replica in metadata.replicas {
            let name = "replica \(replica.id)"
            if replica.sid == metadata.selfNumber, replica.sequence > metadata.folded {
                problems.append(
                    StoreProblem(
                        .metadata,
                        "\(name) counts \(replica.sequence) changes, and its log \(metadata.folded)"))
            }
            for (table, sql) in Self.newestByTable {
                let rows = try Row.fetchAll(db, sql: sql, arguments: [replica.sid, replica.sequence])
                for row in rows {
                    let known = coverage[try row.decode(atIndex: 0)].known[replica.id]
                    let newest: Int64 = try row.decode(atIndex: 1)
                    guard newest > known else { continue }
                    problems.append(
                        StoreProblem(
                            .metadata,
                            "\(table) holds change \(newest) of \(name), of which \(known) are known",
                            table: table))
                }
            }
        }
        return problems
    }

    /// The newest changes of a replica beyond those that are known of all tables, by table.
    private static let newestByTable = [
        (
            "_sync_row",
            "SELECT tbl, max(oseq) FROM _sync_row WHERE sid = ?1 AND oseq > ?2 GROUP BY tbl"
        ),
        (
            "_sync_cell",
            """
            SELECT s.tbl, max(c.oseq) FROM _sync_cell AS c CROSS JOIN _sync_row AS s ON s.r = c.r
            WHERE c.sid = ?1 AND c.oseq > ?2 GROUP BY s.tbl
            """
        ),
    ]

    /// What is known of single tables: of tables and replicas that there are, and no more of this
    /// replica than it wrote.
    private func coverageProblems(_ coverage: Coverage) throws -> [StoreProblem] {
        let strays = try Int64.fetchOne(
            db,
            sql: """
                SELECT count(*) FROM _sync_coverage WHERE tbl NOT IN (SELECT tbl FROM _sync_table)
                    OR sid NOT IN (SELECT sid FROM _sync_replica)
                """)
        var problems: [StoreProblem] = []
        if let strays, strays > 0 {
            problems.append(
                StoreProblem(
                    .metadata, "_sync_coverage names tables or replicas that are not known",
                    table: "_sync_coverage"))
        }
        let own = try metadata.replicaID()
        for (table, part) in coverage.parts.sorted(by: { $0.key < $1.key }) {
            if part.known[own] > coverage.whole.known[own] {
                problems.append(
                    StoreProblem(
                        .metadata, "_sync_coverage counts changes of this replica that it did not make",
                        table: "_sync_coverage"))
            }
            guard !part.known.covers(part.floor) else { continue }
            problems.append(
                StoreProblem(
                    .metadata,
                    "deletions of table \(table) are forgotten that were never known", table: "_sync_coverage"
                ))
        }
        return problems
    }

    /// The triggers of a tracked table, letter by letter.
    func triggerProblems(_ table: SyncedTable) throws -> [StoreProblem] {
        // A table that was dropped, renamed or altered is brought up to date by the next synchronization.
        guard try db.tableExists(table.name),
            let definition = try? TableDefinition.load(db, table.name),
            Set(definition.columns.map { $0.identifierKey })
                == Set(table.presentColumns.map { $0.name.identifierKey })
        else { return [] }
        let rows = try Row.fetchAll(
            db, sql: "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND name GLOB ?",
            arguments: ["_sync_[iudk]*_\(table.number)"])
        var found = Dictionary(
            try rows.map { (try $0.decode(String.self, atIndex: 0), try $0.decode(String.self, atIndex: 1)) },
            uniquingKeysWith: { first, _ in first })
        var problems: [StoreProblem] = []
        let isFormer = try hasFormerDeletions()
        let triggers = try CaptureTriggers.load(db, table)
        let present = triggers.storedStatements
        // Those from before columns were compared by their affinities.
        let former = CaptureTriggers(table: table, affinities: [:]).storedStatements
        for (expected, former) in zip(present, former) {
            let name = String(expected.dropFirst("CREATE TRIGGER ".count).prefix { $0 != " " })
            switch found.removeValue(forKey: name) {
            case nil:
                problems.append(
                    StoreProblem(
                        .metadata, "trigger \(name) of table \(table.name) is missing", table: table.name))
            case expected, former, LastRows.formerTrigger(former), triggers.formerKeyTrigger: break
            // The next synchronization makes them anew, together with their table.
            case _? where isFormer && (name.hasPrefix("_sync_d_") || name.hasPrefix("_sync_k_")): break
            default:
                problems.append(
                    StoreProblem(
                        .metadata, "trigger \(name) of table \(table.name) was changed", table: table.name))
            }
        }
        return problems
            + found.keys.sorted().map {
                StoreProblem(
                    .metadata, "table \(table.name) has a trigger \($0) that the library did not make",
                    table: table.name)
            }
    }

    /// Triggers that look like the library's, of tables that it does not track.
    func strayTriggerProblems() throws -> [StoreProblem] {
        let tracked = Set(tables.filter(\.isTracked).map { "\($0.number)" })
        return try Row.fetchAll(
            db,
            sql: """
                SELECT name, tbl_name FROM sqlite_master
                WHERE type = 'trigger' AND substr(name, 1, 6) = '_sync_' AND name <> '_sync_log_guard'
                """
        ).compactMap { row in
            let name: String = try row.decode(atIndex: 0)
            let table: String = try row.decode(atIndex: 1)
            let number = name.split(separator: "_").last.map(String.init) ?? ""
            guard !tracked.contains(number) else { return nil }
            return StoreProblem(
                .metadata, "table \(table) has a trigger \(name) and is not tracked", table: table)
        }
    }
}
