/// A statement that creates a view: a query that is read like a table.
///
/// Values in it are written as literals, because SQLite takes no parameters in a schema.
public struct DatabaseView<Rows: Table>: WritableStatement {
    /// It gives no rows.
    public typealias QueryValue = ()
    /// The view.
    public typealias From = Rows
    /// It gives no rows.
    public typealias Joins = NoRows

    let isTemporary: Bool
    let ifNotExists: Bool
    let select: QueryFragment

    /// Adds the statement.
    public func writeStatement(to fragment: inout QueryFragment) {
        fragment.append(sql: isTemporary ? "CREATE TEMPORARY VIEW" : "CREATE VIEW")
        fragment.append(sql: ifNotExists ? " IF NOT EXISTS\n" : "\n")
        writeName(to: &fragment)
        fragment.append(literal: "\n(")
        for (index, name) in Rows.allColumnNames.enumerated() {
            if index > 0 { fragment.append(literal: ", ") }
            fragment.append(identifier: name)
        }
        fragment.append(literal: ")\nAS\n")
        fragment.append(schemaText: select)
    }

    private func writeName(to fragment: inout QueryFragment) {
        if !isTemporary, let schema = Rows.schemaName {
            fragment.append(identifier: schema)
            fragment.append(literal: ".")
        }
        fragment.append(identifier: Rows.tableName)
    }

    /// A statement that removes the view.
    ///
    /// - parameter ifExists: Whether a view that is not there is no error.
    public func drop(ifExists: Bool = false) -> SQLQueryExpression<()> {
        var fragment = QueryFragment()
        fragment.append(sql: ifExists ? "DROP VIEW IF EXISTS " : "DROP VIEW ")
        writeName(to: &fragment)
        return SQLQueryExpression(fragment)
    }
}

extension Table {
    /// A view of this connection, which ends with it.
    ///
    /// ```swift
    /// try ReminderTitle.createTemporaryView(
    ///     as: Reminder.join(RemindersList.all) { $0.listID.eq($1.id) }
    ///         .select { ReminderTitle.Columns(title: $0.title, list: $1.title) }
    /// ).execute(db)
    /// // CREATE TEMPORARY VIEW "reminderTitles" ("title", "list") AS SELECT …
    /// ```
    ///
    /// - parameters:
    ///     - ifNotExists: Whether a view of the name that is there stays.
    ///     - select: The rows. Its columns are those of the type, in order.
    public static func createTemporaryView<Selected: QueryRepresentable>(
        ifNotExists: Bool = false, as select: some PartialSelectStatement<Selected>
    ) -> DatabaseView<Self> where Selected.QueryOutput == QueryOutput {
        DatabaseView(isTemporary: true, ifNotExists: ifNotExists, select: select.query)
    }

    /// A view of this connection whose columns a tuple has.
    @_disfavoredOverload
    public static func createTemporaryView(
        ifNotExists: Bool = false, as select: some PartialSelectStatement
    ) -> DatabaseView<Self> {
        DatabaseView(isTemporary: true, ifNotExists: ifNotExists, select: select.query)
    }

    /// A view that stays in the database, for all connections and processes.
    ///
    /// Create it in a migration: the statement is frozen there.
    ///
    /// - parameters:
    ///     - ifNotExists: Whether a view of the name that is there stays.
    ///     - select: The rows. Its columns are those of the type, in order.
    public static func createView<Selected: QueryRepresentable>(
        ifNotExists: Bool = false, as select: some PartialSelectStatement<Selected>
    ) -> DatabaseView<Self> where Selected.QueryOutput == QueryOutput {
        DatabaseView(isTemporary: false, ifNotExists: ifNotExists, select: select.query)
    }

    /// A view that stays in the database, whose columns a tuple has.
    @_disfavoredOverload
    public static func createView(
        ifNotExists: Bool = false, as select: some PartialSelectStatement
    ) -> DatabaseView<Self> {
        DatabaseView(isTemporary: false, ifNotExists: ifNotExists, select: select.query)
    }
}
