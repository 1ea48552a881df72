/// Finds out which views and triggers a change of the schema breaks.
///
/// SQLite looks at them when they are used, not when they are created.
package struct SchemaCompilation {
    private let working: Set<String>
    private let probes: [String: Probe]

    /// Tries the views and triggers whose text has one of some words.
    ///
    /// - parameter column: A column that goes, or gets another name. Where SQLite would take its name for
    ///   text afterwards, that is found, too.
    package init(_ db: Database, mentioning words: [String], column: String? = nil) throws {
        let candidates = try Self.candidates(db, words).filter { Self.compiles(db, $0) }
        working = Set(candidates.map(\.key))
        guard let column else {
            probes = [:]
            return
        }
        probes = candidates.reduce(into: [:]) { $0[$1.key] = Self.probe(db, $1, column) }
    }

    /// Throws when one of them worked before, and does not any more.
    ///
    /// - parameter names: New names of tables that were renamed.
    package func check(_ db: Database, mentioning words: [String], change: String) throws {
        for candidate in try Self.candidates(db, words) where working.contains(candidate.key) {
            do {
                try Self.compile(db, candidate)
                // A text that was edited names the column as it is called now.
                if let probe = probes[candidate.key], probe.original == candidate.object.sql {
                    try Self.compileCopy(db, probe.copy)
                }
            } catch let error as DatabaseError {
                throw DatabaseError(
                    resultCode: .SQLITE_ERROR,
                    message:
                        "error in \(candidate.object.type) \(candidate.object.name) after \(change): \(error.message ?? "")"
                )
            }
        }
    }

    // MARK: What is tried

    private struct Candidate {
        let schemaID: DatabaseSchemaID
        let object: SchemaObject
        var key: String { "\(object.type) \(schemaID.name).\(object.name.identifierKey)" }
    }

    private static func candidates(_ db: Database, _ words: [String]) throws -> [Candidate] {
        var rest = try db.schemaIDs().flatMap { schemaID in
            try SchemaEditor(db: db, schemaID: schemaID).objects(where: "type IN ('view', 'trigger')").map {
                let words = Set(SQLTokens($0.sql ?? "").tokens.map(\.text.identifierKey))
                return (candidate: Candidate(schemaID: schemaID, object: $0), words: words)
            }
        }
        var names = Set(words.map(\.identifierKey))
        var found: [Candidate] = []
        while true {
            let next = rest.filter { !$0.words.isDisjoint(with: names) }.map { $0.candidate }
            guard !next.isEmpty else { return found }
            rest.removeAll { !$0.words.isDisjoint(with: names) }
            found += next
            // What reads a view reads what the view does.
            names.formUnion(next.filter { $0.object.type == "view" }.map(\.object.name.identifierKey))
        }
    }

    private static func compiles(_ db: Database, _ candidate: Candidate) -> Bool {
        (try? compile(db, candidate)) != nil
    }

    private static func compile(_ db: Database, _ candidate: Candidate) throws {
        guard candidate.object.type == "trigger" else {
            let view = DatabaseObjectID(schemaID: candidate.schemaID, name: candidate.object.name)
            _ = try db.makeStatement(sql: "SELECT * FROM \(view.quoted)")
            return
        }
        // The programs of triggers are compiled into the statements that fire them.
        let table = try db.findTableOrView(
            candidate.object.table, in: candidate.schemaID == .temp ? nil : candidate.schemaID.name)
        let columns = try db.columns(in: table.name, in: table.schemaID.name)
            .filter { !$0.isGenerated }.map(\.name.quotedDatabaseIdentifier)
        _ = try db.makeStatement(sql: "DELETE FROM \(table.quoted)")
        _ = try db.makeStatement(
            sql: "UPDATE \(table.quoted) SET \(columns.map { "\($0) = \($0)" }.joined(separator: ", "))")
        _ = try db.makeStatement(
            sql: """
                INSERT INTO \(table.quoted) (\(columns.joined(separator: ", "))) \
                VALUES (\(columns.map { _ in "NULL" }.joined(separator: ", ")))
                """)
    }

    // MARK: Names that can be text

    /// A copy of a view or trigger in which a column is written in backticks.
    ///
    /// SQLite takes `"note"` for a text where nothing has that name, so that what is written so compiles
    /// without the column, too. What is in backticks is always a name.
    private struct Probe {
        let original: String
        let copy: Candidate
    }

    private static let copyName = "_cipherstore_probe"
    private static let backtick = UInt8(ascii: "`")

    /// The probe of an object that compiles; nil when it has no such names.
    private static func probe(_ db: Database, _ candidate: Candidate, _ column: String) -> Probe? {
        guard let original = candidate.object.sql else { return nil }
        let sql = SQLTokens(original)
        let names = sql.tokens.indices.dropFirst(3).filter { index in
            let token = sql.tokens[index]
            return token.kind == .quotedName && sql.bytes[token.range.lowerBound] == UInt8(ascii: "\"")
                && token.text.isSameIdentifier(as: column) && !sql.tokens[index - 1].isSymbol(".")
        }
        // Those that are text already do not compile in backticks.
        let columns = names.filter { index in
            (try? compileCopy(db, copy(of: candidate, sql, [index]))) != nil
        }
        guard !columns.isEmpty else { return nil }
        return Probe(original: original, copy: copy(of: candidate, sql, columns))
    }

    /// A copy under another name, with some of the tokens in backticks.
    private static func copy(of candidate: Candidate, _ text: SQLTokens, _ columns: [Int]) -> Candidate {
        var sql = text
        // SQLite writes `CREATE VIEW name` and `CREATE TRIGGER name` into the schema, and nothing between.
        sql.replace(2, with: DatabaseObjectID(schemaID: candidate.schemaID, name: copyName).quoted)
        for index in columns {
            let name = text.tokens[index].text.utf8.flatMap { $0 == backtick ? [$0, $0] : [$0] }
            sql.replace(index, with: "`" + String(decoding: name, as: UTF8.self) + "`")
        }
        let object = candidate.object
        return Candidate(
            schemaID: candidate.schemaID,
            object: SchemaObject(
                rowID: object.rowID, type: object.type, name: copyName, table: object.table, sql: sql.sql))
    }

    /// Compiles a copy, and leaves nothing of it.
    private static func compileCopy(_ db: Database, _ copy: Candidate) throws {
        try db.inSavepoint {
            try db.execute(sql: copy.object.sql ?? "")
            try compile(db, copy)
            return .rollback
        }
    }
}
