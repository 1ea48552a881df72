import CipherStore
import Foundation
import SyncWire
import Testing

@testable import SyncEngine

/// What files counted under one identity counts once, whoever finds out that they are two.
@Suite struct ForkedCounterTests {
    private func stars(_ replica: TestReplica) throws -> Int? {
        try replica.value("SELECT stars FROM note", as: Int.self)
    }

    private func add(_ number: Int, _ replica: TestReplica) throws {
        try replica.execute("UPDATE note SET stars = stars + \(number)")
    }

    /// A store in which something was counted, two others that know it, and a copy that nobody notices.
    private func duplicate(
        _ stores: TestStores
    ) throws -> (a: TestReplica, copy: TestReplica, b: TestReplica, c: TestReplica) {
        let a = try stores.create()
        try a.synchronizer.setPolicies([.counter("note", "stars")])
        try a.insert(1, "one")
        let b = try stores.clone(a, as: "b.db")
        let c = try stores.clone(a, as: "c.db")
        for number in 1...3 {
            try add(number, a)
            try a.meet(b)
        }
        try a.meet(c)
        try a.queue.close()
        try stores.copy("a.db", to: "copy.db")
        return (try stores.open("a.db"), try stores.open("copy.db", copyOf: "a.db"), b, c)
    }

    @Test(arguments: 0..<6) func whatACopyAndItsOriginalCountIsSummedUp(order: Int) throws {
        let stores = try TestStores(seed: UInt64(order) + 1)
        let (a, copy, b, c) = try duplicate(stores)
        // The same at the same time: only who did it differs.
        let now = stores.clock.environment.milliseconds() + 10
        for replica in [a, copy] {
            try add(10, replica)
            try replica.queue.write {
                try $0.execute(sql: "UPDATE _sync_log SET ms = ? WHERE op <> 0", arguments: [now])
            }
        }
        switch order {
        case 0: try a.meet(copy)
        case 1:
            try a.meet(b)
            try copy.meet(b)
        case 2:
            try a.meet(b)
            try copy.meet(c)
        case 3:
            try a.meet(b)
            try copy.meet(c)
            // Neither of the two is there when the fork is found.
            try b.meet(c)
        case 4:
            try copy.meet(b)
            try c.meet(b)
            try a.meet(c)
        default:
            try a.meet(b)
            try copy.meet(c)
            try b.meet(c)
            // The same is moved again, with more.
            try add(100, a)
            try a.meet(c)
        }
        for replica in [a, copy, b, c] { try add(1000, replica) }
        try expectEqual([a, copy, b, c])
        let sum = 6 + 20 + (order == 5 ? 100 : 0) + 4000
        for replica in [a, copy, b, c] { #expect(try stars(replica) == sum) }
        #expect(try a.value("SELECT count(*) FROM _sync_conflict", as: Int.self) == 0)
    }

    /// The newer file is gone: what others got of it counts, and what was counted after the restore.
    @Test(arguments: [false, true]) func aBackupThatCountsOnLosesNothing(isRow: Bool) throws {
        let stores = try TestStores()
        let (a, copy, b, _) = try duplicate(stores)
        try copy.queue.close()
        if isRow { try a.execute("UPDATE note SET title = 'before it'") }
        try add(10, a)
        try a.meet(b)
        try a.queue.close()
        try stores.copy("copy.db", to: "a.db")
        let restored = try stores.open("a.db")
        try add(100, restored)
        try restored.meet(b)
        try add(1000, restored)
        try expectEqual([restored, b])
        #expect(try stars(b) == 1116)
    }

    @Test func aShareOfManyFoldsIsThinnedAndStaysWhole() throws {
        let origin = ReplicaID(high: 1, low: 2)
        var share = CounterShare(origin: origin)
        for number in 1...1000 as ClosedRange<Int64> {
            share.append(
                .init(sequence: number, timestamp: number << 20, nonce: UInt32(number), sum: number * 2))
        }
        #expect(share.entries.count <= CounterShare.entryCountMax)
        #expect(share.entries.last?.sum == 2000)
        let copy = share.bytes.withUnsafeBytes { CounterShare(.blob($0)) }
        #expect(copy == share)
        // A copy that went on after the last entry but a few.
        var other = try #require(share.upTo(990))
        other.append(.init(sequence: 991, timestamp: 5000 << 20, nonce: 7, sum: other.sum + 5))
        for pair in [[share, other], [other, share]] {
            var total = CounterTotal()
            for share in pair { share.bytes.withUnsafeBytes { _ = total.add(.blob($0)) } }
            #expect(total.sum == 2005)
        }
        #expect(share.upTo(0) == nil)
    }

    /// Whoever sent a share can have written anything into it. A replica that goes back to one of its entries must not get a stamp
    /// by that which nobody takes in.
    @Test(arguments: [(-5, -7), (0, 1), (1, -1), (1, 1 << 62 + 1)] as [(Int64, Int64)])
    func aShareGoesBackOnlyToWhatAStampCanBe(sequence: Int64, timestamp: Int64) throws {
        let stores = try TestStores()
        let a = try stores.create()
        try a.synchronizer.setPolicies([.counter("note", "stars")])
        try a.insert(1, "one")
        let b = try stores.clone(a, as: "b.db")
        let liar = try stores.clone(a, as: "liar.db")
        try add(1, liar)
        _ = try liar.peer.greet()
        let cell = "FROM _sync_cell WHERE col = (SELECT col FROM _sync_share)"
        let last = try #require(try liar.value("SELECT oseq \(cell)", as: Int64.self))
        let time = try #require(try liar.value("SELECT hlc \(cell)", as: Int64.self))
        let origin = try liar.replica()
        let share = CounterShare(
            origin: origin,
            entries: [
                .init(sequence: sequence, timestamp: timestamp, nonce: 1, sum: 0),
                .init(sequence: last, timestamp: time, nonce: 2, sum: 1),
            ])
        try liar.queue.write { db in
            try db.execute(
                sql: "UPDATE _sync_part SET val = ? WHERE col = (SELECT col FROM _sync_share)",
                arguments: [Data(share.bytes)])
        }
        try a.meet(liar)
        let environment = a.environment
        try a.queue.write { db in
            try ReplicaIdentity.renew(
                FoldedStore.fold(db, environment), [Fork(replica: origin, common: last - 1)])
        }
        #expect(try a.queue.read { try MetadataCheck.problems(of: $0, isDeep: false) }.isEmpty)
        try b.apply(a.bundle(since: VersionVector()))
        #expect(try stars(a) == 1)
        #expect(try stars(b) == 1)
    }

    @Test func whatIsNoShareAddsNothing() throws {
        var total = CounterTotal()
        let share = CounterShare(
            origin: ReplicaID(high: 1, low: 2),
            entries: [.init(sequence: .max, timestamp: .min, nonce: 1, sum: .min)])
        for count in 0..<share.bytes.count {
            share.bytes.prefix(count).withUnsafeBufferPointer {
                _ = total.add(.blob(UnsafeRawBufferPointer($0)))
            }
        }
        for value: WireValue? in [nil, .null, .real(1), .integer(7)] { total.add(value) }
        #expect(total.sum == 7)
        share.bytes.withUnsafeBytes { _ = total.add(.blob($0)) }
        #expect(total.sum == .min + 7)
    }

    /// Whoever was away while deletions were forgotten takes rows out, and what was counted in them
    /// must not be left for another row.
    @Test func whatWasCountedInARowThatIsTakenOutIsInTheJournal() throws {
        let stores = try TestStores()
        let a = try stores.create()
        try a.synchronizer.setPolicies([.counter("note", "stars")])
        try a.insert(1, "one")
        let b = try stores.clone(a, as: "b.db")
        let away = try stores.clone(a, as: "away.db")
        try a.meet(b)
        try away.meet(a)
        try add(5, away)
        try a.execute("DELETE FROM note")
        try a.meet(b)
        stores.clock.advance(milliseconds: 365 * 24 * 60 * 60 * 1000)
        for (number, replica) in [(2, a), (3, b)] {
            try replica.insert(UInt8(number), "later")
            try a.meet(b)
        }
        #expect(try a.synchronizer.compact().forgottenDeletionCount == 1)
        try away.meet(a)
        #expect(
            try away.value("SELECT count(*) FROM _sync_part WHERE r NOT IN (SELECT r FROM _sync_row)") == 0)
        let lost = try away.synchronizer.conflicts().filter { $0.column == "stars" }.map(\.lost)
        #expect(lost == [5.databaseValue])
        try expectEqual([a, b, away])
    }

    /// A row that is made again after its deletion was forgotten begins at its first life again, and
    /// must not get what was counted in the life that ended.
    @Test func whatWasCountedBeforeAForgottenDeletionDoesNotCountInTheNextRow() throws {
        let stores = try TestStores()
        let a = try stores.create()
        try a.synchronizer.setPolicies([.counter("note", "stars")])
        try a.insert(1, "one")
        let b = try stores.clone(a, as: "b.db")
        try a.meet(b)
        let beforeIt = try b.vector()
        try add(5, b)
        try a.meet(b)
        let (all, single) = (try b.bundle(since: VersionVector()), try b.bundle(since: beforeIt))
        try a.execute("DELETE FROM note")
        try a.meet(b)
        #expect(try a.synchronizer.compact().forgottenDeletionCount == 1)
        try a.execute("INSERT INTO note (id, title, stars) VALUES (?, 'again', 100)", [key(1)])
        for bundle in [all, single] {
            _ = try a.apply(bundle)
            #expect(try stars(a) == 100)
        }
        try a.meet(b)
        try add(1, b)
        try expectEqual([a, b])
        #expect(try stars(a) == 101)
    }

    /// A replica that was given up counts in a row whose deletion it does not know, and somebody who
    /// heard of that makes the row again.
    @Test func whatWasCountedInARowThatWasMadeAgainMeanwhileGoes() throws {
        let stores = try TestStores()
        let a = try stores.create()
        try a.synchronizer.setPolicies([.counter("note", "stars")])
        try a.insert(1, "one")
        let away = try stores.clone(a, as: "away.db")
        try a.meet(away)
        try add(5, away)
        try a.execute("DELETE FROM note")
        stores.clock.advance(milliseconds: 365 * 24 * 60 * 60 * 1000)
        #expect(try a.synchronizer.compact().forgottenDeletionCount == 1)
        try a.meet(away, .pull)
        #expect(try stars(a) == nil)
        try a.execute("INSERT INTO note (id, title, stars) VALUES (?, 'again', 100)", [key(1)])
        try a.meet(away)
        for replica in [a, away] { #expect(try stars(replica) == 100) }
        try add(1, away)
        try expectEqual([a, away])
        #expect(try stars(a) == 101)
    }

    // MARK: Shares as values

    /// What others take into a sum has to be the same everywhere, or replicas show different values of one version.
    @Test func aShareOfMoreEntriesThanTheContractSaysAddsNothing() {
        for (count, total) in [(1, 1), (1_024, 1_024), (1_025, 0)] {
            let entries = (1...count).map { number in
                CounterShare.Entry(
                    sequence: Int64(number), timestamp: Int64(number), nonce: 0, sum: Int64(number))
            }
            let share = CounterShare(origin: ReplicaID(high: 1, low: 2), entries: entries)
            let added = share.bytes.withUnsafeBytes { (bytes) -> Int64 in
                var sum = CounterTotal()
                return sum.add(.blob(bytes))
            }
            #expect(added == Int64(total), "\(count) entries")
        }
    }

    @Test func aBlobThatIsNoShareAddsNothing() {
        let share = CounterShare(
            origin: ReplicaID(high: 1, low: 2),
            entries: [CounterShare.Entry(sequence: 1, timestamp: 1, nonce: 0, sum: 7)])
        let damaged: [[UInt8]] = [
            [], Array(share.bytes.prefix(17)), Array(share.bytes.dropLast()),
            [2] + Array(share.bytes.dropFirst()),
        ]
        for bytes in damaged {
            let added = bytes.withUnsafeBytes { (bytes) -> Int64 in
                var sum = CounterTotal()
                return sum.add(.blob(bytes))
            }
            #expect(added == 0, "\(bytes.count) bytes")
        }
    }
}
