/// The changes of a table that is altered.
///
/// You get one in ``Database/alter(table:body:)``.
public final class TableAlteration {
    private enum Step {
        case add(ColumnDefinition)
        case addLiteral(ColumnDefinition.Fragment)
        case rename(String, to: String)
        case drop(String)
    }

    private let name: String
    private var steps: [Step] = []

    init(name: String) { self.name = name }

    /// Adds a column.
    ///
    /// - parameters:
    ///     - name: The name of the column.
    ///     - type: Its type, if any.
    /// - returns: The column, which takes constraints.
    @discardableResult
    public func add(column name: String, _ type: Database.ColumnType? = nil) -> ColumnDefinition {
        let column = ColumnDefinition(name: name, type: type)
        steps.append(.add(column))
        return column
    }

    /// Adds a column.
    ///
    /// - parameter sql: The SQL of its whole definition.
    public func addColumn(sql: String) {
        addColumn { _ in sql }
    }

    func addColumn(_ fragment: @escaping ColumnDefinition.Fragment) { steps.append(.addLiteral(fragment)) }

    /// Gives a column another name.
    ///
    /// - parameters:
    ///     - name: The name of the column.
    ///     - newName: Its new name.
    public func rename(column name: String, to newName: String) {
        steps.append(.rename(name, to: newName))
    }

    /// Drops a column.
    ///
    /// A column can't be dropped while it is a key or unique, or while an index,
    /// a constraint, a view or a trigger uses it.
    ///
    /// - parameter name: The name of the column.
    public func drop(column name: String) {
        steps.append(.drop(name))
    }

    // MARK: Running

    private struct Change {
        let report: TableChange
        let run: (Database) throws -> Void
    }

    func run(_ db: Database) throws {
        // All is looked up before anything is changed, so that an error comes early.
        let changes = try steps.map { try change($0, db) }
        for change in changes {
            try db.reporting(change.report, of: name) { try change.run(db) }
        }
    }

    /// The definition of a column in a form to which SQLite can append. It takes away blanks at the end, so that a line
    /// feed would not end a comment.
    private static func withCommentClosed(_ definition: String) -> String {
        definition.endsInComment ? definition + "\n/**/" : definition
    }

    private func change(_ step: Step, _ db: Database) throws -> Change {
        let table = name.quotedDatabaseIdentifier
        switch step {
        case .add(let column):
            let sql = try column.sql(db, in: TableContext(table: name, key: nil))
            var statements = ["ALTER TABLE \(table) ADD COLUMN \(Self.withCommentClosed(sql))"]
            if case .plain = column.index {
                statements.append(
                    IndexDefinition(
                        name: "\(name)_on_\(column.name)", on: name, columns: [column.name], options: []
                    ).sql)
            }
            return Change(report: .addColumn(column.name)) { db in
                for statement in statements { try db.execute(sql: statement) }
            }
        case .addLiteral(let fragment):
            let sql = try "ALTER TABLE \(table) ADD COLUMN \(Self.withCommentClosed(fragment(db)))"
            return Change(report: .addColumn(nil)) { try $0.execute(sql: sql) }
        case .rename(let column, let newName):
            return Change(report: .renameColumn(column, to: newName)) { [name] db in
                try ColumnRenaming(db: db, table: name, column: column, newName: newName).run()
            }
        case .drop(let column):
            return Change(report: .dropColumn(column)) { [name] db in
                try ColumnDropping(db: db, table: name, column: column).run()
            }
        }
    }
}

@available(*, unavailable)
extension TableAlteration: Sendable {}
