import CipherStore
import SyncWire

/// Reads and writes the policies of columns.
struct PolicyStore {
    /// The tables of policies and counters, which version 3 of the metadata adds.
    static let schema = """
        CREATE TABLE _sync_policy (
            tbl INTEGER NOT NULL,
            col INTEGER NOT NULL,
            kind TEXT NOT NULL,
            name TEXT NOT NULL,
            hlc INTEGER NOT NULL,
            rid BLOB NOT NULL,
            PRIMARY KEY (tbl, col)
        ) WITHOUT ROWID;
        CREATE TABLE _sync_share (
            tbl INTEGER NOT NULL,
            col INTEGER NOT NULL,
            counter INTEGER NOT NULL,
            rid BLOB NOT NULL,
            PRIMARY KEY (tbl, col)
        ) WITHOUT ROWID;
        CREATE TABLE _sync_part (
            r INTEGER NOT NULL,
            col INTEGER NOT NULL,
            val,
            PRIMARY KEY (r, col)
        ) WITHOUT ROWID;

        """

    /// A policy with its column's numbers, and when and where it was declared.
    struct Entry {
        let table: Int64
        let column: Int
        let policy: ColumnPolicy
        let timestamp: Int64
        let replica: ReplicaID
    }

    let db: Database
    let environment: SyncEnvironment

    /// Reads all policies that this program knows.
    static func loadAll(_ db: Database) throws -> [Entry] { try load(db, where: "1") }

    /// Reads the policy of a column, if this program knows it.
    private func entry(ofColumn column: Int, in table: SyncedTable) throws -> Entry? {
        try Self.load(db, where: "p.tbl = ? AND p.col = ?", [table.number, column]).first
    }

    private static func load(
        _ db: Database, where condition: String, _ arguments: StatementArguments = []
    ) throws -> [Entry] {
        try Row.fetchAll(
            db,
            sql: """
                SELECT p.tbl, p.col, t.name, c.name, p.kind, p.name, p.hlc, p.rid FROM _sync_policy AS p
                JOIN _sync_table AS t ON t.tbl = p.tbl JOIN _sync_column AS c ON c.tbl = p.tbl AND c.col = p.col
                WHERE \(condition) ORDER BY p.tbl, p.col
                """, arguments: arguments
        ).compactMap { row in
            let kind = ColumnPolicy.Kind(
                word: try row.decode(atIndex: 4), functionName: try row.decode(atIndex: 5))
            guard let kind else { return nil }
            return Entry(
                table: try row.decode(atIndex: 0), column: try row.decode(atIndex: 1),
                policy: ColumnPolicy(
                    table: try row.decode(atIndex: 2), column: try row.decode(atIndex: 3), kind: kind),
                timestamp: try row.decode(atIndex: 6),
                replica: try StoreMetadata.identifier(row.decode(atIndex: 7)))
        }
    }

    /// Declares a policy here.
    func declare(_ policy: ColumnPolicy) throws {
        let tables = try SyncedTable.loadAll(db)
        guard
            let table = tables.first(where: {
                $0.isTracked && $0.name.isSameIdentifier(as: policy.table)
            })
        else {
            throw SyncError(.noSuchTable, "no table \(policy.table) is tracked, so it can have no policy")
        }
        guard
            let column = table.presentColumns.first(where: {
                $0.name.isSameIdentifier(as: policy.column)
            })
        else {
            throw SyncError(
                .unsuitablePolicy,
                table.key.isSameIdentifier(as: policy.column)
                    ? "\(policy.column) is the key of table \(policy.table); a key is never merged"
                    : "table \(policy.table) has no column \(policy.column)")
        }
        let present = try entry(ofColumn: column.number, in: table)
        guard present?.policy.kind != policy.kind else { return }
        if present == nil, policy.kind == .lastWriter { return }
        if let present, present.policy.kind.policy.isPermanent {
            throw SyncError(
                .unsuitablePolicy,
                """
                column \(policy.column) of table \(policy.table) is a \(present.policy.kind.word), which can't become anything else; \
                use another column
                """)
        }
        let isChosenBy = try Bool.fetchOne(
            db, sql: "SELECT EXISTS(SELECT 1 FROM _sync_partial WHERE tbl = ? AND col = ?)",
            arguments: [table.number, column.number])
        guard isChosenBy != true || policy.kind == .lastWriter else {
            throw SyncError(
                .unsuitablePolicy,
                """
                rows of table \(policy.table) are chosen by column \(policy.column), which can have no policy of its \
                own; use another column
                """)
        }
        guard policy.kind.hasAdmissibleName else {
            throw SyncError(
                .unsuitablePolicy,
                """
                the name of the function that merges column \(policy.column) of table \(policy.table) has over \
                \(AdmissionLimits.functionNameByteCountMax) bytes, which no other replica takes in; use a shorter one
                """)
        }
        let metadata = try StoreMetadata.require(db)
        let stamp = max(
            metadata.nextTimestamp, try environment.stampMilliseconds() << 16,
            min(present?.timestamp ?? 0, AdmissionLimits.timestampMax - 1) + 1)
        try set(
            policy.kind, ofColumn: column.number, in: table, timestamp: stamp, replica: metadata.replicaID())
        try StoreMetadata.raiseClock(db, to: stamp)
    }

    /// Takes over a policy that a peer declares, if it stands above the one that is known.
    func learn(
        _ kind: ColumnPolicy.Kind, ofColumn column: Int, in table: SyncedTable, timestamp: Int64,
        replica: ReplicaID
    ) throws {
        let present = try entry(ofColumn: column, in: table)
        if let present {
            let isNewer =
                (timestamp, replica.description) > (present.timestamp, present.replica.description)
            guard kind.replaces(present.policy.kind, isNewer: isNewer) else { return }
        }
        try set(kind, ofColumn: column, in: table, timestamp: timestamp, replica: replica)
    }

    /// Makes one policy of those of two columns that are united, of which at least one counts.
    ///
    /// - parameters:
    ///     - absent: The column that is given up.
    ///     - column: The column that stays.
    static func uniteCounters(_ db: Database, _ absent: Int, into column: Int, in table: Int64) throws {
        try db.execute(
            sql: """
                INSERT OR REPLACE INTO _sync_policy (tbl, col, kind, name, hlc, rid)
                SELECT tbl, :column, kind, name, hlc, rid FROM _sync_policy
                WHERE tbl = :table AND kind = 'counter' AND col IN (:absent, :column);
                DELETE FROM _sync_policy WHERE tbl = :table AND col = :absent;
                """, arguments: ["table": table, "absent": absent, "column": column])
    }

    /// Takes stamps of a time that no store takes in back to the last that they do.
    ///
    /// - returns: How many there were.
    static func repairStamps(_ db: Database) throws -> Int64 {
        try db.execute(
            sql: "UPDATE _sync_policy SET hlc = ? WHERE \(ImplausibleMetadata.isPolicyBeyond)",
            arguments: [AdmissionLimits.timestampMax])
        return Int64(db.changesCount)
    }

    /// Forgets the policies of tables.
    ///
    /// - parameter tables: A query that selects their numbers.
    static func removeAll(_ db: Database, ofTables tables: String) throws {
        try db.execute(sql: "DELETE FROM main._sync_policy WHERE tbl IN (\(tables))")
    }

    /// Forgets the policies of columns.
    ///
    /// - parameter listed: A table that lists their numbers, as `tbl` and `col`.
    static func removeAll(_ db: Database, ofColumnsListed listed: String) throws {
        try db.execute(
            sql: """
                DELETE FROM main._sync_policy WHERE EXISTS (
                    SELECT 1 FROM \(listed) AS u WHERE u.tbl = _sync_policy.tbl AND u.col = _sync_policy.col)
                """)
    }

    private func set(
        _ kind: ColumnPolicy.Kind, ofColumn column: Int, in table: SyncedTable, timestamp: Int64,
        replica: ReplicaID
    ) throws {
        try db.execute(
            sql:
                "INSERT OR REPLACE INTO _sync_policy (tbl, col, kind, name, hlc, rid) VALUES (?, ?, ?, ?, ?, ?)",
            arguments: [table.number, column, kind.word, kind.policy.functionName, timestamp, replica.data])
        if kind.policy.keepsCells { try SeparateCells.begin(db, column: column, in: table) }
    }
}
