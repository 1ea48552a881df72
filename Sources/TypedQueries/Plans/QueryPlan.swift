/// How SQLite finds the rows of a statement.
///
/// ```swift
/// @Test func remindersOfAListAreFoundByIndex() throws {
///     let plan = try Reminder.where { $0.listID.eq(1) }.queryPlan(db)
///     #expect(plan.usesIndex("remindersByList"))
///     #expect(plan.scannedTables.isEmpty)
/// }
/// ```
public struct QueryPlan: Hashable, Sendable, CustomStringConvertible {
    /// The lines of the plan, such as `SEARCH reminders USING INDEX remindersByList (listID=?)`. Old versions of
    /// SQLite write `SEARCH TABLE reminders …`; the word is left out here.
    public let steps: [String]

    /// The statement, without values.
    public let sql: String

    /// Whether an index is used: one of a name, or any, also an index for the primary key.
    ///
    /// - parameter name: The name of the index.
    public func usesIndex(_ name: String? = nil) -> Bool { steps.contains { Self.isIndexed($0, name) } }

    /// The tables of which every row is read, by their names in the statement. A full read of an index counts.
    public var scannedTables: [String] {
        steps.compactMap { step in
            guard step.hasPrefix("SCAN ") else { return nil }
            let rest = step.dropFirst(5)
            // A table may be called otherwise.
            if let alias = rest.range(of: " AS ") {
                return String(rest[alias.upperBound...].prefix { $0 != " " })
            }
            return String(rest.prefix { $0 != " " })
        }
    }

    /// Whether rows are sorted or grouped in a temporary index.
    public var usesTemporaryIndex: Bool {
        steps.contains { $0.hasPrefix("USE TEMP B-TREE") || $0.contains(" AUTOMATIC ") }
    }

    /// The lines.
    public var description: String { steps.joined(separator: "\n") }

    /// Throws unless an index is used.
    ///
    /// - parameter name: The name of the index, or nil for any.
    /// - throws: A `DatabaseError` with the plan.
    public func requireIndex(_ name: String? = nil) throws {
        guard !usesIndex(name) else { return }
        let index = name.map { "the index \"\($0)\"" } ?? "any index"
        throw DatabaseError(
            resultCode: .SQLITE_ERROR,
            message: "the statement does not use \(index); its plan is: \(description)", sql: sql)
    }

    private static func isIndexed(_ step: String, _ name: String?) -> Bool {
        guard let name else {
            // An automatic index is made for the statement, because there is none.
            return !step.contains(" AUTOMATIC ")
                && (step.contains(" INDEX ") || step.contains(" USING INTEGER PRIMARY KEY")
                    || step.contains(" USING PRIMARY KEY"))
        }
        return (step + " ").contains(" INDEX \(name) ")
    }

    fileprivate init(details: [String], sql: String) {
        steps = details.map { detail in
            var step = detail
            for word in ["SCAN", "SEARCH"] where step.hasPrefix("\(word) TABLE ") {
                step.removeFirst(word.count + 7)
                step = "\(word) \(step)"
            }
            return step
        }
        self.sql = sql
    }
}

extension Statement {
    /// How SQLite finds the rows of the statement: `EXPLAIN QUERY PLAN`. The statement does not run.
    ///
    /// - throws: A `DatabaseError`. For a change that other statements do on this engine, it names the version of SQLite that
    ///   has what the change uses.
    public func queryPlan(_ db: Database) throws -> QueryPlan {
        let query = query
        let renderer = db.renderer(of: query)
        let sql = String(decoding: renderer.text, as: UTF8.self)
        for need in renderer.needs { try need.check(sql: sql) }
        guard !sql.isEmpty else { return QueryPlan(details: [], sql: sql) }
        let values = try renderer.values.map { try query.bindings[$0].databaseValue() }
        let rows = try Row.fetchAll(
            db, sql: "EXPLAIN QUERY PLAN \(sql)", arguments: StatementArguments(values))
        // Values that are too many for parameters are no part of what is shown.
        return QueryPlan(
            details: rows.map { $0["detail"] ?? "" }, sql: ValueRedaction.redacted(sql) ?? sql)
    }

    /// Throws unless the statement uses an index, for tests.
    ///
    /// ```swift
    /// try Reminder.where { $0.listID.eq(1) }.assertUsesIndex("remindersByList", db)
    /// ```
    ///
    /// - parameters:
    ///     - name: The name of the index.
    ///     - db: The connection.
    /// - throws: A `DatabaseError` with the plan.
    public func assertUsesIndex(_ name: String, _ db: Database) throws {
        try queryPlan(db).requireIndex(name)
    }

    /// Throws unless the statement uses an index, whichever it is.
    ///
    /// - throws: A `DatabaseError` with the plan.
    public func assertUsesIndex(_ db: Database) throws { try queryPlan(db).requireIndex() }
}
