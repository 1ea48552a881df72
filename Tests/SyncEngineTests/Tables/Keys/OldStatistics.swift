import CipherStore
import Foundation

/// Statistics for SQLite of a time when some tables had few rows.
enum OldStatistics: CaseIterable, Sendable {
    case none, fewRowsInMetadata, fewRowsInTables

    /// Stores them. They are of the tables that have rows now.
    func store(_ db: Database) throws {
        guard self != .none else { return }
        try db.execute(sql: "ANALYZE")
        for row in try Row.fetchAll(db, sql: "SELECT rowid, tbl, stat FROM sqlite_stat1") {
            let (number, table, text): (Int64, String, String) = (row[0], row[1], row[2])
            let isMetadata = table.hasPrefix("_sync_") && !table.hasPrefix("_sync_dropped_")
            let count = isMetadata == (self == .fewRowsInMetadata) ? 12 : 1_000_000
            let columnCount = text.split(separator: " ").count - 1
            var numbers = [count]
            if columnCount > 0 { numbers += Array(repeating: 10, count: columnCount - 1) + [1] }
            try db.execute(
                sql: "UPDATE sqlite_stat1 SET stat = ? WHERE rowid = ?",
                arguments: [numbers.map(String.init).joined(separator: " "), number])
        }
        // Reads the statistics again.
        try db.execute(sql: "ANALYZE sqlite_master")
    }
}

extension Database {
    /// How SQLite runs statements of some kind that a block runs.
    ///
    /// - parameters:
    ///     - beginning: How these statements begin.
    ///     - part: What is in them.
    func plans(
        ofStatementsWith beginning: String, _ part: String, _ body: () throws -> Void
    ) throws -> [[String]] {
        var statements: Set<String> = []
        trace { event in
            statements.insert(event.expandedDescription.trimmingCharacters(in: .whitespacesAndNewlines))
        }
        defer { trace(options: []) }
        try body()
        trace(options: [])
        return try statements.filter { $0.hasPrefix(beginning) && $0.contains(part) }.map(plan)
    }

    /// How SQLite runs a statement.
    func plan(_ sql: String) throws -> [String] {
        try Row.fetchAll(self, sql: "EXPLAIN QUERY PLAN \(sql)").map { row -> String in row["detail"] }
    }
}
