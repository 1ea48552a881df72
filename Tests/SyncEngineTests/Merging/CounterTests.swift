import CipherStore
import Foundation
import SyncWire
import TestSupport
import Testing

@testable import SyncEngine

/// Columns that count.
@Suite struct CounterTests {
    private func replicas(
        _ count: Int, stars: String = "5", seed: UInt64 = 1, declare: Bool = true
    ) throws -> [TestReplica] {
        let stores = try TestStores(seed: seed)
        let first = try stores.create("0.db")
        if declare { try first.synchronizer.setPolicies([.counter("note", "stars")]) }
        try first.execute("INSERT INTO note (id, title, stars) VALUES (?, 'n', \(stars))", [key(1)])
        return try [first] + (1..<count).map { try stores.clone(first, as: "\($0).db") }
    }

    private func stars(_ replica: TestReplica, _ number: UInt8 = 1) throws -> DatabaseValue? {
        try replica.queue.read {
            try DatabaseValue.fetchOne(
                $0, sql: "SELECT stars FROM note WHERE id = ?", arguments: [key(number)])
        }
    }

    private func expect(
        _ replicas: [TestReplica], _ value: (any DatabaseValueConvertible)?,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        for replica in replicas {
            let shown = try stars(replica)
            #expect(shown == (value?.databaseValue ?? .null), sourceLocation: sourceLocation)
        }
    }

    private func add(_ number: Int64, _ replica: TestReplica) throws {
        try replica.execute("UPDATE note SET stars = stars + ?", [number])
    }

    @Test func whatReplicasAddIsSummedUp() throws {
        let all = try replicas(3)
        try add(1, all[0])
        try add(1, all[0])
        try add(10, all[1])
        try add(-3, all[2])
        let report = try all[0].sync(all[1])
        #expect(report.conflictCount == 0)
        try all[0].sync(all[2])
        try all[1].sync(all[0])
        try expect(all, 14)
        // And on from there, with what was learnt.
        try add(100, all[1])
        try add(1000, all[0])
        try all[1].sync(all[2])
        try all[2].sync(all[0])
        try all[1].sync(all[0])
        try expect(all, 1114)
        #expect(try all[0].state(["note"]) == all[1].state(["note"]))
        #expect(try all.map { try $0.synchronizer.conflictCount(.all) } == [0, 0, 0])
    }

    /// A log entry that is in both files would be counted by both.
    @Test(arguments: [false, true]) func whatIsAddedWhileACloneIsMadeCountsOnce(isArchive: Bool) throws {
        let stores = try TestStores(seed: 1)
        let a = try stores.create("0.db")
        try a.synchronizer.setPolicies([.counter("note", "stars")])
        try a.execute("INSERT INTO note (id, title, stars) VALUES (?, 'n', 5)", [key(1)])
        let other = try DatabaseQueue(
            path: stores.path("0.db"), configuration: TestStores.configuration("0.db"))
        let writer = CommitFollower(count: 3) {
            try other.write { try $0.execute(sql: "UPDATE note SET stars = stars + 1") }
        }
        a.queue.add(transactionObserver: writer)
        if isArchive {
            let archive = stores.path("0.csa")
            try a.synchronizer.archive(
                to: archive, lock: ArchiveLock(passphrase: Passphrase("p"), cost: .minimum))
            try Synchronizer.restore(
                archive: archive, to: stores.path("1.db"), opening: ArchiveSecret(Passphrase("p")),
                passphrase: Passphrase("passphrase of 1.db"), environment: stores.clock.environment)
        } else {
            try a.synchronizer.clone(to: stores.path("1.db"), passphrase: Passphrase("passphrase of 1.db"))
        }
        #expect(writer.remaining == 0)
        a.queue.remove(transactionObserver: writer)
        let b = try stores.open("1.db")
        try add(10, b)
        try a.sync(b)
        try expect([a, b], 18)
    }

    @Test func aWrittenSumIsWhatItAdds() throws {
        let all = try replicas(2)
        try all[0].execute("UPDATE note SET stars = 0")
        try add(1, all[1])
        try all[0].sync(all[1])
        try expect(all, 1)
        try all[0].execute("UPDATE note SET stars = 50, title = 'x'")
        try all[0].execute("UPDATE note SET stars = 1")
        try all[0].sync(all[1])
        try expect(all, 1)
    }

    @Test func anUntouchedCounterIsSentAsItIs() throws {
        let all = try replicas(2)
        try all[0].execute("UPDATE note SET title = 'x'")
        try all[0].sync(all[1])
        try expect(all, 5)
        try all[0].execute("INSERT INTO note (id, stars) VALUES (?, 7)", [key(2)])
        try all[0].execute("UPDATE note SET stars = stars + 1 WHERE id = ?", [key(2)])
        try all[0].sync(all[1])
        #expect(try stars(all[1], 2) == 8.databaseValue)
        let store = all[0].stores
        let late = try store.clone(all[1], as: "late.db")
        try late.execute("UPDATE note SET stars = stars + 1")
        try late.sync(all[0])
        #expect(try stars(all[0], 2) == 9.databaseValue)
        #expect(try stars(all[0]) == 6.databaseValue)
    }

    @Test func sumsWrapAroundAtTheEndsOf64Bits() throws {
        let all = try replicas(2, stars: "9223372036854775806")
        try add(1, all[0])
        try add(1, all[1])
        try all[0].sync(all[1])
        try expect(all, Int64.min)
        try all[1].execute("UPDATE note SET stars = -1")
        try all[0].sync(all[1])
        try expect(all, Int64(-1))
    }

    @Test func whatIsNoIntegerIsOfTheLastWriter() throws {
        let all = try replicas(2)
        try add(2, all[0])
        try all[1].execute("UPDATE note SET stars = NULL")
        try all[0].sync(all[1])
        try expect(all, nil as Int?)
        // An integer after that is written, not added.
        try all[0].execute("UPDATE note SET stars = 20")
        try all[0].sync(all[1])
        try expect(all, 20)
        try add(1, all[0])
        try add(1, all[1])
        try all[0].sync(all[1])
        try expect(all, 22)
        try all[0].execute("UPDATE note SET stars = 'many'")
        try add(1, all[1])
        try all[1].sync(all[0])
        try expect(all, "many")
        try all[1].execute("UPDATE note SET stars = 1.5")
        try all[1].sync(all[0])
        try expect(all, 1.5)
    }

    @Test func aLaterLifeBeginsAnew() throws {
        let all = try replicas(2)
        try add(3, all[0])
        try all[0].sync(all[1])
        try all[0].execute("DELETE FROM note")
        try all[0].execute("INSERT INTO note (id, stars) VALUES (?, 100)", [key(1)])
        try add(1, all[0])
        try add(7, all[1])
        try all[0].sync(all[1])
        try expect(all, 101)
        try all[1].execute("INSERT OR REPLACE INTO note (id, stars) VALUES (?, 1)", [key(1)])
        try add(1, all[1])
        try all[0].sync(all[1])
        try expect(all, 2)
        try all[0].execute("DELETE FROM note")
        try all[0].sync(all[1])
        #expect(try all[0].value("SELECT count(*) FROM _sync_part", as: Int.self) == 0)
        #expect(try all[1].value("SELECT count(*) FROM _sync_part", as: Int.self) == 0)
    }

    @Test func twoThatDeclareOneColumnAtTheSameTimeAgree() throws {
        let all = try replicas(2, declare: false)
        try all[0].execute("UPDATE note SET stars = 6")
        try all[1].execute("UPDATE note SET stars = 9")
        for replica in all { try replica.synchronizer.setPolicies([.counter("note", "stars")]) }
        try add(1, all[0])
        try add(1, all[1])
        try all[0].sync(all[1])
        // The later of the two values from before, and what both have added since.
        try expect(all, 11)
        #expect(try all[0].synchronizer.conflicts().count == 1)
        try add(1, all[1])
        try all[0].sync(all[1])
        try expect(all, 12)
    }

    @Test func aPeerLearnsThatAColumnCounts() throws {
        let all = try replicas(2, declare: false)
        try all[0].synchronizer.setPolicies([.counter("note", "stars")])
        try add(1, all[0])
        try all[0].sync(all[1])
        #expect(try all[1].synchronizer.policies() == [.counter("note", "stars")])
        try add(1, all[0])
        try add(1, all[1])
        try all[0].sync(all[1])
        try expect(all, 8)
        #expect(try all[0].synchronizer.status().schemaRemarks.isEmpty)
        #expect(try all[1].synchronizer.status().parkedCount == 0)
    }

    @Test func aCounterIsRenamedDroppedAndComesBack() throws {
        let all = try replicas(2)
        try add(1, all[0])
        try all[0].sync(all[1])
        try all[0].migrate("rename") {
            try $0.alter(table: "note") { $0.rename(column: "stars", to: "likes") }
        }
        try all[0].execute("UPDATE note SET likes = likes + 1")
        try add(1, all[1])
        try all[0].sync(all[1])
        #expect(try all[0].value("SELECT likes FROM note", as: Int.self) == 8)
        try expect([all[1]], 8)
        try all[1].migrate("drop") { try $0.alter(table: "note") { $0.drop(column: "stars") } }
        try all[0].execute("UPDATE note SET likes = likes + 2")
        try all[0].sync(all[1])
        try all[1].migrate("again") { try $0.alter(table: "note") { $0.add(column: "likes", .integer) } }
        #expect(try all[1].value("SELECT likes FROM note", as: Int.self) == 10)
        try all[1].execute("UPDATE note SET likes = likes + 1")
        try all[0].execute("UPDATE note SET likes = likes + 1")
        try all[0].sync(all[1])
        for replica in all { #expect(try replica.value("SELECT likes FROM note", as: Int.self) == 12) }
    }

    @Test func aMigrationThatEveryReplicaRunsCountsOnce() throws {
        let all = try replicas(2)
        for replica in all {
            try replica.migrate("double") { try $0.execute(sql: "UPDATE note SET stars = stars * 2") }
        }
        try all[0].sync(all[1])
        try expect(all, 10)
        try add(1, all[0])
        try add(1, all[1])
        try all[0].sync(all[1])
        try expect(all, 12)
    }

    @Test func aRowThatIsHiddenCountsOn() throws {
        let stores = try TestStores()
        let a = try stores.create(
            schema: "CREATE TABLE item (id BLOB PRIMARY KEY, name TEXT UNIQUE, n INTEGER)", tables: ["item"])
        try a.synchronizer.setPolicies([.counter("item", "n")])
        let b = try stores.clone(a, as: "b.db")
        try a.execute("INSERT INTO item VALUES (?, 'x', 1)", [key(1)])
        try b.execute("INSERT INTO item VALUES (?, 'x', 10)", [key(2)])
        try b.execute("UPDATE item SET n = n + 5")
        try a.sync(b)
        try b.execute("UPDATE item SET n = n + 1")
        try a.execute("UPDATE item SET n = n + 1")
        try a.sync(b)
        try a.execute("UPDATE item SET name = name || hex(id)")
        try b.execute("UPDATE item SET name = name || hex(id)")
        for _ in 0..<3 { try a.sync(b) }
        #expect(try a.dump(["item"]) == b.dump(["item"]))
        #expect(try a.dump(["item"]).count == 2)
    }

    @Test func aRestoredFileGoesOnUnderItsNewIdentity() throws {
        let all = try replicas(2)
        try add(1, all[0])
        try all[0].sync(all[1])
        try all[0].queue.write { db in
            let fork = Fork(replica: try StoreMetadata.require(db).replicaID(), common: 0)
            try ReplicaIdentity.renew(FoldedStore.fold(db, all[0].stores.clock.environment), [fork])
        }
        try add(1, all[0])
        try all[0].sync(all[1])
        try add(1, all[1])
        try all[0].sync(all[1])
        try expect(all, 8)
    }

    @Test func deletedIncrementsAreInTheJournal() throws {
        let all = try replicas(2)
        try add(2, all[0])
        try all[1].execute("DELETE FROM note")
        try all[0].sync(all[1])
        let conflict = try #require(try all[0].synchronizer.conflicts().first)
        #expect(conflict.column == "stars")
        #expect(conflict.lost == 2.databaseValue)
        try all[0].synchronizer.resolve(.open, by: .restoreLost)
        try all[0].sync(all[1])
        try expect(all, 7)
    }

    @Test func aColumnThatTwoHaveUnderTwoNamesAddsUpWhenItBecomesOne() throws {
        let all = try replicas(2)
        try add(1, all[0])
        try add(2, all[1])
        try all[0].sync(all[1])
        // Renamed by a program that leaves no other name, as if the column were another one.
        try all[0].migrate("rename") {
            try $0.alter(table: "note") { $0.rename(column: "stars", to: "likes") }
        }
        try all[0].queue.write { try $0.execute(sql: "DELETE FROM _sync_alias") }
        try all[0].execute("UPDATE note SET likes = likes + 10")
        try add(100, all[1])
        try all[0].sync(all[1], .push)
        try all[1].migrate("rename") {
            try $0.alter(table: "note") { $0.rename(column: "stars", to: "likes") }
        }
        #expect(try all[1].value("SELECT likes FROM note", as: Int.self) == 118)
        try all[1].sync(all[0])
        try all[0].execute("UPDATE note SET likes = likes + 1")
        try all[0].sync(all[1])
        for replica in all { #expect(try replica.value("SELECT likes FROM note", as: Int.self) == 119) }
    }

    @Test func aProgramThatKnowsNoCountersForwardsThem() throws {
        let all = try replicas(3)
        // The relay is one that has the metadata without the meaning.
        try all[1].queue.write { try $0.execute(sql: "DELETE FROM _sync_policy; DELETE FROM _sync_part") }
        try add(1, all[0])
        try add(10, all[2])
        try all[0].sync(all[1], .push)
        try all[1].queue.write { db in
            // What it got as values of a column that it does not have.
            try db.execute(
                sql: """
                    INSERT INTO _sync_shadow (tbl, pk, col, val, why)
                    SELECT r.tbl, r.pk, p.col, p.val, 'no such column' FROM _sync_part p JOIN _sync_row r ON r.r = p.r
                    JOIN _sync_share h ON h.tbl = r.tbl AND h.col = p.col;
                    UPDATE note SET stars = 5;
                    DELETE FROM _sync_log WHERE seq > (SELECT folded FROM _sync_state) AND seq < (SELECT max(seq) FROM _sync_log);
                    UPDATE _sync_log SET op = 0 WHERE seq > (SELECT folded FROM _sync_state);
                    DELETE FROM _sync_policy; DELETE FROM _sync_share; DELETE FROM _sync_part;
                    """)
        }
        try all[2].sync(all[1], .pull)
        try expect([all[2]], 16)
        #expect(try all[2].synchronizer.status().parkedCount == 0)
    }

    @Test func wrongPoliciesAreRefused() throws {
        let all = try replicas(1)
        let synchronizer = all[0].synchronizer
        for (policy, code) in [
            (ColumnPolicy.counter("nope", "x"), SyncError.Code.noSuchTable),
            (.counter("note", "x"), .unsuitablePolicy),
            (.counter("note", "id"), .unsuitablePolicy), (.lastWriter("note", "stars"), .unsuitablePolicy),
        ] {
            let error = #expect(throws: SyncError.self) {
                try synchronizer.setPolicies([.custom("note", "body", merge: "m"), policy])
            }
            #expect(error?.code == code)
        }
        #expect(try synchronizer.policies() == [.counter("note", "stars")])
        try synchronizer.setPolicies([.counter("NOTE", "Stars"), .custom("note", "body", merge: "m")])
        try synchronizer.setPolicies([.lastWriter("note", "body")])
        #expect(try synchronizer.policies().map(\.kind) == [.lastWriter, .counter])
    }

    @Test(arguments: Campaign.seeds(3, nightly: 60)) func randomHistoriesEndInTheSumOfAllIncrements(
        seed: UInt64
    ) throws {
        var random = SplitMix64(state: seed)
        let all = try replicas(3, seed: seed)
        var total: Int64 = 5
        for _ in 0..<60 {
            let one = Int(random.next(below: 3))
            switch random.next(below: 3) {
            case 0: try all[one].sync(all[(one + 1 + Int(random.next(below: 2))) % 3])
            case 1:
                let number = Int64(random.next(below: 20)) - 10
                total += number
                try add(number, all[one])
            default: try all[one].execute("UPDATE note SET body = ?", ["b\(random.next(below: 9))"])
            }
        }
        for _ in 0..<2 {
            try all[0].sync(all[1])
            try all[0].sync(all[2])
        }
        try expect(all, total)
        #expect(try all[0].state(["note"]) == all[1].state(["note"]))
        #expect(try all[0].state(["note"]) == all[2].state(["note"]))
    }
}

/// Does something after each of the next commits of a connection.
private final class CommitFollower: TransactionObserver {
    private(set) var remaining: Int
    private let body: () throws -> Void

    init(count: Int, _ body: @escaping () throws -> Void) {
        remaining = count
        self.body = body
    }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
    func databaseDidChange(with event: DatabaseEvent) {}
    func databaseDidRollback(_ db: Database) {}

    func databaseDidCommit(_ db: Database) {
        guard remaining > 0 else { return }
        remaining -= 1
        do { try body() } catch { Issue.record(error) }
    }
}
