import TypedQueries

// Rows that are fetched by their keys.

extension FetchOne where Value: PrimaryKeyedTable, Value.QueryOutput == Value {
    /// Makes a property of the row that has the key of a value: `_list = FetchOne(wrappedValue: list)`.
    ///
    /// It keeps its value when the row goes; `loadError` is ``NoRow`` then.
    ///
    /// - parameters:
    ///     - wrappedValue: The row as it is known.
    ///     - database: Where it is; by default, in ``DependencyValues/defaultDatabase``.
    public init(wrappedValue: Value, database: (any DatabaseReader)? = nil) {
        self.init(unobserved: wrappedValue)
        box.observe(FirstRecord(statement: Value.find(keyOf: wrappedValue)), in: database) { row in
            guard let row else { throw NoRow() }
            return row
        }
    }
}

extension FetchOne {
    /// Makes a property of the row that has the key of a value, nil when it goes.
    ///
    /// Of nil it waits until it is given a query by `load`.
    ///
    /// - parameters:
    ///     - wrappedValue: The row as it is known.
    ///     - database: Where it is; by default, in ``DependencyValues/defaultDatabase``.
    public init<Wrapped: PrimaryKeyedTable>(wrappedValue: Value, database: (any DatabaseReader)? = nil)
    where Value == Wrapped?, Wrapped.QueryOutput == Wrapped {
        self.init(unobserved: wrappedValue)
        guard let record = wrappedValue else { return }
        box.observe(FirstRecord(statement: Wrapped.find(keyOf: record)), in: database) { row in row }
    }

    /// Makes a property of the first row of a table: `@FetchOne var list: RemindersList?`.
    ///
    /// - parameter database: Where it is; by default, in ``DependencyValues/defaultDatabase``.
    public init<Wrapped: Table>(database: (any DatabaseReader)? = nil)
    where
        Value == Wrapped?, Wrapped.QueryOutput == Wrapped, Wrapped.DefaultScope.QueryValue == (),
        Wrapped.DefaultScope.Joins == Joined<>, Wrapped.DefaultScope.From == Wrapped
    {
        self.init(unobserved: nil)
        box.observe(FirstRecord(statement: Wrapped.all), in: database) { row in row }
    }
}
