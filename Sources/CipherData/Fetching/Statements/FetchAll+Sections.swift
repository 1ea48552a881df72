import TypedQueries

/// Rows that were fetched, in sections if the statement says so.
struct FetchedRows<Element: Sendable>: Sendable {
    let elements: [Element]
    var sections: ResultsSectionCollection<Element>?
}

/// All rows of a SELECT, with the names of their sections.
struct SectionedRows<Row: QueryRepresentable, From: Table>: FetchKeyRequest
where Row.QueryOutput: Sendable {
    let statement: Select<(Row, String?), From, NoJoins>

    func fetch(_ db: Database) throws -> FetchedRows<Row.QueryOutput> {
        let rows = try statement.fetchAll(db)
        let sections = ResultsSectionCollection(
            collecting: rows.map { row in row.0 }, names: rows.map { row in row.1 })
        return FetchedRows(elements: sections.flatMap { $0.elements }, sections: sections)
    }
}

// Sections by an expression of the columns, which SQLite evaluates.

extension FetchAll {
    /// Makes a property of a SELECT of whole rows in sections: one for each value of an expression, in its order.
    ///
    /// ```swift
    /// @FetchAll(Reminder.order(by: \.title), sectionBy: \.category) var reminders
    /// @FetchAll(Reminder.order(by: \.title), sectionBy: { $0.category.desc(nulls: .last) }) var backwards
    /// ```
    ///
    /// The rows of a section are in the order of the statement. Its name is the value as SQLite writes it as text. With a limit, the rows are
    /// those that come first in the order of the statement, and so are the sections.
    ///
    /// - parameters:
    ///     - wrappedValue: The rows until there are others.
    ///     - statement: What to fetch.
    ///     - section: The expression of one column, or a term of an order.
    ///     - database: Where; by default, in ``DependencyValues/defaultDatabase``.
    public init<S: SelectStatement, Term: QueryExpression>(
        wrappedValue: [Element] = [], _ statement: S,
        sectionBy section: (S.From.TableColumns) -> Term, database: (any DatabaseReader)? = nil
    ) where S.QueryValue == (), S.Joins == Joined<>, S.From.QueryOutput == Element {
        self.init(unobserved: wrappedValue)
        let divided = statement.asSelect().divided(by: section(S.From.columns))
        box.observe(SectionedRows(statement: divided), in: database) { rows in rows }
    }

    /// Makes a property of a SELECT of something of a table in sections: one for each value of an expression, in its order.
    ///
    /// - parameters:
    ///     - wrappedValue: The rows until there are others.
    ///     - statement: What to fetch.
    ///     - section: The expression of one column, or a term of an order.
    ///     - database: Where; by default, in ``DependencyValues/defaultDatabase``.
    public init<S: SelectStatement, Term: QueryExpression>(
        wrappedValue: [Element] = [], _ statement: S,
        sectionBy section: (S.From.TableColumns) -> Term, database: (any DatabaseReader)? = nil
    ) where S.QueryValue: QueryRepresentable, S.Joins == Joined<>, S.QueryValue.QueryOutput == Element {
        self.init(unobserved: wrappedValue)
        let divided = statement.asSelect().divided(by: section(S.From.columns))
        box.observe(SectionedRows(statement: divided), in: database) { rows in rows }
    }

    /// Fetches the rows of another SELECT from now on, in sections by an expression.
    ///
    /// - parameters:
    ///     - statement: What to fetch.
    ///     - section: The expression of one column, or a term of an order.
    ///     - database: Where; by default, in ``DependencyValues/defaultDatabase``.
    /// - returns: What ends it.
    /// - throws: What the first fetch throws.
    @discardableResult public func load<S: SelectStatement, Term: QueryExpression>(
        _ statement: S, sectionBy section: (S.From.TableColumns) -> Term,
        database: (any DatabaseReader)? = nil
    ) async throws -> FetchSubscription
    where S.QueryValue == (), S.Joins == Joined<>, S.From.QueryOutput == Element {
        let divided = statement.asSelect().divided(by: section(S.From.columns))
        return try await box.load(SectionedRows(statement: divided), in: database) { rows in rows }
    }

    /// Fetches something of the rows of another SELECT from now on, in sections by an expression.
    ///
    /// - parameters:
    ///     - statement: What to fetch.
    ///     - section: The expression of one column, or a term of an order.
    ///     - database: Where; by default, in ``DependencyValues/defaultDatabase``.
    /// - returns: What ends it.
    /// - throws: What the first fetch throws.
    @discardableResult public func load<S: SelectStatement, Term: QueryExpression>(
        _ statement: S, sectionBy section: (S.From.TableColumns) -> Term,
        database: (any DatabaseReader)? = nil
    ) async throws -> FetchSubscription
    where S.QueryValue: QueryRepresentable, S.Joins == Joined<>, S.QueryValue.QueryOutput == Element {
        let divided = statement.asSelect().divided(by: section(S.From.columns))
        return try await box.load(SectionedRows(statement: divided), in: database) { rows in rows }
    }

    /// The rows in sections: in one, unless `sectionBy:` says otherwise.
    public var sections: ResultsSectionCollection<Element> {
        let rows = box.value
        return rows.sections ?? divide?(rows.elements)
            ?? ResultsSectionCollection(rows.elements) { _ in "" }
    }
}

// Sections by a function of the rows, which Swift calls.

extension FetchAll {
    /// Makes a property of a request whose rows have sections.
    ///
    /// - parameters:
    ///     - wrappedValue: The rows until there are others.
    ///     - request: What to fetch.
    ///     - value: What the rows of a section have in common.
    ///     - database: Where; by default, in ``DependencyValues/defaultDatabase``.
    public init<Value: Equatable>(
        wrappedValue: [Element] = [], _ request: some FetchKeyRequest<[Element]>,
        sectionBy value: @escaping @Sendable (Element) -> Value, database: (any DatabaseReader)? = nil
    ) {
        self.init(wrappedValue: wrappedValue, request, database: database)
        divide = { ResultsSectionCollection($0, by: value) }
    }

    // What is an expression of the columns too is taken for one.
    /// Makes a property of a statement whose rows have sections.
    ///
    /// - parameters:
    ///     - wrappedValue: The rows until there are others.
    ///     - statement: What to fetch.
    ///     - value: What the rows of a section have in common.
    ///     - database: Where; by default, in ``DependencyValues/defaultDatabase``.
    @_disfavoredOverload
    public init<S: Statement, Value: Equatable>(
        wrappedValue: [Element] = [], _ statement: S,
        sectionBy value: @escaping @Sendable (Element) -> Value, database: (any DatabaseReader)? = nil
    ) where S.QueryValue: QueryRepresentable, S.QueryValue.QueryOutput == Element {
        self.init(
            wrappedValue: wrappedValue, AllRows(statement: statement), sectionBy: value, database: database)
    }

    // As above.
    /// Makes a property of a SELECT of whole rows, which have sections.
    ///
    /// - parameters:
    ///     - wrappedValue: The rows until there are others.
    ///     - statement: What to fetch.
    ///     - value: What the rows of a section have in common.
    ///     - database: Where; by default, in ``DependencyValues/defaultDatabase``.
    @_disfavoredOverload
    public init<S: SelectStatement, Value: Equatable>(
        wrappedValue: [Element] = [], _ statement: S,
        sectionBy value: @escaping @Sendable (Element) -> Value, database: (any DatabaseReader)? = nil
    ) where S.QueryValue == (), S.Joins == Joined<>, S.From.QueryOutput == Element {
        self.init(
            wrappedValue: wrappedValue, AllRecords(statement: statement), sectionBy: value, database: database
        )
    }
}

extension SelectStatement where Joins == NoJoins {
    /// All rows in sections: one for each value of an expression, in its order.
    ///
    /// - parameters:
    ///     - db: The database.
    ///     - section: The expression of one column, or a term of an order.
    /// - throws: A `DatabaseError`, or a `QueryDecodingFailure`.
    public func fetchAll(
        _ db: Database, sectionBy section: (From.TableColumns) -> some QueryExpression
    ) throws -> ResultsSectionCollection<From.QueryOutput>
    where QueryValue == (), From.QueryOutput: Sendable {
        let rows = try asSelect().divided(by: section(From.columns)).fetchAll(db)
        return ResultsSectionCollection(
            collecting: rows.map { row in row.0 }, names: rows.map { row in row.1 })
    }

    /// Something of all rows in sections: one for each value of an expression, in its order.
    ///
    /// - parameters:
    ///     - db: The database.
    ///     - section: The expression of one column, or a term of an order.
    /// - throws: A `DatabaseError`, or a `QueryDecodingFailure`.
    public func fetchAll(
        _ db: Database, sectionBy section: (From.TableColumns) -> some QueryExpression
    ) throws -> ResultsSectionCollection<QueryValue.QueryOutput>
    where QueryValue: QueryRepresentable, QueryValue.QueryOutput: Sendable {
        let rows = try asSelect().divided(by: section(From.columns)).fetchAll(db)
        return ResultsSectionCollection(
            collecting: rows.map { row in row.0 }, names: rows.map { row in row.1 })
    }
}
