import CipherStore
import Foundation
import Testing

@testable import SyncEngine

/// Migrations of stores in which a peer's changes have left rows that refer to nothing.
@Suite struct MigratedForeignKeyTests {
    let stores: TestStores

    init() throws { stores = try TestStores() }

    /// Two replicas, the second of which has rows that refer to nothing: those of a table that is not tracked to a
    /// deleted row and a hidden one, and that of a tracked table to one that is not.
    private func pair() throws -> (TestReplica, TestReplica) {
        let a = try stores.create(
            schema: """
                CREATE TABLE note (id BLOB PRIMARY KEY, title TEXT UNIQUE);
                CREATE TABLE draft (id INTEGER PRIMARY KEY, note REFERENCES note ON DELETE CASCADE);
                CREATE TABLE place (id INTEGER PRIMARY KEY);
                CREATE TABLE page (id BLOB PRIMARY KEY, place REFERENCES place);
                """, tables: ["note", "page"])
        try a.execute("INSERT INTO note VALUES (?, 'deleted')", [key(1)])
        let b = try stores.clone(a, as: "b.db")
        try a.execute("INSERT INTO note VALUES (?, 'x')", [key(2)])
        try b.execute("INSERT INTO note VALUES (?, 'x')", [key(3)])
        try b.execute("INSERT INTO draft (note) VALUES (?), (?)", [key(1), key(3)])
        try a.execute("DELETE FROM note WHERE title = 'deleted'")
        try a.execute("INSERT INTO place VALUES (7)")
        try a.execute("INSERT INTO page VALUES (?, 7)", [key(4)])
        try a.sync(b)
        #expect(try violations(b) == 3)
        return (a, b)
    }

    private func violations(_ replica: TestReplica) throws -> Int {
        try replica.queue.read { try Array($0.foreignKeyViolations()).count }
    }

    @Test func rowsThatAPeerHasLeftWithoutParentsDoNotStopMigrations() throws {
        let (a, b) = try pair()
        try b.migrate("column") { try $0.execute(sql: "ALTER TABLE draft ADD COLUMN text") }
        try b.migrate("anew") { db in
            try db.execute(
                sql: """
                    CREATE TABLE new_draft (
                        id TEXT PRIMARY KEY, note REFERENCES note ON DELETE CASCADE, text);
                    INSERT INTO new_draft SELECT 'd' || id, note, text FROM draft;
                    DROP TABLE draft;
                    ALTER TABLE new_draft RENAME TO draft;
                    """)
        }
        try b.migrate("name") { try $0.rename(table: "draft", to: "scrap") }
        #expect(try violations(b) == 3)
        try a.sync(b)
        #expect(try a.dump(["note", "page"]) == b.dump(["note", "page"]))
    }

    @Test func aMigrationThatLeavesMoreRowsWithoutParentsFails() throws {
        let (_, b) = try pair()
        for sql in [
            "INSERT INTO draft (note) VALUES (x'99')",
            "UPDATE draft SET note = NULL WHERE id = 1; INSERT INTO page VALUES (randomblob(16), 8)",
        ] {
            let error = #expect(throws: DatabaseError.self) {
                try b.migrate("broken") { try $0.execute(sql: sql) }
            }
            #expect(error?.extendedResultCode == .SQLITE_CONSTRAINT_FOREIGNKEY)
        }
        #expect(try violations(b) == 3)
    }
}
