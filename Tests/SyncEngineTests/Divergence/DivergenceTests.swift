import CipherStore
import Foundation
import SyncWire
import Testing

@testable import SyncEngine

/// Two replicas that know the same and don't hold the same: it is found, said and repaired.
@Suite struct DivergenceTests {
    /// Two replicas with rows, cells and a deletion, that are equal.
    private func pair(_ stores: TestStores) throws -> (TestReplica, TestReplica) {
        let first = try stores.create()
        for number in UInt8(1)...20 {
            try first.execute(
                "INSERT INTO note (id, title, stars) VALUES (?, ?, ?)", [key(number), "t\(number)", number])
        }
        try first.execute("INSERT INTO tag VALUES ('0000000a-0000-4000-8000-000000000000', 'red')")
        let second = try stores.clone(first, as: "b.db")
        try second.execute("UPDATE note SET body = 'b' WHERE id <= ?", [key(5)])
        try second.execute("DELETE FROM note WHERE id = ?", [key(20)])
        let report = try first.sync(second)
        #expect(report.divergence == nil)
        return (first, second)
    }

    /// Changes a file behind the back of the triggers, and of the digests.
    private func damage(_ replica: TestReplica, _ sql: String) throws {
        try replica.queue.write { db in
            try db.execute(sql: "UPDATE _sync_state SET applying = 1")
            try db.execute(sql: sql)
            try db.execute(sql: "UPDATE _sync_state SET applying = 0")
            try DigestLedger.invalidate(db)
        }
    }

    private static let five = "x'05050505050505050505050505050505'"
    private static let row = "(SELECT r FROM _sync_row WHERE pk = \(five))"

    private func requireEqual(_ left: TestReplica, _ right: TestReplica) throws {
        let (one, other) = (try left.state(["note", "tag"]), try right.state(["note", "tag"]))
        #expect(one == other)
        let (digest, otherDigest) = (try left.digests(), try right.digests())
        #expect(digest == otherDigest)
        #expect(try left.problems() == [] && right.problems() == [])
    }

    static let damages = [
        // A row that is gone, with its versions.
        "DELETE FROM note WHERE id = \(five); DELETE FROM _sync_cell WHERE r = \(row); DELETE FROM _sync_row WHERE pk = \(five)",
        // A row that was never there.
        """
        INSERT INTO note (id, title) VALUES (x'63636363636363636363636363636363', 'extra');
        INSERT INTO _sync_row (tbl, pk, cl, hlc, sid, oseq)
        SELECT tbl, x'63636363636363636363636363636363', 1, hlc, sid, oseq FROM _sync_row WHERE pk = \(five)
        """,
        // Stamps.
        "UPDATE _sync_row SET hlc = hlc + 1 WHERE pk = \(five)",
        "UPDATE _sync_row SET hlc = hlc - 1 WHERE pk = \(five)",
        "UPDATE _sync_row SET cl = cl + 2 WHERE pk = \(five)",
        "UPDATE _sync_cell SET hlc = hlc + 1 WHERE r = \(row)",
        "DELETE FROM _sync_cell WHERE r = \(row)",
        // A row that is deleted on one side.
        "DELETE FROM note WHERE id = \(five); DELETE FROM _sync_cell WHERE r = \(row); UPDATE _sync_row SET cl = 2, hlc = hlc + 9 WHERE pk = \(five)",
    ]

    @Test(arguments: [true, false]) func versionsThatDifferAreFoundAndMerged(isHere: Bool) throws {
        let stores = try TestStores()
        let (first, second) = try pair(stores)
        for damage in Self.damages {
            try self.damage(isHere ? first : second, damage)
            let divergence = try #require(try first.sync(second).divergence, "\(damage)")
            #expect(divergence.isRepaired && divergence.failure == nil, "\(damage)")
            #expect(divergence.tables.map(\.name) == ["note"] && divergence.rowCount == 1, "\(damage)")
            try requireEqual(first, second)
            // Once is enough.
            #expect(try first.sync(second).divergence == nil)
            #expect(try first.synchronizer.compare(with: second.transport) == nil)
        }
    }

    static let valueDamages = [
        "UPDATE note SET title = 'zzz' WHERE id = \(five)",
        "UPDATE note SET title = 'TTT' WHERE id = \(five)",
        "UPDATE note SET body = NULL WHERE id = \(five)",
        "UPDATE note SET stars = 5.5 WHERE id = \(five)",
        "DELETE FROM note WHERE id = \(five)",
    ]

    @Test(arguments: [true, false]) func valuesThatDifferAreFoundByAComparison(isHere: Bool) throws {
        let stores = try TestStores()
        let (first, second) = try pair(stores)
        for damage in Self.valueDamages {
            let before = try first.dump()
            try self.damage(isHere ? first : second, damage)
            #expect(try first.dump() != second.dump(), "\(damage)")
            // Versions say nothing of it.
            #expect(try first.sync(second).divergence == nil)
            let found = try first.synchronizer.compare(with: second.transport)
            #expect(found?.rowCount == 1 && found?.isRepaired == false, "\(damage)")
            let repaired = try #require(
                try first.synchronizer.compare(with: second.transport, repairing: true))
            #expect(repaired.isRepaired && repaired.failure == nil, "\(damage)")
            try requireEqual(first, second)
            if damage.hasPrefix("DELETE") || damage.contains("TTT") { #expect(try first.dump() == before) }
            #expect(try first.synchronizer.compare(with: second.transport) == nil)
        }
    }

    /// Such rows have no versions, so nothing that compares those sees them.
    @Test func rowsThatCameUntrackedAreFoundAndSent() throws {
        let stores = try TestStores()
        let (first, second) = try pair(stores)
        try damage(
            first,
            """
            INSERT INTO note (id, title, stars) VALUES (x'63636363636363636363636363636363', 'extra', 7);
            INSERT INTO note (id, title) VALUES (x'14141414141414141414141414141414', 'deleted once');
            INSERT INTO tag VALUES ('0000000b-0000-4000-8000-000000000000', 'blue');
            """)
        #expect(try first.sync(second).divergence == nil)
        let found = try first.synchronizer.compare(with: second.transport)
        #expect(found?.rowCount == 3 && found?.tables.map(\.name) == ["note", "tag"])
        #expect(found?.isRepaired == false)
        let repaired = try first.synchronizer.compare(with: second.transport, repairing: true)
        #expect(repaired?.rowCount == 3 && repaired?.isRepaired == true)
        #expect(
            try second.value("SELECT stars FROM note WHERE title = 'extra'", as: Int.self) == 7)
        #expect(try first.dump() == second.dump())
        try requireEqual(first, second)
        #expect(try first.synchronizer.compare(with: second.transport) == nil)
    }

    @Test func aValueThatLosesIsInTheJournal() throws {
        let stores = try TestStores()
        let (first, second) = try pair(stores)
        try damage(second, "UPDATE note SET title = 'zzz' WHERE id = \(Self.five)")
        let divergence = try first.synchronizer.compare(with: second.transport, repairing: true)
        #expect(divergence?.conflictCount == 1)
        #expect(try first.value("SELECT title FROM note WHERE id = \(Self.five)", as: String.self) == "zzz")
        #expect(try first.conflicts() == ["0 \"t5\" \"newer\""])
        try damage(second, "UPDATE note SET title = 'aaa' WHERE id = \(Self.five)")
        _ = try first.synchronizer.compare(with: second.transport, repairing: true)
        #expect(try second.value("SELECT title FROM note WHERE id = \(Self.five)", as: String.self) == "zzz")
        #expect(try second.conflicts() == ["0 \"aaa\" \"newer\""])
    }

    @Test func anEditThatADamagedDeletionDiscardsIsInTheJournal() throws {
        let stores = try TestStores()
        let (first, second) = try pair(stores)
        try damage(second, Self.damages[7])
        _ = try first.sync(second)
        #expect(try first.conflicts().contains("1 \"b\" \"deleted\""))
    }

    @Test func wrongDigestsAloneAreMadeAnew() throws {
        let stores = try TestStores()
        let (first, second) = try pair(stores)
        try first.queue.write { try $0.execute(sql: "UPDATE _sync_digest SET first = first + 1") }
        let divergence = try #require(try first.sync(second).divergence)
        #expect(divergence.isRepaired && divergence.tables.isEmpty)
        #expect(try first.sync(second).divergence == nil)
    }

    @Test func aPullRepairsThisSideOnly() throws {
        let stores = try TestStores()
        let (first, second) = try pair(stores)
        try damage(first, Self.damages[0])
        #expect(try first.sync(second, .pull).divergence?.isRepaired == true)
        try requireEqual(first, second)
        try damage(second, Self.damages[0])
        let divergence = try #require(try first.sync(second, .pull).divergence)
        #expect(divergence.failure?.code == .diverged && !divergence.isRepaired)
        #expect(try first.sync(second, .push).divergence?.isRepaired == true)
        try requireEqual(first, second)
    }

    @Test func itIsFoundWhenChangesWereExchangedToo() throws {
        let stores = try TestStores()
        let (first, second) = try pair(stores)
        try damage(second, Self.damages[2])
        try first.execute("INSERT INTO note (id, title) VALUES (?, 'new')", [key(30)])
        let report = try first.sync(second)
        #expect(report.pushed?.rowCount == 1 && report.divergence?.isRepaired == true)
        try requireEqual(first, second)
    }

    @Test func aRowWhoseDeletionWasNotForgottenIsRestoredBelowTheFloor() throws {
        let stores = try TestStores()
        let (first, second) = try pair(stores)
        try first.sync(second)
        try second.sync(first)
        #expect(try first.synchronizer.compact().forgottenDeletionCount == 1)
        try first.execute("UPDATE note SET stars = 9 WHERE id = ?", [key(1)])
        try first.sync(second)
        try damage(second, Self.damages[0])
        #expect(try first.sync(second).divergence?.isRepaired == true)
        try requireEqual(first, second)
        #expect(try second.value("SELECT title FROM note WHERE id = \(Self.five)", as: String.self) == "t5")
    }

    @Test func manyRowsInManyTables() throws {
        let stores = try TestStores()
        let (first, second) = try pair(stores)
        try damage(
            second,
            "DELETE FROM note; DELETE FROM tag; DELETE FROM _sync_cell; DELETE FROM _sync_row WHERE cl & 1")
        let divergence = try #require(try first.sync(second).divergence)
        #expect(
            divergence.isRepaired && divergence.rowCount == 20
                && divergence.tables.map(\.name) == ["note", "tag"])
        try requireEqual(first, second)
    }
}

/// What is no divergence.
@Suite struct FalseAlarmTests {
    private func pair(_ stores: TestStores) throws -> (TestReplica, TestReplica) {
        let first = try stores.create()
        try first.execute("INSERT INTO note (id, title) VALUES (?, 'a')", [key(1)])
        let second = try stores.clone(first, as: "b.db")
        try second.execute("UPDATE note SET body = 'b', stars = 3")
        try first.sync(second)
        return (first, second)
    }

    static let changes = [
        "ALTER TABLE note RENAME TO memo",
        "ALTER TABLE note ADD COLUMN extra TEXT",
        "ALTER TABLE note ADD COLUMN extra TEXT DEFAULT 'd'",
        "DROP TABLE note",
    ]

    @Test(arguments: changes, [true, false]) func anotherSchemaIsNone(change: String, isHere: Bool) throws {
        let stores = try TestStores()
        let (first, second) = try pair(stores)
        try (isHere ? first : second).migrate("change") { try $0.execute(sql: change) }
        #expect(try first.sync(second).divergence == nil)
        try (isHere ? second : first).execute(
            "UPDATE note SET title = 'c'; INSERT INTO note (id) VALUES (x'00112233445566778899aabbccddeeff')")
        #expect(try first.sync(second).divergence == nil)
        #expect(try first.sync(second).divergence == nil)
        #expect(try first.synchronizer.compare(with: second.transport) == nil)
        #expect(try first.problems() == [] && second.problems() == [])
    }

    @Test(arguments: [true, false]) func aRenamedOrDroppedColumnIsNone(isRenamed: Bool) throws {
        let stores = try TestStores()
        let (first, second) = try pair(stores)
        try first.migrate("change") { db in
            try db.alter(table: "note") { table in
                if isRenamed {
                    table.rename(column: "body", to: "content")
                } else {
                    table.drop(column: "body")
                }
            }
        }
        #expect(try first.sync(second).divergence == nil)
        try second.execute(
            "UPDATE note SET body = 'c'; INSERT INTO note (id, body) VALUES (x'00112233445566778899aabbccddeeff', 'd')"
        )
        #expect(try first.sync(second).divergence == nil)
        #expect(try second.sync(first).divergence == nil)
        #expect(try first.synchronizer.compare(with: second.transport) == nil)
        #expect(try first.problems() == [] && second.problems() == [])
    }

    /// A peer whose program is older.
    private final class OlderPeer: SyncPeer {
        private let inner: StorePeer
        init(_ inner: StorePeer) { self.inner = inner }
        func greet() throws -> Greeting {
            let greeting = try inner.greet()
            var facts = greeting.facts
            facts.digest = nil
            return Greeting(
                store: greeting.store, replica: greeting.replica, vector: greeting.vector,
                ownSequence: greeting.ownSequence, facts: facts)
        }
        func send(
            _ request: TransferRequest, progress: SyncProgressHandler?,
            to sink: @escaping (UnsafeRawBufferPointer) throws -> Void
        ) throws -> TransferSummary { try inner.send(request, progress: progress, to: sink) }
        func receive(_ frames: ((UnsafeRawBufferPointer) throws -> Void) throws -> Void) throws
            -> ApplySummary
        {
            try inner.receive(frames)
        }
        func meet(_ greeting: Greeting) throws -> [Fork] { try inner.meet(greeting) }
        func renewIdentity(_ forks: [Fork]) throws { try inner.renewIdentity(forks) }
        func remember(_ peer: ReplicaID, name: String, knowing vector: VersionVector) throws {
            try inner.remember(peer, name: name, knowing: vector)
        }
        func close() { inner.close() }
    }

    @Test func anOlderPeerIsNotCompared() throws {
        let stores = try TestStores()
        let (first, second) = try pair(stores)
        try second.queue.write { db in
            try db.execute(sql: "UPDATE _sync_row SET hlc = hlc + 1")
            try DigestLedger.invalidate(db)
        }
        let older = OlderPeer(second.synchronizer.peer)
        let report = try SessionDriver(
            local: first.synchronizer.peer, remote: older, remoteName: "b", progress: nil
        ).run(.both)
        #expect(report.divergence == nil)
        #expect(throws: SyncError.self) {
            try DivergenceRepair(local: first.synchronizer.peer, remote: older).find()
        }
    }

    @Test func storesThatDoNotKnowTheSameAreNotCompared() throws {
        let stores = try TestStores()
        let (first, second) = try pair(stores)
        try first.execute("UPDATE note SET title = 'c'")
        #expect { try first.synchronizer.compare(with: second.transport) } throws: {
            ($0 as? SyncError)?.code == .notComparable
        }
    }

    @Test func aRepairThatIsOldIsRefused() throws {
        let stores = try TestStores()
        let (first, second) = try pair(stores)
        var frames: [[UInt8]] = []
        let rows = [StateRows(table: ["note"], keys: [StateRowKey(bytes: Array(key(1)), isText: false)])]
        let sent = try first.synchronizer.peer.send(rows: rows) { frames.append(Array($0)) }
        #expect(sent.rowCount == 1)
        try second.execute("DELETE FROM note")
        #expect { try second.apply(frames) } throws: { ($0 as? SyncError)?.code == .changedMeanwhile }
        #expect(try second.dump() == [])
    }

    @Test func anApplicationThatFailsChangesNoDigest() throws {
        let stores = try TestStores()
        let (first, second) = try pair(stores)
        try first.execute("INSERT INTO note (id, title) VALUES (?, 'c')", [key(2)])
        try first.execute("UPDATE note SET title = 'd'")
        let before = try second.digests()
        var frames: [[UInt8]] = []
        _ = try first.synchronizer.peer.send(since: second.vector(), progress: nil) {
            frames.append(Array($0))
        }
        for count in 0..<frames.count {
            #expect(throws: (any Error).self) { try second.apply(Array(frames.prefix(count))) }
        }
        let after = try second.digests()
        #expect(before == after)
        #expect(try second.problems() == [])
    }
}
