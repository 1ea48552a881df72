import TypedQueries

/// What a statement gives, as something reads it: one statement and one type of result are read in one way.
struct ReadRows<S: Statement, Output: Sendable>: FetchKeyRequest {
    let statement: S
    let read: @Sendable (S, Database) throws -> Output

    func fetch(_ db: Database) throws -> Output { try read(statement, db) }

    static func == (left: Self, right: Self) -> Bool { left.statement == right.statement }

    func hash(into hasher: inout Hasher) { hasher.combine(statement) }
}

// Rows of several values.

extension FetchAll {
    /// Makes a property of a statement that selects several expressions: of tuples.
    ///
    /// ```swift
    /// @FetchAll(Reminder.select { ($0.title, $0.dueDate) }) var dates
    /// ```
    ///
    /// - parameters:
    ///     - wrappedValue: The rows until there are others.
    ///     - statement: What to fetch.
    ///     - database: Where; by default, in ``DependencyValues/defaultDatabase``.
    public init<S: Statement, V1: QueryRepresentable, V2: QueryRepresentable, each V: QueryRepresentable>(
        wrappedValue: [Element] = [], _ statement: S, database: (any DatabaseReader)? = nil
    )
    where
        S.QueryValue == (V1, V2, repeat each V),
        Element == (V1.QueryOutput, V2.QueryOutput, repeat (each V).QueryOutput)
    {
        let request = ReadRows<S, [Element]>(statement: statement) { try $0.fetchAll($1) }
        self.init(wrappedValue: wrappedValue, request, database: database)
    }

    /// Makes a property of a SELECT of whole rows with those that are joined to them: of tuples.
    ///
    /// ```swift
    /// @FetchAll(RemindersList.join(Reminder.all) { $0.id.eq($1.remindersListID) }) var pairs
    /// ```
    ///
    /// - parameters:
    ///     - wrappedValue: The rows until there are others.
    ///     - statement: What to fetch.
    ///     - database: Where; by default, in ``DependencyValues/defaultDatabase``.
    public init<S: SelectStatement, J1: Table, each J: Table>(
        wrappedValue: [Element] = [], _ statement: S, database: (any DatabaseReader)? = nil
    )
    where
        S.QueryValue == (), S.Joins == Joined<J1, repeat each J>,
        Element == (S.From.QueryOutput, J1.QueryOutput, repeat (each J).QueryOutput)
    {
        let request = ReadRows<S, [Element]>(statement: statement) { try $0.fetchAll($1) }
        self.init(wrappedValue: wrappedValue, request, database: database)
    }

    /// Fetches the rows of another statement that selects several expressions from now on.
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
        Element == (V1.QueryOutput, V2.QueryOutput, repeat (each V).QueryOutput)
    {
        let request = ReadRows<S, [Element]>(statement: statement) { try $0.fetchAll($1) }
        return try await load(request, database: database)
    }

    /// Fetches the rows of another SELECT, with those that are joined to them, from now on.
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
        Element == (S.From.QueryOutput, J1.QueryOutput, repeat (each J).QueryOutput)
    {
        let request = ReadRows<S, [Element]>(statement: statement) { try $0.fetchAll($1) }
        return try await load(request, database: database)
    }
}
