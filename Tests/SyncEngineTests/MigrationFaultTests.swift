import CipherStore
import Foundation
import Testing

@testable import SyncEngine

/// Migrations that fail or are cut short, programs that do not synchronize, and
/// stores of an older program.
@Suite struct MigrationFaultTests {
    let stores: TestStores

    init() throws { stores = try TestStores() }

    private struct Failure: Error {}

    /// Everything that a migration can do to tracked tables.
    private static let steps: [@Sendable (Database) throws -> Void] = [
        { db in try db.alter(table: "note") { $0.add(column: "colour", .text).defaults(to: "white") } },
        { db in try db.execute(sql: "UPDATE note SET colour = title") },
        { db in try db.alter(table: "note") { $0.rename(column: "title", to: "heading") } },
        { db in try db.alter(table: "note") { $0.drop(column: "body") } },
        { db in
            try db.execute(
                sql: "INSERT INTO note (id, heading) VALUES (x'08080808080808080808080808080808', 'eight')")
        },
        { db in try db.rename(table: "note", to: "memo") },
        { db in try db.drop(table: "tag") },
        { db in
            try db.execute(
                sql:
                    "CREATE TABLE new_memo (id BLOB PRIMARY KEY, heading TEXT, stars INTEGER DEFAULT 0, colour TEXT)"
            )
            try db.execute(sql: "INSERT INTO new_memo SELECT id, heading, stars, colour FROM memo")
            try db.drop(table: "memo")
        },
        { db in try db.rename(table: "new_memo", to: "memo") },
        { db in try db.execute(sql: "UPDATE memo SET heading = upper(heading)") },
    ]

    private func filled() throws -> TestReplica {
        let a = try stores.create()
        try a.execute(
            "INSERT INTO note (id, title, body) VALUES (?, 'one', 'first'), (?, 'two', 'second')",
            [key(1), key(2)])
        try a.execute("INSERT INTO tag VALUES ('0190f5fe-7c00-7a00-8000-00000000000a', 't')")
        return a
    }

    @Test(arguments: 1...10) func aMigrationThatFailsLeavesNothing(_ count: Int) throws {
        let a = try filled()
        let b = try stores.clone(a, as: "b.db")
        try a.execute("UPDATE note SET title = 'pending' WHERE title = 'one'")
        // The entries get versions before a migration, which changes no value.
        try a.migrate("nothing") { _ in }
        let before = try a.everything()
        #expect(throws: Failure.self) {
            try a.migrate("fails") { db in
                for step in Self.steps.prefix(count) { try step(db) }
                throw Failure()
            }
        }
        #expect(try a.everything() == before)
        // The connection has forgotten the migration: this is an edit, and not one of its writes.
        try a.execute("UPDATE note SET title = 'edited' WHERE title = 'two'")
        #expect(
            try a.value("SELECT op FROM _sync_log ORDER BY seq DESC LIMIT 1")
                == ChangeLog.Operation.update)
        try a.sync(b)
        #expect(try a.state(["note", "tag"]) == b.state(["note", "tag"]))
    }

    @Test func aSavepointThatIsRolledBackLeavesNothing() throws {
        let a = try filled()
        let before = try a.everything()
        try a.queue.write { db in
            try db.inSavepoint {
                for step in Self.steps { try step(db) }
                return .rollback
            }
        }
        let after = try a.everything().filter { !$0.hasPrefix("_sync_row") && !$0.hasPrefix("_sync_state") }
        let expected = before.filter { !$0.hasPrefix("_sync_row") && !$0.hasPrefix("_sync_state") }
        #expect(after == expected)
    }

    /// Copies the files of a store after each statement, as a kill would leave them.
    @Test(arguments: [false, true]) func eachMomentOfAMigrationIsConsistent(_ isOneTransaction: Bool) throws {
        let a = try filled()
        let b = try stores.clone(a, as: "b.db")
        try a.execute("UPDATE note SET title = 'pending' WHERE title = 'one'")
        let copies = Copies(path: stores.path("a.db"), folder: stores.path("copies"))
        try FileManager.default.createDirectory(atPath: copies.folder, withIntermediateDirectories: true)
        a.queue.inDatabase { db in db.trace { _ in copies.add() } }
        if isOneTransaction {
            try a.migrate("all") { db in for step in Self.steps { try step(db) } }
        } else {
            // Each statement is a transaction of its own.
            try a.queue.writeWithoutTransaction { db in for step in Self.steps { try step(db) } }
        }
        a.queue.inDatabase { $0.trace(options: []) }
        copies.add()
        let names = copies.distinct()
        #expect(names.count > (isOneTransaction ? 1 : 8))
        for name in names { try check(name, b, copies) }
    }

    /// A copy opens, tracks what is there, and takes nothing from a peer.
    private func check(_ name: String, _ peer: TestReplica, _ copies: Copies) throws {
        let path = copies.folder + "/" + name
        let queue = try DatabaseQueue(path: path, configuration: TestStores.configuration("a.db"))
        let b = try stores.clone(peer, as: "peer of \(name)")
        let synchronizer = try Synchronizer(queue, environment: stores.clock.environment)
        let problems = try queue.read { try String.fetchAll($0, sql: "PRAGMA integrity_check") }
        #expect(problems == ["ok"])
        _ = try synchronizer.run(.both, b.transport)
        let titles = try b.queue.read {
            try String.fetchSet($0, sql: "SELECT lower(title) FROM note WHERE body IS NOT NULL")
        }
        #expect(titles == ["pending", "two"], "\(name)")
        #expect(try b.value("SELECT count(*) FROM tag", as: Int.self) == 1)
        #expect(try b.value("SELECT group_concat(body) FROM note WHERE body IS NOT NULL") == "first,second")
        // Whatever the table is called by now, its rows are tracked.
        let tables = try synchronizer.status().tables.map(\.name)
        guard let table = ["note", "memo"].first(where: tables.contains) else { return }
        let column = try queue.read { db in
            try db.columns(in: table).contains { $0.name == "title" } ? "title" : "heading"
        }
        try queue.write {
            try $0.execute(sql: "UPDATE \(table) SET \(column) = 'tracked' WHERE lower(\(column)) = 'two'")
        }
        _ = try synchronizer.run(.both, b.transport)
        #expect(
            try b.value("SELECT count(*) FROM note WHERE title = 'tracked'", as: Int.self) == 1, "\(name)")
    }

    /// Copies of a store's files.
    private final class Copies: @unchecked Sendable {
        // Only the thread of the database adds copies, and the test reads them when it is done.
        let path: String
        let folder: String
        private var count = 0
        private var contents: [Data] = []
        private var names: [String] = []

        init(path: String, folder: String) {
            self.path = path
            self.folder = folder
        }

        func add() {
            let files = ["", "-wal"].map { try? Data(contentsOf: URL(fileURLWithPath: path + $0)) }
            let content = files.reduce(Data()) { $0 + ($1 ?? Data()) }
            guard !contents.contains(content) else { return }
            contents.append(content)
            let name = "copy \(contents.count).db"
            for (suffix, data) in zip(["", "-wal"], files) {
                try? data?.write(to: URL(fileURLWithPath: folder + "/" + name + suffix))
            }
            names.append(name)
        }

        func distinct() -> [String] { names }
    }

    // MARK: Connections and programs

    @Test func aConnectionThatNobodySynchronizesFollowsToo() throws {
        let a = try filled()
        try a.execute("UPDATE note SET title = 'pending' WHERE title = 'one'")
        try a.queue.close()
        let queue = try DatabaseQueue(
            path: stores.path("a.db"), configuration: TestStores.configuration("a.db"))
        var migrator = DatabaseMigrator()
        migrator.registerMigration("m") { db in
            try db.alter(table: "note") { t in
                t.rename(column: "title", to: "heading")
                t.drop(column: "body")
                t.add(column: "colour", .text)
            }
        }
        try migrator.migrate(queue)
        let columns = try queue.read {
            try String.fetchAll(
                $0, sql: "SELECT name || present FROM _sync_column WHERE tbl = 1 ORDER BY col")
        }
        #expect(columns == ["heading1", "body-1", "stars1", "colour1"])
        try queue.write { try $0.execute(sql: "UPDATE note SET colour = 'red'") }
        #expect(
            try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM _sync_log WHERE op & 15 = 2") }
                == 3)
    }

    @Test func aTemporaryTableOfTheSameNameIsNoneOfOurs() throws {
        let a = try filled()
        let before = try a.queue.read { try Row.fetchAll($0, sql: "SELECT * FROM _sync_table") }
        try a.queue.write { db in
            try db.execute(
                sql:
                    "CREATE TEMP TABLE note (a); DROP TABLE note; CREATE TEMP TABLE note (a); DROP TABLE temp.note"
            )
        }
        #expect(try a.queue.read { try Row.fetchAll($0, sql: "SELECT * FROM _sync_table") } == before)
    }

    @Test func aSchemaChangeOfANewerStoreIsRefused() throws {
        let a = try filled()
        try a.execute("UPDATE _sync_state SET format = \(MetadataSchema.version + 1)")
        let error = #expect(throws: SyncError.self) {
            try a.queue.write { try $0.drop(table: "note") }
        }
        #expect(error?.code == .metadataTooNew)
        #expect(try a.dump(["note"]).count == 2)
    }

    // MARK: Stores of an older program

    @Test func aStoreOfTheFirstFormatIsUpgraded() throws {
        let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let contract = try String(
            contentsOf: root.appendingPathComponent("Schemas/metadata/v1.sql"), encoding: .utf8)
        let queue = try DatabaseQueue(
            path: stores.path("a.db"), configuration: TestStores.configuration("a.db"))
        try queue.write { db in
            try db.execute(sql: TestStores.schema + contract)
            try db.execute(
                sql: """
                    INSERT INTO _sync_replica (sid, rid, oseq) VALUES (1, x'0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a', 2);
                    INSERT INTO _sync_state (id, format, store, self, folded) VALUES (1, 1, x'0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b', 1, 2);
                    INSERT INTO _sync_table VALUES (1, 'note', 'id', 1);
                    INSERT INTO _sync_column VALUES (1, 0, 'title', 1), (1, 1, 'body', 1), (1, 2, 'stars', 1);
                    INSERT INTO note VALUES (x'01010101010101010101010101010101', 'one', 'first', 0);
                    INSERT INTO _sync_log VALUES (1, 1, 1, x'01010101010101010101010101010101', 0, 1000), (2, 1, 2, x'01010101010101010101010101010101', 1, 2000);
                    INSERT INTO _sync_row VALUES (1, 1, x'01010101010101010101010101010101', 1, 65536000, 1, 1);
                    INSERT INTO _sync_cell VALUES (1, 0, 131072000, 1, 2);
                    """)
            let table = try #require(try SyncedTable.loadAll(db).first)
            for statement in try CaptureTriggers.load(db, table).statements { try db.execute(sql: statement) }
        }
        // It can be looked at as it is.
        let status = try Synchronizer(existing: queue, environment: stores.clock.environment).status()
        #expect(status.tables.map(\.rowCount) == [1])
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT format FROM _sync_state") } == 1)
        // A migration upgrades it, before anybody synchronizes.
        try queue.write { db in try db.alter(table: "note") { $0.rename(column: "title", to: "heading") } }
        #expect(
            try queue.read { try Int64.fetchOne($0, sql: "SELECT format FROM _sync_state") }
                == MetadataSchema.version)
        let a = try TestReplica(stores, "a.db", queue, tables: [])
        let b = try stores.clone(a, as: "b.db")
        try a.execute("UPDATE note SET heading = 'edited'")
        try a.sync(b)
        #expect(try b.value("SELECT heading FROM note") == "edited")
        #expect(try a.state(["note"]) == b.state(["note"]))
    }
}
