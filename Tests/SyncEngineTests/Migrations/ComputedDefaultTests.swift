import CipherStore
import Testing

@testable import SyncEngine

/// Defaults that each replica computes for itself.
@Suite struct ComputedDefaultTests {
    @Test(arguments: [
        ("CURRENT_TIMESTAMP", true), ("current_date", true), ("'CURRENT_TIME'", false), ("random()", true),
        ("strftime('%s', 'now')", true), ("\"lower\" (hex(randomblob(16)))", true), ("NULL", false),
        ("-1.5", false), ("'a(b)'", false), ("x'00'", false), ("(1 + (2)) * 3", false),
        ("NOT (1 IN (2, 3))", false), ("CAST('1' AS INTEGER)", false), ("TRUE", false),
    ])
    func itIsFoundOutWhetherADefaultIsComputed(_ sql: String, _ isComputed: Bool) {
        #expect(ComputedDefaults.isComputed(sql) == isComputed)
    }

    @Test func columnsOfTrackedTablesWithSuchDefaultsAreNamed() throws {
        let stores = try TestStores()
        let schema = """
            CREATE TABLE note (
                id BLOB PRIMARY KEY DEFAULT (randomblob(16)), title TEXT DEFAULT 'none',
                made TEXT DEFAULT CURRENT_TIMESTAMP, "luck of" INTEGER DEFAULT (random()));
            CREATE TABLE elsewhere (id BLOB PRIMARY KEY, made TEXT DEFAULT CURRENT_TIMESTAMP);
            """
        let a = try stores.create(schema: schema, tables: ["note"])
        #expect(try a.queue.read { try ComputedDefaults.columns($0) } == ["note.made", "note.luck of"])
        let plain = try DatabaseQueue()
        try plain.write { try $0.execute(sql: schema) }
        #expect(try plain.read { try ComputedDefaults.columns($0) } == [])
    }

    /// SQLite takes a name there for a text, and an old one TRUE too.
    @Test(arguments: ["TRUE", "open", "\"title\"", "[title]"])
    func aDefaultThatIsANameIsNobodysWrite(_ text: String) throws {
        let stores = try TestStores()
        let a = try stores.create()
        try a.execute("INSERT INTO note (id, title) VALUES (?, 'one')", [key(1)])
        let b = try stores.clone(a, as: "b.db")
        try a.execute("ALTER TABLE note ADD COLUMN extra DEFAULT \(text)")
        try a.sync(b)
        try b.changeUnobserved("ALTER TABLE note ADD COLUMN extra DEFAULT \(text)")
        try a.sync(b)
        #expect(try a.dump() == b.dump())
        for replica in [a, b] {
            #expect(try replica.value("SELECT count(*) FROM _sync_cell", as: Int.self) == 0)
        }
    }
}
