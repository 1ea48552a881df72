import CipherStore
import Foundation
import Testing

@testable import SyncEngine

/// Columns of a tracked table that come, go and change their names, on replicas
/// that migrate at different times.
@Suite struct MigratedColumnTests {
    let stores: TestStores

    init() throws { stores = try TestStores() }

    private func pair() throws -> (TestReplica, TestReplica) {
        let a = try stores.create()
        try a.execute("INSERT INTO note (id, title, body) VALUES (?, 'one', 'first')", [key(1)])
        try a.execute("INSERT INTO note (id, title, body) VALUES (?, 'two', 'second')", [key(2)])
        return (a, try stores.clone(a, as: "b.db"))
    }

    // MARK: Added columns

    private func addColour(_ replica: TestReplica) throws {
        try replica.migrate("colour") { db in
            try db.alter(table: "note") { $0.add(column: "colour", .text).defaults(to: "white") }
        }
    }

    @Test func theDefaultOfAnAddedColumnIsNobodysWrite() throws {
        let (a, b) = try pair()
        let count = try a.logCount()
        try addColour(a)
        #expect(try a.logCount() == count)
        #expect(try a.sync(b).pushed == nil)
        try addColour(b)
        #expect(try a.sync(b).pushed == nil)
        #expect(try a.state(["note"]) == b.state(["note"]))
    }

    @Test func anAddedColumnIsCapturedInTheSameTransaction() throws {
        let (a, b) = try pair()
        try a.queue.write { db in
            try db.alter(table: "note") { $0.add(column: "colour", .text) }
            try db.execute(sql: "UPDATE note SET colour = 'red' WHERE title = 'one'")
        }
        let operations = try a.queue.read {
            try Int.fetchAll($0, sql: "SELECT op FROM _sync_log WHERE op <> 1")
        }
        #expect(operations == [ChangeLog.Operation.update])
        try a.sync(b)
        #expect(try b.synchronizer.status().parkedCount == 1)
        try b.queue.write { try $0.execute(sql: "ALTER TABLE note ADD COLUMN colour TEXT") }
        // What waited is there at once.
        #expect(try b.value("SELECT colour FROM note WHERE title = 'one'") == "red")
        try a.sync(b)
        #expect(try a.state(["note"]) == b.state(["note"]))
    }

    @Test func aNullPassesThroughAReplicaThatDroppedAColumnWithADefault() throws {
        let (a, b) = try pair()
        let c = try stores.clone(a, as: "c.db")
        try a.execute("INSERT INTO note (id, title, stars) VALUES (?, 'three', NULL)", [key(3)])
        try a.execute("INSERT INTO note (id, title) VALUES (?, 'four')", [key(4)])
        try a.sync(b)
        try b.migrate("no stars") { db in try db.alter(table: "note") { $0.drop(column: "stars") } }
        try b.execute("INSERT INTO note (id, title) VALUES (?, 'five')", [key(5)])
        try c.sync(b)
        #expect(try a.dump(["note"]).count == 4)
        #expect(try c.value("SELECT stars IS NULL FROM note WHERE title = 'three'") == true)
        #expect(try c.value("SELECT stars FROM note WHERE title = 'four'") == 0)
        #expect(try c.value("SELECT stars FROM note WHERE title = 'five'") == 0)
        try a.sync(b)
        #expect(try a.state(["note"]) == c.state(["note"]))
    }

    /// Both insert one row, and only one of them has the column.
    @Test(arguments: [false, true], [false, true])
    func twoRowsOfOneKeyAreOneWhereverAColumnCame(isLackingNewer: Bool, migratesFirst: Bool) throws {
        let (a, b) = try pair()
        let c = try stores.clone(a, as: "c.db")
        let id = String(repeating: "07", count: 16)
        try addColour(a)
        func insertOld() throws { try b.execute("INSERT INTO note (id, title) VALUES (?, 'old')", [key(7)]) }
        func insertNew() throws {
            try a.execute("INSERT INTO note (id, title, colour) VALUES (?, 'new', 'red')", [key(7)])
        }
        for (isOld, pause) in [(!isLackingNewer, Int64(0)), (isLackingNewer, 1000)] {
            stores.clock.advance(milliseconds: pause)
            if isOld { try insertOld() } else { try insertNew() }
        }
        try c.sync(b)
        if migratesFirst { try addColour(c) }
        try c.sync(a)
        try c.sync(b)
        if !migratesFirst { try addColour(c) }
        try addColour(b)
        for replica in [a, b, c] {
            let colour: String? = try replica.value("SELECT colour FROM note WHERE id = x'\(id)'")
            #expect(colour == (isLackingNewer ? "white" : "red"))
        }
        #expect(try a.state(["note"]) == b.state(["note"]))
        #expect(try a.state(["note"]) == c.state(["note"]))
        #expect(try a.sync(b).divergence == nil)
        let lost = try [a, b, c].map { replica in try replica.synchronizer.conflictCount(.all) }
        #expect(lost.contains { $0 > 0 })
    }

    @Test func anEditWinsOverTheValueThatALaterMigrationComputes() throws {
        let (a, b) = try pair()
        let fill: @Sendable (Database) throws -> Void = { db in
            try db.alter(table: "note") { $0.add(column: "length", .integer) }
            try db.execute(sql: "UPDATE note SET length = length(body)")
        }
        try a.migrate("length", fill)
        try a.execute("UPDATE note SET length = 99 WHERE title = 'one'")
        try b.execute("UPDATE note SET title = 'TWO' WHERE title = 'two'")
        stores.clock.advance(milliseconds: 60_000)
        try b.migrate("length", fill)
        try a.sync(b)
        #expect(try a.value("SELECT length FROM note WHERE title = 'one'") == 99)
        #expect(try a.state(["note"]) == b.state(["note"]))
        #expect(try a.dump(["note"]) == b.dump(["note"]))
    }

    @Test func aParkedEditWinsOverTheValueThatTheMigrationComputes() throws {
        let (a, b) = try pair()
        let fill: @Sendable (Database) throws -> Void = { db in
            try db.alter(table: "note") { $0.add(column: "length", .integer) }
            try db.execute(sql: "UPDATE note SET length = length(body)")
        }
        try a.migrate("length", fill)
        try a.execute("UPDATE note SET length = 99 WHERE title = 'one'")
        try a.sync(b)
        try b.migrate("length", fill)
        #expect(try b.value("SELECT length FROM note WHERE title = 'one'") == 99)
        try a.sync(b)
        #expect(try a.state(["note"]) == b.state(["note"]))
    }

    @Test func aMigrationOfOldValuesLosesAgainstAnEditElsewhere() throws {
        let (a, b) = try pair()
        try a.execute("UPDATE note SET title = 'edited' WHERE title = 'one'")
        stores.clock.advance(milliseconds: 60_000)
        try b.migrate("shout") { try $0.execute(sql: "UPDATE note SET title = upper(title)") }
        try a.sync(b)
        #expect(try a.value("SELECT title FROM note WHERE body = 'first'") == "edited")
        #expect(try a.value("SELECT title FROM note WHERE body = 'second'") == "TWO")
        #expect(try a.state(["note"]) == b.state(["note"]))
        // The edits show as such in the history.
        let entry = try b.synchronizer.history(limit: 1)[0]
        #expect(entry.columns == ["title"])
    }

    // MARK: Renamed columns

    private func rename(_ replica: TestReplica, _ name: String = "title", to newName: String = "heading")
        throws
    {
        try replica.migrate("rename \(name) \(newName)") { db in
            try db.alter(table: "note") { $0.rename(column: name, to: newName) }
        }
    }

    @Test func aRenamedColumnKeepsItsVersions() throws {
        let (a, b) = try pair()
        try a.execute("UPDATE note SET title = 'pending' WHERE title = 'one'")
        let before = try a.queue.read { try Row.fetchAll($0, sql: "SELECT * FROM _sync_row") }
        try rename(a)
        #expect(try a.queue.read { try Row.fetchAll($0, sql: "SELECT * FROM _sync_row") } == before)
        try a.execute("UPDATE note SET heading = 'TWO' WHERE heading = 'two'")
        #expect(try a.sync(b).pushed?.rowCount == 2)
        // b takes it into the column that it has.
        #expect(try b.value("SELECT group_concat(title) FROM note") == "pending,TWO")
        #expect(try b.synchronizer.status().parkedCount == 0)
        try rename(b)
        #expect(try a.sync(b).pulled == nil)
        #expect(try a.state(["note"]) == b.state(["note"]))
    }

    @Test func editsUnderTheOldNameMergeWithThoseUnderTheNewOne() throws {
        let (a, b) = try pair()
        try rename(a)
        try a.execute("UPDATE note SET heading = 'of a' WHERE body = 'first'")
        try b.execute("UPDATE note SET title = 'later, of b' WHERE body = 'first'")
        try b.execute("UPDATE note SET title = 'of b' WHERE body = 'second'")
        try a.sync(b)
        #expect(try a.value("SELECT group_concat(heading) FROM note") == "later, of b,of b")
        #expect(try a.dump(["note"]) == b.dump(["note"]))
        #expect(try a.conflicts() + b.conflicts() == ["0 \"of a\" \"newer\""])
        try rename(b)
        try b.execute("UPDATE note SET heading = 'again' WHERE body = 'first'")
        try a.sync(b)
        #expect(try a.state(["note"]) == b.state(["note"]))
    }

    @Test func renamesTravelThroughReplicasThatHaveNotMigrated() throws {
        let (a, b) = try pair()
        let c = try stores.clone(b, as: "c.db")
        try rename(a)
        try a.execute("UPDATE note SET heading = 'new' WHERE body = 'first'")
        try a.sync(b)
        try b.sync(c)
        #expect(try c.value("SELECT title FROM note WHERE body = 'first'") == "new")
        try rename(c)
        try c.execute("UPDATE note SET heading = 'newer' WHERE body = 'first'")
        try c.sync(b)
        try b.sync(a)
        #expect(try a.value("SELECT heading FROM note WHERE body = 'first'") == "newer")
        try rename(b)
        try b.sync(a)
        try b.sync(c)
        #expect(try a.state(["note"]) == b.state(["note"]))
        #expect(try a.state(["note"]) == c.state(["note"]))
    }

    @Test func aColumnThatIsRenamedTwiceIsFoundByItsFirstName() throws {
        let (a, b) = try pair()
        try rename(a)
        try rename(a, "heading", to: "caption")
        try b.execute("UPDATE note SET title = 'of b' WHERE body = 'first'")
        try a.sync(b)
        #expect(try a.value("SELECT caption FROM note WHERE body = 'first'") == "of b")
        try rename(b, to: "caption")
        try a.sync(b)
        #expect(try a.state(["note"]) == b.state(["note"]))
    }

    @Test func columnsCanSwapTheirNames() throws {
        let (a, b) = try pair()
        let swap: @Sendable (Database) throws -> Void = { db in
            try db.alter(table: "note") { t in
                t.rename(column: "title", to: "x")
                t.rename(column: "body", to: "title")
                t.rename(column: "x", to: "body")
            }
        }
        try a.execute("UPDATE note SET title = 'pending' WHERE title = 'one'")
        try a.migrate("swap", swap)
        #expect(try a.logCount() == 3)
        try b.migrate("swap", swap)
        try a.sync(b)
        #expect(try b.value("SELECT body FROM note WHERE title = 'first'") == "pending")
        #expect(try a.state(["note"]) == b.state(["note"]))
    }

    @Test func whatWasParkedUnderTheNewNameIsTheColumns() throws {
        let (a, b) = try pair()
        // b gets the new name without being told that it is one: as another column.
        try rename(a)
        try a.execute("UPDATE note SET heading = 'of a' WHERE body = 'first'")
        try a.queue.write { try $0.execute(sql: "DELETE FROM _sync_alias") }
        try a.sync(b)
        #expect(try b.synchronizer.status().parkedCount == 1)
        try b.execute("UPDATE note SET title = 'of b' WHERE body = 'second'")
        try rename(b)
        #expect(try b.value("SELECT group_concat(heading) FROM note") == "of a,of b")
        #expect(try b.synchronizer.status().parkedCount == 0)
        try a.sync(b)
        #expect(try a.state(["note"]) == b.state(["note"]))
    }

    @Test(arguments: [true, false])
    func aPeerThatRenamedTheColumnSaysThatWhatWasParkedIsOneWithIt(isHere: Bool) throws {
        let (a, b) = try pair()
        let c = try stores.clone(b, as: "c.db")
        try rename(a)
        try a.execute("UPDATE note SET heading = 'of a' WHERE body = 'first'")
        try a.queue.write { try $0.execute(sql: "DELETE FROM _sync_alias") }
        if !isHere {
            try b.migrate("drop") { db in try db.alter(table: "note") { $0.drop(column: "title") } }
        }
        try a.sync(b)
        let columns =
            "SELECT group_concat(name, ' ') FROM (SELECT name FROM _sync_column WHERE tbl = 1 ORDER BY name)"
        #expect(try b.value(columns) == "body heading stars title")
        try rename(c)
        try c.execute("UPDATE note SET heading = 'of c' WHERE body = 'second'")
        try c.sync(b)
        // What c says of its names goes to b with its changes, and there the two are one from then on.
        #expect(try b.value(columns, as: String.self)?.split(separator: " ").count == 3)
        if isHere {
            #expect(try b.value("SELECT group_concat(title) FROM note") == "of a,of c")
            #expect(try b.synchronizer.status().parkedCount == 0)
        } else {
            try b.migrate("heading") { db in try db.alter(table: "note") { $0.add(column: "heading", .text) }
            }
            #expect(try b.value("SELECT group_concat(heading) FROM note") == "of a,of c")
        }
        try c.sync(b)
        #expect(try c.value("SELECT group_concat(heading) FROM note") == "of a,of c")
        #expect(try b.queue.read { try MetadataCheck.problems(of: $0, isDeep: true).isEmpty })
    }

    @Test func aNameThatIsUsedAgainIsTheNewColumns() throws {
        let (a, b) = try pair()
        let reuse: @Sendable (Database) throws -> Void = { db in
            try db.alter(table: "note") { t in
                t.rename(column: "title", to: "heading")
                t.add(column: "title", .text)
            }
        }
        try a.migrate("reuse", reuse)
        try b.migrate("reuse", reuse)
        try a.execute("UPDATE note SET title = 'new', heading = 'old' WHERE body = 'first'")
        try a.sync(b)
        #expect(try a.state(["note"]) == b.state(["note"]))
        #expect(try b.value("SELECT title || heading FROM note WHERE body = 'first'") == "newold")
    }

    @Test func theKeyCanBeRenamed() throws {
        let (a, b) = try pair()
        let rename: @Sendable (Database) throws -> Void = { db in
            try db.alter(table: "note") { $0.rename(column: "id", to: "uuid") }
        }
        try a.migrate("key", rename)
        try a.execute("UPDATE note SET title = 'edited' WHERE uuid = ?", [key(1)])
        try a.sync(b)
        #expect(
            try b.value("SELECT title FROM note WHERE id = x'01010101010101010101010101010101'") == "edited")
        try b.migrate("key", rename)
        try b.execute("DELETE FROM note WHERE uuid = ?", [key(2)])
        try a.sync(b)
        #expect(try a.state(["note"]) == b.state(["note"]))
    }

    // MARK: Dropped columns

    private func dropBody(_ replica: TestReplica) throws {
        try replica.migrate("drop body") { db in try db.alter(table: "note") { $0.drop(column: "body") } }
    }

    @Test func aDroppedColumnStaysWithThePeers() throws {
        let (a, b) = try pair()
        try a.execute("UPDATE note SET body = 'pending' WHERE title = 'one'")
        try dropBody(a)
        try a.execute("UPDATE note SET title = 'ONE' WHERE title = 'one'")
        try a.sync(b)
        // What was written before and not sent yet is sent.
        #expect(try b.value("SELECT group_concat(body) FROM note") == "pending,second")
        try b.execute("UPDATE note SET body = 'edited' WHERE title = 'two'")
        try a.sync(b)
        #expect(try a.synchronizer.status().parkedCount == 0)
        // A new replica of a that still has the column gets everything.
        let c = try stores.clone(a, as: "c.db")
        try c.migrate("body again") { db in
            try db.alter(table: "note") { $0.add(column: "body", .text) }
        }
        #expect(try c.value("SELECT group_concat(body) FROM note") == "pending,edited")
        try dropBody(b)
        try a.sync(b)
        #expect(try a.state(["note"]) == b.state(["note"]))
    }

    @Test func replacingARowKeepsTheColumnsThatAreNotHere() throws {
        let (a, b) = try pair()
        try dropBody(a)
        try b.execute("UPDATE note SET body = 'edited' WHERE title = 'two'")
        try a.sync(b)
        try a.execute(
            "INSERT OR REPLACE INTO note (id, title) VALUES (?, 'ONE'), (?, 'TWO')", [key(1), key(2)])
        try a.sync(b)
        #expect(try b.value("SELECT group_concat(title || body) FROM note") == "ONEfirst,TWOedited")
        try a.execute("DELETE FROM note")
        try a.sync(b)
        #expect(try b.dump(["note"]).isEmpty)
        #expect(try a.value("SELECT count(*) FROM _sync_shadow", as: Int.self) == 0)
    }

    @Test func aColumnThatIsAddedAgainHasItsValues() throws {
        let (a, b) = try pair()
        try dropBody(a)
        let versions = try b.state(["note"])
        try a.migrate("again") { db in try db.alter(table: "note") { $0.add(column: "body", .text) } }
        #expect(try a.value("SELECT group_concat(body) FROM note") == "first,second")
        try a.sync(b)
        #expect(try b.state(["note"]) == versions)
    }

    @Test func aColumnThatIsDroppedBySQLIsKeptToo() throws {
        guard EngineFeatures.current.supportsDropColumn else { return }
        let (a, b) = try pair()
        try a.execute("UPDATE note SET body = 'pending' WHERE title = 'one'")
        try a.execute("ALTER TABLE note DROP COLUMN body")
        try a.execute("UPDATE note SET title = 'ONE' WHERE title = 'one'")
        try a.sync(b)
        #expect(try b.value("SELECT group_concat(title || body) FROM note") == "ONEpending,twosecond")
    }

    // MARK: Other programs

    @Test func aColumnThatAnotherProgramRenamesIsFound() throws {
        let (a, b) = try pair()
        try a.execute("UPDATE note SET title = 'pending' WHERE title = 'one'")
        try a.queue.write { db in
            try db.withoutReportingSchemaChanges {
                try db.alter(table: "note") { $0.rename(column: "title", to: "heading") }
            }
            try db.execute(sql: "UPDATE note SET heading = 'two again' WHERE heading = 'two'")
        }
        #expect(try a.value("SELECT count(*) FROM _sync_column WHERE name = 'title'", as: Int.self) == 1)
        try a.sync(b)
        #expect(try a.value("SELECT count(*) FROM _sync_column WHERE name = 'title'", as: Int.self) == 0)
        #expect(try b.value("SELECT group_concat(title) FROM note") == "pending,two again")
        #expect(try a.dump(["note"]) == b.dump(["note"]))
    }

    @Test func columnsThatAnotherProgramAddsAndDropsAreFound() throws {
        let (a, b) = try pair()
        try a.queue.write { db in
            try db.withoutReportingSchemaChanges {
                try db.alter(table: "note") { t in
                    t.drop(column: "body")
                    t.add(column: "colour", .text).defaults(to: "white")
                }
            }
            try db.execute(sql: "UPDATE note SET colour = 'red' WHERE title = 'one'")
        }
        let remarks = try a.synchronizer.status().schemaRemarks
        #expect(remarks.map(\.table) == ["note"])
        #expect(remarks.first?.text.contains("column colour was added by another program") == true)
        try a.sync(b)
        #expect(try a.synchronizer.status().schemaRemarks.isEmpty)
        #expect(try b.value("SELECT group_concat(body) FROM note") == "first,second")
        #expect(
            try b.synchronizer.status().schemaRemarks.map(\.text) == [
                "other replicas have a column colour; its values wait until it is added here"
            ])
        try b.execute("ALTER TABLE note ADD COLUMN colour TEXT DEFAULT 'white'")
        #expect(try b.value("SELECT group_concat(colour) FROM note") == "red,white")
    }
}
