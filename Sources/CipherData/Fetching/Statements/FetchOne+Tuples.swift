import TypedQueries

// A row of several values.

extension FetchOne {
    /// Makes a property of the first row of a statement that selects several expressions: of a tuple.
    ///
    /// - parameters:
    ///     - wrappedValue: The value until there is another one.
    ///     - statement: What to fetch.
    ///     - database: Where; by default, in ``DependencyValues/defaultDatabase``.
    public init<S: Statement, V1: QueryRepresentable, V2: QueryRepresentable, each V: QueryRepresentable>(
        wrappedValue: Value, _ statement: S, database: (any DatabaseReader)? = nil
    )
    where
        S.QueryValue == (V1, V2, repeat each V),
        Value == (V1.QueryOutput, V2.QueryOutput, repeat (each V).QueryOutput)
    {
        self.init(unobserved: wrappedValue)
        let request = ReadRows<S, Value?>(statement: statement) { try $0.fetchOne($1) }
        box.observe(request, in: database) { row in
            guard let row else { throw NoRow() }
            return row
        }
    }

    /// Makes a property of the first row of a statement that selects several expressions, nil when it has none.
    ///
    /// - parameters:
    ///     - wrappedValue: The value until there is another one.
    ///     - statement: What to fetch.
    ///     - database: Where; by default, in ``DependencyValues/defaultDatabase``.
    public init<S: Statement, V1: QueryRepresentable, V2: QueryRepresentable, each V: QueryRepresentable>(
        wrappedValue: Value = nil, _ statement: S, database: (any DatabaseReader)? = nil
    )
    where
        S.QueryValue == (V1, V2, repeat each V),
        Value == (V1.QueryOutput, V2.QueryOutput, repeat (each V).QueryOutput)?
    {
        let request = ReadRows<S, Value>(statement: statement) { try $0.fetchOne($1) }
        self.init(wrappedValue: wrappedValue, request, database: database)
    }

    /// Makes a property of the first row of a SELECT with those that are joined to it.
    ///
    /// - parameters:
    ///     - wrappedValue: The value until there is another one.
    ///     - statement: What to fetch.
    ///     - database: Where; by default, in ``DependencyValues/defaultDatabase``.
    public init<S: SelectStatement, J1: Table, each J: Table>(
        wrappedValue: Value, _ statement: S, database: (any DatabaseReader)? = nil
    )
    where
        S.QueryValue == (), S.Joins == Joined<J1, repeat each J>,
        Value == (S.From.QueryOutput, J1.QueryOutput, repeat (each J).QueryOutput)
    {
        self.init(unobserved: wrappedValue)
        let request = ReadRows<S, Value?>(statement: statement) { try $0.fetchOne($1) }
        box.observe(request, in: database) { row in
            guard let row else { throw NoRow() }
            return row
        }
    }

    /// Makes a property of the first row of a SELECT with those that are joined to it, nil when there is none.
    ///
    /// - parameters:
    ///     - wrappedValue: The value until there is another one.
    ///     - statement: What to fetch.
    ///     - database: Where; by default, in ``DependencyValues/defaultDatabase``.
    public init<S: SelectStatement, J1: Table, each J: Table>(
        wrappedValue: Value = nil, _ statement: S, database: (any DatabaseReader)? = nil
    )
    where
        S.QueryValue == (), S.Joins == Joined<J1, repeat each J>,
        Value == (S.From.QueryOutput, J1.QueryOutput, repeat (each J).QueryOutput)?
    {
        let request = ReadRows<S, Value>(statement: statement) { try $0.fetchOne($1) }
        self.init(wrappedValue: wrappedValue, request, database: database)
    }

    /// Fetches the first row of another statement that selects several expressions from now on.
    ///
    /// - parameters:
    ///     - statement: What to fetch.
    ///     - database: Where; by default, in ``DependencyValues/defaultDatabase``.
    /// - returns: What ends it.
    /// - throws: What the first fetch throws; ``NoRow`` when there is none.
    @discardableResult
    public func load<
        S: Statement, V1: QueryRepresentable, V2: QueryRepresentable, each V: QueryRepresentable
    >(
        _ statement: S, database: (any DatabaseReader)? = nil
    ) async throws -> FetchSubscription
    where
        S.QueryValue == (V1, V2, repeat each V),
        Value == (V1.QueryOutput, V2.QueryOutput, repeat (each V).QueryOutput)
    {
        let request = ReadRows<S, Value?>(statement: statement) { try $0.fetchOne($1) }
        return try await box.load(request, in: database) { row in
            guard let row else { throw NoRow() }
            return row
        }
    }

    /// Fetches the first row of another statement that selects several expressions from now on, nil when it has none.
    ///
    /// - parameters:
    ///     - statement: What to fetch.
    ///     - database: Where; by default, in ``DependencyValues/defaultDatabase``.
    /// - returns: What ends it.
    /// - throws: What the first fetch throws.
    @discardableResult
    public func load<
        S: Statement, V1: QueryRepresentable, V2: QueryRepresentable, each V: QueryRepresentable
    >(
        _ statement: S, database: (any DatabaseReader)? = nil
    ) async throws -> FetchSubscription
    where
        S.QueryValue == (V1, V2, repeat each V),
        Value == (V1.QueryOutput, V2.QueryOutput, repeat (each V).QueryOutput)?
    {
        let request = ReadRows<S, Value>(statement: statement) { try $0.fetchOne($1) }
        return try await load(request, database: database)
    }

    /// Fetches the first row of another SELECT, with those that are joined to it, from now on.
    ///
    /// - parameters:
    ///     - statement: What to fetch.
    ///     - database: Where; by default, in ``DependencyValues/defaultDatabase``.
    /// - returns: What ends it.
    /// - throws: What the first fetch throws; ``NoRow`` when there is none.
    @discardableResult
    public func load<S: SelectStatement, J1: Table, each J: Table>(
        _ statement: S, database: (any DatabaseReader)? = nil
    ) async throws -> FetchSubscription
    where
        S.QueryValue == (), S.Joins == Joined<J1, repeat each J>,
        Value == (S.From.QueryOutput, J1.QueryOutput, repeat (each J).QueryOutput)
    {
        let request = ReadRows<S, Value?>(statement: statement) { try $0.fetchOne($1) }
        return try await box.load(request, in: database) { row in
            guard let row else { throw NoRow() }
            return row
        }
    }

    /// Fetches the first row of another SELECT, with those that are joined to it, from now on; nil when there is none.
    ///
    /// - parameters:
    ///     - statement: What to fetch.
    ///     - database: Where; by default, in ``DependencyValues/defaultDatabase``.
    /// - returns: What ends it.
    /// - throws: What the first fetch throws.
    @discardableResult
    public func load<S: SelectStatement, J1: Table, each J: Table>(
        _ statement: S, database: (any DatabaseReader)? = nil
    ) async throws -> FetchSubscription
    where
        S.QueryValue == (), S.Joins == Joined<J1, repeat each J>,
        Value == (S.From.QueryOutput, J1.QueryOutput, repeat (each J).QueryOutput)?
    {
        let request = ReadRows<S, Value>(statement: statement) { try $0.fetchOne($1) }
        return try await load(request, database: database)
    }
}
