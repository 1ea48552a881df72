import CipherStore
import Foundation
import SyncWire
import Testing

@testable import SyncEngine

@Suite struct CompactionTests {
    let stores: TestStores

    init() throws { stores = try TestStores() }

    private func tombstones(_ replica: TestReplica) throws -> Int? {
        try replica.value("SELECT count(*) FROM _sync_row WHERE NOT cl & 1", as: Int.self)
    }

    private static let year: Int64 = 365 * 24 * 60 * 60 * 1000

    @Test func aDeletionThatTwoKnowIsForgotten() throws {
        let a = try stores.create()
        try a.insert(1, "x")
        let b = try stores.clone(a, as: "b.db")
        try a.meet(b)
        try a.execute("DELETE FROM note")
        #expect(try a.synchronizer.compact().forgottenDeletionCount == 0)
        #expect(try a.synchronizer.compact().awaitedReplicas == [b.replica()])
        try a.meet(b)
        // Both know of each other's knowledge from the same meeting.
        #expect(try a.synchronizer.compact().forgottenDeletionCount == 1)
        #expect(try b.synchronizer.compact().forgottenDeletionCount == 1)
        try expectEqual([a, b])
        #expect(try a.titles().isEmpty)
    }

    /// Each deletion waits for everybody, so who knows the first one is waited for because of the last.
    @Test func whoeverDoesNotKnowTheLastDeletionIsWaitedFor() throws {
        let a = try stores.create()
        for number in 1...9 as ClosedRange<UInt8> { try a.insert(number, "x") }
        let b = try stores.clone(a, as: "b.db")
        let c = try stores.clone(a, as: "c.db")
        for replica in [b, c, b] { try replica.meet(a) }
        try a.execute("DELETE FROM note WHERE id = ?", [key(1)])
        try a.meet(b)
        #expect(try a.synchronizer.compact().awaitedReplicas == [c.replica()])
        try a.execute("DELETE FROM note WHERE id = ?", [key(2)])
        #expect(try Set(a.synchronizer.compact().awaitedReplicas) == Set([b.replica(), c.replica()]))
        for replica in [b, c] { try replica.meet(a) }
        let report = try a.synchronizer.compact()
        #expect(report.forgottenDeletionCount == 2 && report.awaitedReplicas == [])
    }

    /// The floor is the number of the insertion itself.
    @Test func aRowThatWasTheLastBeforeTheFloorDoesNotComeBack() throws {
        let a = try stores.create()
        try a.insert(1, "x")
        let b = try stores.clone(a, as: "b.db")
        try a.meet(b)
        try b.insert(2, "y")
        let late = stores.path("late.bundle")
        try b.synchronizer.writeBundle(to: late, since: .replica(a.replica()), .plaintext)
        try a.meet(b)
        try a.execute("DELETE FROM note WHERE id = ?", [key(2)])
        try a.meet(b)
        for replica in [a, b] { #expect(try replica.synchronizer.compact().forgottenDeletionCount == 1) }
        _ = try a.synchronizer.applyBundle(at: late, .plaintext)
        #expect(try a.titles() == ["x"])
        try a.meet(b)
        try expectEqual([a, b])
    }

    @Test func theLeavesOfAStarCollectThroughTheHub() throws {
        let hub = try stores.create()
        try hub.insert(1, "x")
        let leaves = try ["b.db", "c.db", "d.db"].map { try stores.clone(hub, as: $0) }
        for _ in 0..<2 { for leaf in leaves { try leaf.meet(hub) } }
        try leaves[0].execute("DELETE FROM note")
        try leaves[0].meet(hub)
        #expect(try leaves[0].synchronizer.compact().forgottenDeletionCount == 0)
        try leaves[1].meet(hub)
        #expect(try hub.synchronizer.compact().forgottenDeletionCount == 0)
        try leaves[2].meet(hub)
        for leaf in leaves { try leaf.meet(hub) }
        for replica in leaves + [hub] {
            try replica.synchronizer.compact()
            #expect(try tombstones(replica) == 0)
        }
        try expectEqual(leaves + [hub])
    }

    @Test func aRingCollectsOnceTheNewsWentRound() throws {
        let first = try stores.create()
        try first.insert(1, "x")
        let ring = [first] + (try ["b.db", "c.db", "d.db"].map { try stores.clone(first, as: $0) })
        func round() throws { for index in ring.indices { try ring[index].meet(ring[(index + 1) % 4]) } }
        try round()
        try round()
        try ring[2].execute("DELETE FROM note")
        try ring[2].meet(ring[3])
        #expect(try ring[2].synchronizer.compact().forgottenDeletionCount == 0)
        for _ in 0..<3 { try round() }
        for replica in ring { try replica.synchronizer.compact() }
        #expect(try ring.map { try tombstones($0) } == [0, 0, 0, 0])
        try expectEqual(ring)
    }

    @Test func aRowThatIsMadeAgainIsEverywhereWhoeverForgotItsDeletion() throws {
        let a = try stores.create()
        try a.insert(1, "x")
        let b = try stores.clone(a, as: "b.db")
        try a.meet(b)
        try a.execute("DELETE FROM note")
        try a.meet(b)
        #expect(try a.synchronizer.compact().forgottenDeletionCount == 1)
        #expect(try tombstones(b) == 1)
        try a.insert(1, "again")
        try a.meet(b)
        #expect(try b.titles() == ["again"])
        try expectEqual([a, b])
    }

    /// A replica that is away while a row is deleted and the deletion forgotten.
    private func leave(_ edit: Bool) throws -> (a: TestReplica, b: TestReplica, away: TestReplica) {
        let a = try stores.create()
        try a.insert(1, "deleted meanwhile")
        try a.insert(2, "stays")
        let b = try stores.clone(a, as: "b.db")
        let away = try stores.clone(a, as: "away.db")
        for _ in 0..<2 {
            try a.meet(b)
            try away.meet(a)
        }
        try away.insert(3, "made while away")
        if edit { try away.execute("UPDATE note SET body = 'edited while away'") }
        try a.execute("DELETE FROM note WHERE title = 'deleted meanwhile'")
        try a.meet(b)
        stores.clock.advance(milliseconds: Self.year)
        try a.insert(4, "a year later")
        try b.insert(5, "a year later too")
        try a.meet(b)
        let report = try a.synchronizer.compact()
        #expect(try report.retiredReplicas == [away.replica()])
        #expect(report.forgottenDeletionCount == 1)
        return (a, b, away)
    }

    @Test(arguments: [SyncDirection.both, .pull, .push], [true, false])
    func whoeverReturnsAfterAYearResurrectsNothingAndKeepsItsOwn(
        direction: SyncDirection, meetsCollector: Bool
    ) throws {
        let (a, b, away) = try leave(true)
        let old = try away.replica()
        if meetsCollector {
            try away.meet(a, direction)
        } else {
            // This one has not forgotten the deletion itself.
            try away.meet(b, direction)
        }
        try expectEqual([a, b, away])
        #expect(try a.titles() == ["stays", "made while away", "a year later", "a year later too"])
        #expect(try a.value("SELECT body FROM note WHERE title = 'stays'") == "edited while away")
        let journals = try [a, b, away].flatMap { try $0.conflicts() }
        #expect(journals.contains { $0.contains("edited while away") && $0.contains("deleted") })
        #expect(try away.replica() != old)
        // Where the row was, all of it can be restored.
        guard try !away.synchronizer.conflicts().isEmpty else { return }
        #expect(try away.synchronizer.resolve(.open, by: .restoreLost).restoredValueCount == 3)
        #expect(try away.titles().contains("deleted meanwhile"))
    }

    @Test func whoeverReturnsBringsNothingBackThroughAThird() throws {
        let (a, b, away) = try leave(false)
        let fresh = try stores.clone(away, as: "fresh.db")
        try fresh.meet(away)
        try fresh.meet(b)
        try b.meet(a)
        try away.meet(fresh)
        try expectEqual([a, b, away, fresh])
        #expect(try fresh.titles() == ["stays", "made while away", "a year later", "a year later too"])
    }

    @Test(arguments: [SyncDirection.both, .pull, .push])
    func twoThatGaveEachOtherUpLoseNothing(direction: SyncDirection) throws {
        let a = try stores.create()
        try a.insert(1, "old")
        let b = try stores.clone(a, as: "b.db")
        try a.meet(b)
        try a.insert(2, "of a")
        try b.insert(3, "of b")
        stores.clock.advance(milliseconds: Self.year)
        for replica in [a, b] {
            #expect(try replica.synchronizer.compact().retiredReplicas.count == 1)
        }
        try a.meet(b, direction)
        try expectEqual([a, b])
        #expect(try a.titles() == ["old", "of a", "of b"])
    }

    /// Two make a row with one key; one of the two rows is deleted and forgotten before the other
    /// comes, which may be the newer or the older one.
    @Test(arguments: [false, true], [false, true])
    func ofTwoRowsWithOneKeyNoneComesBackInPart(isNewer: Bool, hasThird: Bool) throws {
        let a = try stores.create()
        try a.insert(1, "old")
        let b = try stores.clone(a, as: "b.db")
        let third = try stores.clone(a, as: "third.db")
        for replica in [b, third] { try a.meet(replica) }
        if !isNewer { try b.insert(2, "of b") }
        stores.clock.advance(milliseconds: 1000)
        try a.insert(2, "of a")
        try a.execute("UPDATE note SET stars = 5 WHERE title = 'of a'")
        stores.clock.advance(milliseconds: 1000)
        if isNewer { try b.insert(2, "of b") }
        if hasThird { try b.meet(third) }
        try a.meet(b, .push)
        try a.execute("DELETE FROM note WHERE title = 'of a'")
        stores.clock.advance(milliseconds: Self.year)
        #expect(try a.synchronizer.compact().forgottenDeletionCount == 1)
        if hasThird { try third.meet(a) }
        try b.meet(a)
        try expectEqual([a, b, third])
        #expect(try a.vector() == b.vector())
    }

    @Test func aForgottenDeletionStaysForgottenUnderANewIdentity() throws {
        let a = try stores.create()
        try a.insert(1, "deleted")
        try a.insert(2, "stays")
        let b = try stores.clone(a, as: "b.db")
        try a.execute("DELETE FROM note WHERE title = 'deleted'")
        // Nobody told it yet that there is another one.
        #expect(try a.synchronizer.compact().forgottenDeletionCount == 1)
        try a.peer.renewIdentity([Fork(replica: a.replica(), common: b.vector()[a.replica()])])
        try expectEqual([a, b])
        #expect(try b.titles() == ["stays"])
    }

    @Test func aLateBundleDoesNotEndTheNextLifeOfARow() throws {
        let a = try stores.create()
        try a.insert(1, "x")
        let b = try stores.clone(a, as: "b.db")
        try a.meet(b)
        try a.execute("DELETE FROM note")
        try a.meet(b)
        let late = try a.bundle(since: VersionVector())
        #expect(try a.synchronizer.compact().forgottenDeletionCount == 1)
        try a.insert(1, "again")
        try a.meet(b)
        for replica in [a, b] {
            try replica.apply(late)
            #expect(try replica.titles() == ["again"])
        }
        try expectEqual([a, b])
    }

    @Test func aBundleOfARetiredReplicaIsRefused() throws {
        let (a, _, away) = try leave(true)
        let bundle = try away.bundle(since: VersionVector())
        let error = #expect(throws: SyncError.self) { try a.apply(bundle) }
        #expect(error?.code == .retiredReplica)
        try away.meet(a)
        // It is known by now, under another identity.
        try expectEqual([a, away])
    }

    @Test func aBundleFromBeforeACompactionBringsNothingBack() throws {
        let a = try stores.create()
        try a.insert(1, "x")
        let b = try stores.clone(a, as: "b.db")
        try a.meet(b)
        try b.execute("UPDATE note SET body = 'unsent'")
        // One with everything, and one with the edit alone.
        let bundles = [try b.bundle(since: VersionVector()), try b.bundle(since: a.vector())]
        try a.execute("DELETE FROM note")
        try a.meet(b)
        #expect(try a.synchronizer.compact().forgottenDeletionCount == 1)
        for bundle in bundles { try a.apply(bundle) }
        #expect(try a.titles().isEmpty)
        try expectEqual([a, b])
    }

    @Test func aBundleThatBuildsOnForgottenDeletionsIsRefused() throws {
        let (a, _, away) = try leave(false)
        let header = try a.bundle(since: away.vector())
        // The exporter sees that everything is needed, whatever it is asked for.
        try away.apply(header)
        #expect(try !away.titles().contains("deleted meanwhile"))
        #expect(try away.titles().contains("made while away"))
    }

    @Test func aReplicaThatSomebodyRetiredIsRefusedUntilItTakesANewIdentity() throws {
        let a = try stores.create()
        let b = try stores.clone(a, as: "b.db")
        try b.insert(1, "of b")
        try a.meet(b)
        try b.insert(2, "unsent")
        try a.synchronizer.retire(b.replica())
        #expect(try a.synchronizer.replicas().map(\.retirement) == [nil, .requested])
        for (one, other) in [(a, b), (b, a)] {
            let error = #expect(throws: SyncError.self) { try one.meet(other) }
            #expect(error?.code == .retiredReplica)
        }
        let old = try b.replica()
        #expect(try b.synchronizer.renewIdentity() != old)
        try expectEqual([a, b])
        #expect(try a.titles() == ["of b", "unsent"])
    }

    /// Whoever was retired on request has to lose nothing of what it wrote meanwhile, whoever it
    /// meets first, and also when deletions were forgotten that it does not know.
    @Test(arguments: [false, true], [false, true])
    func whatARetiredReplicaWroteComesWithItsNewIdentity(isCompacted: Bool, meetsThird: Bool) throws {
        let a = try stores.create()
        let b = try stores.clone(a, as: "b.db")
        let c = try stores.clone(a, as: "c.db")
        for (number, title) in [(1, "deleted"), (2, "edited"), (3, "edited and deleted")] {
            try a.insert(UInt8(number), title)
        }
        try a.meet(b)
        try a.meet(c)
        try b.insert(4, "unsent")
        try b.execute("UPDATE note SET body = 'unsent' WHERE id IN (?, ?)", [key(2), key(3)])
        try a.execute("DELETE FROM note WHERE id IN (?, ?)", [key(1), key(3)])
        try a.synchronizer.retire(b.replica())
        try a.meet(c)
        try c.meet(a)
        if isCompacted {
            for replica in [a, c, a] {
                try replica.synchronizer.compact()
                try a.meet(c)
            }
            #expect(try tombstones(a) == 0)
        }
        try b.synchronizer.renewIdentity()
        try b.insert(5, "after")
        try b.meet(meetsThird ? c : a)
        for (one, other) in [(a, c), (a, b), (b, c), (a, c)] { try one.meet(other) }
        try expectEqual([a, b, c])
        #expect(try a.titles() == ["edited", "unsent", "after"])
        #expect(try a.value("SELECT body FROM note WHERE title = 'edited'") == "unsent")
        let lost = try [a, b, c].flatMap { replica in try replica.conflicts() }
        #expect(lost.contains { $0.contains("unsent") })
    }

    @Test func retiringNeedsAReplicaThatIsKnown() throws {
        let a = try stores.create()
        for replica in [try a.replica(), Identifier128(high: 1, low: 2)] {
            let error = #expect(throws: SyncError.self) { try a.synchronizer.retire(replica) }
            #expect(error?.code == .noSuchReplica)
        }
        let error = #expect(throws: SyncError.self) { try a.synchronizer.forget(a.replica()) }
        #expect(error?.code == .noSuchReplica)
    }

    @Test func aDryRunAndAnUndoneCompactionChangeNothing() throws {
        let (a, _, _) = try leave(false)
        try a.execute("DELETE FROM note WHERE title = 'stays'")
        _ = try a.peer.greet()
        let before = try a.everything()
        var options = CompactionOptions()
        options.historyCount = 1
        let report = try a.synchronizer.compact(options, isDryRun: true)
        #expect(report.historyEntryCount > 0)
        #expect(try a.everything() == before)
        struct Kill: Error {}
        #expect(throws: Kill.self) {
            try a.queue.write { db in
                _ = try Compaction(store: FoldedStore.fold(db, a.environment), options: options).run()
                throw Kill()
            }
        }
        #expect(try a.everything() == before)
    }

    @Test func historyIsKeptToItsBound() throws {
        let a = try stores.create()
        for number in 1...10 { try a.insert(UInt8(number), "x") }
        var options = CompactionOptions()
        options.historyCount = 4
        #expect(try a.synchronizer.compact(options).historyEntryCount == 6)
        #expect(try a.logCount() == 4)
        stores.clock.advance(milliseconds: 1000)
        try a.insert(11, "new")
        options = CompactionOptions()
        options.historyMilliseconds = 500
        try a.synchronizer.compact(options)
        #expect(try a.logCount() == 1)
        // The last entry numbers the next one, so it stays.
        stores.clock.advance(milliseconds: 1000)
        try a.synchronizer.compact(options)
        #expect(try a.logCount() == 1)
    }

    @Test func spaceIsGivenBack() throws {
        let a = try stores.create()
        try a.execute("INSERT INTO note (id, body) VALUES (?, zeroblob(1000000))", [key(1)])
        _ = try a.peer.greet()
        try a.execute("DELETE FROM note")
        let report = try a.synchronizer.compact()
        #expect(report.byteCountAfter < report.byteCountBefore - 900_000)
        #expect(report.forgottenDeletionCount == 1)
    }

    @Test func aReplicaThatIsHeardOfThroughOthersIsNotRetired() throws {
        let hub = try stores.create()
        let a = try stores.clone(hub, as: "b.db")
        let b = try stores.clone(hub, as: "c.db")
        for number in 1...8 {
            stores.clock.advance(milliseconds: Self.year / 12)
            try hub.insert(UInt8(number), "x")
            try a.meet(hub)
            // This one writes nothing; what it knows tells that it is there.
            try b.meet(hub)
        }
        #expect(try a.synchronizer.compact().retiredReplicas.isEmpty)
    }

    /// A table that is not tracked needs no key, and its rows have nothing but the numbers that SQLite gives them.
    @Test func aSearchFindsTheSameRowsAfterwards() throws {
        let a = try stores.create()
        try a.queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE word (text TEXT);
                    CREATE VIRTUAL TABLE words USING fts4(content='word', text);
                    INSERT INTO word VALUES ('alpha'), ('beta'), ('gamma');
                    INSERT INTO words(words) VALUES ('rebuild');
                    DELETE FROM words WHERE docid = 1;
                    DELETE FROM word WHERE rowid = 1;
                    CREATE TABLE ballast (bytes);
                    INSERT INTO ballast VALUES (zeroblob(400000));
                    DROP TABLE ballast;
                    """)
        }
        let report = try a.synchronizer.compact()
        #expect(report.byteCountAfter < report.byteCountBefore)
        let found = try a.queue.read { db in
            try String.fetchAll(
                db,
                sql: """
                    SELECT text FROM word WHERE rowid IN (SELECT docid FROM words WHERE words MATCH 'beta')
                    """)
        }
        #expect(found == ["beta"])
    }
}
