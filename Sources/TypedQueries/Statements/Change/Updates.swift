/// What an update assigns to the columns of a table.
///
/// ```swift
/// Reminder.update {
///     $0.title = "Milk"
///     $0.count += 1
///     $0.isCompleted.toggle()
/// }
/// ```
@dynamicMemberLookup
public struct Updates<Base: Table> {
    @usableFromInline var assignments = QueryFragment()

    /// What expressions go into, where `UPDATE … FROM` is emulated.
    var joined: JoinedAssignments?

    @usableFromInline init() {}

    // Methods have names that no property of a table has: they would hide the property's.

    /// Assigns an expression to a column.
    ///
    /// - parameters:
    ///     - column: The column.
    ///     - value: The expression.
    public mutating func setColumn<Value>(_ column: TableColumn<Base, Value>, _ value: some QueryExpression) {
        let all = column.queryColumnNames
        // Only a row value has several columns, and only of these the database may make some.
        let names = all.count > 1 ? column.writableQueryColumnNames : all
        let isPart = names.count < all.count
        if joined != nil {
            let expressions = isPart ? writableTerms(of: column, value) : value.queryFragment
            joined?.append(names, expressions)
            return
        }
        assignments.separate()
        if names.count > 1 { assignments.append(literal: "(") }
        for (index, name) in names.enumerated() {
            if index > 0 { assignments.append(literal: ", ") }
            assignments.append(identifier: name)
        }
        assignments.append(sql: names.count > 1 ? ") = (" : " = ")
        if isPart {
            assignments.append(writableTerms(of: column, value))
        } else {
            value.write(to: &assignments)
        }
        if names.count > 1 { assignments.append(literal: ")") }
    }

    /// The terms of an expression without those of columns whose values the database makes.
    private func writableTerms<Value>(
        of column: TableColumn<Base, Value>, _ value: some QueryExpression
    ) -> QueryFragment {
        guard let group = Value.self as? any Table.Type else { return value.queryFragment }
        return value.queryFragment.withoutNames.withoutGeneratedColumns(of: group)
    }

    /// Assigns a value to a column, or to those of a group.
    public mutating func setColumn<Value: QueryRepresentable>(
        _ column: TableColumn<Base, Value>, to value: Value.QueryOutput
    ) {
        joined?.assign(column.writableQueryColumnNames)
        assignments.separate()
        var row = RowWriter(assignments)
        assignments = QueryFragment()
        row.form = .assignments(column.writableQueryColumnNames, 0)
        Value.writeValue(value, to: &row)
        assignments = row.takeFragment()
    }

    // A value and an expression may both be assigned. Reading has to be the expression that operators take: getters
    // that are not available count as any other in overload resolution, so the others are disfavored, and the one
    // for values has the narrower key path of those two.

    /// The value that is assigned to a column.
    @_disfavoredOverload
    public subscript<Value: QueryRepresentable>(
        dynamicMember keyPath: KeyPath<Base.TableColumns, TableColumn<Base, Value>>
    ) -> Value.QueryOutput {
        @available(*, unavailable, message: "a column has no value here; its expression can be read")
        get { fatalError("not available") }
        set { setColumn(Base.columns[keyPath: keyPath], to: newValue) }
    }

    /// The expression that is assigned to a column; the column itself, when it is read.
    public subscript<Value: QueryRepresentable>(
        dynamicMember keyPath: KeyPath<Base.TableColumns, TableColumn<Base, Value>>
    ) -> SQLQueryExpression<Value> {
        get { SQLQueryExpression(Base.columns[keyPath: keyPath]) }
        set { setColumn(Base.columns[keyPath: keyPath], newValue) }
    }

    /// The expression that is assigned to a column.
    @_disfavoredOverload
    public subscript<Column: WritableTableColumnExpression>(
        dynamicMember keyPath: KeyPath<Base.TableColumns, Column>
    ) -> any QueryExpression<Column.Value> {
        get { Base.columns[keyPath: keyPath] }
        set {
            let name = Base.columns[keyPath: keyPath].queryColumnName
            setColumn(TableColumn<Base, Column.Value>(name), newValue)
        }
    }

    /// The columns of a group, which are assigned one by one.
    public subscript<Group: Table>(
        dynamicMember keyPath: KeyPath<Base.TableColumns, TableColumn<Base, Group>>
    ) -> GroupUpdates<Base, Group> {
        get {
            var group = GroupUpdates<Base, Group>()
            group.updates.joined = joined?.emptied
            return group
        }
        set {
            if let others = newValue.updates.joined {
                // Of a group, one property is assigned at a time.
                if !newValue.updates.assignments.isEmpty { joined?.assign(others.columns) }
                joined?.append(others)
            }
            guard !newValue.updates.assignments.isEmpty else { return }
            assignments.separate()
            assignments.append(newValue.updates.assignments)
        }
    }
}

/// What an update assigns to the columns of a group.
@dynamicMemberLookup
public struct GroupUpdates<Base: Table, Group: Table> {
    var updates = Updates<Base>()

    private func column<Value>(
        _ keyPath: KeyPath<Group.TableColumns, TableColumn<Group, Value>>
    ) -> TableColumn<Base, Value> {
        TableColumn(Group.columns[keyPath: keyPath].queryColumnName)
    }

    /// The value that is assigned to a column of the group.
    @_disfavoredOverload
    public subscript<Value: QueryRepresentable>(
        dynamicMember keyPath: KeyPath<Group.TableColumns, TableColumn<Group, Value>>
    ) -> Value.QueryOutput {
        @available(*, unavailable, message: "a column has no value here; its expression can be read")
        get { fatalError("not available") }
        set { updates.setColumn(column(keyPath), to: newValue) }
    }

    /// The expression that is assigned to a column of the group.
    public subscript<Value: QueryRepresentable>(
        dynamicMember keyPath: KeyPath<Group.TableColumns, TableColumn<Group, Value>>
    ) -> SQLQueryExpression<Value> {
        get { SQLQueryExpression(column(keyPath)) }
        set { updates.setColumn(column(keyPath), newValue) }
    }

    /// The expression that is assigned to a column of the group.
    @_disfavoredOverload
    public subscript<Column: WritableTableColumnExpression>(
        dynamicMember keyPath: KeyPath<Group.TableColumns, Column>
    ) -> any QueryExpression<Column.Value> {
        get { writableColumn(keyPath) }
        set { updates.setColumn(writableColumn(keyPath), newValue) }
    }

    private func writableColumn<Column: WritableTableColumnExpression>(
        _ keyPath: KeyPath<Group.TableColumns, Column>
    ) -> TableColumn<Base, Column.Value> {
        TableColumn(Group.columns[keyPath: keyPath].queryColumnName)
    }
}
