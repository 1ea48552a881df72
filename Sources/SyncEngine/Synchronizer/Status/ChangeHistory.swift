import CipherStore
import Foundation
import SyncWire

/// A change in the history of a store.
public struct HistoryEntry: Sendable {
    /// The kinds of change.
    public enum Operation: String, Sendable {
        /// A row was inserted.
        case insert
        /// Columns of a row were written.
        case update
        /// A row was deleted.
        case delete
    }

    /// When, in milliseconds of Unix time, by the writer's clock.
    public let milliseconds: Int64
    /// Who wrote it.
    public let replica: ReplicaID
    /// Whether it was written here.
    public let isLocal: Bool
    /// The kind of change.
    public let operation: Operation
    /// The table.
    public let table: String
    /// The row's key, as UUID text.
    public let key: String
    /// The columns that were written by an update.
    public let columns: [String]
}

extension Synchronizer {
    /// Reads the latest changes, newest first: all local ones that the log
    /// keeps, and the last of each row and column that came from others.
    ///
    /// - parameter limit: How many at most.
    public func history(limit: Int) throws -> [HistoryEntry] {
        try history { db, metadata in try NewestChanges(db: db, limit: max(0, limit)).rows(metadata) }
    }

    /// Reads the latest changes of one row, newest first.
    ///
    /// The whole log is read for that, which is bounded (see ``CompactionOptions/historyCount``). It has no index by rows, because
    /// that would cost each write of each program.
    ///
    /// - parameters:
    ///     - table: The name of its table.
    ///     - key: Its key, as the table holds it.
    ///     - limit: How many at most.
    public func history(of table: String, key: DatabaseValue, limit: Int) throws -> [HistoryEntry] {
        let number = try database.read { db in
            try SyncedTable.loadAll(db).first { $0.name.isSameIdentifier(as: table) }?.number
        }
        guard let number else { return [] }
        return try history { db, metadata in
            try Row.fetchAll(
                db, sql: Self.historyOfRowSQL,
                arguments: ["limit": limit, "table": number, "key": key, "self": metadata.selfNumber])
        }
    }

    private func history(_ read: (Database, StoreMetadata) throws -> [Row]) throws -> [HistoryEntry] {
        try database.read { db in
            let metadata = try StoreMetadata.require(db)
            let tables = Dictionary(
                uniqueKeysWithValues: try SyncedTable.loadAll(db).map { ($0.number, $0) })
            let replicas = Dictionary(
                metadata.replicas.map { ($0.sid, $0.id) }, uniquingKeysWith: { first, _ in first })
            return try read(db, metadata).compactMap { row in
                guard let table = tables[try row.decode(atIndex: 2)] else { return nil }
                let replica: Int64 = try row.decode(atIndex: 1)
                let mask = try row.decodeIfPresent(Int64.self, atIndex: 5)
                return HistoryEntry(
                    milliseconds: try row.decode(atIndex: 0),
                    replica: replicas[replica] ?? Identifier128(high: 0, low: 0),
                    isLocal: replica == metadata.selfNumber, operation: try operation(row),
                    table: table.name, key: try keyText(row), columns: try columns(row, table, mask))
            }
        }
    }

    private static let historyOfRowSQL = """
        SELECT * FROM (
            SELECT ms, :self AS sid, tbl, pk, op, mask, NULL AS col, seq FROM _sync_log
            WHERE op <> 0 AND tbl = :table AND pk = :key
            UNION ALL
            SELECT hlc >> 16, sid, tbl, pk, CASE WHEN cl & 1 THEN 1 ELSE 3 END, NULL, NULL, oseq
            FROM _sync_row WHERE sid <> :self AND tbl = :table AND pk = :key
            UNION ALL
            SELECT c.hlc >> 16, c.sid, r.tbl, r.pk, 2, NULL, c.col, c.oseq
            FROM _sync_cell AS c
            JOIN (SELECT r, tbl, pk FROM _sync_row WHERE tbl = :table AND pk = :key) AS r ON r.r = c.r
            WHERE c.sid <> :self
        ) ORDER BY ms DESC, seq DESC LIMIT :limit
        """

    private func operation(_ row: Row) throws -> HistoryEntry.Operation {
        switch try row.decode(Int.self, atIndex: 4) & 0xF {
        case ChangeLog.Operation.insert: .insert
        case ChangeLog.Operation.delete: .delete
        default: .update
        }
    }

    private func keyText(_ row: Row) throws -> String {
        RowKeyText.text(try row.decode(DatabaseValue.self, atIndex: 3))
    }

    private func columns(_ row: Row, _ table: SyncedTable, _ mask: Int64?) throws -> [String] {
        if let number = try row.decodeIfPresent(Int.self, atIndex: 6) {
            return table.columns.filter { $0.number == number }.map(\.name)
        }
        let operation = try row.decode(Int.self, atIndex: 4)
        let updates = [ChangeLog.Operation.update, ChangeLog.Operation.rewrite]
        guard let mask, updates.contains(operation & 0xF) else { return [] }
        let group = operation >> ChangeLog.Operation.groupShift
        return table.columns.filter { column in
            column.number / ChangeLog.columnsPerGroup == group
                && mask >> Int64(column.number % ChangeLog.columnsPerGroup) & 1 == 1
        }.map(\.name)
    }
}
