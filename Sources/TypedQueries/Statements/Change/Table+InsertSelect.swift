// The rows of another statement are inserted.

extension Table {
    /// Inserts the rows of another statement.
    ///
    /// ```swift
    /// Archive.insert { ($0.id, $0.title) } select: { Reminder.where(\.isCompleted).select { ($0.id, $0.title) } }
    /// ```
    public static func insert<each V: QueryRepresentable>(
        or policy: ConflictPolicy? = nil,
        _ columns: (TableColumns) -> (repeat TableColumn<Self, each V>),
        select selection: () -> some PartialSelectStatement<(repeat each V)>
    ) -> Insert<Self, ()> {
        let terms = columns(Self.columns)
        let names = QueryFragment(list: repeat each terms).unqualified(Self.self)
        return Insert(policy, names: names, .select(selection().query))
    }

    /// Inserts the rows of another statement into one column.
    public static func insert<V1: QueryRepresentable>(
        or policy: ConflictPolicy? = nil, _ column: (TableColumns) -> TableColumn<Self, V1>,
        select selection: () -> some PartialSelectStatement<V1>
    ) -> Insert<Self, ()> {
        Insert(
            policy, names: column(columns).queryFragment.unqualified(Self.self), .select(selection().query))
    }

    /// The same, or updates the row in its way, whatever key they share.
    ///
    /// `$0` is the row to be updated, `$1` the one that could not be inserted.
    public static func insert<each V: QueryRepresentable>(
        or policy: ConflictPolicy? = nil,
        _ columns: (TableColumns) -> (repeat TableColumn<Self, each V>),
        select selection: () -> some PartialSelectStatement<(repeat each V)>,
        onConflictDoUpdate updates: (inout Updates<Self>, Excluded<Self>.TableColumns) -> Void,
        @QueryFragmentBuilder<Bool> `where` condition: (TableColumns) -> FragmentList = { _ in FragmentList()
        }
    ) -> Insert<Self, ()> {
        insert(or: policy, columns, select: selection)
            .conflict(ConflictClause(updating: Self.self, updates, where: condition))
    }

    /// The same, or updates the row that has the same values in the columns of a target.
    ///
    /// `$0` is the row to be updated, `$1` the one that could not be inserted. Without updates the row in the way stays.
    public static func insert<each V: QueryRepresentable, each Target: QueryExpression>(
        or policy: ConflictPolicy? = nil,
        _ columns: (TableColumns) -> (repeat TableColumn<Self, each V>),
        select selection: () -> some PartialSelectStatement<(repeat each V)>,
        onConflict target: (TableColumns) -> (repeat each Target),
        doUpdate updates: (inout Updates<Self>, Excluded<Self>.TableColumns) -> Void = { _, _ in },
        @QueryFragmentBuilder<Bool> `where` condition: (TableColumns) -> FragmentList = { _ in FragmentList()
        }
    ) -> Insert<Self, ()> {
        let terms = target(Self.columns)
        return insert(or: policy, columns, select: selection)
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
        select selection: () -> some PartialSelectStatement<(repeat each V)>,
        onConflict target: (TableColumns) -> (repeat each Target),
        @QueryFragmentBuilder<Bool> `where` targetCondition: (TableColumns) -> FragmentList,
        doUpdate updates: (inout Updates<Self>, Excluded<Self>.TableColumns) -> Void,
        @QueryFragmentBuilder<Bool> `where` condition: (TableColumns) -> FragmentList = { _ in FragmentList()
        }
    ) -> Insert<Self, ()> {
        let terms = target(Self.columns)
        return insert(or: policy, columns, select: selection)
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
        select selection: () -> some PartialSelectStatement<(repeat each V)>,
        onConflictDoUpdate updates: (inout Updates<Self>) -> Void,
        @QueryFragmentBuilder<Bool> `where` condition: (TableColumns) -> FragmentList = { _ in FragmentList()
        }
    ) -> Insert<Self, ()> {
        insert(or: policy, columns, select: selection)
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
        select selection: () -> some PartialSelectStatement<(repeat each V)>,
        onConflict target: (TableColumns) -> (repeat each Target),
        doUpdate updates: (inout Updates<Self>) -> Void,
        @QueryFragmentBuilder<Bool> `where` condition: (TableColumns) -> FragmentList = { _ in FragmentList()
        }
    ) -> Insert<Self, ()> {
        let terms = target(Self.columns)
        return insert(or: policy, columns, select: selection)
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
        select selection: () -> some PartialSelectStatement<(repeat each V)>,
        onConflict target: (TableColumns) -> (repeat each Target),
        @QueryFragmentBuilder<Bool> `where` targetCondition: (TableColumns) -> FragmentList,
        doUpdate updates: (inout Updates<Self>) -> Void,
        @QueryFragmentBuilder<Bool> `where` condition: (TableColumns) -> FragmentList = { _ in FragmentList()
        }
    ) -> Insert<Self, ()> {
        let terms = target(Self.columns)
        return insert(or: policy, columns, select: selection)
            .conflict(
                ConflictClause(
                    updating: Self.self, { assignments, _ in updates(&assignments) }, where: condition,
                    target: QueryFragment(list: repeat each terms), targetCondition))
    }
}
