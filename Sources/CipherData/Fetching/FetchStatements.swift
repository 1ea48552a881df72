import TypedQueries

/// All rows of a statement.
struct AllRows<S: Statement>: FetchKeyRequest
where S.QueryValue: QueryRepresentable, S.QueryValue.QueryOutput: Sendable {
    let statement: S

    func fetch(_ db: Database) throws -> [S.QueryValue.QueryOutput] { try statement.fetchAll(db) }
}

/// The first row of a statement, if there is one.
struct FirstRow<S: Statement>: FetchKeyRequest
where S.QueryValue: QueryRepresentable, S.QueryValue.QueryOutput: Sendable {
    let statement: S

    func fetch(_ db: Database) throws -> S.QueryValue.QueryOutput? { try statement.fetchOne(db) }
}

/// All rows of a SELECT of whole rows.
struct AllRecords<S: SelectStatement>: FetchKeyRequest
where S.QueryValue == (), S.Joins == Joined<>, S.From.QueryOutput: Sendable {
    let statement: S

    func fetch(_ db: Database) throws -> [S.From.QueryOutput] { try statement.fetchAll(db) }
}

/// The first row of a SELECT of whole rows, if there is one.
struct FirstRecord<S: SelectStatement>: FetchKeyRequest
where S.QueryValue == (), S.Joins == Joined<>, S.From.QueryOutput: Sendable {
    let statement: S

    func fetch(_ db: Database) throws -> S.From.QueryOutput? { try statement.fetchOne(db) }
}

extension FetchAll {
    /// Makes a property of a statement.
    ///
    /// - parameters:
    ///     - wrappedValue: The rows until there are others.
    ///     - statement: What to fetch.
    ///     - database: Where; by default, in ``DependencyValues/defaultDatabase``.
    public init<S: Statement>(
        wrappedValue: [Element] = [], _ statement: S, database: (any DatabaseReader)? = nil
    ) where S.QueryValue: QueryRepresentable, S.QueryValue.QueryOutput == Element {
        self.init(wrappedValue: wrappedValue, AllRows(statement: statement), database: database)
    }

    /// Makes a property of a SELECT of whole rows.
    public init<S: SelectStatement>(
        wrappedValue: [Element] = [], _ statement: S, database: (any DatabaseReader)? = nil
    ) where S.QueryValue == (), S.Joins == Joined<>, S.From.QueryOutput == Element {
        self.init(wrappedValue: wrappedValue, AllRecords(statement: statement), database: database)
    }

    /// Fetches the rows of another statement from now on.
    ///
    /// - returns: What ends it.
    /// - throws: What the first fetch throws.
    @discardableResult public func load<S: Statement>(
        _ statement: S, database: (any DatabaseReader)? = nil
    ) async throws -> FetchSubscription
    where S.QueryValue: QueryRepresentable, S.QueryValue.QueryOutput == Element {
        try await load(AllRows(statement: statement), database: database)
    }

    /// Fetches the rows of another SELECT from now on.
    ///
    /// - returns: What ends it.
    /// - throws: What the first fetch throws.
    @discardableResult public func load<S: SelectStatement>(
        _ statement: S, database: (any DatabaseReader)? = nil
    ) async throws -> FetchSubscription
    where S.QueryValue == (), S.Joins == Joined<>, S.From.QueryOutput == Element {
        try await load(AllRecords(statement: statement), database: database)
    }
}

extension FetchAll where Element: Table & QueryRepresentable, Element.QueryOutput == Element {
    /// Makes a property of all rows of a table: `@FetchAll var reminders: [Reminder]`.
    ///
    /// - parameters:
    ///     - wrappedValue: The rows until there are others.
    ///     - database: Where; by default, in ``DependencyValues/defaultDatabase``.
    public init(wrappedValue: [Element] = [], database: (any DatabaseReader)? = nil)
    where
        Element.DefaultScope: SelectStatement, Element.DefaultScope.QueryValue == (),
        Element.DefaultScope.Joins == Joined<>, Element.DefaultScope.From == Element
    {
        self.init(wrappedValue: wrappedValue, AllRecords(statement: Element.all), database: database)
    }
}

extension FetchOne {
    /// Makes a property of the first row of a statement.
    public init<S: Statement>(
        wrappedValue: Value, _ statement: S, database: (any DatabaseReader)? = nil
    ) where S.QueryValue: QueryRepresentable, S.QueryValue.QueryOutput == Value {
        self.init(unobserved: wrappedValue)
        box.observe(FirstRow(statement: statement), in: database) { value in
            guard let value else { throw NoRow() }
            return value
        }
    }

    /// Makes a property of the first value of a statement that may be NULL: nil also when there is no row.
    ///
    /// - parameters:
    ///     - wrappedValue: The value until there is another one.
    ///     - statement: What to fetch.
    ///     - database: Where; by default, in ``DependencyValues/defaultDatabase``.
    public init<S: Statement, Wrapped: Sendable>(
        wrappedValue: Value = nil, _ statement: S, database: (any DatabaseReader)? = nil
    ) where S.QueryValue: QueryRepresentable, S.QueryValue.QueryOutput == Wrapped?, Value == Wrapped? {
        self.init(unobserved: wrappedValue)
        box.observe(FirstRow(statement: statement), in: database) { row in row.flatMap { $0 } }
    }

    // Of a value that is optional anyway, nobody wants an optional once more.
    /// Makes a property of the first row of a statement, nil when it has none.
    @_disfavoredOverload
    public init<S: Statement>(
        wrappedValue: Value = nil, _ statement: S, database: (any DatabaseReader)? = nil
    ) where S.QueryValue: QueryRepresentable, Value == S.QueryValue.QueryOutput? {
        self.init(wrappedValue: wrappedValue, FirstRow(statement: statement), database: database)
    }

    /// Makes a property of the first row of a SELECT of whole rows: `@FetchOne(RemindersList.find(1)) var list = RemindersList(id: 1)`.
    ///
    /// It keeps its value when there is no row; `loadError` is ``NoRow`` then.
    ///
    /// - parameters:
    ///     - wrappedValue: The value until there is another one.
    ///     - statement: What to fetch.
    ///     - database: Where; by default, in ``DependencyValues/defaultDatabase``.
    public init<S: SelectStatement>(
        wrappedValue: Value, _ statement: S, database: (any DatabaseReader)? = nil
    ) where S.QueryValue == (), S.Joins == Joined<>, Value == S.From.QueryOutput {
        self.init(unobserved: wrappedValue)
        box.observe(FirstRecord(statement: statement), in: database) { row in
            guard let row else { throw NoRow() }
            return row
        }
    }

    /// Makes a property of the first row of a SELECT of whole rows, nil when it has none.
    public init<S: SelectStatement>(
        wrappedValue: Value = nil, _ statement: S, database: (any DatabaseReader)? = nil
    ) where S.QueryValue == (), S.Joins == Joined<>, Value == S.From.QueryOutput? {
        self.init(wrappedValue: wrappedValue, FirstRecord(statement: statement), database: database)
    }

    /// Fetches the first row of another statement from now on.
    ///
    /// - parameters:
    ///     - statement: What to fetch.
    ///     - database: Where; by default, in ``DependencyValues/defaultDatabase``.
    /// - returns: What ends it.
    /// - throws: What the first fetch throws; ``NoRow`` when there is none.
    @discardableResult public func load<S: Statement>(
        _ statement: S, database: (any DatabaseReader)? = nil
    ) async throws -> FetchSubscription
    where S.QueryValue: QueryRepresentable, S.QueryValue.QueryOutput == Value {
        try await box.load(FirstRow(statement: statement), in: database) { value in
            guard let value else { throw NoRow() }
            return value
        }
    }

    /// Fetches the first value of another statement that may be NULL from now on: nil also when there is no row.
    ///
    /// - parameters:
    ///     - statement: What to fetch.
    ///     - database: Where; by default, in ``DependencyValues/defaultDatabase``.
    /// - returns: What ends it.
    /// - throws: What the first fetch throws.
    @discardableResult public func load<S: Statement, Wrapped: Sendable>(
        _ statement: S, database: (any DatabaseReader)? = nil
    ) async throws -> FetchSubscription
    where S.QueryValue: QueryRepresentable, S.QueryValue.QueryOutput == Wrapped?, Value == Wrapped? {
        try await box.load(FirstRow(statement: statement), in: database) { row in row.flatMap { $0 } }
    }

    /// Fetches the first row of another statement from now on, nil when it has none.
    ///
    /// - parameters:
    ///     - statement: What to fetch.
    ///     - database: Where; by default, in ``DependencyValues/defaultDatabase``.
    /// - returns: What ends it.
    /// - throws: What the first fetch throws.
    @discardableResult public func load<S: Statement>(
        _ statement: S, database: (any DatabaseReader)? = nil
    ) async throws -> FetchSubscription
    where S.QueryValue: QueryRepresentable, Value == S.QueryValue.QueryOutput? {
        try await load(FirstRow(statement: statement), database: database)
    }

    /// Fetches the first row of another SELECT of whole rows from now on.
    ///
    /// - parameters:
    ///     - statement: What to fetch.
    ///     - database: Where; by default, in ``DependencyValues/defaultDatabase``.
    /// - returns: What ends it.
    /// - throws: What the first fetch throws; ``NoRow`` when there is none.
    @discardableResult public func load<S: SelectStatement>(
        _ statement: S, database: (any DatabaseReader)? = nil
    ) async throws -> FetchSubscription
    where S.QueryValue == (), S.Joins == Joined<>, Value == S.From.QueryOutput {
        try await box.load(FirstRecord(statement: statement), in: database) { row in
            guard let row else { throw NoRow() }
            return row
        }
    }

    /// Fetches the first row of another SELECT of whole rows from now on, nil when it has none.
    ///
    /// - parameters:
    ///     - statement: What to fetch.
    ///     - database: Where; by default, in ``DependencyValues/defaultDatabase``.
    /// - returns: What ends it.
    /// - throws: What the first fetch throws.
    @discardableResult public func load<S: SelectStatement>(
        _ statement: S, database: (any DatabaseReader)? = nil
    ) async throws -> FetchSubscription
    where S.QueryValue == (), S.Joins == Joined<>, Value == S.From.QueryOutput? {
        try await load(FirstRecord(statement: statement), database: database)
    }
}

/// A query has no row, and the property that has it is no optional: it keeps its value.
public struct NoRow: Error, Sendable, CustomStringConvertible {
    /// What happened.
    public var description: String { "the query has no row, so the property keeps the value that it has" }
}
