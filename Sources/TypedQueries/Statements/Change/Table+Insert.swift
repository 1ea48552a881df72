// Rows of the type, or drafts of them, are inserted.

extension Table {
    /// Inserts a row of default values.
    public static func insert() -> Insert<Self, ()> { Insert(nil, .defaults) }

    /// Inserts rows.
    ///
    /// ```swift
    /// Reminder.insert { Reminder.Draft(title: "Milk") }
    /// ```
    ///
    /// - parameters:
    ///     - policy: What becomes of a row that violates a constraint.
    ///     - values: The rows.
    @inlinable
    public static func insert(
        or policy: ConflictPolicy? = nil, @InsertValuesBuilder<Self> values: () -> InsertedRows
    ) -> Insert<Self, ()> {
        let rows = values()
        return Insert(policy, names: rows.names, .rows(rows.rows))
    }

    /// The same, or updates the row in its way, whatever key they share. It needs SQLite 3.35.
    ///
    /// `$0` is the row to be updated, `$1` the one that could not be inserted.
    public static func insert(
        or policy: ConflictPolicy? = nil, @InsertValuesBuilder<Self> values: () -> InsertedRows,
        onConflictDoUpdate updates: (inout Updates<Self>, Excluded<Self>.TableColumns) -> Void,
        @QueryFragmentBuilder<Bool> `where` condition: (TableColumns) -> FragmentList = { _ in FragmentList()
        }
    ) -> Insert<Self, ()> {
        insert(or: policy, values: values)
            .conflict(ConflictClause(updating: Self.self, updates, where: condition))
    }

    /// The same, or updates the row that has the same values in the columns of a target.
    ///
    /// `$0` is the row to be updated, `$1` the one that could not be inserted. Without updates the row in the way stays.
    public static func insert<Target: QueryExpression>(
        or policy: ConflictPolicy? = nil, @InsertValuesBuilder<Self> values: () -> InsertedRows,
        onConflict target: (TableColumns) -> Target,
        doUpdate updates: (inout Updates<Self>, Excluded<Self>.TableColumns) -> Void = { _, _ in },
        @QueryFragmentBuilder<Bool> `where` condition: (TableColumns) -> FragmentList = { _ in FragmentList()
        }
    ) -> Insert<Self, ()> {
        insert(or: policy, values: values)
            .conflict(
                ConflictClause(
                    updating: Self.self, updates, where: condition,
                    target: target(columns).queryFragment))
    }

    /// The same, or updates the row that has the same values in the columns of a target, which belongs to a partial index.
    ///
    /// `$0` is the row to be updated, `$1` the one that could not be inserted. Without updates the row in the way stays.
    public static func insert<Target: QueryExpression>(
        or policy: ConflictPolicy? = nil, @InsertValuesBuilder<Self> values: () -> InsertedRows,
        onConflict target: (TableColumns) -> Target,
        @QueryFragmentBuilder<Bool> `where` targetCondition: (TableColumns) -> FragmentList,
        doUpdate updates: (inout Updates<Self>, Excluded<Self>.TableColumns) -> Void,
        @QueryFragmentBuilder<Bool> `where` condition: (TableColumns) -> FragmentList = { _ in FragmentList()
        }
    ) -> Insert<Self, ()> {
        insert(or: policy, values: values)
            .conflict(
                ConflictClause(
                    updating: Self.self, updates, where: condition,
                    target: target(columns).queryFragment, targetCondition))
    }

    /// The same, or updates the row in its way, whatever key they share. It needs SQLite 3.35.
    ///
    /// `$0` is the row to be updated.
    public static func insert(
        or policy: ConflictPolicy? = nil, @InsertValuesBuilder<Self> values: () -> InsertedRows,
        onConflictDoUpdate updates: (inout Updates<Self>) -> Void,
        @QueryFragmentBuilder<Bool> `where` condition: (TableColumns) -> FragmentList = { _ in FragmentList()
        }
    ) -> Insert<Self, ()> {
        insert(or: policy, values: values)
            .conflict(
                ConflictClause(
                    updating: Self.self, { assignments, _ in updates(&assignments) }, where: condition))
    }

    /// The same, or updates the row that has the same values in the columns of a target.
    ///
    /// `$0` is the row to be updated. Without updates the row in the way stays.
    public static func insert<Target: QueryExpression>(
        or policy: ConflictPolicy? = nil, @InsertValuesBuilder<Self> values: () -> InsertedRows,
        onConflict target: (TableColumns) -> Target,
        doUpdate updates: (inout Updates<Self>) -> Void,
        @QueryFragmentBuilder<Bool> `where` condition: (TableColumns) -> FragmentList = { _ in FragmentList()
        }
    ) -> Insert<Self, ()> {
        insert(or: policy, values: values)
            .conflict(
                ConflictClause(
                    updating: Self.self, { assignments, _ in updates(&assignments) }, where: condition,
                    target: target(columns).queryFragment))
    }

    /// The same, or updates the row that has the same values in the columns of a target, which belongs to a partial index.
    ///
    /// `$0` is the row to be updated. Without updates the row in the way stays.
    public static func insert<Target: QueryExpression>(
        or policy: ConflictPolicy? = nil, @InsertValuesBuilder<Self> values: () -> InsertedRows,
        onConflict target: (TableColumns) -> Target,
        @QueryFragmentBuilder<Bool> `where` targetCondition: (TableColumns) -> FragmentList,
        doUpdate updates: (inout Updates<Self>) -> Void,
        @QueryFragmentBuilder<Bool> `where` condition: (TableColumns) -> FragmentList = { _ in FragmentList()
        }
    ) -> Insert<Self, ()> {
        insert(or: policy, values: values)
            .conflict(
                ConflictClause(
                    updating: Self.self, { assignments, _ in updates(&assignments) }, where: condition,
                    target: target(columns).queryFragment, targetCondition))
    }
}
