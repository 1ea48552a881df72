/// An object of a schema, with the statement that made it.
struct SchemaObject {
    let rowID: Int64
    let type: String
    let name: String
    let table: String
    let sql: String?
}

/// Changes the texts in the table of a schema, which is how a definition is
/// changed where `ALTER TABLE` can't.
///
/// It works in the caller's savepoint. SQLite documents the way, see
/// <https://www.sqlite.org/lang_altertable.html#otheralter>: the texts are
/// written with `writable_schema`, and the version of the schema is increased so
/// that other connections notice. This connection drops what it parsed when a
/// savepoint that changed the schema is rolled back.
struct SchemaEditor {
    let db: Database
    let schemaID: DatabaseSchemaID

    private var master: String { schemaID.masterTable }
    private var prefix: String { schemaID.name.quotedDatabaseIdentifier }

    /// The objects of the schema.
    func objects(where condition: String = "1", _ arguments: StatementArguments = []) throws -> [SchemaObject]
    {
        try Row.fetchAll(
            db,
            sql: "SELECT rowid, type, name, tbl_name, sql FROM \(master) WHERE \(condition) ORDER BY rowid",
            arguments: arguments
        ).map { row in
            SchemaObject(
                rowID: try row.decode(atIndex: 0), type: try row.decode(atIndex: 1),
                name: try row.decode(atIndex: 2), table: try row.decode(atIndex: 3),
                sql: try row.decodeIfPresent(atIndex: 4))
        }
    }

    /// Replaces texts, by rowid.
    func write(_ texts: [(rowID: Int64, sql: String)]) throws {
        guard !texts.isEmpty else { return }
        try edit {
            for (rowID, sql) in texts {
                try db.execute(
                    sql: "UPDATE \(master) SET sql = ? WHERE rowid = ?", arguments: [sql, rowID])
            }
        }
    }

    /// Gives two objects each other's page in the file.
    func swapRootPages(_ first: SchemaObject, _ second: SchemaObject) throws {
        try db.execute(
            sql: """
                UPDATE \(master) SET rootpage = (SELECT sum(rootpage) FROM \(master) WHERE rowid IN (:a, :b)) - rootpage
                WHERE rowid IN (:a, :b)
                """, arguments: ["a": first.rowID, "b": second.rowID])
    }

    /// Runs a block that changes the table of the schema, and reads the schema anew.
    func edit(_ body: () throws -> Void) throws {
        // The defensive mode keeps SQL off the table of the schema, and its version.
        db.setDefensive(false)
        defer { db.setDefensive(true) }
        try db.execute(sql: "PRAGMA writable_schema = ON")
        let result = Result { try body() }
        try db.execute(sql: "PRAGMA writable_schema = OFF")
        try result.get()
        let version = try db.version(of: schemaID)
        try db.execute(sql: "PRAGMA \(prefix).schema_version = \((version + 1) % 0x7fff_ffff)")
        try db.execute(
            sql: """
                SAVEPOINT cipherstore_schema; CREATE TABLE \(prefix)._cipherstore_schema (a);
                ROLLBACK TO cipherstore_schema; RELEASE cipherstore_schema
                """)
        // A text that SQLite can't read shows here.
        _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM \(master)")
        db.clearSchemaCache()
    }
}

/// Finds out which views and triggers a change of the schema breaks.
///
/// SQLite looks at them when they are used, not when they are created.
package struct SchemaCompilation {
    private let working: Set<String>

    /// Tries the views and triggers whose text has one of some words.
    package init(_ db: Database, mentioning words: [String]) throws {
        working = Set(try Self.candidates(db, words).filter { Self.compiles(db, $0) }.map(\.key))
    }

    /// Throws when one of them worked before, and does not any more.
    ///
    /// - parameter names: New names of tables that were renamed.
    package func check(_ db: Database, mentioning words: [String], change: String) throws {
        for candidate in try Self.candidates(db, words) where working.contains(candidate.key) {
            do {
                try Self.compile(db, candidate)
            } catch let error as DatabaseError {
                throw DatabaseError(
                    resultCode: .SQLITE_ERROR,
                    message:
                        "error in \(candidate.object.type) \(candidate.object.name) after \(change): \(error.message ?? "")"
                )
            }
        }
    }

    private struct Candidate {
        let schemaID: DatabaseSchemaID
        let object: SchemaObject
        var key: String { "\(object.type) \(schemaID.name).\(object.name.foldedIdentifier)" }
    }

    private static func candidates(_ db: Database, _ words: [String]) throws -> [Candidate] {
        try db.schemaIDs().flatMap { schemaID in
            try SchemaEditor(db: db, schemaID: schemaID)
                .objects(where: "type IN ('view', 'trigger')")
                .filter { object in
                    let tokens = SQLTokens(object.sql ?? "").tokens
                    return words.contains { word in tokens.contains { $0.text.isSameIdentifier(as: word) } }
                }
                .map { Candidate(schemaID: schemaID, object: $0) }
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
}
