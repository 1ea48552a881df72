import CipherStore

/// The checks that compare each row with what the metadata says about it.
struct RowCheck {
    let db: Database
    let metadata: StoreMetadata
    let tables: [SyncedTable]

    func problems() throws -> [StoreProblem] {
        try orphanProblems() + lostValueProblems()
            + tables.filter(\.isTracked).flatMap { try rowProblems($0) }
    }

    /// The columns whose values another program took away, until they have come again.
    private func lostValueProblems() throws -> [StoreProblem] {
        try SchemaInspection(db: db).lostColumns().map { table, column in
            StoreProblem(
                .metadata,
                """
                values of column \(column) of table \(table) are gone, because another program made the table without it; \
                synchronize with a replica that has all rows
                """, table: table)
        }
    }

    /// A condition that no row of the metadata may meet, and what it means.
    private struct Rule {
        let table: String
        let condition: String
        let meaning: String
    }

    private static let knowsReplica = "IN (SELECT sid FROM _sync_replica)"
    private static let knowsTable = "IN (SELECT tbl FROM _sync_table)"

    private var rules: [Rule] {
        [
            Rule(
                table: "_sync_row", condition: "sid NOT \(Self.knowsReplica)", meaning: "of unknown replicas"),
            Rule(table: "_sync_row", condition: "tbl NOT \(Self.knowsTable)", meaning: "of unknown tables"),
            Rule(
                table: "_sync_row", condition: "cl < 1 OR hlc < 0 OR oseq < 1",
                meaning: "with numbers that can't be"),
            Rule(
                table: "_sync_cell", condition: "hlc < 0 OR oseq < 1", meaning: "with numbers that can't be"),
            Rule(
                table: "_sync_row", condition: "NOT \(TableDefinition.isUUID("pk"))",
                meaning: "whose key is no UUID"),
            Rule(
                table: "_sync_cell", condition: "sid NOT \(Self.knowsReplica)", meaning: "of unknown replicas"
            ),
            Rule(
                table: "_sync_cell", condition: "r NOT IN (SELECT r FROM _sync_row)",
                meaning: "of unknown rows"),
            Rule(
                table: "_sync_cell",
                condition: """
                    NOT EXISTS (SELECT 1 FROM _sync_row AS r JOIN _sync_column AS c ON c.tbl = r.tbl
                    WHERE r.r = _sync_cell.r AND c.col = _sync_cell.col) AND r IN (SELECT r FROM _sync_row)
                    """, meaning: "of unknown columns"),
            Rule(
                table: "_sync_shadow",
                condition: """
                    NOT EXISTS (SELECT 1 FROM _sync_row AS r WHERE r.tbl = _sync_shadow.tbl AND r.pk = _sync_shadow.pk)
                    """, meaning: "of unknown rows"),
            Rule(
                table: "_sync_shadow",
                condition: """
                    col >= 0 AND NOT EXISTS (
                    SELECT 1 FROM _sync_column AS c WHERE c.tbl = _sync_shadow.tbl AND c.col = _sync_shadow.col)
                    """, meaning: "of unknown columns"),
            Rule(
                table: "_sync_column", condition: "tbl NOT \(Self.knowsTable)", meaning: "of unknown tables"),
            Rule(
                table: "_sync_log",
                condition:
                    "op <> 0 AND (tbl NOT \(Self.knowsTable) OR op & 15 NOT IN (1, 2, 3, \(ChangeLog.Operation.rewrite)))",
                meaning: "that mean nothing"),
            Rule(
                table: "_sync_conflict",
                condition:
                    "tbl NOT \(Self.knowsTable) OR sid NOT \(Self.knowsReplica) OR won NOT \(Self.knowsReplica)",
                meaning: "of unknown tables or replicas"),
            Rule(
                table: "_sync_part", condition: "r NOT IN (SELECT r FROM _sync_row WHERE cl & 1)",
                meaning: "of rows that are not there"),
            Rule(
                table: "_sync_last", condition: "r NOT IN (SELECT r FROM _sync_row)",
                meaning: "of unknown rows"),
            Rule(
                table: "_sync_original", condition: "r NOT IN (SELECT r FROM _sync_row)",
                meaning: "of unknown rows"),
            Rule(
                table: "_sync_replica", condition: "length(rid) <> 16 OR oseq < 0", meaning: "that can't be"),
        ]
    }

    private func orphanProblems() throws -> [StoreProblem] {
        try rules.compactMap { rule in
            let sql = "SELECT count(*) FROM \(rule.table) WHERE \(rule.condition)"
            guard let count = try Int.fetchOne(db, sql: sql), count > 0 else { return nil }
            return StoreProblem(
                .metadata, "\(rule.table) has \(count) entries \(rule.meaning)", table: rule.table)
        }
    }

    /// Whether the log names a row since the last fold: its versions are still to come. The key is compared byte for byte.
    private func isPending(_ table: SyncedTable, _ key: String) -> String {
        """
        \(key) COLLATE BINARY IN (SELECT pk FROM _sync_log WHERE seq > \(metadata.folded) AND tbl = \(table.number))
        """
    }

    /// The rows of a tracked table, and those that the metadata knows.
    private func rowProblems(_ table: SyncedTable) throws -> [StoreProblem] {
        guard try db.tableExists(table.name) else { return [] }
        let key = table.key.quotedDatabaseIdentifier
        let unseen = try Int.fetchOne(
            db,
            sql: """
                SELECT count(*) FROM \(table.qualifiedName) AS t
                WHERE \(TableDefinition.isUUID("t.\(key)"))
                  AND NOT EXISTS (
                      SELECT 1 FROM _sync_row AS r WHERE r.tbl = \(table.number) AND r.pk = \(table.untypedKey(of: "t")) AND r.cl & 1)
                  AND NOT (\(isPending(table, "t.\(key)")))
                """)
        // Rows that an earlier program left out are listed by the next synchronization.
        let places = try Parking.listsMissingRows(db) ? ["_sync_hidden"] : ["_sync_hidden", "_sync_shadow"]
        let isWaiting = places.map {
            "EXISTS (SELECT 1 FROM \($0) AS s WHERE s.tbl = r.tbl AND s.pk = r.pk)"
        }
        let gone = try Int.fetchOne(
            db,
            sql: """
                SELECT count(*) FROM _sync_row AS r
                WHERE r.tbl = \(table.number) AND r.cl & 1
                  AND NOT EXISTS (SELECT 1 FROM \(table.qualifiedName) AS t WHERE \(table.keyMatch("r.pk", of: "t")))
                  AND NOT (\(isWaiting.joined(separator: " OR ")))
                  AND NOT (\(isPending(table, "r.pk")))
                """)
        var problems: [StoreProblem] = []
        if let unseen, unseen > 0 {
            problems.append(
                StoreProblem(
                    .metadata, "\(unseen) rows of table \(table.name) came without being tracked",
                    table: table.name))
        }
        if let gone, gone > 0 {
            problems.append(
                StoreProblem(
                    .metadata, "\(gone) rows of table \(table.name) went without being tracked",
                    table: table.name))
        }
        return problems
    }
}
