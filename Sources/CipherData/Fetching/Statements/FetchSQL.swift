import TypedQueries

// Statements of `#sql` of which nothing but the property says a type: it is that of the rows.

extension FetchAll where Element: QueryRepresentable, Element.QueryOutput == Element {
    /// Makes a property of a statement in SQL whose rows are of the property's type.
    ///
    /// ```swift
    /// @FetchAll(#sql("SELECT \(Reminder.columns) FROM reminders ORDER BY title")) var reminders: [Reminder]
    /// ```
    ///
    /// - parameters:
    ///     - wrappedValue: The rows until there are others.
    ///     - statement: What to fetch.
    ///     - database: Where; by default, in ``DependencyValues/defaultDatabase``.
    public init(
        wrappedValue: [Element] = [], _ statement: SQLQueryExpression<Element>,
        database: (any DatabaseReader)? = nil
    ) {
        self.init(wrappedValue: wrappedValue, AllRows(statement: statement), database: database)
    }

    /// Fetches the rows of another statement in SQL from now on.
    ///
    /// - parameters:
    ///     - statement: What to fetch.
    ///     - database: Where; by default, in ``DependencyValues/defaultDatabase``.
    /// - returns: What ends it.
    /// - throws: What the first fetch throws.
    @discardableResult public func load(
        _ statement: SQLQueryExpression<Element>, database: (any DatabaseReader)? = nil
    ) async throws -> FetchSubscription {
        try await load(AllRows(statement: statement), database: database)
    }
}

extension FetchOne where Value: QueryRepresentable, Value.QueryOutput == Value {
    /// Makes a property of the first row of a statement in SQL, which is of the property's type.
    ///
    /// ```swift
    /// @FetchOne(#sql("SELECT count(*) FROM reminders")) var count = 0
    /// ```
    ///
    /// - parameters:
    ///     - wrappedValue: The value until there is another one.
    ///     - statement: What to fetch.
    ///     - database: Where; by default, in ``DependencyValues/defaultDatabase``.
    public init(
        wrappedValue: Value, _ statement: SQLQueryExpression<Value>, database: (any DatabaseReader)? = nil
    ) {
        self.init(unobserved: wrappedValue)
        box.observe(FirstRow(statement: statement), in: database) { row in
            guard let row else { throw NoRow() }
            return row
        }
    }

    /// Fetches the first row of another statement in SQL from now on.
    ///
    /// - parameters:
    ///     - statement: What to fetch.
    ///     - database: Where; by default, in ``DependencyValues/defaultDatabase``.
    /// - returns: What ends it.
    /// - throws: What the first fetch throws; ``NoRow`` when there is none.
    @discardableResult public func load(
        _ statement: SQLQueryExpression<Value>, database: (any DatabaseReader)? = nil
    ) async throws -> FetchSubscription {
        try await box.load(FirstRow(statement: statement), in: database) { row in
            guard let row else { throw NoRow() }
            return row
        }
    }
}

extension FetchOne
where Value: QueryRepresentable & ExpressibleByNilLiteral, Value.QueryOutput == Value {
    /// Makes a property of the first row of a statement in SQL, nil when it has none.
    ///
    /// - parameters:
    ///     - wrappedValue: The value until there is another one.
    ///     - statement: What to fetch.
    ///     - database: Where; by default, in ``DependencyValues/defaultDatabase``.
    public init(
        wrappedValue: Value = nil, _ statement: SQLQueryExpression<Value>,
        database: (any DatabaseReader)? = nil
    ) {
        self.init(unobserved: wrappedValue)
        box.observe(FirstRow(statement: statement), in: database) { row in row ?? Value(nilLiteral: ()) }
    }

    /// Fetches the first row of another statement in SQL from now on, nil when it has none.
    ///
    /// - parameters:
    ///     - statement: What to fetch.
    ///     - database: Where; by default, in ``DependencyValues/defaultDatabase``.
    /// - returns: What ends it.
    /// - throws: What the first fetch throws.
    @discardableResult public func load(
        _ statement: SQLQueryExpression<Value>, database: (any DatabaseReader)? = nil
    ) async throws -> FetchSubscription {
        try await box.load(FirstRow(statement: statement), in: database) { row in
            row ?? Value(nilLiteral: ())
        }
    }
}
