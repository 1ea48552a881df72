import CipherStore
import Foundation
import SyncWire
import Synchronization
import TestSupport
import Testing

@testable import SyncEngine

extension TestReplica {
    /// The digests here, by names, after everything was summed.
    func digests() throws -> [String: DigestSum] {
        try queue.write { db in
            let metadata = try StoreMetadata.require(db)
            let ledger = try DigestLedger(db, metadata)
            try ledger.catchUp()
            var sums: [String: DigestSum] = [:]
            let tables = try SyncedTable.loadAll(db)
            for (part, sum) in try ledger.sums() {
                let table = try #require(tables.first { $0.number == part.table })
                let column = table.columns.first { $0.number == part.column }?.name ?? ""
                sums["\(table.name).\(column)"] = sum
            }
            return sums
        }
    }

    /// What a deep check says of the metadata.
    func problems() throws -> [String] {
        try queue.read { try MetadataCheck.problems(of: $0, isDeep: true).map(\.message) }
    }

}

/// The sums of versions, as they are kept.
@Suite struct DigestLedgerTests {
    private func act(_ replica: TestReplica, _ random: inout SplitMix64) throws {
        let row = key(UInt8(random.next(below: 8)))
        let text = "0000000\(random.next(below: 5))-0000-4000-8000-000000000000"
        let number = Int64(random.next(below: 5))
        switch random.next(below: 10) {
        case 0..<2:
            try replica.execute("INSERT OR IGNORE INTO note (id, title) VALUES (?, ?)", [row, "t\(number)"])
        case 2:
            try replica.execute("INSERT OR REPLACE INTO note (id, body) VALUES (?, ?)", [row, "r\(number)"])
        case 3..<6:
            try replica.execute("UPDATE note SET title = ?, stars = stars + 1 WHERE id = ?", [number, row])
        case 6: try replica.execute("UPDATE note SET body = ? WHERE id = ?", [number, row])
        case 7: try replica.execute("DELETE FROM note WHERE id = ?", [row])
        case 8:
            try replica.execute("INSERT OR IGNORE INTO tag (id, name) VALUES (?, ?)", [text, "n\(number)"])
        default: try replica.execute("UPDATE OR IGNORE tag SET name = ? WHERE id = ?", ["m\(number)", text])
        }
    }

    @Test(arguments: Campaign.seeds(4, nightly: 80)) func sumsAreRightAfterRandomHistories(seed: UInt64)
        throws
    {
        var random = SplitMix64(state: seed)
        let stores = try TestStores(seed: seed)
        let first = try stores.create("0.db")
        if seed % 2 == 0 { try first.synchronizer.setPolicies([.counter("note", "stars")]) }
        var replicas = [first, try stores.clone(first, as: "1.db")]
        replicas.append(try stores.clone(first, as: "2.db"))
        var equalCount = 0
        for step in 0..<60 {
            let one = Int(random.next(below: 3))
            if random.next(below: 3) > 0 {
                try act(replicas[one], &random)
                continue
            }
            let other = (one + 1 + Int(random.next(below: 2))) % 3
            try replicas[one].sync(replicas[other], [.both, .pull, .push][Int(random.next(below: 3))])
            if step % 20 == 0 { try first.synchronizer.compact() }
            for replica in [replicas[one], replicas[other]] { #expect(try replica.problems() == []) }
            if try replicas[one].vector() == replicas[other].vector() {
                equalCount += 1
                let (left, right) = (try replicas[one].digests(), try replicas[other].digests())
                #expect(left == right)
            }
        }
        #expect(equalCount > 2)
        #expect(try replicas[0].digests()["note."]?.count ?? 0 > 0)
    }

    @Test func deletedRowsAndTakenBackCellsLeaveNothing() throws {
        let stores = try TestStores()
        let replica = try stores.create()
        try replica.execute("INSERT INTO note (id, title) VALUES (?, 'a')", [key(1)])
        let other = try stores.clone(replica, as: "b.db")
        try replica.sync(other)
        try replica.execute("UPDATE note SET body = 'b'")
        try replica.sync(other)
        #expect(Set(try replica.digests().keys) == ["note.", "note.body"])
        try replica.execute("DELETE FROM note")
        try replica.sync(other)
        #expect(try replica.digests().isEmpty && other.digests().isEmpty)
    }

    @Test func aSumThatIsNotThatOfTheVersionsIsFound() throws {
        let stores = try TestStores()
        let replica = try stores.create()
        try replica.execute("INSERT INTO note (id, title) VALUES (?, 'a')", [key(1)])
        let other = try stores.clone(replica, as: "b.db")
        try replica.sync(other)
        #expect(try replica.problems() == [])
        try replica.queue.write { try $0.execute(sql: "UPDATE _sync_row SET hlc = hlc + 1") }
        #expect(try replica.problems() == ["the digest of table note is not that of its versions"])
    }

    @Test func aStoreWithoutSumsGetsThem() throws {
        let stores = try TestStores()
        let replica = try stores.create()
        try replica.execute("INSERT INTO note (id, title) VALUES (?, 'a')", [key(1)])
        let other = try stores.clone(replica, as: "b.db")
        try replica.sync(other)
        let before = try replica.digests()
        try replica.queue.write { try DigestLedger.invalidate($0) }
        let after = try replica.digests()
        #expect(before == after && !before.isEmpty)
    }

    @Test func aNewIdentityKeepsTheSums() throws {
        let stores = try TestStores()
        let replica = try stores.create()
        try replica.execute("INSERT INTO note (id, title) VALUES (?, 'a')", [key(1)])
        let other = try stores.clone(replica, as: "b.db")
        try replica.execute("UPDATE note SET body = 'b'")
        try replica.sync(other)
        try other.queue.write { db in
            try ReplicaIdentity.renew(FoldedStore.fold(db, stores.clock.environment), [])
        }
        try other.execute("INSERT INTO note (id, title) VALUES (?, 'c')", [key(2)])
        try replica.sync(other)
        #expect(try replica.problems() == [] && other.problems() == [])
        let (left, right) = (try replica.digests(), try other.digests())
        #expect(left == right)
    }

    /// What happens, in order.
    private final class Steps: Sendable {
        private let steps = Mutex<[String]>([])

        func add(_ step: String) { steps.withLock { $0.append(step) } }

        /// When something happens first.
        func first(_ text: String) -> Int? { steps.withLock { $0.firstIndex { $0.contains(text) } } }
    }

    /// What others wrote would count as the bundle's time otherwise, and again with each try, as a bundle that is refused sums nothing.
    @Test func theTimeOfABundleBeginsWhenAllThatWasHereIsSummed() throws {
        let stores = try TestStores()
        let hub = try stores.create()
        let device = try stores.clone(hub, as: "device.db")
        let known = try hub.peer.greet().vector
        try hub.insert(1, "by others")
        try hub.queue.write { try DigestLedger.invalidate($0) }
        try device.insert(2, "by the device")
        let frames = try device.bundle(since: known)
        let steps = Steps()
        let terms = UploadTerms(startClock: {
            steps.add("the clock starts")
            return { false }
        })
        hub.queue.inDatabase { db in db.trace { steps.add("\($0)") } }
        let summary = try hub.peer.receiveStored(
            on: { _ in terms },
            { _, sink in
                for frame in frames { try frame.withUnsafeBytes { try sink($0) } }
            })
        hub.queue.inDatabase { $0.trace(options: []) }
        #expect(summary.rowCount == 1)
        let start = try #require(steps.first("the clock starts"))
        let deletion = try #require(steps.first("DELETE FROM _sync_digest"))
        let sum = try #require(steps.first("UPDATE _sync_digest"))
        #expect(deletion < sum && sum < start)
        #expect(try hub.problems() == [])
    }
}
