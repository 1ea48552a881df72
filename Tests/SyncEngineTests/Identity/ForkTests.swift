import CipherStore
import Foundation
import SyncWire
import Testing

@testable import SyncEngine

/// Files that share an identity and nobody noticed when they were opened: nothing is lost,
/// nothing is doubled, all are equal in the end.
@Suite struct ForkTests {
    /// How the others are reached after a restore.
    enum Way: CaseIterable { case direct, hub, bundle }

    @Test(arguments: Way.allCases, [false, true])
    func anOldBackupLosesNothing(way: Way, hasNewChanges: Bool) throws {
        let stores = try TestStores()
        let a = try stores.create()
        try a.insert(1, "one")
        let b = try stores.clone(a, as: "b.db")
        let hub = try stores.clone(a, as: "hub.db")
        try a.insert(2, "two")
        try a.meet(b)
        try a.meet(hub)
        try a.queue.close()
        try stores.copy("a.db", to: "backup.db")
        let later = try stores.open("a.db")
        try later.insert(3, "after the backup")
        try later.execute("UPDATE note SET body = 'after the backup' WHERE title = 'one'")
        try later.execute("DELETE FROM note WHERE title = 'two'")
        try later.meet(b)
        if way == .hub { try b.meet(hub) }
        try later.queue.close()
        try stores.copy("backup.db", to: "a.db")
        let restored = try stores.open("a.db")
        if hasNewChanges {
            // As many as were lost, so that the numbers are the same.
            try restored.insert(4, "after the restore")
            try restored.execute("UPDATE note SET stars = 4 WHERE title = 'one'")
            try restored.insert(5, "after it too")
        }
        switch way {
        case .direct: try restored.meet(b)
        case .hub: try restored.meet(hub)
        case .bundle:
            // Bundles only, and made for what the maker believes.
            try exchangeBundles(restored, b)
        }
        try expectEqual([restored, b, hub])
        var expected = ["one", "after the backup"]
        if hasNewChanges { expected += ["after the restore", "after it too"] }
        #expect(try b.titles() == expected)
        #expect(try b.value("SELECT body FROM note WHERE title = 'one'") == "after the backup")
        if hasNewChanges { #expect(try b.value("SELECT stars FROM note WHERE title = 'one'") == 4) }
    }

    /// Each makes bundles for what the other said last, a few times.
    private func exchangeBundles(_ one: TestReplica, _ other: TestReplica) throws {
        for _ in 0..<4 {
            for (from, to) in [(one, other), (other, one)] {
                let bundle = try from.bundle(since: to.vector())
                do { _ = try to.apply(bundle) } catch let error as SyncError {
                    #expect(error.code == .forkedReplica)
                }
            }
        }
        #expect(try one.state(["note"]) == other.state(["note"]))
    }

    /// Two files that go on under one identity.
    private func duplicate(_ stores: TestStores) throws -> (
        a: TestReplica, copy: TestReplica, b: TestReplica, c: TestReplica
    ) {
        let a = try stores.create()
        try a.insert(1, "one")
        let b = try stores.clone(a, as: "b.db")
        let c = try stores.clone(a, as: "c.db")
        try a.insert(2, "two")
        try a.meet(b)
        try a.meet(c)
        try a.queue.close()
        try stores.copy("a.db", to: "copy.db")
        return (try stores.open("a.db"), try stores.open("copy.db", copyOf: "a.db"), b, c)
    }

    /// The two write the same number of changes at the same times.
    private func write(_ a: TestReplica, _ copy: TestReplica) throws {
        let now = a.environment.milliseconds()
        for (replica, number, title) in [(a, UInt8(10), "of a"), (copy, 20, "of the copy")] {
            try replica.insert(number, title)
            try replica.execute("UPDATE note SET body = '\(title)' WHERE title = 'two'")
            try replica.queue.write { try $0.execute(sql: "UPDATE _sync_log SET ms = \(now) WHERE op <> 0") }
        }
    }

    @Test(arguments: 0..<5) func aDuplicatedMachineLosesNothing(order: Int) throws {
        let stores = try TestStores(seed: UInt64(order) + 1)
        let (a, copy, b, c) = try duplicate(stores)
        try write(a, copy)
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
        default:
            try copy.meet(b)
            try c.meet(b)
            try a.meet(c)
        }
        try expectEqual([a, copy, b, c])
        #expect(try a.titles() == ["one", "two", "of a", "of the copy"])
        #expect(try Set([a, copy, b, c].map { try $0.replica() }).count == 4)
    }

    /// What moves to a new identity is stamped again, and whatever is written next is newer than that.
    @Test func theClockFollowsWhatMoved() throws {
        let stores = try TestStores()
        let (a, copy, b, _) = try duplicate(stores)
        try write(a, copy)
        let before = try a.replica()
        try copy.meet(b)
        try a.meet(b)
        #expect(try a.replica() != before)
        let newest = "SELECT max(hlc) FROM (SELECT hlc FROM _sync_row UNION ALL SELECT hlc FROM _sync_cell)"
        #expect(try a.value("SELECT clock >= (\(newest)) FROM _sync_state") == 1)
    }

    /// Of two writes of one moment, the greater id wins: a new id must not turn that round.
    @Test(arguments: 1...6) func aNewIdentityReplacesWhatTheOldOneDid(seed: UInt64) throws {
        let stores = try TestStores(seed: seed)
        let a = try stores.create()
        try a.insert(1, "one")
        let b = try stores.clone(a, as: "b.db")
        try a.meet(b)
        let now = a.environment.milliseconds()
        for replica in [a, b] {
            try replica.execute("UPDATE note SET body = 'of \(replica.name)'")
            try replica.queue.write { try $0.execute(sql: "UPDATE _sync_log SET ms = \(now) WHERE op <> 0") }
        }
        let known = try b.vector()[a.replica()]
        try a.meet(b, .pull)
        try a.peer.renewIdentity([Fork(replica: a.replica(), common: known)])
        try expectEqual([a, b])
    }

    @Test func aBundleTellsAFileThatWroteNothingOfItsCopy() throws {
        let stores = try TestStores()
        let a = try stores.create()
        try a.insert(1, "one")
        let b = try stores.clone(a, as: "b.db")
        try b.queue.close()
        try stores.copy("b.db", to: "copy.db")
        let original = try stores.open("b.db", copyOf: "b.db")
        let copy = try stores.open("copy.db", copyOf: "b.db")
        try copy.insert(2, "of the copy")
        let old = try original.replica()
        try original.apply(copy.bundle(since: original.vector()))
        try original.insert(3, "of the original")
        #expect(try original.replica() != old || copy.replica() != old)
        try copy.meet(a)
        try original.meet(a)
        try expectEqual([a, original, copy])
        #expect(try a.titles() == ["one", "of the copy", "of the original"])
    }

    /// What a damaged header says is known to be wrong only at the end of the bundle.
    @Test func aBundleWithoutItsEndGivesNoNewIdentity() throws {
        let stores = try TestStores()
        let a = try stores.create()
        try a.insert(1, "one")
        let b = try stores.clone(a, as: "b.db")
        try a.meet(b)
        try a.queue.close()
        try stores.copy("a.db", to: "backup.db")
        let later = try stores.open("a.db")
        try later.insert(2, "after the backup")
        try later.meet(b)
        try b.insert(3, "of b")
        let known = try later.vector()
        try later.queue.close()
        try stores.copy("backup.db", to: "a.db")
        let restored = try stores.open("a.db")
        let bundle = try b.bundle(since: known)
        let old = try restored.replica()
        for count in 1..<bundle.count {
            #expect(throws: WireError.self) { try restored.apply(Array(bundle.prefix(count))) }
            #expect(try restored.replica() == old)
        }
        let error = #expect(throws: SyncError.self) { try restored.apply(bundle) }
        #expect(error?.code == .forkedReplica)
        #expect(try restored.replica() != old)
        try restored.meet(b)
        try expectEqual([restored, b])
        #expect(try b.titles() == ["one", "after the backup", "of b"])
    }

    @Test func changesOfADestroyedForkAreNotLost() throws {
        let stores = try TestStores()
        let (a, copy, b, c) = try duplicate(stores)
        try write(a, copy)
        try a.meet(b)
        try copy.meet(c)
        try copy.queue.close()
        try a.queue.close()
        try b.meet(c)
        try expectEqual([b, c])
        #expect(try b.titles() == ["one", "two", "of a", "of the copy"])
    }

    /// Of two copies of one file that wrote nothing, each met another file of a third one's identity.
    @Test func copiesThatKnowDifferentForksAreTwoFiles() throws {
        let stores = try TestStores()
        let (a, copy, b, _) = try duplicate(stores)
        try write(a, copy)
        try b.queue.close()
        try stores.copy("b.db", to: "copy of b.db")
        let one = try stores.open("b.db", copyOf: "b.db")
        let other = try stores.open("copy of b.db", copyOf: "b.db")
        try one.meet(a, .pull)
        try other.meet(copy, .pull)
        #expect(try one.vector() == other.vector())
        try one.meet(other)
        try expectEqual([one, other])
        #expect(try one.titles() == ["one", "two", "of a", "of the copy"])
    }

    @Test func aForkIsSeenThroughBundlesOnly() throws {
        let stores = try TestStores()
        let (a, copy, b, _) = try duplicate(stores)
        try write(a, copy)
        for _ in 0..<2 {
            try exchangeBundles(a, b)
            try exchangeBundles(copy, b)
        }
        try exchangeBundles(a, b)
        #expect(try a.livingState() == copy.livingState())
        #expect(try a.titles() == ["one", "two", "of a", "of the copy"])
    }

    @Test func onlyWhatIsNotCommonMovesToTheNewIdentity() throws {
        let stores = try TestStores()
        let (a, copy, b, _) = try duplicate(stores)
        let id = try a.replica()
        try write(a, copy)
        try a.meet(b)
        try copy.meet(b)
        let own = try copy.value(
            "SELECT count(*) FROM _sync_row AS r JOIN _sync_state AS s ON s.self = r.sid", as: Int.self)
        #expect(own == 1)
        #expect(try copy.replica() != id)
        #expect(try a.replica() == id)
    }

    @Test func copiesWithoutNewChangesDoNotLookLikeForks() throws {
        let stores = try TestStores()
        let (a, copy, b, _) = try duplicate(stores)
        let error = #expect(throws: SyncError.self) { try a.meet(copy) }
        #expect(error?.code == .sameReplica)
        try copy.meet(b)
        try a.meet(b)
        #expect(try a.replica() == copy.replica())
    }

    @Test func aCloneOfACloneAndTwoRestoresOfOneArchiveAreReplicasOfTheirOwn() throws {
        let stores = try TestStores()
        let a = try stores.create()
        try a.insert(1, "one")
        let b = try stores.clone(a, as: "b.db")
        let c = try stores.clone(b, as: "c.db")
        let archive = stores.path("backup.csa")
        try b.synchronizer.archive(
            to: archive, lock: ArchiveLock(passphrase: Passphrase("archive"), cost: .minimum))
        try b.insert(2, "after the archive")
        try b.meet(a)
        var all = [a, b, c]
        for name in ["d.db", "e.db"] {
            try Synchronizer.restore(
                archive: archive, to: stores.path(name), opening: ArchiveSecret(Passphrase("archive")),
                passphrase: Passphrase("passphrase of \(name)"), environment: a.environment)
            all.append(try stores.open(name))
        }
        for (index, replica) in all.enumerated() { try replica.insert(UInt8(10 + index), "of \(index)") }
        #expect(try Set(all.map { try $0.replica() }).count == 5)
        try expectEqual(all)
        #expect(try a.titles().count == 7)
    }

    @Test func theHashTellsEqualNumbersOfChangesApart() throws {
        // Also when both copies draw the same random numbers, at the same time.
        var points: [ChainPoint?] = []
        for title in ["x", "y"] {
            let stores = try TestStores(seed: 7)
            let a = try stores.create()
            try a.insert(1, title)
            _ = try a.peer.greet()
            points.append(
                try a.queue.read { db in
                    let metadata = try StoreMetadata.require(db)
                    return try ReplicaChain(db: db).points(metadata, upTo: metadata.vector, peer: nil)[
                        metadata.replicaID()]?.first
                })
        }
        #expect(points[0]?.sequence == points[1]?.sequence)
        #expect(points[0]?.hash != points[1]?.hash)
    }

    @Test func oldPointsAreThinnedAndStillProveForks() throws {
        let stores = try TestStores()
        let a = try stores.create()
        for _ in 0..<400 {
            try a.execute("INSERT INTO note (id) VALUES (randomblob(16))")
            try a.queue.write { _ = try FoldedStore.fold($0, a.environment) }
        }
        try a.queue.read { db in
            let chain = ReplicaChain(db: db)
            let metadata = try StoreMetadata.require(db)
            let sid = metadata.selfNumber
            let count = try Int.fetchOne(db, sql: "SELECT count(*) FROM _sync_chain")
            #expect(count ?? 0 < 260)
            let own = try metadata.replicaID()
            let locator = try #require(try chain.points(metadata, upTo: metadata.vector, peer: nil)[own])
            #expect(locator.count < 20)
            #expect(locator.first?.sequence == 400)
            let wrong = ChainPoint(sequence: 400, previous: 399, hash: Identifier128(high: 1, low: 1))
            #expect(try chain.find(wrong, of: sid) == .fork)
            #expect(try chain.find(locator[0], of: sid) == .same)
            // Around what a peer knows, the neighbours are told too, and nothing beyond what is sent.
            let known = VersionVector([own: 399])
            let near = try #require(try chain.points(metadata, upTo: metadata.vector, peer: known)[own])
            #expect(Set(locator).isSubset(of: near) && near.contains { $0.sequence == 399 })
            let part = try #require(try chain.points(metadata, upTo: known, peer: nil)[own])
            #expect(part.first?.sequence == 399)
            #expect(
                try chain.find(ChainPoint(sequence: 900, previous: 1, hash: wrong.hash), of: sid) == .unknown)
        }
    }

    @Test func pointsThatOtherProgramsHaveWrittenAreNotTold() throws {
        let stores = try TestStores()
        let a = try stores.create()
        try a.insert(1, "x")
        let before = try a.peer.greet().facts.chains
        try a.queue.write { db in
            let own = try StoreMetadata.require(db).selfNumber
            try db.execute(
                sql:
                    "INSERT INTO _sync_chain (sid, oseq, previous, hash) VALUES (?, 'z', 0, x''), ('y', 1, 0, x'')",
                arguments: [own])
        }
        #expect(try a.peer.greet().facts.chains == before)
        #expect(before.count == 1)
    }
}
