import CipherStore
import Foundation
import SyncWire

extension Synchronizer {
    /// Reads the rows that wait.
    ///
    /// ```swift
    /// for row in try synchronizer.parkedRows(table: "tag") { print(row.keyText, row.message) }
    /// ```
    ///
    /// - parameters:
    ///     - table: The name of a table, or nil for all.
    ///     - limit: How many at most.
    /// - returns: The rows, by table and key.
    public func parkedRows(table: String? = nil, limit: Int = .max) throws -> [ParkedRow] {
        try database.read { db in
            let tables = try SyncedTable.loadAll(db)
            let names = Dictionary(uniqueKeysWithValues: tables.map { ($0.number, $0.name) })
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT DISTINCT s.tbl, s.pk, h.reason, h.since, h.other_tbl, h.other_pk
                    FROM _sync_shadow AS s LEFT JOIN _sync_hidden AS h ON h.tbl = s.tbl AND h.pk = s.pk
                    WHERE s.why <> '\(KeptReason.dropped)'
                      AND (?1 IS NULL OR s.tbl = (SELECT tbl FROM _sync_table WHERE name = ?1))
                    ORDER BY s.tbl, s.pk LIMIT ?2
                    """, arguments: [table, limit == .max ? -1 : limit])
            return try rows.compactMap { row in
                let number: Int64 = try row.decode(atIndex: 0)
                guard let table = tables.first(where: { $0.number == number }) else { return nil }
                return try parkedRow(db, row, table, names)
            }
        }
    }

    private func parkedRow(
        _ db: Database, _ row: Row, _ table: SyncedTable, _ names: [Int64: String]
    ) throws -> ParkedRow {
        let key: DatabaseValue = try row.decode(atIndex: 1)
        let parked = try Row.fetchAll(
            db,
            sql: """
                SELECT c.name, s.val, s.why FROM _sync_shadow AS s
                LEFT JOIN _sync_column AS c ON c.tbl = s.tbl AND c.col = s.col
                WHERE s.tbl = ? AND s.pk = ? AND s.why <> '\(KeptReason.dropped)' ORDER BY s.col
                """, arguments: [table.number, key])
        var values: [String: DatabaseValue] = [:]
        for entry in parked {
            guard let name = try entry.decodeIfPresent(String.self, atIndex: 0) else { continue }
            values[name] = try entry.decode(atIndex: 1)
        }
        let words = try parked.map { try $0.decode(String.self, atIndex: 2) }
        let reason = try row.decodeIfPresent(String.self, atIndex: 2).map {
            ParkedRow.Reason(rawValue: $0) ?? .other
        }
        let other = try row.decodeIfPresent(Int64.self, atIndex: 4)
        let otherKey: DatabaseValue = try row.decode(atIndex: 5)
        return ParkedRow(
            table: table.name, key: key, values: values,
            reason: reason ?? (table.isTracked ? .missingColumn : .missingTable),
            // Of a hidden row, columns that are missing say the lesser thing.
            message: words.first { reason == nil || $0 != KeptReason.noColumn } ?? words.first ?? "",
            sinceMilliseconds: try row.decodeIfPresent(atIndex: 3),
            otherKey: otherKey.isNull ? nil : otherKey,
            otherTable: other.flatMap { names[$0] })
    }

    /// Tries again to write all rows that wait.
    ///
    /// That is rarely needed: the rows are tried again after each synchronization, each change of the schema,
    /// and each local change that may help them.
    ///
    /// - returns: How many found their place.
    @discardableResult
    public func retryParkedRows() throws -> Int64 {
        _ = try database.write { try TableTracking(db: $0, environment: environment).refresh() }
        return try database.settle(environment, isFull: true)
    }

    /// Says what happens to the rows of a table whose parent is deleted on another
    /// replica. Without it they are held.
    ///
    /// It is a setting of this store, and should be the same in all replicas: the first replica that finds an
    /// orphan deletes or changes the row for all.
    ///
    /// ```swift
    /// try synchronizer.setOrphanPolicy(.delete, for: "item")
    /// ```
    ///
    /// - parameters:
    ///     - policy: What happens.
    ///     - table: A tracked table.
    /// - throws: ``SyncError`` of code `noSuchTable` when the table is not tracked.
    public func setOrphanPolicy(_ policy: OrphanPolicy, for table: String) throws {
        try database.write { try OrphanPolicies.set($0, policy, for: table) }
        // Rows that are held already are looked at again.
        try database.settle(environment, isFull: true)
    }

    /// Reads what happens to the rows of a table whose parent is deleted.
    public func orphanPolicy(for table: String) throws -> OrphanPolicy {
        try database.read { db in
            let sql = """
                SELECT p.policy FROM _sync_orphan_policy AS p JOIN _sync_table AS t ON t.tbl = p.tbl
                WHERE t.name = ?
                """
            return try String.fetchOne(db, sql: sql, arguments: [table]).flatMap(OrphanPolicy.init) ?? .hold
        }
    }
}
