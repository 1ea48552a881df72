import Foundation
import Synchronization
import Testing

@testable import CipherStore

/// Migrations that fail, are killed, or meet other processes.
@Suite struct MigrationTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func open(_ path: String, setUp: @escaping @Sendable (Database) throws -> Void = { _ in }) throws
        -> DatabaseQueue
    {
        var configuration = Configuration.keyed("secret")
        // Few pages, so that changed ones reach the file before the commit.
        configuration.cacheKibibytes = 32
        configuration.prepareDatabase(setUp)
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    private var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("first") { db in
            try db.create(table: "team") { t in
                t.uuidPrimaryKey("id")
                t.column("name", .text).notNull()
            }
            try db.create(table: "player") { t in
                t.autoIncrementedPrimaryKey("id")
                t.belongsTo("team", onDelete: .cascade)
                t.column("name", .text)
                t.column("notes", .text).defaults(to: "none, yet")
            }
            let id = UUID.v7()
            try db.execute(sql: "INSERT INTO team VALUES (?, 'reds')", arguments: [id])
            for number in 0..<200 {
                try db.execute(
                    sql: "INSERT INTO player (teamId, name, notes) VALUES (?, ?, ?)",
                    arguments: [id, "player \(number)", String(repeating: "n", count: 500)])
            }
        }
        return migrator
    }

    private var changing: DatabaseMigrator {
        var migrator = migrator
        migrator.registerMigration("second") { db in
            try db.alter(table: "player") { t in
                t.add(column: "score", .integer).notNull().defaults(to: 5)
                t.drop(column: "notes")
                t.rename(column: "name", to: "nickname")
            }
            try db.rename(table: "team", to: "club")
        }
        return migrator
    }

    /// What a store holds, as the migration before or after left it.
    private func check(_ queue: DatabaseQueue) throws -> [String] {
        try queue.read { db in
            let problems = try String.fetchAll(db, sql: "PRAGMA integrity_check")
            #expect(problems == ["ok"])
            try db.checkForeignKeys()
            let applied = try changing.appliedMigrations(db)
            guard !applied.isEmpty else { return [] }
            let isNew = applied.count == 2
            let columns = try db.columns(in: "player").map(\.name)
            #expect(
                columns
                    == (isNew ? ["id", "teamId", "nickname", "score"] : ["id", "teamId", "name", "notes"]))
            let count = try Int.fetchOne(
                db,
                sql: """
                    SELECT count(*) FROM player JOIN \(isNew ? "club" : "team") AS t ON t.id = teamId
                    WHERE player.\(isNew ? "nickname" : "name") = 'player ' || (player.id - 1) \(isNew ? "AND score = 5" : "AND length(notes) = 500")
                    """)
            #expect(count == 200)
            return applied
        }
    }

    /// A kill leaves the files as they are between two statements.
    @Test func aKillInAMigrationLeavesTheOldSchemaOrTheNewOne() throws {
        let path = folder.file("a.db")
        try migrator.migrate(open(path))
        let copies = Mutex(0)
        let copyPath = folder.path + "/copy"
        let queue = try open(path) { db in
            db.trace { event in
                guard case .statement = event else { return }
                let number = copies.withLock { count in
                    count += 1
                    return count
                }
                for suffix in ["", "-journal"] where FileManager.default.fileExists(atPath: path + suffix) {
                    try? FileManager.default.copyItem(
                        atPath: path + suffix, toPath: "\(copyPath)\(number).db\(suffix)")
                }
            }
        }
        let first = copies.withLock { $0 }
        try changing.migrate(queue)
        let last = copies.withLock { $0 }
        #expect(try check(queue) == ["first", "second"])
        var states: Set<[String]> = []
        var journals = 0
        for number in (first + 1)...last {
            let copy = folder.file("copy\(number).db")
            if FileManager.default.fileExists(atPath: copy + "-journal") { journals += 1 }
            let state = try check(open(copy))
            states.insert(state)
            // The migration goes on where it was stopped.
            if state == ["first"], number % 7 == 0 {
                try changing.migrate(open(copy))
                #expect(try check(open(copy)) == ["first", "second"])
            }
        }
        #expect(last - first > 10)
        #expect(journals > 3)
        #expect(states.contains(["first"]))
    }

    @Test func anErrorUndoesTheMigrationAndForeignKeysAreOnAgain() throws {
        let queue = try open(folder.file("a.db"))
        struct Stop: Error {}
        var migrator = changing
        migrator.registerMigration("third") { db in
            try db.alter(table: "player") { $0.drop(column: "score") }
            throw Stop()
        }
        #expect(throws: Stop.self) { try migrator.migrate(queue) }
        #expect(try check(queue) == ["first", "second"])
        let isOn = try queue.read { try Bool.fetchOne($0, sql: "PRAGMA foreign_keys") }
        #expect(isOn == true)
    }

    @Test func aMigrationRunsOnceWhenTwoProcessesStartIt() async throws {
        let path = folder.file("a.db")
        try migrator.migrate(open(path))
        let migrator = changing
        var configuration = Configuration.keyed("secret")
        configuration.busyMode = .timeout(120)
        let settings = configuration
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<3 {
                group.addTask {
                    try migrator.migrate(DatabaseQueue(path: path, configuration: settings))
                }
            }
            try await group.waitForAll()
        }
        #expect(try check(open(path)) == ["first", "second"])
    }

    @Test func anUnknownOrPassedTargetIsAnError() throws {
        let queue = try open(folder.file("a.db"))
        try changing.migrate(queue)
        for target in ["missing", "first"] {
            let error = #expect(throws: DatabaseError.self) { try changing.migrate(queue, upTo: target) }
            #expect(error?.resultCode == .SQLITE_MISUSE)
        }
    }

    private func migrator(_ names: [String], merging merged: Set<String> = []) -> DatabaseMigrator {
        var migrator = DatabaseMigrator()
        for name in names.dropLast() { migrator.registerMigration(name) { _ in } }
        if let last = names.last { migrator.registerMigration(last, merging: merged) { _, _ in } }
        return migrator
    }

    @Test(arguments: [
        // What was applied, what the older app registers, and whether it is too old.
        ([], ["v1"], false), (["v1"], ["v1"], false), (["v1"], ["v1", "v2"], false),
        (["v1", "v2"], ["v1"], true),
        // A newer app merged the first ones into the last.
        (["v3"], ["v1", "v2", "v3"], true), (["v3"], ["v1", "v2"], true),
        (["v3", "v4"], ["v3", "v4"], false),
        // A migration that was added later is no reason.
        (["v1", "v3"], ["v1", "v2", "v3"], false),
    ]) func aDatabaseThatANewerAppMigratedIsNoticed(
        applied: [String], registered: [String], expected: Bool
    ) throws {
        let queue = try open(folder.file("a.db"))
        try migrator(applied).migrate(queue)
        #expect(try queue.read(migrator(registered).hasBeenSuperseded) == expected)
        // Who knows an older schema only is not done with a newer one.
        let isComplete = Set(registered).isSubset(of: applied) && !expected
        #expect(try queue.read(migrator(registered).hasCompletedMigrations) == isComplete)
    }

    @Test(arguments: [[], ["v1"], ["v1", "v2"], ["v1", "v2", "v3"], ["v2"]])
    func mergedMigrationsThatAreAppliedInPartAreNotThoseOfANewerApp(applied: [String]) throws {
        let queue = try open(folder.file("a.db"))
        try migrator(applied).migrate(queue)
        let merging = migrator(["v3"], merging: ["v1", "v2"])
        #expect(try !queue.read(merging.hasBeenSuperseded))
        #expect(try queue.read(merging.hasCompletedMigrations) == applied.contains("v3"))
        try merging.migrate(queue)
        #expect(try queue.read(merging.appliedIdentifiers) == ["v3"])
        #expect(try !queue.read(merging.hasBeenSuperseded))
        // The app of before finds names missing that it needs.
        #expect(try queue.read(migrator(["v1", "v2", "v3"]).hasBeenSuperseded))
    }

    @Test func aMigrationThatMergesNoneIsToldOfNone() throws {
        let queue = try open(folder.file("a.db"))
        var migrator = DatabaseMigrator()
        migrator.registerMigration("v1") { db in try db.execute(sql: "CREATE TABLE a (x)") }
        migrator.registerMigration("v2") { db, applied in
            try db.execute(sql: "CREATE TABLE b AS SELECT \(applied.count) AS x")
        }
        try migrator.migrate(queue)
        let count = try queue.read { db in try Int.fetchOne(db, sql: "SELECT x FROM b") }
        #expect(count == 0)
    }

    @Test func aMigrationThatEndsItsTransactionFails() throws {
        let queue = try open(folder.file("a.db"))
        var migrator = DatabaseMigrator()
        migrator.registerMigration("a") { try $0.execute(sql: "COMMIT") }
        #expect(throws: DatabaseError.self) { try migrator.migrate(queue) }
    }

    @Test func changesAreReportedToObservers() throws {
        final class Recorder: SchemaChangeObserver {
            var events: [String] = []
            func databaseWillMigrate(_ db: Database, identifier: String) {
                events.append("will \(identifier)")
            }
            func databaseDidMigrate(_ db: Database, identifier: String) { events.append("did \(identifier)") }
            func database(_ db: Database, willAlter table: String, by change: TableChange) {
                events.append("will \(table) \(change)")
            }
            func database(_ db: Database, didAlter table: String, by change: TableChange) {
                events.append("did \(table) \(change)")
            }
        }
        let queue = try open(folder.file("a.db"))
        try migrator.migrate(queue)
        let events = try queue.writeWithoutTransaction { db in
            let recorder = Recorder()
            db.add(schemaChangeObserver: recorder)
            try db.alter(table: "player") { $0.drop(column: "notes") }
            return recorder.events
        }
        #expect(events == ["will player dropColumn(\"notes\")", "did player dropColumn(\"notes\")"])
    }

    @Test func aStoreThatAKeyFileOpensIsComparedWithItsMigrations() throws {
        let store = try KeyringStore()
        let file = store.folder.file("usb.key")
        try store.keyring.add(.makeKeyFile(at: file), label: "usb", unlockingWith: .text("first"))
        var configuration = Configuration()
        configuration.useKeySlot(try KeySlotSecret(keyFile: file))
        let queue = try DatabaseQueue(path: store.path, configuration: configuration)
        var migrator = DatabaseMigrator()
        migrator.registerMigration("v1") {
            try $0.execute(sql: "DROP TABLE IF EXISTS note; CREATE TABLE t (a)")
        }
        try migrator.migrate(queue)
        #expect(try queue.read { try migrator.hasSchemaChanges($0) } == false)
        try queue.write { try $0.execute(sql: "CREATE TABLE more (a)") }
        #expect(try queue.read { try migrator.hasSchemaChanges($0) } == true)
    }

    @Test func whatAnOldLibraryLacksIsRefusedClearly() throws {
        let queue = try open(folder.file("a.db"))
        let strict = Result {
            try queue.write { try $0.create(table: "s", options: .strict) { $0.column("a", .any) } }
        }
        let generated = Result {
            try queue.write { db in
                try db.create(table: "g") { t in
                    t.column("a")
                    t.column("b").generatedAs(Column("a") * 2)
                }
            }
        }
        if EngineFeatures.current.supportsStrictTables {
            try strict.get()
            try generated.get()
        } else {
            let errors = [strict, generated].map { result -> String in
                guard case .failure(let error as DatabaseError) = result else { return "" }
                return error.message ?? ""
            }
            #expect(errors[0].hasPrefix("strict tables need SQLite 3.37"))
            #expect(errors[1].hasPrefix("generated columns need SQLite 3.31"))
        }
    }
}
