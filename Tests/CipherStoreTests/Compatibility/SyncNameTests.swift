import Testing

@testable import CipherStore

/// The names of synchronization are told from others in one way, in Swift and in SQL.
@Suite struct SyncNameTests {
    @Test(arguments: [
        ("_sync_log", true), ("_SYNC_i_1", true), ("_sync_", true), ("_sync", false), ("sync_log", false),
        ("a_sync_log", false), ("", false), ("_\u{17F}ync_log", false), ("_sync_ärzte", true),
    ]) func swiftAndSQLAgree(name: String, expected: Bool) throws {
        #expect(SyncNames.contains(name) == expected)
        let answer = try DatabaseQueue().read { db in
            try Bool.fetchOne(db, sql: "SELECT \(SyncNames.condition(on: "?"))", arguments: [name])
        }
        #expect(answer == expected)
        #expect(Database.isGRDBInternalTable(name) == expected)
    }

    /// A trigger that is spelled otherwise belongs to synchronization just as well.
    @Test func anotherSpellingIsOneOfTheSameNames() throws {
        try DatabaseQueue().write { db in
            try db.execute(
                sql: """
                    CREATE TABLE note (id INTEGER PRIMARY KEY, a, b);
                    CREATE TABLE _SYNC_log (x);
                    CREATE TRIGGER _SYNC_u_1 AFTER UPDATE OF a, b ON note WHEN OLD.b IS NOT NEW.b
                    BEGIN INSERT INTO _SYNC_log VALUES (NEW.b); END
                    """)
            try db.alter(table: "note") { $0.drop(column: "b") }
            #expect(try db.columns(in: "note").map(\.name) == ["id", "a"])
            #expect(throws: DatabaseError.self) {
                try db.restrictedToUntrustedSQL(allowsWriting: true) {
                    try db.execute(sql: "DELETE FROM _SYNC_log")
                }
            }
        }
    }
}
