import CipherStore
import Foundation
import SyncWire
import Testing

@testable import SyncEngine

/// Dealing with conflicts.
@Suite struct ConflictResolutionTests {
    private func pair() throws -> (TestReplica, TestReplica) {
        let stores = try TestStores()
        let a = try stores.create("a.db")
        for number in 1...3 {
            try a.execute(
                "INSERT INTO note (id, title, body, stars) VALUES (?, ?, 'text', ?)",
                [key(UInt8(number)), "n\(number)", number])
        }
        try a.execute("INSERT INTO tag VALUES ('01000000-0000-7000-8000-000000000001', 'red')")
        return (a, try stores.clone(a, as: "b.db"))
    }

    private func conflictOfBody() throws -> (TestReplica, TestReplica) {
        let (a, b) = try pair()
        try a.execute("UPDATE note SET body = 'of a' WHERE id = ?", [key(1)])
        try b.execute("UPDATE note SET body = 'of b' WHERE id = ?", [key(1)])
        try a.sync(b)
        return (a, b)
    }

    @Test func aConflictShowsTheValueThatStands() throws {
        let (a, _) = try conflictOfBody()
        let id = try #require(try a.synchronizer.conflicts().first?.id)
        let detail = try #require(try a.synchronizer.conflict(id: id))
        #expect(detail.rowExists)
        #expect(detail.current == "of b".databaseValue)
        #expect(detail.conflict.lost == "of a".databaseValue)
        #expect(detail.others.isEmpty)
        try a.execute("DELETE FROM note WHERE id = ?", [key(1)])
        let gone = try #require(try a.synchronizer.conflict(id: id))
        #expect(!gone.rowExists)
        #expect(gone.current == nil)
        #expect(try a.synchronizer.conflict(id: 4711) == nil)
    }

    @Test func keepingTheWinnerClosesTheConflictAndChangesNothing() throws {
        let (a, b) = try conflictOfBody()
        let before = try a.state(["note", "tag"])
        let id = try #require(try a.synchronizer.conflicts().first?.id)
        let result = try a.synchronizer.resolve([id], by: .keepCurrent)
        #expect(result.resolvedCount == 1)
        #expect(try a.synchronizer.conflicts().isEmpty)
        let closed = try #require(try a.synchronizer.conflicts(.resolved).first)
        #expect(closed.resolution == .kept)
        #expect(closed.resolvedMilliseconds == a.stores.clock.environment.milliseconds())
        try a.sync(b)
        #expect(try a.state(["note", "tag"]) == before)
    }

    @Test func aRestoredValueIsAnOrdinaryEditThatPeersGet() throws {
        let (a, b) = try conflictOfBody()
        let result = try a.synchronizer.resolve(.open, by: .restoreLost)
        #expect(result.resolvedCount == 1)
        #expect(result.restoredValueCount == 1)
        #expect(result.restoredRowCount == 0)
        let report = try a.sync(b)
        #expect(report.conflictCount == 0)
        #expect(try b.value("SELECT body FROM note WHERE title = 'n1'", as: String.self) == "of a")
        #expect(try a.state(["note"]) == b.state(["note"]))
        #expect(try a.synchronizer.conflicts(.resolved).map(\.resolution) == [.restored])
    }

    @Test func aDeletedRowComesBackWithAllOfItsColumns() throws {
        let (a, b) = try pair()
        try a.execute("UPDATE note SET body = 'precious' WHERE id = ?", [key(2)])
        try b.execute("DELETE FROM note WHERE id = ?", [key(2)])
        try a.sync(b)
        #expect(try a.dump(["note"]).count == 2)
        let result = try a.synchronizer.resolve(.open, by: .restoreLost)
        #expect(result.restoredRowCount == 1)
        #expect(result.restoredValueCount == 3)
        #expect(try a.synchronizer.conflicts(ConflictFilter(includesRows: true)).isEmpty)
        try a.sync(b)
        #expect(try b.dump() == a.dump())
        let row = try b.queue.read { try Row.fetchOne($0, sql: "SELECT * FROM note WHERE title = 'n2'") }
        #expect(row?["body"] == "precious")
        #expect(row?["stars"] == 2)
    }

    @Test func aRowOfWhichTooLittleIsKnownIsRefusedWithTheReason() throws {
        let stores = try TestStores()
        let a = try stores.create(
            schema: "CREATE TABLE item (id BLOB PRIMARY KEY, name TEXT NOT NULL, n)", tables: ["item"])
        try a.execute("INSERT INTO item VALUES (?, 'x', 1)", [key(1)])
        let b = try stores.clone(a, as: "b.db")
        try a.execute("DELETE FROM item")
        try b.execute("UPDATE item SET n = 2")
        try a.sync(b, .pull)
        // As of a deletion that an older program logged.
        try a.queue.write {
            try $0.execute(sql: "DELETE FROM _sync_last; DELETE FROM _sync_conflict WHERE why = 'row'")
        }
        let before = try a.everything()
        let error = #expect(throws: SyncError.self) {
            try a.synchronizer.resolve(.open, by: .restoreLost)
        }
        #expect(error?.code == .incompleteRow)
        let replica = try b.synchronizer.status().replica.shortDescription
        #expect(error?.message.contains("its name is not known here") == true)
        #expect(error?.message.hasSuffix("of replica \(replica)") == true)
        #expect(try a.everything() == before)
        let partial = #expect(throws: SyncError.self) {
            try a.synchronizer.resolve(.open, by: .restoreKnown)
        }
        #expect(partial?.code == .unrestorable)
        #expect(partial?.message.contains("item.name") == true)
        #expect(try a.everything() == before)
    }

    /// Nothing of it is lost, so what helps with deleted rows does not help with it.
    @Test(arguments: [ConflictChoice.restoreLost, .restoreKnown])
    func aParkedRowIsNotTakenForADeletedOne(choice: ConflictChoice) throws {
        let stores = try TestStores()
        let a = try stores.create(
            schema: "CREATE TABLE item (id BLOB PRIMARY KEY, name TEXT UNIQUE, body TEXT)", tables: ["item"])
        try a.execute("INSERT INTO item VALUES (?, 'one', 'x')", [key(1)])
        try a.execute("INSERT INTO item VALUES (?, 'two', 'x')", [key(2)])
        let b = try stores.clone(a, as: "b.db")
        try a.execute("UPDATE item SET name = 'same' WHERE id = ?", [key(1)])
        try a.execute("UPDATE item SET body = 'of a' WHERE id = ?", [key(2)])
        try b.execute("UPDATE item SET name = 'same', body = 'of b' WHERE id = ?", [key(2)])
        try a.sync(b)
        let parked = try a.synchronizer.parkedRows()
        try #require(parked.map(\.key) == [key(2).databaseValue])
        try #require(try a.synchronizer.conflicts().count == 1)
        let before = try a.everything()
        let error = #expect(throws: SyncError.self) { try a.synchronizer.resolve(.open, by: choice) }
        #expect(error?.code == .parkedRow)
        #expect(error?.message.contains("item.name") == true, "\(error?.message ?? "")")
        #expect(try a.everything() == before)
        try a.execute("DELETE FROM item WHERE id = ?", [key(1)])
        try a.synchronizer.retryParkedRows()
        try a.synchronizer.resolve(.open, by: choice)
        #expect(try a.value("SELECT body FROM item", as: String.self) == "of a")
    }

    @Test func manyAreDealtWithTogetherOrNotAtAll() throws {
        let (a, b) = try pair()
        try a.execute("UPDATE note SET body = 'of a', stars = 9")
        try a.execute("UPDATE tag SET name = 'green'")
        try b.execute("UPDATE note SET body = 'of b', stars = 8")
        try b.execute("UPDATE tag SET name = 'blue'")
        try a.sync(b)
        #expect(try a.synchronizer.conflictCount() == 7)
        // Another row has the lost name by now, so that one stands against all.
        try a.execute("INSERT INTO tag VALUES ('01000000-0000-7000-8000-000000000002', 'green')")
        let before = try a.everything()
        #expect(throws: SyncError.self) { try a.synchronizer.resolve(.open, by: .restoreLost) }
        #expect(try a.everything() == before)
        let one = ConflictFilter(table: "NOTE", key: key(1))
        #expect(try a.synchronizer.resolve(one, by: .restoreLost).resolvedCount == 2)
        #expect(
            try a.synchronizer.resolve(ConflictFilter(table: "note", column: "stars"), by: .keepCurrent)
                .resolvedCount == 2)
        #expect(
            try a.synchronizer.resolve(ConflictFilter(table: "note"), by: .restoreLost).resolvedCount == 2)
        #expect(try a.synchronizer.conflicts().map(\.table) == ["tag"])
        #expect(
            try a.value(
                "SELECT group_concat(body || stars) FROM (SELECT * FROM note ORDER BY id)", as: String.self)
                == "of a9,of a8,of a8")
    }

    @Test func wrongNumbersAreRefused() throws {
        let (a, _) = try conflictOfBody()
        let id = try #require(try a.synchronizer.conflicts().first?.id)
        let unknown = #expect(throws: SyncError.self) {
            try a.synchronizer.resolve([id, 99], by: .keepCurrent)
        }
        #expect(unknown?.code == .noSuchConflict)
        #expect(try a.synchronizer.conflictCount() == 1)
        try a.synchronizer.resolve([id], by: .keepCurrent)
        let again = #expect(throws: SyncError.self) { try a.synchronizer.resolve([id], by: .restoreLost) }
        #expect(again?.code == .conflictResolved)
        #expect(try a.synchronizer.resolve([], by: .restoreLost) == ConflictResolution())
    }

    @Test func ofTwoLostValuesOfAColumnTheNewerIsRestoredAndTheOtherStaysOpen() throws {
        let (a, b) = try conflictOfBody()
        try a.execute("UPDATE note SET body = 'second of a' WHERE id = ?", [key(1)])
        try b.execute("UPDATE note SET body = 'second of b' WHERE id = ?", [key(1)])
        try a.sync(b)
        let result = try a.synchronizer.resolve(.open, by: .restoreLost)
        #expect(result.resolvedCount == 1)
        #expect(result.remainingCount == 1)
        #expect(try a.value("SELECT body FROM note WHERE title = 'n1'", as: String.self) == "second of a")
        #expect(try a.synchronizer.conflicts().map(\.lost) == ["of a".databaseValue])
    }

    @Test func anObservationTellsOfConflictsAndOfTheirEnd() async throws {
        let (a, b) = try pair()
        var counts = try a.synchronizer.conflictCountUpdates().makeAsyncIterator()
        var lists = try a.synchronizer.conflictUpdates().makeAsyncIterator()
        #expect(try await counts.next() == 0)
        #expect(try await lists.next() == [])
        try a.execute("UPDATE note SET body = 'of a' WHERE id = ?", [key(1)])
        try b.execute("UPDATE note SET body = 'of b' WHERE id = ?", [key(1)])
        try a.sync(b)
        #expect(try await counts.next() == 1)
        #expect(try await lists.next()?.map(\.lost) == ["of a".databaseValue])
        try a.synchronizer.resolve(.open, by: .keepCurrent)
        #expect(try await counts.next() == 0)
        #expect(try await lists.next() == [])
    }

    @Test func aStoreOfAnOlderVersionIsUpgradedWhenItsConflictsAreRead() throws {
        let (a, _) = try conflictOfBody()
        try a.queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE old AS SELECT id, at, tbl, pk, col, val, hlc, sid, won, why FROM _sync_conflict;
                    DROP TABLE _sync_conflict;
                    CREATE TABLE _sync_conflict (
                        id INTEGER PRIMARY KEY, at INTEGER NOT NULL, tbl INTEGER NOT NULL, pk NOT NULL,
                        col INTEGER NOT NULL, val, hlc INTEGER NOT NULL, sid INTEGER NOT NULL,
                        won INTEGER NOT NULL, why TEXT NOT NULL);
                    INSERT INTO _sync_conflict SELECT * FROM old;
                    DROP TABLE old;
                    UPDATE _sync_state SET format = 2;
                    """)
            let kept = [
                "state", "replica", "table", "column", "log", "row", "cell", "shadow", "conflict", "peer",
                "alias",
            ]
            for table in try String.fetchAll(
                db, sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB '_sync_*'")
            where !kept.contains(String(table.dropFirst(6))) { try db.execute(sql: "DROP TABLE \(table)") }
        }
        let opened = try Synchronizer(existing: a.queue, environment: a.stores.clock.environment)
        #expect(try opened.status().conflictCount == 1)
        #expect(try opened.conflicts().map(\.lost) == ["of a".databaseValue])
        #expect(try opened.conflicts().first?.winner.milliseconds == nil)
        #expect(try opened.resolve(.open, by: .restoreLost).resolvedCount == 1)
    }
}
