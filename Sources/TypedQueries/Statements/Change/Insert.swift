/// An INSERT statement.
public struct Insert<Into: Table, Returning>: WritableStatement {
    /// What is returned of each row.
    public typealias QueryValue = Returning
    /// The table.
    public typealias From = Into
    /// A change gives no rows but those it returns.
    public typealias Joins = NoRows

    /// Where the rows come from.
    @usableFromInline enum Source: Hashable, Sendable {
        case rows(QueryFragment)
        case select(QueryFragment)
        case defaults
    }

    @usableFromInline var policy: ConflictPolicy?
    /// The names of the columns; those of the table that can be written when it is empty.
    @usableFromInline var names = QueryFragment()
    @usableFromInline var source: Source
    /// What few statements have, in a place of its own: this way a statement is small, and quick to pass on.
    @usableFromInline var clauses = Clauses.none

    @usableFromInline indirect enum Clauses: Sendable {
        case none
        case some(ConflictClause?, returned: QueryFragment)
    }

    /// What becomes of rows in the way.
    var conflict: ConflictClause? {
        get { if case .some(let conflict, _) = clauses { conflict } else { nil } }
        set { clauses = .some(newValue, returned: returned) }
    }

    /// What is returned of each row.
    var returned: QueryFragment {
        get { if case .some(_, let returned) = clauses { returned } else { QueryFragment() } }
        set { clauses = .some(conflict, returned: newValue) }
    }

    @inlinable
    init(_ policy: ConflictPolicy?, names: QueryFragment = QueryFragment(), _ source: Source) {
        self.policy = policy
        self.names = names
        self.source = source
    }

    /// Whether the two have the same SQL and values.
    public static func == (left: Self, right: Self) -> Bool { left.query == right.query }

    /// Feeds the SQL and the values to a hasher.
    public func hash(into hasher: inout Hasher) { hasher.combine(query) }

    /// Adds the statement, or nothing when there is no row.
    @inlinable
    public func writeStatement(to fragment: inout QueryFragment) {
        fragment.append(changeOf: Into.self) { writeChange(to: &$0) }
    }

    @inlinable
    func writeChange(to fragment: inout QueryFragment) {
        if case .rows(let rows) = source, case .none = clauses {
            guard !rows.isEmpty else { return }
            writeTarget(to: &fragment)
            fragment.append(literal: "\nVALUES\n")
            fragment.append(rows)
        } else {
            writeParts(to: &fragment)
        }
    }

    /// Whether there is nothing to insert.
    private var isEmpty: Bool {
        switch source {
        case .rows(let rows), .select(let rows): rows.isEmpty
        case .defaults: false
        }
    }

    @inlinable
    func writeTarget(to fragment: inout QueryFragment) {
        if let policy {
            fragment.append(literal: policy.insert)
            fragment.append(sourceOf: Into.self)
        } else {
            fragment.append(literal: "INSERT INTO ", QueryFragment.Code.tableSource, Into.self)
        }
        if case .defaults = source { return }
        if names.isEmpty {
            fragment.append(literal: "\n(", QueryFragment.Code.writableNames, Into.self)
        } else {
            fragment.append(literal: "\n(")
            fragment.append(names)
        }
        fragment.append(literal: ")")
    }

    @usableFromInline func writeParts(to fragment: inout QueryFragment) {
        if isEmpty { return }
        fragment.beginPart(.insertTarget)
        writeTarget(to: &fragment)
        switch source {
        case .rows(let rows):
            fragment.beginPart(.rows)
            fragment.append(literal: "\nVALUES\n")
            fragment.append(rows)
        case .select(let select):
            fragment.beginPart(.insertedSelect)
            fragment.append(literal: "\n")
            fragment.append(select)
            // Without a condition, the ON of the conflict clause would be that of a join.
            if conflict != nil, select.endsInTables { fragment.append(literal: "\nWHERE 1") }
        case .defaults:
            fragment.beginPart(.defaultValues)
            fragment.append(literal: " DEFAULT VALUES")
        }
        conflict?.write(to: &fragment)
        guard !returned.isEmpty else { return }
        fragment.writeReturning(returned)
    }
}

/// The mark of statements that give no rows.
public enum NoRows: Sendable {}

/// `ON CONFLICT (…) WHERE … DO UPDATE SET … WHERE …`
@usableFromInline struct ConflictClause: Hashable, Sendable {
    /// The columns; none for any constraint.
    var target = QueryFragment()
    var targetCondition = FragmentList()
    /// The assignments; none for `DO NOTHING`.
    var assignments = QueryFragment()
    var condition = FragmentList()

    func write(to fragment: inout QueryFragment) {
        fragment.beginPart(.glue)
        // The emulation leaves it out with the rest of this part.
        if QueryFragment.marksParts { fragment.require(.upsert) }
        fragment.append(literal: "\nON CONFLICT ")
        if !target.isEmpty {
            fragment.append(literal: "(")
            fragment.beginPart(.conflictTarget)
            fragment.append(target)
            fragment.beginPart(.glue)
            fragment.append(literal: ")")
        }
        if !targetCondition.isEmpty {
            fragment.append(literal: "\nWHERE ")
            fragment.beginPart(.conflictTargetCondition)
            targetCondition.writeConjunction(to: &fragment)
            fragment.beginPart(.glue)
        }
        if assignments.isEmpty {
            fragment.beginPart(.doNothing)
            return fragment.append(sql: target.isEmpty ? "DO NOTHING" : "\nDO NOTHING")
        }
        fragment.append(sql: target.isEmpty ? "DO UPDATE SET " : "\nDO UPDATE SET ")
        fragment.beginPart(.doUpdate)
        fragment.append(assignments)
        guard !condition.isEmpty else { return }
        fragment.beginPart(.glue)
        fragment.append(literal: "\nWHERE ")
        fragment.beginPart(.doUpdateCondition)
        condition.writeConjunction(to: &fragment)
    }
}

/// Rows that are inserted. An empty list, `[]`, is none, and a statement without rows is not run.
public struct InsertedRows: Sendable, ExpressibleByArrayLiteral {
    /// Makes a list of no rows.
    @_disfavoredOverload
    public init(arrayLiteral elements: Never...) { self.init() }

    @usableFromInline var rows: QueryFragment
    @usableFromInline var names: QueryFragment

    @inlinable
    init(_ rows: QueryFragment = QueryFragment(), names: QueryFragment = QueryFragment()) {
        self.rows = rows
        self.names = names
    }

    @inlinable
    mutating func append(_ other: InsertedRows) {
        if other.rows.isEmpty { return }
        if rows.isEmpty {
            self = other
        } else {
            rows.append(literal: ", ")
            rows.append(other.rows)
        }
    }

    /// Adds a row of a table or its draft.
    @inlinable
    mutating func append(_ row: some Table) {
        if !rows.isEmpty { rows.append(literal: ", ") }
        rows.beginPart(.row)
        rows.append(literal: "(")
        row.write(to: &rows)
        rows.append(literal: ")")
    }
}

/// Collects the rows of an INSERT.
@resultBuilder
public enum InsertValuesBuilder<Into: Table> {
    /// A row.
    @inlinable
    public static func buildExpression(_ row: Into) -> InsertedRows {
        var rows = InsertedRows()
        rows.rows.reserve(width: Into.columnWidth)
        rows.append(row)
        return rows
    }
    /// Rows.
    public static func buildExpression(_ list: [Into]) -> InsertedRows {
        list.reduce(into: InsertedRows()) { $0.append($1) }
    }
    /// A row of expressions. What it says of a column whose values the database makes is left out.
    ///
    /// ```swift
    /// Item.insert { Item.Columns(title: $0.title.upper()) }
    /// ```
    public static func buildExpression(_ row: some SelectedColumns<Into>) -> InsertedRows {
        var rows = InsertedRows()
        rows.rows.beginPart(.row)
        rows.rows.append(literal: "(")
        rows.rows.append(row.queryFragment.withoutNames.withoutGeneratedColumns(of: Into.self))
        rows.rows.append(literal: ")")
        return rows
    }
    /// No row.
    @inlinable public static func buildBlock() -> InsertedRows { InsertedRows() }
    /// The first.
    @inlinable public static func buildPartialBlock(first: InsertedRows) -> InsertedRows { first }
    /// One more.
    @inlinable
    public static func buildPartialBlock(accumulated: InsertedRows, next: InsertedRows) -> InsertedRows {
        var rows = accumulated
        rows.append(next)
        return rows
    }
    /// Those of a condition that is met.
    @inlinable public static func buildEither(first component: InsertedRows) -> InsertedRows { component }
    /// Those of a condition that is not met.
    @inlinable public static func buildEither(second component: InsertedRows) -> InsertedRows { component }
    /// Those of a condition, or nothing.
    @inlinable
    public static func buildOptional(_ component: InsertedRows?) -> InsertedRows {
        component ?? InsertedRows()
    }
    /// Those of a loop.
    public static func buildArray(_ components: [InsertedRows]) -> InsertedRows {
        components.reduce(into: InsertedRows()) { $0.append($1) }
    }
}

extension InsertValuesBuilder where Into: PrimaryKeyedTable {
    /// A draft.
    @inlinable
    public static func buildExpression(_ row: Into.Draft) -> InsertedRows {
        var rows = InsertedRows()
        rows.rows.reserve(width: Into.columnWidth)
        rows.append(row)
        rows.names.append(writableNamesOf: Into.Draft.self)
        return rows
    }
    /// Drafts. A list of nothing is one of rows.
    @_disfavoredOverload
    public static func buildExpression(_ list: [Into.Draft]) -> InsertedRows {
        var rows = list.reduce(into: InsertedRows()) { $0.append($1) }
        rows.names.append(writableNamesOf: Into.Draft.self)
        return rows
    }
}
