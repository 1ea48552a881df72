import CipherStore
import Foundation
import Testing

/// What GRDB's documentation declares, used as an app does: without `@testable`.
@Suite struct SchemaCompatibilityTests {
    @Test func anAttachedSchemaHasAnIdentifier() throws {
        #expect(DatabaseSchemaID.attached("other") == DatabaseSchemaID("OTHER"))
        #expect(DatabaseSchemaID.attached("main") == .main)
        #expect(DatabaseSchemaID.attached("ärzte") != .attached("Ärzte"))
        #expect(DatabaseObjectID(schemaID: .attached("other"), name: "t").description == "other.t")
    }

    @Test func aRegionTellsWhetherItIsEmptyOrTheFullDatabase() throws {
        #expect(DatabaseRegion().isEmpty)
        #expect(!DatabaseRegion(table: "player").isEmpty)
        #expect(!DatabaseRegion.fullDatabase.isEmpty)
        #expect(DatabaseRegion.fullDatabase.isFullDatabase)
        #expect(!DatabaseRegion(table: "player").isFullDatabase)
    }

    @Test(arguments: [nil, Database.ConflictResolution.replace])
    func aDefinitionTakesAnOptionalConflictResolution(conflict: Database.ConflictResolution?) throws {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.create(table: "a") { t in
                t.autoIncrementedPrimaryKey("id", onConflict: conflict)
                t.column("name").notNull(onConflict: conflict).unique(onConflict: conflict)
                t.uniqueKey(["id", "name"], onConflict: conflict)
            }
            try db.create(table: "b") { t in
                t.primaryKey("id", .text, onConflict: conflict)
            }
            try db.create(table: "c") { t in
                t.column("x")
                t.primaryKey(["x"], onConflict: conflict)
            }
            try db.create(table: "d") { t in
                t.primaryKey(onConflict: conflict) { t.column("x") }
            }
            try db.create(table: "e") { t in
                t.column("x", .integer).primaryKey(onConflict: conflict)
            }
            let sql = try String.fetchAll(db, sql: "SELECT sql FROM sqlite_master WHERE type = 'table'")
            let clauseCount = sql.joined().components(separatedBy: "ON CONFLICT REPLACE").count - 1
            #expect(clauseCount == (conflict == nil ? 0 : 8))
            #expect(!sql.joined().contains("ABORT"))
        }
    }

    @Test func anErrorOfAForeignKeyViolationIsMadeWithoutThrowing() throws {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        let queue = try DatabaseQueue(configuration: configuration)
        try queue.writeWithoutTransaction { db in
            try db.execute(
                sql: """
                    CREATE TABLE team (id INTEGER PRIMARY KEY);
                    CREATE TABLE player (id INTEGER PRIMARY KEY, teamId INTEGER REFERENCES team(id));
                    INSERT INTO player VALUES (1, 7)
                    """)
            let violation = try #require(try db.foreignKeyViolations().next())
            let make: (Database) -> DatabaseError = violation.databaseError
            #expect(make(db).extendedResultCode == .SQLITE_CONSTRAINT_FOREIGNKEY)
            #expect(make(db).message?.contains("player(teamId) to team(id)") == true)
            // What can't be described any more still is a violation.
            try db.execute(sql: "DROP TABLE player")
            #expect(make(db).extendedResultCode == .SQLITE_CONSTRAINT_FOREIGNKEY)
            #expect(make(db).message?.contains("player row 1 to team") == true)
        }
    }
}
