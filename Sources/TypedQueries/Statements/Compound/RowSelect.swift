// A row as the beginning of a statement: `SELECT 1 AS "n", 0 AS "previous"`.

extension Table {
    /// The row, selected without a table. Columns whose values the database makes are NULL.
    var rowSelect: QueryFragment {
        var fragment = QueryFragment("SELECT ")
        fragment.append(
            .named(Self.writableColumnNames, among: Self.allColumnNames) { writeValues(to: &$0) })
        return fragment
    }

    /// The row and the rows of a statement: `UNION`. A common table that refers to itself begins so.
    ///
    /// ```swift
    /// With {
    ///     Count(value: 1).union(Count.select { Count.Columns(value: $0.value + 1) })
    /// } query: {
    ///     Count.limit(4)
    /// }
    /// // WITH "counts" AS (SELECT 1 AS "value" UNION SELECT ("counts"."value") + (1) AS "value" FROM "counts")
    /// // SELECT "counts"."value" FROM "counts" LIMIT 4
    /// ```
    ///
    /// - parameters:
    ///     - all: Whether rows that are equal all stay: `UNION ALL`.
    ///     - other: The statement.
    public func union(
        all: Bool = false, _ other: some PartialSelectStatement<Self>
    ) -> CompoundSelect<Self, NoTable, NoJoins> {
        CompoundSelect(rowSelect, all ? .unionAll : .union, other.query)
    }

    /// The row, if a statement has it: `INTERSECT`.
    public func intersect(
        _ other: some PartialSelectStatement<Self>
    ) -> CompoundSelect<Self, NoTable, NoJoins> {
        CompoundSelect(rowSelect, .intersect, other.query)
    }

    /// The row, unless a statement has it: `EXCEPT`.
    public func except(_ other: some PartialSelectStatement<Self>) -> CompoundSelect<Self, NoTable, NoJoins> {
        CompoundSelect(rowSelect, .except, other.query)
    }
}

extension CommonTableExpressionBuilder {
    /// A common table of one row.
    public static func buildExpression<Row: Table>(_ row: Row) -> FragmentList {
        table(Row.self, row.rowSelect)
    }
}

extension QueryFragment.StringInterpolation {
    /// Adds a row as a statement that selects it.
    public mutating func appendInterpolation(_ row: some Table) { fragment.append(row.rowSelect) }
}

extension Values where QueryValue: Table {
    /// Makes a row of the values of a row.
    public init(_ row: QueryValue) { statement = row.rowSelect }
}
