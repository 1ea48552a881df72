// Values of some columns are inserted.

extension Table {
    /// Inserts values of some columns.
    ///
    /// ```swift
    /// Reminder.insert { ($0.title, $0.priority) } values: { ("Milk", 1) }
    /// ```
    public static func insert<each V: QueryRepresentable>(
        or policy: ConflictPolicy? = nil,
        _ columns: (TableColumns) -> (repeat TableColumn<Self, each V>),
        @ColumnValuesBuilder<repeat each V> values: () -> InsertedRows
    ) -> Insert<Self, ()> {
        let terms = columns(Self.columns)
        let names = QueryFragment(list: repeat each terms).unqualified(Self.self)
        return Insert(policy, names: names, .rows(values().rows))
    }

    /// Inserts values of one column.
    public static func insert<V1: QueryRepresentable>(
        or policy: ConflictPolicy? = nil, _ column: (TableColumns) -> TableColumn<Self, V1>,
        @ColumnValuesBuilder<V1> values: () -> InsertedRows
    ) -> Insert<Self, ()> {
        Insert(policy, names: column(columns).queryFragment.unqualified(Self.self), .rows(values().rows))
    }

    /// The same, or updates the row in its way, whatever key they share.
    ///
    /// `$0` is the row to be updated, `$1` the one that could not be inserted.
    public static func insert<each V: QueryRepresentable>(
        or policy: ConflictPolicy? = nil,
        _ columns: (TableColumns) -> (repeat TableColumn<Self, each V>),
        @ColumnValuesBuilder<repeat each V> values: () -> InsertedRows,
        onConflictDoUpdate updates: (inout Updates<Self>, Excluded<Self>.TableColumns) -> Void,
        @QueryFragmentBuilder<Bool> `where` condition: (TableColumns) -> FragmentList = { _ in FragmentList()
        }
    ) -> Insert<Self, ()> {
        insert(or: policy, columns, values: values)
            .conflict(ConflictClause(updating: Self.self, updates, where: condition))
    }

    /// The same, or updates the row that has the same values in the columns of a target.
    ///
    /// `$0` is the row to be updated, `$1` the one that could not be inserted. Without updates the row in the way stays.
    public static func insert<each V: QueryRepresentable, each Target: QueryExpression>(
        or policy: ConflictPolicy? = nil,
        _ columns: (TableColumns) -> (repeat TableColumn<Self, each V>),
        @ColumnValuesBuilder<repeat each V> values: () -> InsertedRows,
        onConflict target: (TableColumns) -> (repeat each Target),
        doUpdate updates: (inout Updates<Self>, Excluded<Self>.TableColumns) -> Void = { _, _ in },
        @QueryFragmentBuilder<Bool> `where` condition: (TableColumns) -> FragmentList = { _ in FragmentList()
        }
    ) -> Insert<Self, ()> {
        let terms = target(Self.columns)
        return insert(or: policy, columns, values: values)
            .conflict(
                ConflictClause(
                    updating: Self.self, updates, where: condition,
                    target: QueryFragment(list: repeat each terms)))
    }

    /// The same, or updates the row that has the same values in the columns of a target, which belongs to a partial index.
    ///
    /// `$0` is the row to be updated, `$1` the one that could not be inserted. Without updates the row in the way stays.
    public static func insert<each V: QueryRepresentable, each Target: QueryExpression>(
        or policy: ConflictPolicy? = nil,
        _ columns: (TableColumns) -> (repeat TableColumn<Self, each V>),
        @ColumnValuesBuilder<repeat each V> values: () -> InsertedRows,
        onConflict target: (TableColumns) -> (repeat each Target),
        @QueryFragmentBuilder<Bool> `where` targetCondition: (TableColumns) -> FragmentList,
        doUpdate updates: (inout Updates<Self>, Excluded<Self>.TableColumns) -> Void,
        @QueryFragmentBuilder<Bool> `where` condition: (TableColumns) -> FragmentList = { _ in FragmentList()
        }
    ) -> Insert<Self, ()> {
        let terms = target(Self.columns)
        return insert(or: policy, columns, values: values)
            .conflict(
                ConflictClause(
                    updating: Self.self, updates, where: condition,
                    target: QueryFragment(list: repeat each terms), targetCondition))
    }

    /// The same, or updates the row in its way, whatever key they share.
    ///
    /// `$0` is the row to be updated.
    public static func insert<each V: QueryRepresentable>(
        or policy: ConflictPolicy? = nil,
        _ columns: (TableColumns) -> (repeat TableColumn<Self, each V>),
        @ColumnValuesBuilder<repeat each V> values: () -> InsertedRows,
        onConflictDoUpdate updates: (inout Updates<Self>) -> Void,
        @QueryFragmentBuilder<Bool> `where` condition: (TableColumns) -> FragmentList = { _ in FragmentList()
        }
    ) -> Insert<Self, ()> {
        insert(or: policy, columns, values: values)
            .conflict(
                ConflictClause(
                    updating: Self.self, { assignments, _ in updates(&assignments) }, where: condition))
    }

    /// The same, or updates the row that has the same values in the columns of a target.
    ///
    /// `$0` is the row to be updated. Without updates the row in the way stays.
    public static func insert<each V: QueryRepresentable, each Target: QueryExpression>(
        or policy: ConflictPolicy? = nil,
        _ columns: (TableColumns) -> (repeat TableColumn<Self, each V>),
        @ColumnValuesBuilder<repeat each V> values: () -> InsertedRows,
        onConflict target: (TableColumns) -> (repeat each Target),
        doUpdate updates: (inout Updates<Self>) -> Void,
        @QueryFragmentBuilder<Bool> `where` condition: (TableColumns) -> FragmentList = { _ in FragmentList()
        }
    ) -> Insert<Self, ()> {
        let terms = target(Self.columns)
        return insert(or: policy, columns, values: values)
            .conflict(
                ConflictClause(
                    updating: Self.self, { assignments, _ in updates(&assignments) }, where: condition,
                    target: QueryFragment(list: repeat each terms)))
    }

    /// The same, or updates the row that has the same values in the columns of a target, which belongs to a partial index.
    ///
    /// `$0` is the row to be updated. Without updates the row in the way stays.
    public static func insert<each V: QueryRepresentable, each Target: QueryExpression>(
        or policy: ConflictPolicy? = nil,
        _ columns: (TableColumns) -> (repeat TableColumn<Self, each V>),
        @ColumnValuesBuilder<repeat each V> values: () -> InsertedRows,
        onConflict target: (TableColumns) -> (repeat each Target),
        @QueryFragmentBuilder<Bool> `where` targetCondition: (TableColumns) -> FragmentList,
        doUpdate updates: (inout Updates<Self>) -> Void,
        @QueryFragmentBuilder<Bool> `where` condition: (TableColumns) -> FragmentList = { _ in FragmentList()
        }
    ) -> Insert<Self, ()> {
        let terms = target(Self.columns)
        return insert(or: policy, columns, values: values)
            .conflict(
                ConflictClause(
                    updating: Self.self, { assignments, _ in updates(&assignments) }, where: condition,
                    target: QueryFragment(list: repeat each terms), targetCondition))
    }
}
