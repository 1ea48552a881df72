import CipherStore
import Testing

@testable import SyncEngine

/// What a server says of its tables makes tables, and nothing else.
@Suite struct SharedTableTests {
    private let queue: DatabaseQueue

    init() throws { queue = try DatabaseQueue() }

    private func create(_ statements: [String], name: String = "note") throws {
        try queue.write { try SharedTable(name: name, statements: statements).create($0) }
    }

    private func objects() throws -> [String] {
        try queue.read { try String.fetchAll($0, sql: "SELECT name FROM sqlite_master ORDER BY name") }
    }

    @Test func tablesAndTheirIndexesAreMade() throws {
        try create([
            """
            CREATE TABLE "note" (id BLOB PRIMARY KEY, -- a comment; with (this
              title TEXT DEFAULT ('a;b)'), n INTEGER CHECK (n > (0))) WITHOUT ROWID
            """,
            "CREATE INDEX note_title ON note(title COLLATE NOCASE, lower(title))",
            "CREATE UNIQUE INDEX \"note n\" ON \"NOTE\" (n) WHERE n IS NOT NULL",
        ])
        #expect(try objects().filter { !$0.hasPrefix("sqlite_") } == ["note", "note n", "note_title"])
        try create(["CREATE TABLE [a b](id TEXT PRIMARY KEY)"], name: "a b")
        try create(["CREATE TABLE 'c' (id TEXT PRIMARY KEY) "], name: "C")
    }

    @Test func theDefinitionsOfAStoreAreOfThatForm() throws {
        let stores = try TestStores()
        let replica = try stores.create(
            "a.db",
            schema: """
                CREATE TABLE IF NOT EXISTS main . "Note"(id BLOB PRIMARY KEY, title TEXT UNIQUE) WITHOUT ROWID;
                CREATE UNIQUE INDEX IF NOT EXISTS main.[by title] ON note (title) WHERE title > 'a;';
                CREATE TABLE tag (/* ) */ id TEXT PRIMARY KEY, name TEXT REFERENCES note (id));
                ALTER TABLE tag ADD COLUMN more TEXT DEFAULT 'x);';
                ALTER TABLE tag RENAME TO label;
                """, tables: ["Note", "label"])
        let definitions = try replica.synchronizer.definitions(ofTables: nil)
        #expect(definitions.map(\.name).sorted() == ["Note", "label"])
        for table in definitions { try queue.write { try table.create($0) } }
    }

    @Test(
        arguments: [
            "CREATE TABLE note AS SELECT 1 AS id", "CREATE TABLE note AS VALUES (1)",
            "CREATE TABLE note(id TEXT PRIMARY KEY) AS SELECT 1",
            "CREATE TABLE note(id TEXT PRIMARY KEY); DROP TABLE other",
            "CREATE TABLE note(id TEXT PRIMARY KEY);", "CREATE TABLE other2(id TEXT PRIMARY KEY)",
            "CREATE TABLE temp.note(id TEXT PRIMARY KEY)", "CREATE TEMP TABLE note(id TEXT PRIMARY KEY)",
            "CREATE TABLE IF NOT EXISTS note(id TEXT PRIMARY KEY)",
            "CREATE TABLE note(id TEXT PRIMARY KEY) WITHOUT", "CREATE TABLE note(id TEXT PRIMARY KEY) ,",
            "CREATE VIRTUAL TABLE note USING fts4(id)", "CREATE VIEW note AS SELECT 1",
            "CREATE TRIGGER note AFTER INSERT ON other BEGIN DELETE FROM other; END",
            "CREATE INDEX note ON other(id)", "DROP TABLE other", "CREATE TABLE note", "CREATE TABLE note(",
            "",
            "CREATE TABLE note(id TEXT\0 PRIMARY KEY)", "/* x */", "SELECT 1",
        ])
    func nothingElseIsCarriedOut(statement: String) throws {
        try queue.write { try $0.execute(sql: "CREATE TABLE other (id TEXT PRIMARY KEY)") }
        let error = #expect(throws: SyncError.self) { try create([statement]) }
        #expect(error?.code == .invalidBundle)
        #expect(try objects().filter { !$0.hasPrefix("sqlite_") } == ["other"])
    }

    @Test(
        arguments: [
            "CREATE INDEX i ON other(id)", "CREATE INDEX _sync_i ON note(id)", "CREATE INDEX i ON note",
            "CREATE INDEX i ON note(id) WHERE id > 1; DROP TABLE other", "CREATE INDEX i ON note(id);",
            "CREATE INDEX i ON note(id) x", "CREATE TABLE more(id TEXT PRIMARY KEY)",
            "CREATE TRIGGER t AFTER INSERT ON note BEGIN DELETE FROM other; END",
        ])
    func anIndexIsOfTheTableAndNothingElse(statement: String) throws {
        try queue.write { try $0.execute(sql: "CREATE TABLE other (id TEXT PRIMARY KEY)") }
        let error = #expect(throws: SyncError.self) {
            try create(["CREATE TABLE note(id TEXT PRIMARY KEY)", statement])
        }
        #expect(error?.code == .invalidBundle)
        // All of it is looked at before any is carried out.
        #expect(try objects().filter { !$0.hasPrefix("sqlite_") } == ["other"])
    }

    @Test func aDefinitionIsOfBoundedSize() throws {
        let blank = String(repeating: " ", count: SharedTable.statementByteCountMax)
        #expect(throws: SyncError.self) { try create(["CREATE TABLE note(id TEXT PRIMARY KEY)" + blank]) }
        #expect(throws: SyncError.self) { try create([]) }
        let table = "CREATE TABLE note(id TEXT PRIMARY KEY)"
        let indexes = (0..<SharedTable.statementCountMax).map { "CREATE INDEX i\($0) ON note(id)" }
        #expect(throws: SyncError.self) { try create([table] + indexes) }
        #expect(throws: SyncError.self) {
            try create(["CREATE TABLE _sync_row(id TEXT PRIMARY KEY)"], name: "_sync_row")
        }
    }
}
