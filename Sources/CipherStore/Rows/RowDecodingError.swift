/// A row that does not have the expected column or value.
///
/// Its description holds the values of the row and the arguments of its
/// statement: log ``context`` and ``type`` instead where those are private.
public struct RowDecodingError: Error, Sendable {
    /// What is wrong.
    enum Reason: Sendable {
        /// A value can't be converted.
        case valueMismatch(DatabaseValue)
        /// The row has no such column, scope or prefetched rows.
        case keyNotFound(Key)
    }

    /// What was looked up in a row.
    enum Key: Hashable, Sendable {
        case column(String)
        /// A coding key that the names of columns are converted to, as a text.
        case converted(String)
        case columnIndex(Int)
        case scope(String)
        case prefetchedRows(String)
    }

    let reason: Reason

    /// The type that was asked for.
    public let type: String

    /// Where it was looked for, without the values of the row: the column's name and position.
    public let context: String

    /// The row, with its values.
    private let row: String

    /// The statement of a row that is not a copy, without and with its arguments.
    private let statement: String?

    init(_ reason: Reason, type: String, row: Row, index: Int? = nil) {
        self.reason = reason
        self.type = type
        // The statement knows its columns by another position than an adapter.
        let root = row.unadaptedStatementRow
        let position = index.map { root == nil ? $0 : row.statementIndex(of: $0) }
        context = position.map { "column: \"\((root ?? row).columnNames[$0])\", column index: \($0)" } ?? ""
        self.row = (root ?? row).description
        statement = row.statement.map { statement in
            if let sql = KeyRedaction.redacted(statement.sql) { return "sql: `\(sql.trimmedSQL)`" }
            return "sql: `\(statement.sql.trimmedSQL)`, arguments: \(statement.arguments)"
        }
    }
}

extension RowDecodingError: CustomStringConvertible {
    /// The problem, the column, the row, and the statement if it is known.
    public var description: String {
        let parts = [context, "row: \(row)", statement ?? ""].filter { !$0.isEmpty }
        return summary + " - " + parts.joined(separator: ", ")
    }

    private var summary: String {
        switch reason {
        case .valueMismatch(let value): "could not decode \(type) from database value \(value)"
        case .keyNotFound(.column(let name)): "column not found: \"\(name)\""
        case .keyNotFound(.converted(let key)): "key not found: \(key)"
        case .keyNotFound(.columnIndex(let index)): "column not found: \(index)"
        case .keyNotFound(.scope(let name)): "scope not found: \"\(name)\""
        case .keyNotFound(.prefetchedRows(let name)): "prefetched rows not found: \"\(name)\""
        }
    }
}
