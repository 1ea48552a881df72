// What changes return of each row.
// One value or a tuple: the closure says which.
// swift-format-ignore-file: AmbiguousTrailingClosureOverload

extension Insert where Returning == () {
    /// Returns a column of each row, or the row: `\.self`.
    public func returning<Value: QueryRepresentable>(
        _ keyPath: KeyPath<Into.TableColumns, some QueryExpression<Value>>
    ) -> Insert<Into, Value> {
        returning(Into.columns[keyPath: keyPath].queryFragment)
    }

    /// Returns an expression of each row.
    public func returning<Value: QueryRepresentable>(
        _ selection: (Into.TableColumns) -> some QueryExpression<Value>
    ) -> Insert<Into, Value> {
        returning(selection(Into.columns).queryFragment)
    }

    /// Returns expressions of each row, as a tuple.
    public func returning<each C: QueryExpression>(
        _ selection: (Into.TableColumns) -> (repeat each C)
    ) -> Insert<Into, (repeat (each C).QueryValue)>
    where
        repeat (each C).QueryValue: QueryRepresentable
    {
        let terms = selection(Into.columns)
        return returning(QueryFragment(list: repeat each terms))
    }

    private func returning<Value>(_ columns: QueryFragment) -> Insert<Into, Value> {
        var result = Insert<Into, Value>(policy, names: names, source.as(Insert<Into, Value>.self))
        result.conflict = conflict
        result.returned = columns.returned(of: Into.self)
        return result
    }
}

extension Insert.Source {
    fileprivate func `as`<Value>(_ type: Insert<Into, Value>.Type) -> Insert<Into, Value>.Source {
        switch self {
        case .rows(let rows): .rows(rows)
        case .select(let select): .select(select)
        case .defaults: .defaults
        }
    }
}

extension Update where Returning == () {
    /// Returns a column of each row, or the row: `\.self`.
    public func returning<Value: QueryRepresentable>(
        _ keyPath: KeyPath<Root.TableColumns, some QueryExpression<Value>>
    ) -> Update<Root, Value> {
        returning(Root.columns[keyPath: keyPath].queryFragment)
    }

    /// Returns an expression of each row.
    public func returning<Value: QueryRepresentable>(
        _ selection: (Root.TableColumns) -> some QueryExpression<Value>
    ) -> Update<Root, Value> {
        returning(selection(Root.columns).queryFragment)
    }

    /// Returns expressions of each row, as a tuple.
    public func returning<each C: QueryExpression>(
        _ selection: (Root.TableColumns) -> (repeat each C)
    ) -> Update<Root, (repeat (each C).QueryValue)>
    where
        repeat (each C).QueryValue: QueryRepresentable
    {
        let terms = selection(Root.columns)
        return returning(QueryFragment(list: repeat each terms))
    }

    private func returning<Value>(_ columns: QueryFragment) -> Update<Root, Value> {
        var result = Update<Root, Value>(policy, assignments)
        result.source = source
        result.conditions = conditions
        result.isNone = isNone
        result.returned = columns.returned(of: Root.self)
        return result
    }
}

extension Delete where Returning == () {
    /// Returns a column of each row, or the row: `\.self`.
    public func returning<Value: QueryRepresentable>(
        _ keyPath: KeyPath<Root.TableColumns, some QueryExpression<Value>>
    ) -> Delete<Root, Value> {
        returning(Root.columns[keyPath: keyPath].queryFragment)
    }

    /// Returns an expression of each row, as it was.
    public func returning<Value: QueryRepresentable>(
        _ selection: (Root.TableColumns) -> some QueryExpression<Value>
    ) -> Delete<Root, Value> {
        returning(selection(Root.columns).queryFragment)
    }

    /// Returns expressions of each row, as it was, as a tuple.
    public func returning<each C: QueryExpression>(
        _ selection: (Root.TableColumns) -> (repeat each C)
    ) -> Delete<Root, (repeat (each C).QueryValue)>
    where
        repeat (each C).QueryValue: QueryRepresentable
    {
        let terms = selection(Root.columns)
        return returning(QueryFragment(list: repeat each terms))
    }

    private func returning<Value>(_ columns: QueryFragment) -> Delete<Root, Value> {
        Delete<Root, Value>(conditions: conditions, isNone: isNone, returned: columns.returned(of: Root.self))
    }
}

extension QueryFragment {
    /// The piece as it is returned of each row of a table. Columns keep the table's name, which tells them from those of
    /// a subquery's table.
    ///
    /// RETURNING knows a table by its own name only. The SELECT that stands for it on old engines knows the other one.
    fileprivate func returned<T: Table>(of type: T.Type) -> QueryFragment {
        guard T.tableAlias != nil, EngineFeatures.current.supportsReturning else { return self }
        guard let alias = T.self as? any AliasedTable.Type else { return unqualified(type) }
        let renamed = alias.unaliased(self)
        // A subquery of the same table would take the columns for its own, whatever they are called.
        return renamed.mentions(type) ? unqualified(type) : renamed
    }
}
