import CipherStore
import Foundation
import SyncWire
import Testing

@testable import SyncEngine

/// What the journal keeps, and that it keeps it once.
@Suite struct ConflictJournalTests {
    private func trio() throws -> (TestReplica, TestReplica, TestReplica) {
        let stores = try TestStores()
        let a = try stores.create("a.db")
        try a.execute("INSERT INTO note (id, title, body, stars) VALUES (?, 'zero', 'text', 1)", [key(1)])
        return (a, try stores.clone(a, as: "b.db"), try stores.clone(a, as: "c.db"))
    }

    @Test func aConcurrentValueIsKeptWithItsOriginItsTimeAndTheWinner() throws {
        let (a, b, _) = try trio()
        try a.execute("UPDATE note SET body = 'of a'")
        let lostAt = a.stores.clock.environment.milliseconds()
        try b.execute("UPDATE note SET body = 'of b'")
        let wonAt = a.stores.clock.environment.milliseconds()
        try a.sync(b)
        let conflict = try #require(try a.synchronizer.conflicts().first)
        #expect(conflict.table == "note")
        #expect(conflict.key == key(1).databaseValue)
        #expect(conflict.column == "body")
        #expect(conflict.lost == "of a".databaseValue)
        #expect(conflict.origin.isLocal)
        #expect(conflict.origin.milliseconds == lostAt)
        #expect(conflict.winner.replica == (try b.synchronizer.status().replica))
        #expect(conflict.winner.milliseconds == wonAt)
        #expect(!conflict.winner.isLocal)
        #expect(conflict.reason == .newer)
        #expect(conflict.life == 1)
        #expect(conflict.isOpen)
        #expect(try b.synchronizer.conflicts().isEmpty)
    }

    @Test func aRemoteDeleteLeavesTheLocalEditAndTheRestOfTheRow() throws {
        let (a, b, _) = try trio()
        try a.execute("UPDATE note SET body = 'edited'")
        try b.execute("DELETE FROM note")
        let report = try a.sync(b, .pull)
        #expect(report.conflictCount == 1)
        let conflicts = try a.synchronizer.conflicts()
        #expect(conflicts.map(\.column) == ["body"])
        #expect(conflicts.first?.reason == .deleted)
        let all = try a.synchronizer.conflicts(ConflictFilter(includesRows: true))
        #expect(Set(all.map(\.column)) == ["title", "body", "stars"])
        #expect(try a.synchronizer.status().conflictCount == 1)
    }

    @Test func aRemoteEditThatALocalDeleteDiscardedIsKept() throws {
        let (a, b, _) = try trio()
        try a.execute("DELETE FROM note")
        try b.execute("UPDATE note SET body = 'edited'")
        try a.sync(b, .pull)
        let conflict = try #require(try a.synchronizer.conflicts().first)
        #expect(conflict.reason == .deleted)
        #expect(conflict.lost == "edited".databaseValue)
        #expect(conflict.winner.isLocal)
        #expect(!conflict.origin.isLocal)
        #expect(conflict.life == 1)
    }

    @Test func whoWroteAnEditKeepsItThoughThePeerKnowsIt() throws {
        let (a, b, _) = try trio()
        try a.execute("DELETE FROM note")
        try b.execute("UPDATE note SET body = 'edited'")
        // a discards the edit, and by now knows it; b has the whole row, and a has not.
        try a.sync(b, .pull)
        try b.sync(a, .pull)
        #expect(try b.dump() == [])
        #expect(try b.synchronizer.conflicts().map(\.lost) == ["edited".databaseValue])
        try b.synchronizer.resolve(.open, by: .restoreLost)
        try b.sync(a)
        #expect(try a.dump() == b.dump())
        #expect(try a.dump().count == 1)
    }

    @Test func aBundleThatComesAgainAndAPeerThatRelaysItJournalNothingTwice() throws {
        let (a, b, c) = try trio()
        try a.execute("UPDATE note SET body = 'of a', title = 'of a'")
        try b.execute("UPDATE note SET body = 'of b'")
        let environment = a.stores.clock.environment
        let source = StorePeer(b.queue, environment, closes: false)
        _ = try source.greet()
        var bytes: [UInt8] = []
        _ = try source.send(since: VersionVector(), progress: nil) { bytes.append(contentsOf: $0) }
        let target = StorePeer(a.queue, environment, closes: false)
        for expected in [Int64(1), 0, 0] {
            let summary = try target.receive { sink in
                try bytes.withUnsafeBytes { try Frame.forEach(in: $0, sink) }
            }
            #expect(summary.conflictCount == expected)
            #expect(try a.synchronizer.conflictCount() == 1)
        }
        try c.sync(b)
        try a.sync(c)
        try a.sync(b)
        #expect(try a.synchronizer.conflictCount(.all) == 1)
        // Nor does one that was dealt with come back.
        try a.synchronizer.resolve(.open, by: .keepCurrent)
        _ = try target.receive { sink in try bytes.withUnsafeBytes { try Frame.forEach(in: $0, sink) } }
        #expect(try a.synchronizer.conflictCount() == 0)
        #expect(try a.synchronizer.conflictCount(.all) == 1)
    }

    @Test func theSameLossIsRefusedByTheJournalItself() throws {
        let (a, _, _) = try trio()
        try a.queue.write { db in
            let metadata = try StoreMetadata.require(db)
            let versions = try VersionTable(db)
            let own = try metadata.replicaID()
            versions.replicas = [metadata.selfNumber: own]
            let journal = try ConflictJournal(db, at: 1)
            let stamp = Stamp(timestamp: HybridTimestamp(rawValue: 5), replica: own, sequence: 1)
            var plan = MergePlan(life: 1, base: stamp)
            let text = OwnedValue.make("x".databaseValue)
            let blob = OwnedValue.make(Data("x".utf8).databaseValue)
            defer { withExtendedLifetime((text, blob)) {} }
            for value in [.integer(1), .real(1), .integer(1), text.value, blob.value, .null, .null] {
                plan.conflicts.append(
                    .init(column: 0, lost: value, lostStamp: stamp, winner: stamp, reason: .newer))
            }
            let counts = try key(1).withUnsafeBytes { keyBytes in
                try (0..<2).map { _ in
                    try journal.append(plan, 1, RowKey(bytes: keyBytes, isText: false), versions)
                }
            }
            #expect(counts == [5, 0])
        }
    }

    @Test func aReplacedRowKeepsTheEditsOfItsEarlierLife() throws {
        let (a, b, _) = try trio()
        try a.execute("INSERT OR REPLACE INTO note (id, title) VALUES (?, 'again')", [key(1)])
        try b.execute("UPDATE note SET body = 'edited'")
        try a.sync(b)
        #expect(try a.dump() == b.dump())
        #expect(try a.synchronizer.conflicts().map(\.lost) == ["edited".databaseValue])
        #expect(try a.synchronizer.conflicts().map(\.life) == [1])
        // Delete and insert again is the same.
        try a.execute("DELETE FROM note")
        try a.execute("INSERT INTO note (id, title) VALUES (?, 'third')", [key(1)])
        try b.execute("UPDATE note SET title = 'second edit'")
        try b.sync(a)
        #expect(try a.dump() == b.dump())
        let lost = try b.synchronizer.conflicts().map(\.lost)
        #expect(lost == ["second edit", "edited"].map(\.databaseValue))
    }

    @Test func everyByteOfALostValueStaysAndComesBack() throws {
        let stores = try TestStores()
        let a = try stores.create(schema: "CREATE TABLE item (id BLOB PRIMARY KEY, v)", tables: ["item"])
        try a.execute("INSERT INTO item VALUES (?, 0)", [key(1)])
        let b = try stores.clone(a, as: "b.db")
        let values = [
            "zeroblob(3000000)", "CAST(x'61006200' AS TEXT)", "CAST(x'80FF61' AS TEXT)", "x''", "''", "-0.0",
            "1.0", "1", "-9223372036854775808", "9e999", "replace(hex(zeroblob(500000)), '0', 'é')",
        ]
        for value in values {
            try a.execute("UPDATE item SET v = \(value)")
            try b.execute("UPDATE item SET v = 'winner of ' || \(values.firstIndex(of: value) ?? 0)")
            try a.sync(b)
            let same = "typeof(val) = typeof(\(value)) AND hex(val) = hex(\(value)) AND val IS \(value)"
            #expect(
                try a.value(
                    "SELECT count(*) FROM _sync_conflict WHERE resolved IS NULL AND \(same)", as: Int.self)
                    == 1)
            try a.synchronizer.resolve(.open, by: .restoreLost)
            let isBack = "typeof(v) = typeof(\(value)) AND hex(v) = hex(\(value)) AND v IS \(value)"
            #expect(try a.value("SELECT count(*) FROM item WHERE \(isBack)", as: Int.self) == 1)
            try a.sync(b)
            #expect(try b.value("SELECT count(*) FROM item WHERE \(isBack)", as: Int.self) == 1)
        }
    }

    // MARK: Bounds

    @Test func openConflictsStayUnlessABoundIsSetAndWhatItDropsIsCounted() throws {
        let (a, b, _) = try trio()
        for number in 0..<6 {
            try a.execute("UPDATE note SET body = ?", ["a\(number)"])
            try b.execute("UPDATE note SET body = ?", ["b\(number)"])
            try a.sync(b)
        }
        a.stores.clock.advance(milliseconds: 400 * 24 * 3600 * 1000)
        try a.execute("UPDATE note SET title = 'later'")
        try a.sync(b)
        #expect(try a.synchronizer.conflictCount() == 6)
        #expect(try a.synchronizer.droppedConflictCount() == 0)
        try a.synchronizer.setConflictRetention(ConflictRetention(openCount: 4))
        let kept = try a.synchronizer.conflicts().map(\.lost)
        #expect(kept == ["a5", "a4", "a3", "a2"].map(\.databaseValue))
        #expect(try a.synchronizer.droppedConflictCount() == 2)
        try a.synchronizer.setConflictRetention(ConflictRetention(openMilliseconds: 1000))
        #expect(try a.synchronizer.conflictCount() == 0)
        #expect(try a.synchronizer.droppedConflictCount() == 6)
        #expect(try a.synchronizer.conflictRetention() == ConflictRetention(openMilliseconds: 1000))
    }

    @Test func resolvedConflictsAreDroppedByAge() throws {
        let (a, b, _) = try trio()
        try a.execute("UPDATE note SET body = 'a'")
        try b.execute("UPDATE note SET body = 'b'")
        try a.sync(b)
        try a.synchronizer.resolve(.open, by: .keepCurrent)
        #expect(try a.synchronizer.conflictCount(.resolved) == 1)
        a.stores.clock.advance(milliseconds: 91 * 24 * 3600 * 1000)
        try b.execute("UPDATE note SET body = 'c'")
        try a.sync(b)
        #expect(try a.synchronizer.conflictCount(.all) == 0)
        #expect(try a.synchronizer.droppedConflictCount() == 0)
    }
    @Test(arguments: [0, 59, 60, -1]) func resolvedConflictsAreLookedForOnceAnHour(minutes: Int64) throws {
        let (a, b, _) = try trio()
        try a.execute("UPDATE note SET body = 'a'")
        try b.execute("UPDATE note SET body = 'b'")
        try a.sync(b)
        try a.synchronizer.resolve(.open, by: .keepCurrent)
        // A bound that another program has set since, and what is dropped by it.
        try a.queue.write { db in
            try ConflictRetention(resolvedCount: 0).store(db)
            let now = a.stores.clock.environment.milliseconds()
            try SyncSetting.set(db, "conflicts.pruned.ms", minutes < 0 ? Int64.max : now - minutes * 60_000)
        }
        try b.execute("UPDATE note SET body = 'c'")
        try a.sync(b)
        let isDue = minutes < 0 || minutes >= 60
        #expect(try a.synchronizer.conflictCount(.resolved) == (isDue ? 0 : 1))
    }
}
