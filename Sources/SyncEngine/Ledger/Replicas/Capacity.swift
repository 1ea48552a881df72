import CipherStore
import SyncWire

/// How many replicas and names the metadata holds, which every bundle of this store has to list.
struct Capacity {
    /// The replicas that are known here.
    let replicaCount: Int
    /// The tables, and the names and policies that a header lists as tables.
    let tableCount: Int
    /// The columns.
    let columnCount: Int
    /// The other names of tables and columns.
    let aliasCount: Int
    /// The bytes of all names, those of policies included.
    let nameByteCount: Int

    /// Counts.
    init(_ db: Database) throws {
        func count(_ sql: String) throws -> Int { try Int.fetchOne(db, sql: sql) ?? 0 }
        replicaCount = try count("SELECT count(*) FROM _sync_replica")
        let named = try count(
            "SELECT count(*) FROM (SELECT DISTINCT tbl, col FROM _sync_alias)")
        let policies = try count("SELECT count(*) FROM _sync_policy")
        tableCount = try count("SELECT count(*) FROM _sync_table") + named + 2 * policies
        columnCount = try count("SELECT count(*) FROM _sync_column")
        aliasCount = try count("SELECT count(*) FROM _sync_alias")
        // A share of a counter is listed a second time, with its replica, and each policy and counter with its names.
        nameByteCount = try count(
            """
            SELECT coalesce((SELECT sum(length(CAST(name AS BLOB)) + length(CAST(key AS BLOB))) FROM _sync_table), 0)
                + coalesce((SELECT sum(length(CAST(name AS BLOB))) FROM _sync_column), 0)
                + coalesce((SELECT sum(2 * length(CAST(a.name AS BLOB)) + length(CAST(t.name AS BLOB)))
                    FROM _sync_alias AS a JOIN _sync_table AS t ON t.tbl = a.tbl), 0)
                + coalesce((SELECT sum(32 + length(CAST(c.name AS BLOB))) FROM _sync_share AS h
                    JOIN _sync_column AS c ON c.tbl = h.tbl AND c.col = h.col), 0)
                + coalesce((SELECT sum(2 * length(CAST(t.name AS BLOB)) + 2 * length(CAST(c.name AS BLOB))
                        + length(CAST(p.name AS BLOB)) + 80)
                    FROM _sync_policy AS p JOIN _sync_table AS t ON t.tbl = p.tbl
                    JOIN _sync_column AS c ON c.tbl = p.tbl AND c.col = p.col
                    WHERE length(CAST(p.name AS BLOB)) <= \(AdmissionLimits.functionNameByteCountMax)), 0)
            """)
    }

    /// How many names there are.
    var nameCount: Int { tableCount + columnCount + aliasCount }

    /// Whether names and policies take up over half of the room that a store has for them.
    var isHalfFull: Bool {
        tableCount > AdmissionLimits.tableCountMax / 2 || columnCount > AdmissionLimits.columnTotalMax / 2
            || aliasCount > AdmissionLimits.otherNameTotalMax / 2
            || nameByteCount > AdmissionLimits.nameByteTotalMax / 2
    }

    /// Throws when there are more replicas than a store keeps.
    ///
    /// - throws: ``SyncError`` of code `capacityExceeded`.
    static func requireRoomForReplicas(_ db: Database) throws {
        let count = try Int.fetchOne(db, sql: "SELECT count(*) FROM _sync_replica") ?? 0
        guard count <= AdmissionLimits.replicaCountMax else {
            throw SyncError(
                .capacityExceeded,
                """
                over \(AdmissionLimits.replicaCountMax) replicas would be known here, which is the most that a store \
                keeps; those of which nothing but a name is known can be dropped: `syncctl compact`
                """)
        }
    }

    /// Throws when there are more names than a store keeps.
    ///
    /// - throws: ``SyncError`` of code `capacityExceeded`.
    func requireRoomForNames(_ db: Database) throws {
        let widest = try Row.fetchOne(
            db,
            sql: """
                SELECT t.name, count(*) FROM _sync_column AS c JOIN _sync_table AS t ON t.tbl = c.tbl
                GROUP BY c.tbl ORDER BY 2 DESC LIMIT 1
                """)
        if let widest, try widest.decode(Int.self, atIndex: 1) > AdmissionLimits.columnCountMax {
            throw Self.refusal(
                "table \(try widest.decode(String.self, atIndex: 0)) would have over \(AdmissionLimits.columnCountMax) columns"
            )
        }
        guard tableCount <= AdmissionLimits.tableCountMax else {
            throw Self.refusal(
                "over \(AdmissionLimits.tableCountMax) tables, other names and policies would be known here")
        }
        guard columnCount <= AdmissionLimits.columnTotalMax else {
            throw Self.refusal("the tables would have over \(AdmissionLimits.columnTotalMax) columns")
        }
        guard nameByteCount <= AdmissionLimits.nameByteTotalMax else {
            throw Self.refusal(
                "the names of all tables, columns and policies would have over \(AdmissionLimits.nameByteTotalMax) bytes"
            )
        }
    }

    private static func refusal(_ what: String) -> SyncError {
        SyncError(
            .capacityExceeded,
            """
            \(what), which is the most that a store keeps; tables and columns that nobody uses can be dropped: \
            `syncctl compact`
            """)
    }
}
