/// Collects rows of any tables.
@resultBuilder
public enum SeedsBuilder {
    /// A row.
    public static func buildExpression(_ row: some Table) -> [any Table] { [row] }
    /// Rows.
    public static func buildExpression(_ rows: [some Table]) -> [any Table] { rows }
    /// Rows.
    public static func buildBlock(_ components: [any Table]...) -> [any Table] { components.flatMap { $0 } }
    /// Those of a condition that is met.
    public static func buildEither(first component: [any Table]) -> [any Table] { component }
    /// Those of a condition that is not met.
    public static func buildEither(second component: [any Table]) -> [any Table] { component }
    /// Those of a condition, or nothing.
    public static func buildOptional(_ component: [any Table]?) -> [any Table] { component ?? [] }
    /// Those of a loop.
    public static func buildArray(_ components: [[any Table]]) -> [any Table] { components.flatMap { $0 } }
}

extension Database {
    /// Inserts rows of any tables, in their order.
    ///
    /// ```swift
    /// try db.seed {
    ///     RemindersList(id: 1, title: "Home")
    ///     Reminder.Draft(title: "Milk", remindersListID: 1)
    /// }
    /// ```
    ///
    /// Neighbors of one type are inserted by one statement, as far as it can have that many parameters.
    ///
    /// - throws: A `DatabaseError`.
    public func seed(@SeedsBuilder _ build: () throws -> [any Table]) throws {
        var rows = try build()[...]
        while let first = rows.first {
            rows = try insertPrefix(of: rows, like: first)
        }
    }

    private func insertPrefix<Row: Table>(
        of rows: ArraySlice<any Table>, like first: Row
    ) throws -> ArraySlice<any Table> {
        let limit = max(1, 900 / max(Row.columnWidth, 1))
        var inserted = InsertedRows()
        var rest = rows
        var count = 0
        while count < limit, let row = rest.first as? Row {
            inserted.append(row)
            rest.removeFirst()
            count += 1
        }
        inserted.names.append(writableNamesOf: Row.self)
        try Insert<Row, ()>(nil, names: inserted.names, .rows(inserted.rows)).execute(self)
        return rest
    }
}
