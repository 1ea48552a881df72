import CipherStore
import SyncWire
import Testing

@testable import SyncEngine

/// A replica that was retired, and of which those who refuse it know more than it does.
@Suite struct RetiredForkTests {
    enum Way: CaseIterable { case direct, bundle }

    /// - returns: Two replicas of one database; the second was put back to an older state, wrote something, and was
    ///   retired by the first, which has forgotten a deletion of its lost time.
    private func retired(_ stores: TestStores) throws -> (a: TestReplica, restored: TestReplica) {
        let a = try stores.create()
        try a.insert(1, "one")
        let b = try stores.clone(a, as: "b.db")
        try b.insert(2, "two")
        try b.meet(a)
        try b.queue.close()
        try stores.copy("b.db", to: "backup.db")
        let later = try stores.open("b.db")
        for number in UInt8(3)..<9 { try later.insert(number, "lost with the file \(number)") }
        try later.execute("DELETE FROM note WHERE title = 'one'")
        try later.meet(a)
        try later.queue.close()
        try stores.copy("backup.db", to: "b.db")
        let restored = try stores.open("b.db")
        try restored.insert(20, "after the restore")
        try restored.execute("UPDATE note SET body = 'after the restore' WHERE title = 'two'")
        try a.synchronizer.retire(restored.replica())
        #expect(try a.synchronizer.compact().forgottenDeletionCount == 1)
        return (a, restored)
    }

    @Test(arguments: Way.allCases)
    func itTakesAlongWhatCountsAsKnown(way: Way) throws {
        let stores = try TestStores()
        let (a, restored) = try retired(stores)
        let error = #expect(throws: SyncError.self) {
            switch way {
            case .direct: try restored.meet(a)
            case .bundle: try restored.apply(try a.bundle(since: VersionVector()))
            }
        }
        #expect(error?.code == .retiredReplica)
        let old = try restored.replica()
        #expect(try restored.synchronizer.renewIdentity() != old)
        for _ in 0..<2 { try restored.meet(a) }
        try expectEqual([a, restored])
        #expect(try a.titles().contains("after the restore"))
        #expect(try a.value("SELECT body FROM note WHERE title = 'two'") == "after the restore")
        #expect(try !a.titles().contains("one"))
        #expect(try restored.synchronizer.replicas().first { $0.replica == old }?.retirement != nil)
    }

    @Test func aNoteOfAnEarlierIdentityIsNotUsed() throws {
        let stores = try TestStores()
        let (a, restored) = try retired(stores)
        #expect(throws: SyncError.self) { try restored.meet(a) }
        try restored.queue.write { db in
            try ReplicaIdentity.renew(FoldedStore.fold(db, stores.clock.environment), [])
            #expect(try RetirementForks.take(db).isEmpty)
            #expect(try RetirementForks.take(db).isEmpty)
        }
    }

    /// A remote may name any number of replicas.
    @Test func forksOfStrangersAreNotNoted() throws {
        let stores = try TestStores()
        let replica = try stores.create()
        let own = try replica.replica()
        let strangers = (0..<100).map { Fork(replica: Identifier128(high: 1, low: UInt64($0)), common: 0) }
        try replica.queue.write { db in
            try RetirementForks.note(db, strangers + [Fork(replica: own, common: 3)])
            #expect(try RetirementForks.take(db) == [Fork(replica: own, common: 3)])
            try RetirementForks.note(db, strangers)
            #expect(try RetirementForks.take(db).isEmpty)
        }
    }
}
