/// SQLite's check of a database's structure, on a connection that may lack collations and functions of the app that made
/// the database.
///
/// SQLite refuses to check anything then. What can be told without them is checked all the same: all tables and the
/// structure of all indexes, but not the order of the indexes that need them, and no constraint that does.
struct StructureCheck {
    /// What was found.
    struct Outcome {
        /// The problems; none when the database is sound.
        let problems: [String]
        /// Whether all of them are about what indexes hold, which can be made anew of the tables.
        let isAboutIndexes: Bool
    }

    /// A collation or function that the connection does not have.
    private enum Missing: Hashable {
        case collation(String)
        case function(String)

        private static let collationWords = "no such collation sequence: "
        private static let functionWords = "unknown function: "

        /// - returns: nil when the error is another one.
        init?(_ error: DatabaseError) {
            guard error.resultCode == .SQLITE_ERROR, let message = error.message else { return nil }
            if message.hasPrefix(Self.collationWords) {
                self = .collation(String(message.dropFirst(Self.collationWords.count)))
            } else if message.hasPrefix(Self.functionWords), message.hasSuffix("()") {
                self = .function(String(message.dropFirst(Self.functionWords.count).dropLast(2)))
            } else {
                return nil
            }
        }

        var name: String {
            switch self {
            case .collation(let name), .function(let name): name
            }
        }
    }

    /// The most bytes that SQLite takes as the name of a function.
    private static let functionNameByteCountMax = 255

    private let db: Database
    private let limit: Int
    private let unfit: UnfitIndexes
    private var missing: Set<Missing> = []

    /// - parameters:
    ///     - db: A connection that nobody else uses. It may be of no other use afterwards.
    ///     - limit: The most problems that are named.
    ///     - unfit: Indexes that may not fit their tables: that they do not is no problem.
    init(_ db: Database, limit: Int, allowing unfit: UnfitIndexes = UnfitIndexes()) {
        self.db = db
        self.limit = limit
        self.unfit = unfit
    }

    /// The names of the collations and functions without which the check was made, once it was.
    var unknownNames: [String] { missing.map(\.name).sorted() }

    /// Checks the database.
    ///
    /// - throws: A ``DatabaseError``, such as that of a page that can't be read.
    mutating func run() throws -> Outcome {
        do {
            let problems = try self.problems("integrity_check(\(limitOfEngine))")
            guard !problems.isEmpty else { return Outcome(problems: [], isAboutIndexes: false) }
            // A connection that has met damage may not go on.
            let quick = try? self.problems("quick_check(1)")
            return Outcome(problems: problems, isAboutIndexes: quick?.isEmpty ?? false)
        } catch let error as DatabaseError {
            guard let first = Missing(error) else { throw error }
            let ofTables = try problemsOfTables()
            try addStandIn(for: first, error)
            let quick = try quickProblems()
            return Outcome(problems: quick + ofTables, isAboutIndexes: quick.isEmpty && !ofTables.isEmpty)
        }
    }

    /// Checks those tables as a whole that need nothing which is missing, where the engine can check one table.
    private func problemsOfTables() throws -> [String] {
        guard EngineFeatures.current.checksSingleTables else { return [] }
        var problems: [String] = []
        for table in try String.fetchAll(db, sql: "SELECT name FROM sqlite_master WHERE type = 'table'")
        where problems.count < limit {
            do {
                problems += try self.problems("integrity_check(\(table.quotedDatabaseIdentifier))")
            } catch let error as DatabaseError where Missing(error) != nil {
                continue
            }
        }
        return Array(problems.prefix(limit))
    }

    /// Checks all that does not depend on what collations and functions give.
    private mutating func quickProblems() throws -> [String] {
        while true {
            do {
                return try problems("quick_check(\(limit))")
            } catch let error as DatabaseError {
                guard let next = Missing(error) else { throw error }
                try addStandIn(for: next, error)
            }
        }
    }

    /// Gives the connection something of a name: what it returns is not relied upon.
    private mutating func addStandIn(for missing: Missing, _ error: DatabaseError) throws {
        guard self.missing.insert(missing).inserted else { throw error }
        switch missing {
        case .collation(let name):
            db.add(collation: DatabaseCollation(name) { _, _ in .orderedSame })
        case .function(let name):
            guard name.utf8.count <= Self.functionNameByteCountMax else { throw error }
            try db.execute(sql: "PRAGMA ignore_check_constraints = ON")
            db.add(function: DatabaseFunction(name, pure: true) { _ in nil })
        }
    }

    /// Calls a function with each row that refers to a row which is not there. Tables whose references need a collation
    /// that the connection does not have are left out.
    static func forEachBrokenReference(in db: Database, _ body: (StoreProblem) -> Void) throws {
        do {
            try forEachReference(db, "foreign_key_check", body)
        } catch let error as DatabaseError where lacksDefinition(error) {
            for table in try String.fetchAll(db, sql: "SELECT name FROM sqlite_master WHERE type = 'table'") {
                do {
                    try forEachReference(db, "foreign_key_check(\(table.quotedDatabaseIdentifier))", body)
                } catch let error as DatabaseError where lacksDefinition(error) {
                    continue
                }
            }
        }
    }

    private static func forEachReference(
        _ db: Database, _ pragma: String, _ body: (StoreProblem) -> Void
    ) throws {
        let rows = try Row.fetchCursor(db, sql: "PRAGMA \(pragma)")
        while let row = try rows.next() {
            let table: String = try row.decode(atIndex: 0)
            let parent: String = try row.decode(atIndex: 2)
            let rowID = try row.decodeIfPresent(Int64.self, atIndex: 1)
            body(
                StoreProblem(
                    .reference,
                    "a row of \(table)\(rowID.map { " (rowid \($0))" } ?? "") refers to a row of \(parent) that is not there",
                    table: table))
        }
    }

    /// The most problems that the engine is to name. Those of unfit indexes are as many as their rows, and others may
    /// come after them.
    private var limitOfEngine: Int { unfit.isEmpty ? limit : Int(Int32.max) }

    private func problems(_ pragma: String) throws -> [String] {
        let texts = try String.fetchCursor(db, sql: "PRAGMA \(pragma)")
        var problems: [String] = []
        while problems.count < limit, let text = try texts.next() {
            if text != "ok" && !unfit.explain(text) { problems.append(text) }
        }
        return problems
    }

    /// Whether an error says that the connection lacks a collation or function of the app.
    static func lacksDefinition(_ error: DatabaseError) -> Bool { Missing(error) != nil }
}
