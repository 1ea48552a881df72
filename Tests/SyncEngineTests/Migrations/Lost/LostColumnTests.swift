import CipherStore
import Foundation
import Testing

@testable import SyncEngine

/// Columns that another program took away: nobody gets a row without their values, and these come back.
@Suite struct LostColumnTests {
    let stores: TestStores

    init() throws { stores = try TestStores() }

    private static let rebuild = """
        CREATE TABLE copy (id BLOB PRIMARY KEY, title TEXT COLLATE NOCASE, stars INTEGER DEFAULT 0);
        INSERT INTO copy SELECT id, title, stars FROM note; DROP TABLE note; ALTER TABLE copy RENAME TO note;
        """

    /// `a` has a row of `b` and a value of `b`, which `c` lacks.
    private func replicas() throws -> (a: TestReplica, b: TestReplica, c: TestReplica) {
        let a = try stores.create()
        try a.insert(1, "one")
        let b = try stores.clone(a, as: "b.db")
        let c = try stores.clone(a, as: "c.db")
        try b.execute("INSERT INTO note (id, title, body) VALUES (?, 'two', 'of b')", [key(2)])
        try b.execute("UPDATE note SET body = 'written by b' WHERE title = 'one'")
        try a.sync(b)
        return (a, b, c)
    }

    private func bodies(_ replica: TestReplica) throws -> [String] {
        try replica.queue.read {
            try String.fetchAll($0, sql: "SELECT coalesce(body, '-') FROM note ORDER BY id")
        }
    }

    private func wanted(_ replica: TestReplica) throws -> Int {
        try replica.queue.read { try RowRequest.loadAll($0).count }
    }

    private func waiting(_ report: SyncReport) -> [String] { report.waitingTables.map(\.name) }

    @Test func nobodyGetsRowsWithoutTheirValuesAndTheyComeBack() throws {
        let (a, b, c) = try replicas()
        let d = try stores.clone(c, as: "d.db")
        try a.changeUnobserved(Self.rebuild)
        let report = try a.sync(c)
        #expect(waiting(report) == ["note"])
        #expect(try c.titles() == ["one"])
        let problems = try a.problems()
        #expect(problems.count == 1 && problems.first?.contains("column body of table note") == true)
        let remarks = try a.synchronizer.status().schemaRemarks
        #expect(remarks.contains { $0.table == "note" && $0.text.contains("without column body") })
        try c.sync(b)
        #expect(try bodies(c) == ["written by b", "of b"])
        #expect(try c.state(["note"]) == b.state(["note"]))
        let later = try a.sync(c)
        #expect(waiting(later) == [])
        #expect(
            try a.value("SELECT count(*) FROM _sync_shadow WHERE why = 'dropped here'", as: Int.self) == 2)
        #expect(try a.problems() == [])
        // It has them again to hand them on.
        try d.sync(a)
        #expect(try d.state(["note"]) == b.state(["note"]))
        for replica in [a, b, c, d] { #expect(try replica.conflicts() == []) }
    }

    /// Whoever asks it gets as little as those whom it asks.
    @Test func whoAsksForTheRowsGetsNoneWithoutTheirValues() throws {
        let (a, b, c) = try replicas()
        try a.changeUnobserved(Self.rebuild)
        _ = try a.peer.greet()
        try a.execute("UPDATE note SET title = 'TWO' WHERE title = 'two'")
        try c.sync(a)
        #expect(try c.titles() == ["one"])
        try c.sync(b)
        #expect(try bodies(c) == ["written by b", "of b"])
        // What was written since goes to whoever knows all that it builds on.
        try c.sync(a)
        #expect(try c.titles() == ["one", "TWO"])
        #expect(try bodies(c) == ["written by b", "of b"])
        #expect(try c.conflicts() == [] && c.problems() == [])
    }

    @Test func whatWasNotSentYetIsKept() throws {
        let (a, b, c) = try replicas()
        try a.execute("UPDATE note SET title = 'edited' WHERE title = 'two'")
        try a.execute("UPDATE note SET body = 'gone with the column' WHERE title = 'one'")
        try a.insert(3, "new")
        try a.changeUnobserved(Self.rebuild)
        try a.synchronizer.track(["note"])
        try a.execute("UPDATE note SET stars = 6 WHERE title = 'one'")
        try a.sync(b)
        try c.sync(b)
        for replica in [b, c] {
            #expect(try replica.titles() == ["one", "edited", "new"])
            #expect(try bodies(replica) == ["written by b", "of b", "-"])
            #expect(try replica.value("SELECT stars FROM note WHERE title = 'one'", as: Int.self) == 6)
            #expect(try replica.conflicts() == [] && replica.problems() == [])
        }
        #expect(try a.titles() == ["one", "edited", "new"])
        #expect(try a.problems() == [])
    }

    @Test func theColumnMayBeThereBeforeTheValues() throws {
        let (a, b, _) = try replicas()
        try a.changeUnobserved(Self.rebuild)
        _ = try a.peer.greet()
        // A default that is greater than any value.
        try a.changeUnobserved("ALTER TABLE note ADD COLUMN body TEXT DEFAULT 'zzz'")
        _ = try a.peer.greet()
        try a.execute("UPDATE note SET body = 'mine' WHERE title = 'two'")
        try a.execute("INSERT INTO note (id, title) VALUES (?, 'three')", [key(3)])
        try a.sync(b)
        for replica in [a, b] {
            #expect(try bodies(replica) == ["written by b", "mine", "zzz"])
            #expect(try replica.conflicts() == [] && replica.problems() == [])
        }
    }

    @Test func aFolderIsNotWrittenUntilTheValuesAreBack() throws {
        let (a, b, c) = try replicas()
        try a.changeUnobserved(Self.rebuild)
        let folder = FolderTransport(
            path: stores.path("shared"), passphrase: try Passphrase("folder"), cost: .minimum)
        try FileManager.default.createDirectory(
            atPath: stores.path("shared"), withIntermediateDirectories: true)
        var error = #expect(throws: SyncError.self) { try a.synchronizer.run(.both, folder) }
        #expect(error?.code == .scopeUnsupported)
        error = #expect(throws: SyncError.self) { try a.synchronizer.publishSnapshot(in: folder) }
        #expect(error?.code == .scopeUnsupported)
        try a.sync(b)
        _ = try a.synchronizer.run(.both, folder)
        _ = try c.synchronizer.run(.both, folder)
        #expect(try bodies(c) == ["written by b", "of b"])
    }

    /// Rows that no copy of the file can have, and that were never sent, are nowhere with the column.
    @Test func rowsThatNobodyCanHaveWaitForNobody() throws {
        let a = try stores.create()
        try a.execute("INSERT INTO note (id, title, body) VALUES (?, 'one', 'gone')", [key(1)])
        try a.changeUnobserved(Self.rebuild)
        _ = try a.peer.greet()
        #expect(try wanted(a) == 0)
        #expect(try a.problems() == [])
        let b = try stores.clone(a, as: "b.db")
        try b.insert(2, "two")
        try a.sync(b)
        #expect(try a.state(["note"]) == b.state(["note"]))
    }

    /// Others may have a row that has a version: a copy of the file of which nobody has heard.
    @Test func aRowThatOthersMayHaveIsWaitedForUntilTheUserSaysThatNobodyHasIt() throws {
        let (a, b, c) = try replicas()
        try a.execute("INSERT INTO note (id, title, body) VALUES (?, 'three', 'gone')", [key(3)])
        _ = try a.peer.greet()
        try a.changeUnobserved(Self.rebuild)
        let report = try a.sync(b)
        #expect(waiting(report) == ["note"])
        #expect(try b.titles() == ["one", "two"])
        try a.synchronizer.renewIdentity()
        let later = try a.sync(b)
        #expect(waiting(later) == [])
        try c.sync(b)
        for replica in [b, c] {
            #expect(try replica.titles() == ["one", "two", "three"])
            #expect(try bodies(replica) == ["written by b", "of b", "-"])
        }
        #expect(try a.problems() == [])
    }

    @Test func replicasThatAllLostTheColumnGoOnWithoutIt() throws {
        let (a, b, c) = try replicas()
        try c.sync(b)
        for (number, replica) in [a, b, c].enumerated() {
            try replica.changeUnobserved(Self.rebuild)
            try replica.synchronizer.track(["note"])
            try replica.insert(UInt8(10 + number), "of \(replica.name)")
            try replica.execute("INSERT INTO tag (id, name) VALUES (?, ?)", [tagKey(number), replica.name])
        }
        try a.execute("UPDATE note SET title = 'edited' WHERE title = 'two'")
        for (one, other) in [(a, b), (b, c), (a, c)] {
            let report = try one.sync(other)
            #expect(waiting(report) == ["note"])
        }
        #expect(try c.value("SELECT count(*) FROM tag", as: Int.self) == 3)
        for replica in [a, b, c] {
            let tables = try replica.synchronizer.abandonLostValues()
            #expect(tables == ["note"])
            #expect(try replica.problems() == [])
        }
        try expectEqual([a, b, c])
        for replica in [a, b, c] {
            #expect(try replica.titles() == ["one", "edited", "of a.db", "of b.db", "of c.db"])
            #expect(try replica.problems() == [])
            let tables = try replica.synchronizer.abandonLostValues()
            #expect(tables == [])
        }
    }

    /// Any program may write to the settings.
    @Test func numbersThatNameNoColumnCountForNothing() throws {
        let (a, b, _) = try replicas()
        let known = try a.vector()[a.replica()]
        try a.changeUnobserved(Self.rebuild)
        _ = try a.peer.greet()
        let numbers = try a.queue.read { try LostColumns.numbers($0, of: 1) }
        #expect(numbers.count == 1)
        let strays = (1_000..<12_000).map(String.init).joined(separator: " ")
        for note in ["value || ' x -1 ' || ?1", "?1 || ' ' || value"] {
            try a.execute("UPDATE _sync_setting SET value = \(note) WHERE name = 'lost.1'", [strays])
            let found = try a.queue.read { try LostColumns.numbers($0, of: 1) }
            // What stands behind more words than a table can have columns is not read.
            #expect(found == (note.hasPrefix("value") ? numbers : []))
        }
        try a.execute(
            "UPDATE _sync_setting SET value = ?1 || ' ' || ?2 WHERE name = 'lost.1'",
            [numbers.map(String.init).joined(), strays])
        // It asks for each of the columns.
        try a.peer.renewIdentity([Fork(replica: a.replica(), common: known)])
        let report = try a.sync(b)
        #expect(waiting(report) == [])
        #expect(try b.titles() == ["one", "two"])
        #expect(try bodies(b) == ["written by b", "of b"])
        #expect(try a.problems() == [])
    }

    @Test func aTableMayLoseMoreColumnsThanAConditionHasTerms() throws {
        let a = try stores.create()
        try a.insert(1, "one")
        _ = try a.peer.greet()
        let writes = try a.queue.read { db in
            try LostColumns.lastWrites(db, of: Array(0..<1_100), in: 1, own: 1, upTo: 9)
        }
        #expect(writes.map { $0.sequence } == [1])
    }

    private func tagKey(_ number: Int) -> String { "00000000-0000-4000-8000-00000000000\(number)" }

    @Test func aTableThatIsRebuiltWithAllColumnsWaitsForNobody() throws {
        let (a, b, c) = try replicas()
        try a.changeUnobserved(
            """
            CREATE TABLE copy (id BLOB PRIMARY KEY, title TEXT COLLATE NOCASE, body TEXT, stars INTEGER DEFAULT 0);
            INSERT INTO copy SELECT * FROM note; DROP TABLE note; ALTER TABLE copy RENAME TO note;
            """)
        let report = try a.sync(c)
        #expect(waiting(report) == [])
        #expect(try c.state(["note"]) == b.state(["note"]))
    }

    @Test func aColumnThatTheAppDropsWaitsForNobody() throws {
        let (a, b, c) = try replicas()
        try a.migrate("drop") { db in try db.alter(table: "note") { $0.drop(column: "body") } }
        let report = try a.sync(c)
        #expect(waiting(report) == [])
        #expect(try c.state(["note"]) == b.state(["note"]))
    }
}
