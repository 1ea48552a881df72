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
    // The value has no default: with one, properties that are no optionals would count as initialized.
    /// Makes a property of the row that has the key of a value, nil when it goes; of nil, one of the table's first row:
    /// `@FetchOne var list: RemindersList? = nil`.
    ///
    /// - parameters:
    ///     - wrappedValue: The row as it is known.
    ///     - database: Where it is; by default, in ``DependencyValues/defaultDatabase``.
    public init<Wrapped: PrimaryKeyedTable>(wrappedValue: Value, database: (any DatabaseReader)? = nil)
    where
        Value == Wrapped?, Wrapped.QueryOutput == Wrapped, Wrapped.DefaultScope.QueryValue == (),
        Wrapped.DefaultScope.Joins == Joined<>, Wrapped.DefaultScope.From == Wrapped
    {
        self.init(unobserved: wrappedValue)
        if let record = wrappedValue {
            box.observe(FirstRecord(statement: Wrapped.find(keyOf: record)), in: database) { row in row }
        } else {
            box.observe(FirstRecord(statement: Wrapped.all), in: database) { row in row }
        }
    }
}
