import CipherStore
import Foundation
import Testing

@testable import SyncEngine

/// When tracked tables are looked at again.
@Suite struct SchemaMarkTests {
    let stores: TestStores

    init() throws { stores = try TestStores() }

    private func isCurrent(_ replica: TestReplica) throws -> Bool {
        try replica.queue.read { try SchemaMark(db: $0).isCurrent() }
    }

    private func refresh(_ replica: TestReplica) throws -> Bool {
        let environment = stores.clock.environment
        return try replica.queue.write { db in
            try db.withoutReportingSchemaChanges {
                try TableTracking(db: db, environment: environment).refresh()
            }
        }
    }

    @Test func aSynchronizationWithNothingNewWritesNothing() throws {
        let a = try stores.create()
        let b = try stores.clone(a, as: "b.db")
        try a.execute("INSERT INTO note (id, title) VALUES (?, 'one')", [key(1)])
        for _ in 0..<2 { try a.sync(b) }
        #expect(try isCurrent(a) && isCurrent(b))
        let before = try a.everything()
        try a.sync(b)
        #expect(try a.everything() == before)
    }

    @Test(arguments: [
        "ALTER TABLE note ADD COLUMN more TEXT",
        "ALTER TABLE note RENAME TO memo",
        "DROP TRIGGER _sync_i_1",
        "CREATE INDEX by_title ON note (title)",
        "CREATE TABLE note2 AS SELECT * FROM note; DROP TABLE note2",
    ])
    func aChangeOfTheSchemaByAnotherProgramIsSeen(sql: String) throws {
        let a = try stores.create()
        _ = try refresh(a)
        #expect(try isCurrent(a))
        let other = try DatabaseQueue(
            path: stores.path("a.db"), configuration: TestStores.configuration("a.db"))
        try other.write { db in try db.withoutReportingSchemaChanges { try db.execute(sql: sql) } }
        try other.close()
        #expect(try !isCurrent(a))
        _ = try refresh(a)
        #expect(try isCurrent(a) && !refresh(a))
        #expect(try a.queue.read { try SchemaInspection(db: $0).isUpToDate() })
    }

    /// SQLite gives the number of a change that was rolled back to the next one.
    @Test func whatWasRolledBackIsNotTakenForWhatCameAfterIt() throws {
        let a = try stores.create()
        _ = try refresh(a)
        let environment = stores.clock.environment
        try a.queue.inDatabase { db in
            try db.withoutReportingSchemaChanges {
                try db.inTransaction {
                    try db.execute(sql: "ALTER TABLE note ADD COLUMN x TEXT")
                    _ = try TableTracking(db: db, environment: environment).refresh()
                    #expect(try SchemaMark(db: db).isCurrent())
                    return .rollback
                }
                #expect(try SchemaMark(db: db).isCurrent())
                try db.execute(sql: "ALTER TABLE note ADD COLUMN y TEXT")
                #expect(try !SchemaMark(db: db).isCurrent())
            }
        }
        #expect(try refresh(a))
        let columns = "SELECT group_concat(name) FROM _sync_column WHERE tbl = 1 AND present = 1"
        #expect(try a.value(columns, as: String.self)?.contains("y") == true)
    }

    @Test func whatTheMetadataSayOfTablesIsLookedAtWhenItChanges() throws {
        let a = try stores.create()
        _ = try refresh(a)
        #expect(try isCurrent(a))
        try a.queue.write { db in
            let table = try SyncedTable.load(db, number: 1)
            _ = try table.addingColumns(db, ["elsewhere"], place: .elsewhere)
        }
        #expect(try !isCurrent(a))
        #expect(try !refresh(a) && isCurrent(a))
    }

    /// A copy that another program makes table by table counts the changes of its schema anew.
    @Test func aCopyOfAnotherSchemaIsLookedAt() throws {
        let a = try stores.create()
        let version = try a.value("PRAGMA schema_version", as: Int64.self) ?? 0
        try a.changeUnobserved("ALTER TABLE note ADD COLUMN more TEXT")
        try a.changeUnobserved("CREATE TABLE another (x)")
        try a.queue.inDatabase { try $0.execute(sql: "PRAGMA schema_version = \(version)") }
        #expect(try !isCurrent(a))
        #expect(try refresh(a))
    }

    @Test func eachTableIsReadByItself() throws {
        let a = try stores.create()
        try a.queue.read { db in
            let all = try SyncedTable.loadAll(db)
            #expect(all.count == 2)
            for table in all {
                let one = try SyncedTable.load(db, number: table.number)
                #expect(one.name == table.name && one.columns.map(\.name) == table.columns.map(\.name))
                let captured = try CapturedSchema.load(db, table: table.number)
                #expect(try captured?.columns == CapturedSchema.loadAll(db)[table.number]?.columns)
                #expect(captured?.table == table.name)
            }
            #expect(throws: SyncError.self) { try SyncedTable.load(db, number: 99) }
        }
    }
}
