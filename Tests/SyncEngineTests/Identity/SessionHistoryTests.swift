import CipherStore
import Foundation
import SyncWire
import Testing

@testable import SyncEngine

/// Histories that the models of sessions found (`Proofs/sessions`).
@Suite struct SessionHistoryTests {
    /// Which of the two gives way must not depend on who asks.
    @Test(arguments: [false, true]) func twoCopiesThatWroteNothingAgreeWhoGivesWay(isTurned: Bool) throws {
        let stores = try TestStores()
        let a = try stores.create()
        try a.insert(1, "one")
        let b = try stores.clone(a, as: "b.db")
        try a.meet(b)
        try b.queue.close()
        try stores.copy("b.db", to: "copy.db")
        let original = try stores.open("b.db", copyOf: "b.db")
        let copy = try stores.open("copy.db", copyOf: "b.db")
        #expect(try original.replica() == copy.replica())
        try a.insert(2, "of a")
        try a.meet(original)
        if isTurned { try copy.meet(original) } else { try original.meet(copy) }
        #expect(try original.replica() != copy.replica())
        try expectEqual([a, original, copy])
        #expect(try copy.titles() == ["one", "of a"])
    }

    /// Makes two files each of which knows what the other one lost when it was put back.
    private func restored(_ stores: TestStores) throws -> (a: TestReplica, b: TestReplica) {
        let a = try stores.create()
        try a.insert(1, "one")
        let b = try stores.clone(a, as: "b.db")
        let c = try stores.clone(a, as: "c.db")
        for (one, other) in [(a, b), (b, c), (a, c)] { try one.meet(other) }
        try b.queue.close()
        try stores.copy("b.db", to: "b.backup")
        let laterB = try stores.open("b.db", copyOf: "b.db")
        try laterB.insert(2, "lost by b")
        try c.apply(laterB.bundle(since: c.vector()))
        try laterB.queue.close()
        try stores.copy("b.backup", to: "b.db")
        let restoredB = try stores.open("b.db", copyOf: "b.db")
        try restoredB.insert(3, "of b")
        try a.queue.close()
        try stores.copy("a.db", to: "a.backup")
        let laterA = try stores.open("a.db")
        try laterA.insert(4, "lost by a")
        try restoredB.apply(laterA.bundle(since: restoredB.vector()))
        try laterA.queue.close()
        try stores.copy("a.backup", to: "a.db")
        let restoredA = try stores.open("a.db")
        try restoredA.insert(5, "of a")
        try restoredA.apply(c.bundle(since: restoredA.vector()))
        return (restoredA, restoredB)
    }

    @Test func twoRestoredFilesTakeEachOthersBundlesInTheEnd() throws {
        let (a, b) = try restored(TestStores())
        for _ in 0..<4 {
            for (from, to) in [(a, b), (b, a)] {
                do { _ = try to.apply(from.bundle(since: to.vector())) } catch let error as SyncError {
                    #expect(error.code == .forkedReplica)
                }
            }
        }
        #expect(try a.state(["note"]) == b.state(["note"]))
        #expect(try Set(a.titles()) == ["one", "lost by a", "lost by b", "of a", "of b"])
        try expectEqual([a, b])
    }

    /// What is not forked any more, or from another change on, is not what the caller saw.
    @Test func whatMovesToANewIdentityIsWhatAGreetingShowsNow() throws {
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
        try later.queue.close()
        try stores.copy("backup.db", to: "a.db")
        let restored = try stores.open("a.db")
        let id = try restored.replica()
        let common = try restored.vector()[id]
        let greeting = try b.peer.greet()
        #expect(greeting.vector[id] > common && common > 0)
        try restored.insert(3, "of the restored one")
        for stale in [0, common + 1000] {
            // Each is what somebody might have seen before the file was put back.
            let isRenewed = try restored.peer.renewIdentity(
                [Fork(replica: id, common: stale)], shownBy: greeting, to: id)
            #expect(isRenewed == (stale == 0))
        }
        #expect(try restored.vector()[id] == common)
        let kept = try restored.value(
            "SELECT count(*) FROM _sync_row JOIN _sync_replica USING (sid) WHERE rid = x'\(id)'", as: Int.self
        )
        #expect(kept == 1)
        try restored.meet(b)
        try expectEqual([restored, b])
        #expect(try b.titles() == ["one", "after the backup", "of the restored one"])
    }

    /// A file that was put back and wrote nothing since can't tell itself what is common to both.
    @Test func whatIsCommonStaysWithTheOldIdentity() throws {
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
        try later.queue.close()
        try stores.copy("backup.db", to: "a.db")
        let restored = try stores.open("a.db")
        let id = try restored.replica()
        let common = try restored.vector()[id]
        let isRenewed = try restored.peer.renewIdentity(
            [Fork(replica: id, common: common)], shownBy: b.peer.greet(), to: id)
        #expect(isRenewed && common > 0)
        #expect(try restored.vector()[id] == common)
        try restored.meet(b)
        try expectEqual([restored, b])
    }
}
