import CipherStore
import Foundation
import SyncEngine

/// The values that changes wrote, where they are still there: a column holds what its newest change wrote.
enum HistoryValues {
    /// A column and what it holds.
    struct Value {
        let column: String
        let value: DatabaseValue
    }

    private struct KeyedRow {
        /// The column of the key.
        let key: String
        let row: Row
    }

    /// Reads the values of changes.
    ///
    /// - parameter entries: Changes, newest first.
    /// - returns: For each of them, the columns of which it is the newest change here.
    static func load(_ entries: [HistoryEntry], from queue: DatabaseQueue) throws -> [[Value]] {
        try queue.read { db in
            var rows: [String: KeyedRow?] = [:]
            var claimed: [String: Set<String>] = [:]
            return try entries.map { entry in
                let name = "\(entry.table.identifierKey)\u{0}\(entry.key)"
                let found: KeyedRow?
                if let known = rows[name] {
                    found = known
                } else {
                    found = try Self.row(entry, db)
                    rows[name] = .some(found)
                }
                guard let found, entry.operation != .delete else {
                    // What was before a deletion is not what the row holds now.
                    rows[name] = .some(nil)
                    return []
                }
                let columns =
                    entry.operation == .insert
                    ? found.row.columnNames.filter { !$0.isSameIdentifier(as: found.key) }
                    : entry.columns
                var values: [Value] = []
                for column in columns
                where claimed[name, default: []].insert(column.identifierKey).inserted {
                    guard found.row.hasColumn(column) else { continue }
                    values.append(Value(column: column, value: found.row[column]))
                }
                if entry.operation == .insert { rows[name] = .some(nil) }
                return values
            }
        }
    }

    /// The row as it is now; nil when it, its table or its key is not here.
    private static func row(_ entry: HistoryEntry, _ db: Database) throws -> KeyedRow? {
        guard try db.tableExists(entry.table) else { return nil }
        let keys = try db.primaryKey(entry.table).columns
        guard keys.count == 1, let key = keys.first else { return nil }
        // A key that is text may be in upper case; the history has it in lower case.
        let texts = [entry.key, entry.key.uppercased()].map(\.databaseValue)
        let forms = [UUID(uuidString: entry.key)?.databaseValue].compactMap { $0 } + texts
        let row = try Row.fetchOne(
            db,
            sql: """
                SELECT * FROM \(entry.table.quotedDatabaseIdentifier)
                WHERE \(key.quotedDatabaseIdentifier) IN (\(forms.map { _ in "?" }.joined(separator: ", ")))
                """, arguments: StatementArguments(forms))
        return row.map { KeyedRow(key: key, row: $0) }
    }
}
