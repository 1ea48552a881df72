import Testing

@testable import CipherStore

/// Settings of a connection that the library changes for a while.
@Suite struct SettingTests {
    /// Runs a block whose task is cancelled while a statement starts.
    private func cancelling(_ db: Database, at statement: String, _ body: () throws -> Void) {
        db.trace { if "\($0)".hasPrefix(statement) { db.interruption.insert(.cancelled) } }
        #expect(throws: (any Error).self) { try body() }
        db.trace(options: [])
        db.interruption.remove(.cancelled)
    }

    private static let family = """
        CREATE TABLE parent (id INTEGER PRIMARY KEY);
        CREATE TABLE child (parent REFERENCES parent);
        """

    @Test func foreignKeysAreEnforcedAfterACancelledErasure() throws {
        try DatabaseQueue().inDatabase { db throws in
            try db.execute(sql: Self.family)
            cancelling(db, at: "DROP") { try db.eraseContent() }
            let isEnforced = try Bool.fetchOne(db, sql: "PRAGMA foreign_keys")
            #expect(isEnforced == true)
            let error = #expect(throws: DatabaseError.self) {
                try db.execute(sql: "INSERT INTO child VALUES (1)")
            }
            #expect(error?.resultCode == .SQLITE_CONSTRAINT)
        }
    }

    /// In this journal mode a suspension refuses all statements.
    @Test func aMigrationThatASuspensionStoppedIsCheckedWhenItRunsAgain() throws {
        let queue = try DatabaseQueue()
        try queue.write { try $0.execute(sql: Self.family) }
        var stopped = DatabaseMigrator()
        stopped.registerMigration("orphan") { db in
            db.suspend()
            try db.execute(sql: "INSERT INTO child VALUES (1)")
        }
        #expect(throws: DatabaseError.self) { try stopped.migrate(queue) }
        queue.inDatabase { $0.resume() }
        #expect(try queue.read { try Bool.fetchOne($0, sql: "PRAGMA foreign_keys") } == true)
        var migrator = DatabaseMigrator()
        migrator.registerMigration("orphan") { try $0.execute(sql: "INSERT INTO child VALUES (1)") }
        #expect(throws: DatabaseError.self) { try migrator.migrate(queue) }
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM child") } == 0)
    }

    @Test(arguments: ["INSERT OR ABORT", "UPDATE"])
    func checksCountAndTheSchemaIsProtectedAfterACancelledAlteration(_ statement: String) throws {
        try DatabaseQueue().inDatabase { db throws in
            try db.execute(sql: "CREATE TABLE t (a CHECK (a > 0), b); INSERT INTO t VALUES (1, 2)")
            cancelling(db, at: statement) { try ColumnDropping(db: db, table: "t", column: "b").emulate() }
            for pragma in ["ignore_check_constraints", "writable_schema"] {
                let isOn = try Bool.fetchOne(db, sql: "PRAGMA \(pragma)")
                #expect(isOn == false, "\(pragma)")
            }
            let columns = try db.columns(in: "t").map(\.name)
            #expect(columns == ["a", "b"])
            #expect(throws: DatabaseError.self) { try db.execute(sql: "INSERT INTO t VALUES (-1, 2)") }
        }
    }

    @Test func aSettingThatIsOwedIsPutBackInAReadToo() throws {
        try DatabaseQueue().inDatabase { db throws in
            try db.execute(sql: "PRAGMA foreign_keys = OFF")
            try db.readOnly {
                db.owe("PRAGMA foreign_keys = ON")
                _ = try Int.fetchOne(db, sql: "SELECT 1")
            }
            let isEnforced = try Bool.fetchOne(db, sql: "PRAGMA foreign_keys")
            #expect(isEnforced == true)
        }
    }

    @Test func aBlockFindsTheSettingAndAnErrorEndsIt() throws {
        struct Stop: Error {}
        try DatabaseQueue().inDatabase { db throws in
            let during = try db.withSetting("foreign_keys", isOn: false) {
                try Bool.fetchOne(db, sql: "PRAGMA foreign_keys")
            }
            #expect(during == false)
            #expect(throws: Stop.self) {
                try db.withSetting("foreign_keys", isOn: false) { () throws -> Void in throw Stop() }
            }
            let isEnforced = try Bool.fetchOne(db, sql: "PRAGMA foreign_keys")
            #expect(isEnforced == true)
            let unknown = try db.withSetting("no_such_setting", isOn: true) { 1 }
            #expect(unknown == 1)
        }
    }
}
