import Foundation

/// Writes SQL for a connection, and collects its arguments.
///
/// See the notes at the top of `SQLExpressible.swift`.
final class SQLWriter {
    /// What becomes of values.
    enum ValueStyle {
        /// A `?`, and an argument.
        case arguments
        /// A literal, for the definitions of views, triggers and columns, which can have no arguments.
        case literals
    }

    /// A table, or what stands for one, in a statement.
    struct Source {
        /// How its columns are qualified, when they are.
        var qualifier: String

        /// The table, or nil for common table expressions and subqueries.
        var tableName: String?

        /// Whether its columns are qualified in the statement itself. In the subqueries of the statement they always are.
        var isQualified: Bool

        /// Whether a bare name can only be that of its column. An unknown one is
        /// qualified where the engine would take it for a text, so that it is an error.
        var hasOnlyColumns = false

        /// Whether an alias stands for it, by which subqueries can refer to it.
        var hasAlias = false

        /// The frame it belongs to.
        fileprivate(set) var depth = 0
    }

    /// One statement or subquery that is being written.
    private struct Frame {
        var sources: [ObjectIdentifier: Source] = [:]
        var aliasedQualifiers: Set<String> = []

        /// The tables whose columns the statements within it can name.
        var tables: [String] = []

        /// Whether these statements can take no other bare name from it.
        var hasOnlyColumns = false

        /// The table, where the statement is on one alone.
        var onlyTable: String?

        /// The common tables that stand for the tables of their names, here and in the statements within.
        var commonTables: Set<String> = []
    }

    let database: Database
    let features = EngineFeatures.current
    private let style: ValueStyle
    private var frames: [Frame] = []
    private(set) var scope: Source?
    private(set) var sql = ""
    private(set) var arguments = StatementArguments()

    /// Whether SQL of the user was written that ends in a comment.
    private var endsInComment = false

    /// Whether the mark is written that hides values.
    private var hidesValues = false

    /// Whether rows may be found by `IS`, where the statement alone doesn't tell.
    private var mayPlanByIdentity: Bool?

    /// Where the rows of the innermost SELECT come from, while what it gives is written.
    var selectedSources: [JoinedSource] = []

    init(_ database: Database, style: ValueStyle = .arguments) {
        self.database = database
        self.style = style
    }

    // MARK: Text

    func append(_ text: String) {
        if endsInComment { sql += "\n" }
        endsInComment = false
        sql += text
    }

    /// Ends the line before what is written next: SQL of the user ends in a comment.
    func endComment() { endsInComment = true }

    func appendQuoted(_ name: String) { append(name.quotedDatabaseIdentifier) }

    /// Writes elements with a separator between them.
    func appendJoined<Elements: Sequence>(
        _ elements: Elements, separator: String = ", ", _ write: (Elements.Element) throws -> Void
    ) rethrows {
        var isFirst = true
        for element in elements {
            if !isFirst { append(separator) }
            isFirst = false
            try write(element)
        }
    }

    /// Writes a value.
    ///
    /// The arguments that one statement can have may not be enough for a long list of keys. When half of them
    /// are used, values become literals that mean exactly the same. A mark before them hides them where arguments are
    /// not shown either: see ``ValueRedaction``.
    ///
    /// - throws: A ``DatabaseError`` for the literal of a value that SQLite can't store. An argument is
    ///   refused when it is bound.
    func append(_ value: DatabaseValue) throws {
        if value.isNull {
            append("NULL")
        } else if style == .literals {
            try append(value.sqlLiteral)
        } else if isShortOfArguments, let literal = value.exactLiteral {
            hideValues()
            append(literal)
        } else {
            append("?")
            arguments.values.append(value)
        }
    }

    /// Hides what follows where the SQL is shown without its arguments: values that are none.
    func hideValues() {
        guard style == .arguments, !hidesValues else { return }
        append(ValueRedaction.mark)
        hidesValues = true
    }

    private var isShortOfArguments: Bool {
        // No engine accepts less than twice as many.
        arguments.values.count >= 400
            && arguments.values.count >= SQLiteHandle.maximumParameterCount(database.handle) / 2
    }

    /// Writes SQL of the user, whose arguments follow those that are there.
    func append(_ text: String, arguments added: StatementArguments) throws {
        append(text)
        // It may be a query, whose names those of a request within it can mean.
        if !frames.isEmpty { frames[frames.count - 1].hasOnlyColumns = false }
        if added.isEmpty { return }
        guard style == .arguments else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: "arguments can't be used here: interpolate the values in an SQL literal", sql: text)
        }
        arguments.values += added.values
        for (name, value) in added.namedValues {
            if let present = arguments.namedValues.updateValue(value, forKey: name), present != value {
                throw DatabaseError(
                    resultCode: .SQLITE_MISUSE,
                    message: "two values for the statement argument :\(name) in one statement", sql: text)
            }
        }
    }

    // MARK: Sources and scopes

    /// Writes a statement or subquery, with the names of its sources.
    ///
    /// - parameter commonTables: The names of the common tables that are defined in it.
    func withFrame<T>(
        _ sources: [(SourceIdentity, Source)], scope source: Source?, commonTables: [String] = [],
        _ body: () throws -> T
    ) rethrows -> T {
        var frame = Frame()
        for (identity, source) in sources {
            var source = source
            source.depth = frames.count + 1
            frame.sources[ObjectIdentifier(identity)] = source
            if source.hasAlias { frame.aliasedQualifiers.insert(source.qualifier.foldedIdentifier) }
        }
        frame.commonTables = (frames.last?.commonTables ?? []).union(commonTables.map(\.foldedIdentifier))
        let all = sources.map { $0.1 } + (source.map { [$0] } ?? [])
        // What a common table has that stands for one is known to SQLite only.
        frame.tables = all.compactMap(\.tableName).filter {
            !frame.commonTables.contains($0.foldedIdentifier)
        }
        let isOnOne = all.allSatisfy { $0.qualifier == all[0].qualifier } && frame.tables.count == all.count
        frame.onlyTable = isOnOne ? frame.tables.first : nil
        frame.hasOnlyColumns = source?.hasOnlyColumns == true && frame.tables.count == all.count
        frames.append(frame)
        let outer = scope
        scope = source.map { source in
            var source = source
            source.depth = frames.count
            return source
        }
        defer {
            scope = outer
            frames.removeLast()
        }
        return try planning(byIdentity: nil, body)
    }

    /// Writes where rows may be found by `IS`, or may not; nil when the statement tells.
    func planning<T>(byIdentity mayPlan: Bool?, _ body: () throws -> T) rethrows -> T {
        let outer = mayPlanByIdentity
        mayPlanByIdentity = mayPlan
        defer { mayPlanByIdentity = outer }
        return try body()
    }

    /// Whether the engine may find wrong rows by an `IS` that is written next.
    func misplansIdentity() throws -> Bool {
        guard features.misplansIdentity else { return false }
        if let mayPlanByIdentity { return !mayPlanByIdentity }
        // What defines a column or an index finds no rows.
        guard let frame = frames.last else { return style == .arguments }
        // A subquery may become a part of the statement around it, as a view does.
        guard style == .arguments, frames.count == 1, let table = frame.onlyTable else { return true }
        return try !database.tableExists(table) || database.viewExists(table)
    }

    /// The names of the sources of the statements around this one that can be meant here.
    var outerAliasedQualifiers: Set<String> {
        frames.reduce(into: []) { $0.formUnion($1.aliasedQualifiers) }
    }

    /// Whether a name is that of a common table.
    func isCommonTable(_ name: String) -> Bool {
        frames.last?.commonTables.contains(name.foldedIdentifier) ?? false
    }

    /// Writes with bare columns belonging to a source.
    func withScope<T>(_ identity: SourceIdentity, _ body: () throws -> T) throws -> T {
        try withScope(source(of: identity), body)
    }

    /// Writes with bare columns belonging to nothing.
    func withoutScope<T>(_ body: () throws -> T) rethrows -> T {
        try withScope(nil, body)
    }

    private func withScope<T>(_ source: Source?, _ body: () throws -> T) rethrows -> T {
        let outer = scope
        scope = source
        defer { scope = outer }
        return try body()
    }

    /// The source that an alias stands for.
    private func source(of identity: SourceIdentity) throws -> Source {
        for frame in frames.reversed() {
            if let source = frame.sources[ObjectIdentifier(identity)] { return source }
        }
        if let name = identity.name ?? identity.tableName {
            return Source(qualifier: name, tableName: identity.tableName, isQualified: true)
        }
        throw DatabaseError(
            resultCode: .SQLITE_ERROR,
            message: "a table alias is used that stands for no table of the request")
    }

    /// What qualifies the columns of the scope, or nil.
    var qualifier: String? {
        guard let scope, scope.isQualified || scope.depth < frames.count else { return nil }
        return scope.qualifier
    }

    func appendColumn(_ name: String) throws {
        if let qualifier = try qualifier ?? qualifierOfUnknown(name) {
            appendQuoted(qualifier)
            append(".")
        }
        appendQuoted(name)
    }

    /// What qualifies a name that would be a text otherwise, or nil.
    private func qualifierOfUnknown(_ name: String) throws -> String? {
        guard !features.refusesTextInDoubleQuotes, let scope, scope.hasOnlyColumns,
            let table = scope.tableName, try database.isUnknownColumn(name, of: table)
        else { return nil }
        for outer in frames.prefix(Swift.max(0, scope.depth - 1)).flatMap(\.tables) {
            guard try database.isUnknownColumn(name, of: outer), try !database.isVirtualTable(outer)
            else { return nil }
        }
        return scope.qualifier
    }

    /// Whether what is written next can take no bare name from around it but those of columns.
    var hasOnlyColumnsAround: Bool { frames.isEmpty ? sql.isEmpty : frames.allSatisfy(\.hasOnlyColumns) }

    /// The table of the scope.
    ///
    /// - throws: A ``DatabaseError`` when the scope is not a table.
    func requireTable() throws -> String {
        if let table = scope?.tableName { return table }
        throw DatabaseError(
            resultCode: .SQLITE_ERROR, message: "the expression can be used in requests from a table only")
    }
}
