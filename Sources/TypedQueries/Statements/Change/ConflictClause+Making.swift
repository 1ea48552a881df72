extension ConflictClause {
    /// Makes a clause of the closures of an `insert` function.
    init<Base: Table>(
        updating type: Base.Type, _ updates: (inout Updates<Base>, Excluded<Base>.TableColumns) -> Void,
        where condition: (Base.TableColumns) -> FragmentList, target: QueryFragment = QueryFragment(),
        _ targetCondition: (Base.TableColumns) -> FragmentList = { _ in FragmentList() }
    ) {
        var assigned = Updates<Base>()
        updates(&assigned, Excluded<Base>.columns)
        assignments = assigned.assignments
        self.condition = condition(Base.columns)
        self.target = target.unqualified(Base.self)
        let own = targetCondition(Base.columns)
        self.targetCondition = FragmentList(own.first.unqualified(Base.self))
        for other in own.rest { self.targetCondition.append(other.unqualified(Base.self)) }
    }
}

extension Insert {
    /// The same with a conflict clause.
    func conflict(_ clause: ConflictClause) -> Self {
        var result = self
        result.conflict = clause
        return result
    }

    /// The same, where a row that is in the way stays: `ON CONFLICT DO NOTHING`.
    public func onConflictDoNothing() -> Self { conflict(ConflictClause()) }
}

extension PrimaryKeyedTable {
    /// Inserts rows, or updates those that have their keys.
    ///
    /// ```swift
    /// Reminder.upsert { Reminder.Draft(reminder) }
    /// ```
    ///
    /// - parameters:
    ///     - policy: What becomes of a row that violates another constraint.
    ///     - values: The rows.
    public static func upsert(
        or policy: ConflictPolicy? = nil, @InsertValuesBuilder<Self> values: () -> InsertedRows
    ) -> Insert<Self, ()> {
        let key = Set(columns.primaryKey.queryColumnNames)
        var updates = Updates<Self>()
        for name in writableColumnNames where !key.contains(name) {
            updates.assignments.separate()
            updates.assignments.append(identifier: name)
            updates.assignments.append(literal: " = ")
            updates.assignments.append(tableOf: Excluded<Self>.self)
            updates.assignments.append(literal: ".")
            updates.assignments.append(identifier: name)
        }
        var clause = ConflictClause()
        clause.target = columns.primaryKey.queryFragment.unqualified(Self.self)
        clause.assignments = updates.assignments
        return insert(or: policy, values: values).conflict(clause)
    }

    /// Updates all columns of the row that has the record's key.
    ///
    /// - parameters:
    ///     - policy: What becomes of a row that violates a constraint.
    ///     - record: What the row is to be.
    public static func update(or policy: ConflictPolicy? = nil, _ record: Self) -> Update<Self, ()> {
        let names = writableColumnNames
        let key = Set(columns.primaryKey.queryColumnNames)
        var row = RowWriter()
        row.form = .assignments(names.map { key.contains($0) ? nil : $0 }, 0)
        record.writeValues(to: &row)
        var update = Update<Self, ()>(policy, row.takeFragment())
        update.conditions.append(keyCondition(record, names, key))
        return update
    }

    /// Deletes the row that has the record's key.
    public static func delete(_ record: Self) -> Delete<Self, ()> {
        Delete(
            conditions: FragmentList(
                keyCondition(record, writableColumnNames, Set(columns.primaryKey.queryColumnNames))))
    }

    /// The row that has the record's key.
    package static func find(keyOf record: Self) -> Where<Self> {
        Where(
            FragmentList(
                keyCondition(record, writableColumnNames, Set(columns.primaryKey.queryColumnNames))))
    }

    /// The values of the record's key, as they are stored.
    package var keyBindings: [QueryBinding] {
        let key = Set(Self.columns.primaryKey.queryColumnNames)
        var row = RowWriter()
        row.form = .some(Self.writableColumnNames.map { key.contains($0) }, 0)
        writeValues(to: &row)
        return row.takeFragment().bindings
    }

    /// That the key is the record's.
    private static func keyCondition(_ record: Self, _ names: [String], _ key: Set<String>) -> QueryFragment {
        var row = RowWriter(QueryFragment("("))
        columns.primaryKey.write(to: &row.fragment)
        row.fragment.append(literal: ") = (")
        row.form = .some(names.map { key.contains($0) }, 0)
        record.writeValues(to: &row)
        var condition = row.takeFragment()
        condition.append(literal: ")")
        return condition
    }
}

/// Collects the values of an INSERT of some columns.
@resultBuilder
public struct ColumnValuesBuilder<each V: QueryRepresentable> {
    /// A row of values.
    public static func buildExpression(_ row: (repeat (each V).QueryOutput)) -> QueryFragment {
        var values = RowWriter()
        repeat values.write(each row, as: (each V).self)
        return Self.row(values.takeFragment())
    }
    /// A row of expressions.
    @_disfavoredOverload
    public static func buildExpression<each E: QueryExpression>(_ row: (repeat each E)) -> QueryFragment
    where repeat (each E).QueryValue == each V {
        Self.row(QueryFragment(list: repeat each row))
    }
    /// Rows of values.
    public static func buildExpression(_ rows: [(repeat (each V).QueryOutput)]) -> QueryFragment {
        var list = QueryFragment()
        for row in rows {
            var values = RowWriter()
            repeat values.write(each row, as: (each V).self)
            SelectClauses.join(&list, Self.row(values.takeFragment()))
        }
        return list
    }
    /// No row.
    public static func buildBlock() -> QueryFragment { QueryFragment() }
    /// The first.
    public static func buildPartialBlock(first: QueryFragment) -> QueryFragment { first }
    /// One more.
    public static func buildPartialBlock(accumulated: QueryFragment, next: QueryFragment) -> QueryFragment {
        var list = accumulated
        SelectClauses.join(&list, next)
        return list
    }
    /// Those of a condition that is met.
    public static func buildEither(first component: QueryFragment) -> QueryFragment { component }
    /// Those of a condition that is not met.
    public static func buildEither(second component: QueryFragment) -> QueryFragment { component }
    /// Those of a condition, or nothing.
    public static func buildOptional(_ component: QueryFragment?) -> QueryFragment {
        component ?? QueryFragment()
    }
    /// Those of a loop.
    public static func buildArray(_ components: [QueryFragment]) -> QueryFragment {
        components.reduce(into: QueryFragment()) { SelectClauses.join(&$0, $1) }
    }

    /// All rows.
    public static func buildFinalResult(_ component: QueryFragment) -> InsertedRows {
        InsertedRows(component)
    }

    private static func row(_ values: QueryFragment) -> QueryFragment {
        var fragment = QueryFragment()
        fragment.beginPart(.row)
        fragment.append(literal: "(")
        fragment.append(values)
        fragment.append(literal: ")")
        return fragment
    }
}
