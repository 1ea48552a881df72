/// A module that makes virtual tables, with the arguments it takes.
///
/// ``FTS3`` and ``FTS4`` are such modules. Write your own type for a module that
/// an extension registers:
///
/// ```swift
/// try db.create(virtualTable: "area", using: RTree()) { t in t.columns = ["minX", "maxX"] }
/// ```
public protocol VirtualTableModule {
    /// What a closure defines the table with.
    associatedtype TableDefinition

    /// The name of the module in SQL.
    var moduleName: String { get }

    /// Makes an empty definition.
    func makeTableDefinition(configuration: VirtualTableConfiguration) -> TableDefinition

    /// Returns the arguments of the module, as SQL.
    ///
    /// - throws: An error that stops the creation of the table.
    func moduleArguments(for definition: TableDefinition, in db: Database) throws -> [String]

    /// Completes a table that was created, with triggers for one.
    ///
    /// - throws: An error that undoes the creation of the table.
    func database(_ db: Database, didCreate tableName: String, using definition: TableDefinition) throws
}

/// How a virtual table is created.
public struct VirtualTableConfiguration: Sendable {
    /// Whether a table of the same name is left as it is.
    public let ifNotExists: Bool
}

extension Database {
    /// Creates a virtual table by the name of its module.
    ///
    /// - parameters:
    ///     - name: The name of the table.
    ///     - options: Options.
    ///     - module: The name of the module, with its arguments in parentheses.
    /// - throws: A ``DatabaseError``.
    public func create(virtualTable name: String, options: VirtualTableOptions = [], using module: String)
        throws
    {
        try execute(sql: "\(createClause(name, options)) USING \(module)")
    }

    /// Creates a virtual table by the name of its module.
    ///
    /// `create(virtualTable:options:using:)` is the newer form.
    @_disfavoredOverload
    public func create(virtualTable name: String, ifNotExists: Bool, using module: String) throws {
        try create(virtualTable: name, options: ifNotExists ? .ifNotExists : [], using: module)
    }

    /// Creates a virtual table.
    ///
    /// ```swift
    /// try db.create(virtualTable: "book", using: FTS4()) { t in
    ///     t.tokenizer = .unicode61()
    ///     t.column("title")
    ///     t.column("body")
    /// }
    /// ```
    ///
    /// - parameters:
    ///     - name: The name of the table.
    ///     - options: Options.
    ///     - module: The module.
    ///     - body: A closure that defines the table.
    /// - throws: A ``DatabaseError``; what `body` or the module throws.
    public func create<Module: VirtualTableModule>(
        virtualTable name: String, options: VirtualTableOptions = [], using module: Module,
        _ body: (Module.TableDefinition) throws -> Void = { _ in }
    ) throws {
        let definition = module.makeTableDefinition(
            configuration: VirtualTableConfiguration(ifNotExists: options.contains(.ifNotExists)))
        try body(definition)
        let arguments = try module.moduleArguments(for: definition, in: self)
        var sql = "\(createClause(name, options)) USING \(module.moduleName)"
        if !arguments.isEmpty { sql += "(\(arguments.joined(separator: ", ")))" }
        try inSavepoint {
            try execute(sql: sql)
            try module.database(self, didCreate: name, using: definition)
            return .commit
        }
    }

    /// Creates a virtual table.
    ///
    /// ``create(virtualTable:options:using:_:)`` is the newer form.
    @_disfavoredOverload
    public func create<Module: VirtualTableModule>(
        virtualTable name: String, ifNotExists: Bool, using module: Module,
        _ body: (Module.TableDefinition) throws -> Void = { _ in }
    ) throws {
        try create(virtualTable: name, options: ifNotExists ? .ifNotExists : [], using: module, body)
    }

    private func createClause(_ name: String, _ options: VirtualTableOptions) -> String {
        var sql = "CREATE VIRTUAL TABLE"
        if options.contains(.ifNotExists) { sql += " IF NOT EXISTS" }
        // There is no CREATE TEMPORARY VIRTUAL TABLE.
        return sql + (options.contains(.temporary) ? " temp." : " ") + name.quotedDatabaseIdentifier
    }
}
