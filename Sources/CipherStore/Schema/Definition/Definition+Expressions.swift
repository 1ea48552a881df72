// Definitions that are written with expressions and SQL literals. Their values
// are written as literals, because a schema holds no arguments.

extension ColumnDefinition {
    /// Refuses values for which a condition is false.
    ///
    /// ```swift
    /// t.column("score", .integer).check { $0 >= 0 }
    /// ```
    ///
    /// - parameter condition: A closure that makes the condition of the column.
    @discardableResult
    public func check(_ condition: (Column) -> any SQLExpressible) -> Self {
        let expression = condition(Column(name)).sqlExpression
        addCheck { try expression.literalSQL($0) }
        return self
    }

    /// Makes the column a generated one.
    ///
    /// Libraries before SQLite 3.31 do not have generated columns, and creating
    /// one throws an error there.
    ///
    /// - parameters:
    ///     - expression: Its value.
    ///     - qualification: When the value is computed.
    @discardableResult
    public func generatedAs(
        _ expression: some SQLExpressible, _ qualification: Database.GeneratedColumnQualification = .virtual
    ) -> Self {
        let expression = expression.sqlExpression
        return generate(qualification) { try expression.literalSQL($0) }
    }
}

extension TableDefinition {
    /// Adds a column.
    ///
    /// - parameter literal: The SQL of its whole definition.
    public func column(literal: SQL) {
        addColumn { try literal.sqlExpression.literalSQL($0) }
    }

    /// Refuses rows for which a condition is false.
    ///
    /// ```swift
    /// t.check(Column("a") + Column("b") < 10)
    /// ```
    public func check(_ condition: some SQLSpecificExpressible) {
        let expression = condition.sqlExpression
        addCheck { try expression.literalSQL($0) }
    }

    /// Refuses rows for which a condition is false.
    ///
    /// A value, such as a string, is not what it looks like: `check("a < b")` tests
    /// the text itself. Use ``check(sql:)``.
    @available(*, deprecated, message: "a value is no condition: use check(sql:)")
    @_disfavoredOverload
    public func check(_ condition: some SQLExpressible) {
        let expression = condition.sqlExpression
        addCheck { try expression.literalSQL($0) }
    }

    /// Adds a constraint.
    ///
    /// - parameter literal: The SQL of the constraint.
    public func constraint(literal: SQL) {
        addConstraint { try literal.sqlExpression.literalSQL($0) }
    }
}

extension TableAlteration {
    /// Adds a column.
    ///
    /// - parameter literal: The SQL of its whole definition.
    public func addColumn(literal: SQL) {
        addColumn { try literal.sqlExpression.literalSQL($0) }
    }
}

extension Database {
    // MARK: Indexes

    /// Creates an index.
    ///
    /// ```swift
    /// try db.create(index: "byEmail", on: "player", columns: ["email"], options: .unique)
    /// ```
    ///
    /// - parameters:
    ///     - name: The name of the index.
    ///     - table: The name of the table.
    ///     - columns: The names of the columns.
    ///     - options: Options.
    ///     - condition: Leaves rows out for which it is not true.
    /// - throws: A ``DatabaseError``.
    public func create(
        index name: String, on table: String, columns: [String], options: IndexOptions = [],
        condition: (any SQLExpressible)? = nil
    ) throws {
        let condition = try condition?.sqlExpression.literalSQL(self)
        try execute(
            sql: IndexDefinition(
                name: name, on: table, columns: columns, options: options, condition: condition
            ).sql)
    }

    /// Creates an index.
    ///
    /// ``create(index:on:columns:options:condition:)`` is the newer form.
    @_disfavoredOverload
    public func create(
        index name: String, on table: String, columns: [String], unique: Bool = false,
        ifNotExists: Bool = false, condition: (any SQLExpressible)? = nil
    ) throws {
        var options: IndexOptions = []
        if unique { options.insert(.unique) }
        if ifNotExists { options.insert(.ifNotExists) }
        try create(index: name, on: table, columns: columns, options: options, condition: condition)
    }

    /// Creates an index on expressions.
    ///
    /// ```swift
    /// try db.create(index: "byName", on: "player", expressions: [Column("name").collating(.nocase)])
    /// ```
    ///
    /// - parameters:
    ///     - name: The name of the index.
    ///     - table: The name of the table.
    ///     - expressions: The expressions, which can be columns.
    ///     - options: Options.
    ///     - condition: Leaves rows out for which it is not true.
    /// - throws: A ``DatabaseError``.
    public func create(
        index name: String, on table: String, expressions: [any SQLExpressible],
        options: IndexOptions = [], condition: (any SQLExpressible)? = nil
    ) throws {
        try execute(
            sql: IndexDefinition(
                name: name, on: table, terms: expressions.map { try $0.sqlExpression.literalSQL(self) },
                options: options, condition: condition?.sqlExpression.literalSQL(self)
            ).sql)
    }

    /// Creates an index that is named after its columns: `index_<table>_on_<column>_<column>`.
    ///
    /// - parameters:
    ///     - table: The name of the table.
    ///     - columns: The names of the columns.
    ///     - options: Options.
    ///     - condition: Leaves rows out for which it is not true.
    /// - throws: A ``DatabaseError``.
    public func create(
        indexOn table: String, columns: [String], options: IndexOptions = [],
        condition: (any SQLExpressible)? = nil
    ) throws {
        try create(
            index: IndexDefinition.defaultName(on: table, columns: columns), on: table, columns: columns,
            options: options, condition: condition)
    }

    // MARK: Views

    /// Creates a view.
    ///
    /// ```swift
    /// try db.create(view: "hero", as: Player.filter(Column("isHero") == true))
    /// ```
    ///
    /// - parameters:
    ///     - name: The name of the view.
    ///     - options: Options.
    ///     - columns: The names of its columns; those of the request when nil.
    ///     - subquery: The request whose rows the view has.
    /// - throws: A ``DatabaseError``.
    public func create(
        view name: String, options: ViewOptions = [], columns: [String]? = nil,
        as subquery: some SQLSubqueryable
    ) throws {
        try create(
            view: name, options, columns, definition: subquery.sqlSubquery.literalSQL(self))
    }

    /// Creates a view.
    ///
    /// - parameters:
    ///     - name: The name of the view.
    ///     - options: Options.
    ///     - columns: The names of its columns; those of the query when nil.
    ///     - literal: The SQL of the query whose rows the view has.
    /// - throws: A ``DatabaseError``.
    public func create(
        view name: String, options: ViewOptions = [], columns: [String]? = nil, asLiteral literal: SQL
    ) throws {
        try create(
            view: name, options, columns, definition: literal.sqlExpression.literalSQL(self))
    }

    private func create(
        view name: String, _ options: ViewOptions, _ columns: [String]?, definition: String
    ) throws {
        var sql = "CREATE"
        if options.contains(.temporary) { sql += " TEMPORARY" }
        sql += " VIEW"
        if options.contains(.ifNotExists) { sql += " IF NOT EXISTS" }
        sql += " \(name.quotedDatabaseIdentifier)"
        if let columns { sql += " (\(columns.quotedList))" }
        try execute(sql: "\(sql) AS \(definition)")
    }
}
