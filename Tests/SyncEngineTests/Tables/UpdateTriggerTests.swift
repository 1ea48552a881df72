import CipherStore
import Testing

@testable import SyncEngine

/// The triggers of updates, which log the columns whose values are others, byte for byte and by type.
@Suite struct UpdateTriggerTests {
    /// In SQL. Some are equal to SQLite, and are other values all the same.
    private static let values = [
        "NULL", "1", "1.0", "'1'", "'1.0'", "'a'", "'A'", "''", "x''", "x'61'", "x'31'", "0.5", "1e300",
        "9007199254740993", "9007199254740992.0", "-9223372036854775808", "-9223372036854775808.0",
    ]

    @Test(arguments: [
        "", "TEXT", "VARCHAR(3) COLLATE NOCASE", "REAL", "DOUBLE PRECISION", "INTEGER", "DECIMAL(9, 2)",
        "BLOB",
        "ANY COLLATE NOCASE",
    ])
    func anUpdateIsLoggedWhenTheColumnHoldsAnotherValue(type: String) throws {
        let a = try TestStores().create(
            schema: "CREATE TABLE item (id BLOB PRIMARY KEY, v \(type))", tables: ["item"])
        try a.execute("INSERT INTO item (id) VALUES (?)", [key(1)])
        let wrong = try a.queue.write { db in
            var wrong: [String] = []
            for old in Self.values {
                for new in Self.values {
                    let before = try Self.store(old, db)
                    let count = try ChangeLog.changeCount(db, after: 0)
                    let after = try Self.store(new, db)
                    let isLogged = try ChangeLog.changeCount(db, after: 0) > count
                    if isLogged != (before != after) { wrong.append("\(old) to \(new)") }
                }
            }
            return wrong
        }
        #expect(wrong == [])
    }

    /// Writes a value, and returns what the column made of it.
    private static func store(_ value: String, _ db: Database) throws -> String? {
        try db.execute(sql: "UPDATE item SET v = \(value)")
        return try String.fetchOne(db, sql: "SELECT typeof(v) || quote(v) FROM item")
    }

    /// Programs from before 29 November 2026 compared the types of all columns.
    @Test func formerTriggersAreInOrderAndMadeAnewByTheNextSynchronization() throws {
        let stores = try TestStores()
        let a = try stores.create(
            schema: "CREATE TABLE item (id BLOB PRIMARY KEY, name TEXT, price REAL)", tables: ["item"])
        let b = try stores.clone(a, as: "b.db")
        let table = try #require(try a.queue.read { try SyncedTable.loadAll($0).first })
        let names = try a.queue.read { try CaptureTriggers.names($0, table: table.number) }
        let former = CaptureTriggers(table: table, affinities: [:]).statements
        try a.changeUnobserved(
            names.map { "DROP TRIGGER \($0.quotedDatabaseIdentifier);" }.joined()
                + former.joined(separator: ";"))
        // Such a program had looked at this schema, and left the version of the triggers out.
        try a.queue.write { try SchemaMark(db: $0).note() }
        try a.changeUnobserved(
            "UPDATE _sync_setting SET value = substr(value, 1, length(value) - 2) WHERE name = 'schema.seen'")
        let update = "SELECT sql FROM sqlite_master WHERE name = '_sync_u0_1'"
        #expect(try a.value(update, as: String.self)?.contains("typeof") == true)
        #expect(try a.queue.read { try MetadataCheck.problems(of: $0, isDeep: false) } == [])
        try a.sync(b)
        #expect(try a.value(update, as: String.self)?.contains("typeof") == false)
        #expect(try a.queue.read { try MetadataCheck.problems(of: $0, isDeep: false) } == [])
    }

    /// Programs of some hours of 29 November 2026 left the types of text keys out, under the version 2 of the triggers.
    @Test func theFormerTriggerForChangedKeysIsInOrderAndMadeAnewToo() throws {
        let stores = try TestStores()
        let a = try stores.create(
            schema: "CREATE TABLE item (id TEXT PRIMARY KEY, name TEXT)", tables: ["item"])
        let b = try stores.clone(a, as: "b.db")
        let selection = "SELECT sql FROM sqlite_master WHERE name = '_sync_k_1'"
        let present = try #require(try a.value(selection, as: String.self))
        let former = present.replacing(" OR typeof(OLD.\"id\") <> typeof(NEW.\"id\")", with: "")
        #expect(former != present)
        try a.changeUnobserved("DROP TRIGGER _sync_k_1; \(former)")
        try a.queue.write { try SchemaMark(db: $0).note() }
        try a.changeUnobserved(
            """
            UPDATE _sync_setting SET value = substr(value, 1, length(value) - 1) || '2' WHERE name = 'schema.seen'
            """)
        #expect(try a.queue.read { try MetadataCheck.problems(of: $0, isDeep: false) } == [])
        try a.sync(b)
        #expect(try a.value(selection, as: String.self) == present)
    }

    /// The triggers are of the types that the columns had.
    @Test func triggersFollowATypeThatAnotherProgramChanged() throws {
        let stores = try TestStores()
        let a = try stores.create(
            schema: "CREATE TABLE item (id BLOB PRIMARY KEY, name TEXT)", tables: ["item"])
        let b = try stores.clone(a, as: "b.db")
        let triggers = try a.queue.read { db in
            try String.fetchAll(
                db, sql: "SELECT sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'item'")
        }
        try a.changeUnobserved(
            "DROP TABLE item; CREATE TABLE item (id BLOB PRIMARY KEY, name);"
                + triggers.joined(separator: ";"))
        try a.sync(b)
        try a.execute("INSERT INTO item VALUES (?, 1)", [key(1)])
        let count = try a.logCount()
        try a.execute("UPDATE item SET name = 1.0")
        #expect(try a.logCount() == count.map { $0 + 1 })
    }
}
