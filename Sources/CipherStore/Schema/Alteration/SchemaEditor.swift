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
        try db.withSetting("writable_schema", isOn: true, body)
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
