// Rows of the type, or drafts of them, are inserted.

extension Table {
    /// Inserts a row of default values.
    ///
    /// - parameter policy: What becomes of a row that violates a constraint.
    public static func insert(or policy: ConflictPolicy? = nil) -> Insert<Self, ()> {
        Insert(policy, .defaults)
    }

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

    /// Inserts rows into all columns: `insert { $0 } values: { row }`.
    public static func insert(
        or policy: ConflictPolicy? = nil, _ columns: (TableColumns) -> TableColumns,
        @InsertValuesBuilder<Self> values: () -> InsertedRows
    ) -> Insert<Self, ()> {
        insert(or: policy, values: values)
    }

    /// Inserts rows. A condition of an update that is not there makes no difference.
    public static func insert(
        or policy: ConflictPolicy? = nil, @InsertValuesBuilder<Self> values: () -> InsertedRows,
        @QueryFragmentBuilder<Bool> `where` condition: (TableColumns) -> FragmentList
    ) -> Insert<Self, ()> {
        insert(or: policy, values: values)
    }

    /// The same, or updates the row in its way, whatever key they share.
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
    public static func insert<each Target: QueryExpression>(
        or policy: ConflictPolicy? = nil, @InsertValuesBuilder<Self> values: () -> InsertedRows,
        onConflict target: (TableColumns) -> (repeat each Target),
        doUpdate updates: (inout Updates<Self>, Excluded<Self>.TableColumns) -> Void = { _, _ in },
        @QueryFragmentBuilder<Bool> `where` condition: (TableColumns) -> FragmentList = { _ in FragmentList()
        }
    ) -> Insert<Self, ()> {
        let terms = target(Self.columns)
        return insert(or: policy, values: values)
            .conflict(
                ConflictClause(
                    updating: Self.self, updates, where: condition,
                    target: QueryFragment(list: repeat each terms)))
    }

    /// The same, or updates the row that has the same values in the columns of a target, which belongs to a partial index.
    ///
    /// `$0` is the row to be updated, `$1` the one that could not be inserted. Without updates the row in the way stays.
    public static func insert<each Target: QueryExpression>(
        or policy: ConflictPolicy? = nil, @InsertValuesBuilder<Self> values: () -> InsertedRows,
        onConflict target: (TableColumns) -> (repeat each Target),
        @QueryFragmentBuilder<Bool> `where` targetCondition: (TableColumns) -> FragmentList,
        doUpdate updates: (inout Updates<Self>, Excluded<Self>.TableColumns) -> Void,
        @QueryFragmentBuilder<Bool> `where` condition: (TableColumns) -> FragmentList = { _ in FragmentList()
        }
    ) -> Insert<Self, ()> {
        let terms = target(Self.columns)
        return insert(or: policy, values: values)
            .conflict(
                ConflictClause(
                    updating: Self.self, updates, where: condition,
                    target: QueryFragment(list: repeat each terms), targetCondition))
    }

    /// The same, or updates the row in its way, whatever key they share.
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
    public static func insert<each Target: QueryExpression>(
        or policy: ConflictPolicy? = nil, @InsertValuesBuilder<Self> values: () -> InsertedRows,
        onConflict target: (TableColumns) -> (repeat each Target),
        doUpdate updates: (inout Updates<Self>) -> Void,
        @QueryFragmentBuilder<Bool> `where` condition: (TableColumns) -> FragmentList = { _ in FragmentList()
        }
    ) -> Insert<Self, ()> {
        let terms = target(Self.columns)
        return insert(or: policy, values: values)
            .conflict(
                ConflictClause(
                    updating: Self.self, { assignments, _ in updates(&assignments) }, where: condition,
                    target: QueryFragment(list: repeat each terms)))
    }

    /// The same, or updates the row that has the same values in the columns of a target, which belongs to a partial index.
    ///
    /// `$0` is the row to be updated. Without updates the row in the way stays.
    public static func insert<each Target: QueryExpression>(
        or policy: ConflictPolicy? = nil, @InsertValuesBuilder<Self> values: () -> InsertedRows,
        onConflict target: (TableColumns) -> (repeat each Target),
        @QueryFragmentBuilder<Bool> `where` targetCondition: (TableColumns) -> FragmentList,
        doUpdate updates: (inout Updates<Self>) -> Void,
        @QueryFragmentBuilder<Bool> `where` condition: (TableColumns) -> FragmentList = { _ in FragmentList()
        }
    ) -> Insert<Self, ()> {
        let terms = target(Self.columns)
        return insert(or: policy, values: values)
            .conflict(
                ConflictClause(
                    updating: Self.self, { assignments, _ in updates(&assignments) }, where: condition,
                    target: QueryFragment(list: repeat each terms), targetCondition))
    }
}
