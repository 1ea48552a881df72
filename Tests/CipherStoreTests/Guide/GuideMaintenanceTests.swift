import CipherStore
import Foundation
import Testing

/// Migrations, encryption, backup, interruption and errors.
@Suite struct GuideMaintenanceTests {
    @Test func migrationsRunOnceAndInOrder() throws {
        let store = try GardenStore.planted()
        var migrator = DatabaseMigrator()
        migrator.registerMigration("notes") { db in
            try db.alter(table: "plant") { $0.add(column: "note", .text).notNull().defaults(to: "") }
        }
        migrator.registerMigration("names") { db in
            try db.alter(table: "plant") { t in
                t.rename(column: "note", to: "remark")
                t.drop(column: "isEdible")
            }
            try db.rename(table: "bed", to: "plot")
        }
        try migrator.migrate(store.queue, upTo: "notes")
        #expect(try store.queue.read { try migrator.completedMigrations($0) } == ["notes"])
        try migrator.migrate(store.queue)
        try migrator.migrate(store.queue)
        try store.queue.read { db throws in
            #expect(try migrator.hasCompletedMigrations(db))
            #expect(
                try db.columns(in: "plant").map(\.name) == ["id", "name", "label", "height", "bed", "remark"])
            #expect(try db.foreignKeys(on: "plant").first?.destinationTable == "plot")
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM plant") == 4)
        }
    }

    @Test func aFailedMigrationLeavesNothing() throws {
        let store = try GardenStore.planted()
        var migrator = DatabaseMigrator()
        migrator.registerMigration("orphans") { db in
            try db.execute(sql: "INSERT INTO plant (name, bed) VALUES ('Oak', 'forest')")
        }
        let error = #expect(throws: DatabaseError.self) { try migrator.migrate(store.queue) }
        #expect(error?.extendedResultCode == .SQLITE_CONSTRAINT_FOREIGNKEY)
        #expect(try store.queue.read { try Plant.fetchCount($0) } == 4)
        #expect(try store.queue.read { try migrator.completedMigrations($0) } == [])
    }

    @Test func aPassphraseIsChangedWhileThePoolIsOpen() throws {
        let store = try GardenStore.planted()
        try store.queue.close()
        let passphrase = Mutable("compost")
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.usePassphrase(passphrase.value) }
        let pool = try DatabasePool(path: store.queue.path, configuration: configuration)
        #expect(try pool.read { try Plant.fetchCount($0) } == 4)
        try pool.barrierWriteWithoutTransaction { db in
            try db.changePassphrase("mulch")
            passphrase.value = "mulch"
            pool.invalidateReadOnlyConnections()
        }
        #expect(try pool.read { try Plant.fetchCount($0) } == 4)
        try pool.close()
        let error = #expect(throws: DatabaseError.self) {
            try DatabaseQueue(path: store.queue.path, configuration: .keyed("compost"))
        }
        #expect(error?.resultCode == .SQLITE_NOTADB)
    }

    @Test func aPassphraseOfBytesOpensTheSameFile() throws {
        let store = try GardenStore.planted()
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            var bytes = Data("compost".utf8)
            defer { bytes.resetBytes(in: 0..<bytes.count) }
            try db.usePassphrase(bytes)
        }
        let queue = try DatabaseQueue(path: store.queue.path, configuration: configuration)
        #expect(try queue.read { try Plant.fetchCount($0) } == 4)
    }

    @Test func aBackupIsFollowedAndCancelled() throws {
        let store = try GardenStore.planted()
        let copy = try DatabaseQueue(path: store.folder.file("copy.db"), configuration: .keyed("other"))
        var remaining: [Int] = []
        try store.queue.backup(to: copy, pagesPerStep: 1) { progress in
            remaining.append(progress.remainingPageCount)
            #expect(progress.isComplete == (progress.remainingPageCount == 0))
        }
        #expect(remaining.last == 0)
        #expect(remaining == remaining.sorted(by: >))
        #expect(try copy.read { try Plant.fetchCount($0) } == 4)

        struct Stop: Error {}
        let other = try DatabaseQueue(path: store.folder.file("other.db"), configuration: .keyed("other"))
        #expect(throws: Stop.self) {
            try store.queue.backup(to: other, pagesPerStep: 1) { if !$0.isComplete { throw Stop() } }
        }
        #expect(try other.read { try $0.tableExists("plant") } == false)
    }

    @Test func anInterruptedWriteIsRolledBack() throws {
        let store = try GardenStore.planted()
        let queue = store.queue
        queue.interrupt()
        #expect(try queue.read { try Plant.fetchCount($0) } == 4)
        let error = #expect(throws: DatabaseError.self) {
            try queue.write { db in
                db.add(
                    function: DatabaseFunction("stop", argumentCount: 0) { _ in
                        queue.interrupt()
                        return 1
                    })
                try db.execute(sql: "INSERT INTO bed SELECT name, stop() FROM plant")
            }
        }
        #expect(error?.resultCode == .SQLITE_INTERRUPT)
        do {
            try queue.write { db in
                try? db.execute(sql: "INSERT INTO bed SELECT name, stop() FROM plant")
                try db.execute(sql: "DELETE FROM plant")
            }
            Issue.record("a write went on after its transaction was rolled back")
        } catch DatabaseError.SQLITE_ABORT {}
        #expect(try queue.read { try Bed.fetchCount($0) } == 3)
    }

    @Test func errorsTellTheirCodesAndStatement() throws {
        let store = try GardenStore.planted()
        try store.queue.write { db throws in
            let error = #expect(throws: DatabaseError.self) {
                var plant = Plant(name: "Oak", bed: "forest")
                try plant.insert(db)
            }
            #expect(error?.resultCode == .SQLITE_CONSTRAINT)
            #expect(error?.extendedResultCode == .SQLITE_CONSTRAINT_FOREIGNKEY)
            #expect(error?.message == "FOREIGN KEY constraint failed")
            #expect(db.lastErrorMessage == "FOREIGN KEY constraint failed")
            #expect(error?.sql?.hasPrefix("INSERT INTO \"plant\"") == true)
            #expect(error?.description.contains("Oak") == false)
            do {
                try db.execute(sql: "SELEKT")
            } catch DatabaseError.SQLITE_CONSTRAINT {
                Issue.record("not a constraint")
            } catch let error as DatabaseError {
                #expect(
                    error.description
                        == "SQLite error 1: near \"SELEKT\": syntax error - while executing `SELEKT`")
            }
        }
    }

    @Test func untrustedArgumentsAreCheckedFirst() throws {
        #expect(StatementArguments(["a": Date.self] as [AnyHashable: Any]) == nil)
        let arguments = try #require(StatementArguments(["a": 1] as [AnyHashable: Any]))
        let store = try GardenStore()
        #expect(try store.queue.read { try Int.fetchOne($0, sql: "SELECT :a", arguments: arguments) } == 1)
    }
}

/// A value that several threads share.
private final class Mutable<Value>: @unchecked Sendable {
    // Unchecked: the lock guards the value.
    private let lock = NSLock()
    private var current: Value

    init(_ value: Value) { current = value }

    var value: Value {
        get { lock.withLock { current } }
        set { lock.withLock { current = newValue } }
    }
}
