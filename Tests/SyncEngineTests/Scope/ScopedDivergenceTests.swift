import CipherStore
import Foundation
import SyncWire
import Testing

@testable import SyncEngine

/// Replicas that exchange some tables only are compared in those of which they know the same.
@Suite struct ScopedDivergenceTests {
    let stores: TestStores

    init() throws { stores = try TestStores() }

    /// Two replicas, each with rows of its own in all tables, that exchanged one table.
    private func pair() throws -> (hub: TestReplica, leaf: TestReplica) {
        let hub = try stores.createScoped("hub.db")
        let leaf = try stores.clone(hub, as: "leaf.db")
        for table in scopedTables {
            for number in UInt8(1)...3 { try hub.put(table, number, Int64(number)) }
            try leaf.put(table, 4, 4)
        }
        try leaf.exchange(hub, ["apple"])
        try leaf.execute("DELETE FROM apple WHERE id = ?", [key(1)])
        try leaf.execute("UPDATE apple SET value = 5 WHERE id = ?", [key(2)])
        #expect(try leaf.exchange(hub, ["apple"]).divergence == nil)
        return (hub, leaf)
    }

    /// Changes a table behind the back of the triggers, and of the digests.
    private func damage(_ replica: TestReplica, _ sql: String) throws {
        try replica.queue.write { db in
            try db.execute(sql: "UPDATE _sync_state SET applying = 1")
            try db.execute(sql: sql)
            try db.execute(sql: "UPDATE _sync_state SET applying = 0")
            try DigestLedger.invalidate(db)
        }
    }

    /// Takes the last row of a table out with its versions.
    private func loss(_ table: String) -> String {
        let number = "(SELECT tbl FROM _sync_table WHERE name = '\(table)')"
        return """
            DELETE FROM _sync_row WHERE tbl = \(number) AND pk = (SELECT max(id) FROM \(table));
            DELETE FROM \(table) WHERE id = (SELECT max(id) FROM \(table));
            """
    }

    private func vectors(_ replica: TestReplica) throws -> [VersionVector] {
        try [replica.vector()] + scopedTables.map { try replica.known($0) }
    }

    // MARK: No divergence

    @Test func tablesOfWhichTheTwoKnowDifferentThingsAreNoAlarm() throws {
        let (hub, leaf) = try pair()
        for direction in [SyncDirection.both, .pull, .push] {
            #expect(try leaf.exchange(hub, ["apple"], direction).divergence == nil)
            #expect(try hub.exchange(leaf, ["apple"], direction).divergence == nil)
        }
        try hub.put("apple", 7, 7)
        try hub.put("birch", 7, 7)
        #expect(try leaf.exchange(hub, ["apple"], .push).divergence == nil)
        #expect(try leaf.exchange(hub, ["apple"], .pull).divergence == nil)
        // A third replica, and an exchange of all tables that goes one way.
        let third = try stores.clone(leaf, as: "third.db")
        #expect(try third.exchange(hub, nil, .pull).divergence == nil)
        #expect(try third.exchange(leaf, nil, .push).divergence == nil)
        #expect(try leaf.exchange(hub, ["birch"], .pull).divergence == nil)
        for replica in [leaf, third] { #expect(try replica.exchange(hub).divergence == nil) }
        #expect(try hub.problems() == [] && leaf.problems() == [] && third.problems() == [])
    }

    @Test func damageInATableThatIsNotExchangedIsFoundWhenItIs() throws {
        let (hub, leaf) = try pair()
        try leaf.exchange(hub)
        try damage(leaf, loss("birch"))
        #expect(try leaf.exchange(hub, ["apple", "cedar"]).divergence == nil)
        #expect(try leaf.values("birch").count == 3)
        let divergence = try #require(try leaf.exchange(hub, ["birch"]).divergence)
        #expect(divergence.isRepaired && divergence.tables.map(\.name) == ["birch"])
        #expect(try leaf.contents() == hub.contents())
    }

    // MARK: Divergence

    @Test(arguments: [true, false]) func damageInASharedTableIsFoundAndMovesNothing(isAtLeaf: Bool) throws {
        let (hub, leaf) = try pair()
        let before = (try hub.contents(), try leaf.contents(), try vectors(hub), try vectors(leaf))
        try damage(isAtLeaf ? leaf : hub, loss("apple"))
        let divergence = try #require(try leaf.exchange(hub, ["apple"]).divergence)
        #expect(divergence.isRepaired && divergence.failure == nil)
        #expect(divergence.tables.map(\.name) == ["apple"] && divergence.rowCount == 1)
        let after = (try hub.contents(), try leaf.contents(), try vectors(hub), try vectors(leaf))
        #expect(before == after)
        #expect(try leaf.exchange(hub, ["apple"]).divergence == nil)
        #expect(try hub.problems() == [] && leaf.problems() == [])
    }

    @Test func damageIsFoundThoughOtherTablesDiffer() throws {
        let (hub, leaf) = try pair()
        try damage(leaf, loss("apple"))
        // One way brings all tables; of those that hold changes of the leaf, the hub does not know the same.
        try leaf.put("birch", 9, 9)
        #expect(try leaf.exchange(hub, nil, .pull).divergence == nil)
        #expect(try leaf.exchange(hub, ["apple"]).divergence?.isRepaired == true)
        #expect(try leaf.values("apple") == hub.values("apple"))
        try hub.put("cedar", 9, 9)
        try damage(hub, loss("apple"))
        let report = try leaf.exchange(hub)
        #expect(report.divergence?.tables.map(\.name) == ["apple"] && report.divergence?.isRepaired == true)
        #expect(try leaf.contents() == hub.contents())
    }

    @Test func tablesOfDifferentVectorsAreRepairedEachByItsOwn() throws {
        let (hub, leaf) = try pair()
        try leaf.exchange(hub)
        let third = try stores.clone(hub, as: "third.db")
        for table in scopedTables { try third.put(table, 8, 8) }
        try third.exchange(hub, ["apple"])
        try leaf.exchange(hub)
        #expect(try leaf.known("apple") != leaf.known("birch"))
        let before = (try vectors(hub), try vectors(leaf))
        try damage(leaf, loss("apple") + loss("birch"))
        try damage(hub, loss("cedar"))
        let divergence = try #require(try leaf.exchange(hub).divergence)
        #expect(divergence.isRepaired && divergence.tables.map(\.name) == scopedTables)
        #expect(try leaf.contents() == hub.contents())
        #expect(try leaf.values("apple").count == 4 && leaf.values("birch").count == 4)
        let after = (try vectors(hub), try vectors(leaf))
        #expect(before == after)
        #expect(try hub.problems() == [] && leaf.problems() == [])
        // One bundle has one vector.
        let rows = ["apple", "birch"].map {
            StateRows(table: [$0], keys: [StateRowKey(bytes: Array(key(2)), isText: false)])
        }
        let error = #expect(throws: SyncError.self) { try hub.peer.send(rows: rows) { _ in } }
        #expect(error?.code == .changedMeanwhile)
    }

    @Test func aRepairIsRefusedByWhoKnowsMoreOfItsTable() throws {
        let (hub, leaf) = try pair()
        var frames: [[UInt8]] = []
        let rows = [StateRows(table: ["apple"], keys: [StateRowKey(bytes: Array(key(3)), isText: false)])]
        _ = try hub.peer.send(rows: rows) { frames.append(Array($0)) }
        let third = "x'\(String(repeating: "03", count: 16))'"
        try damage(leaf, "DELETE FROM apple WHERE id = \(third); DELETE FROM _sync_row WHERE pk = \(third)")
        // More of another table is none.
        try leaf.exchange(hub, ["birch"])
        let before = try vectors(leaf)
        try leaf.apply(frames)
        #expect(try leaf.values("apple") == hub.values("apple"))
        #expect(try vectors(leaf) == before)
        try hub.execute("DELETE FROM apple")
        try leaf.exchange(hub, ["apple"])
        let error = #expect(throws: SyncError.self) { try leaf.apply(frames) }
        #expect(error?.code == .changedMeanwhile)
        #expect(try leaf.values("apple").isEmpty)
    }

    @Test func valuesAreComparedInTheTablesThatAreExchanged() throws {
        let (hub, leaf) = try pair()
        let remote = hub.transport
        let error = #expect(throws: SyncError.self) { try leaf.synchronizer.compare(with: remote) }
        #expect(error?.code == .notComparable)
        try leaf.synchronizer.setScope(.tables(["apple"]), ofRemote: remote.name)
        #expect(try leaf.synchronizer.compare(with: remote) == nil)
        try damage(leaf, "UPDATE apple SET value = 99 WHERE value = 3; UPDATE birch SET value = 99")
        #expect(try leaf.synchronizer.compare(with: remote)?.tables.map(\.name) == ["apple"])
        let repaired = try leaf.synchronizer.compare(with: remote, repairing: true)
        #expect(repaired?.isRepaired == true && repaired?.conflictCount == 2)
        #expect(try leaf.values("apple") == hub.values("apple"))
        #expect(try leaf.values("birch") == [4: 99])
    }

    // MARK: What is forgotten

    private static let year: Int64 = 366 * 24 * 60 * 60 * 1000

    @Test func aLateBundleOfSomeTablesDoesNotEndTheNextLifeOfARow() throws {
        let hub = try stores.createScoped("hub.db")
        let leaf = try stores.clone(hub, as: "leaf.db")
        try leaf.synchronizer.setScope(.tables(["apple"]), ofRemote: "hub.db")
        for table in scopedTables { try hub.put(table, 1, 1) }
        for _ in 0..<2 { try leaf.exchange(hub, ["apple"]) }
        for table in scopedTables { try hub.execute("DELETE FROM \(table)") }
        for _ in 0..<2 { try leaf.exchange(hub, ["apple"]) }
        let late = try hub.bundle(TransferRequest(base: VersionVector(), tables: [["apple"]]))
        #expect(try hub.synchronizer.compact().forgottenDeletionCount == 3)
        try hub.put("apple", 1, 2)
        try leaf.exchange(hub, ["apple"])
        for replica in [hub, leaf] {
            try replica.apply(late)
            #expect(try replica.contents() == ["apple 1=2"])
            #expect(try replica.problems() == [])
        }
        #expect(try leaf.exchange(hub, ["apple"]).divergence == nil)
    }

    @Test func aBundleOfSomeTablesOfARetiredReplicaIsRefused() throws {
        let (hub, leaf) = try pair()
        let known = try leaf.bundle(TransferRequest(base: VersionVector(), tables: [["apple"]]))
        try leaf.put("apple", 6, 6)
        let late = try leaf.bundle(TransferRequest(base: VersionVector(), tables: [["apple"]]))
        stores.clock.advance(milliseconds: Self.year)
        #expect(try hub.synchronizer.compact().retiredReplicas == [leaf.replica()])
        // What is known all the same does no harm.
        try hub.apply(known)
        let error = #expect(throws: SyncError.self) { try hub.apply(late) }
        #expect(error?.code == .retiredReplica)
        try leaf.exchange(hub, ["apple"])
        #expect(try leaf.values("apple") == hub.values("apple"))
        #expect(try hub.values("apple")[6] == 6)
    }

    /// Two make a row with one key; one of the two rows is deleted and forgotten before the other
    /// comes, which may be the newer or the older one.
    @Test(arguments: [false, true]) func ofTwoRowsWithOneKeyNoneComesBackInPart(isNewer: Bool) throws {
        let hub = try stores.createScoped("hub.db")
        try hub.put("cedar", 1, 1)
        let leaf = try stores.clone(hub, as: "leaf.db")
        try hub.exchange(leaf)
        if !isNewer { try leaf.put("apple", 2, 20) }
        stores.clock.advance(milliseconds: 1000)
        try hub.put("apple", 2, 10)
        stores.clock.advance(milliseconds: 1000)
        if isNewer { try leaf.put("apple", 2, 20) }
        try hub.exchange(leaf, ["apple"], .push)
        try hub.execute("DELETE FROM apple")
        try hub.put("birch", 2, 2)
        stores.clock.advance(milliseconds: Self.year)
        #expect(try hub.synchronizer.compact().forgottenDeletionCount == 1)
        #expect(try leaf.exchange(hub, ["apple"]).divergence == nil)
        #expect(try leaf.values("apple") == hub.values("apple"))
        #expect(try leaf.known("apple") == hub.known("apple"))
        #expect(try leaf.values("cedar") == [1: 1] && leaf.values("birch").isEmpty)
        #expect(try hub.problems() == [] && leaf.problems() == [])
    }

    /// A row begins at its first life again once its deletion is forgotten, and still replaces the
    /// later life that a replica has which was away.
    @Test func theLifeAfterAForgottenDeletionReplacesALaterOneOfATableThatIsChosen() throws {
        let hub = try stores.createScoped("hub.db")
        let leaf = try stores.clone(hub, as: "leaf.db")
        try hub.put("apple", 1, 1)
        try hub.execute("DELETE FROM apple")
        try hub.put("apple", 1, 3)
        try hub.put("cedar", 1, 1)
        try leaf.exchange(hub, ["apple"])
        #expect(try leaf.value("SELECT max(cl) FROM _sync_row", as: Int.self) == 3)
        try hub.execute("DELETE FROM apple")
        stores.clock.advance(milliseconds: Self.year)
        #expect(try hub.synchronizer.compact().forgottenDeletionCount == 1)
        try hub.put("apple", 1, 9)
        try hub.put("birch", 1, 1)
        #expect(try leaf.exchange(hub, ["apple"]).divergence == nil)
        #expect(try leaf.contents() == ["apple 1=9"])
        #expect(try leaf.value("SELECT max(cl) FROM _sync_row", as: Int.self) == 1)
        #expect(try hub.problems() == [] && leaf.problems() == [])
    }

    @Test func aNewIdentityKeepsThatDeletionsOfOneTableAreForgotten() throws {
        let hub = try stores.createScoped("hub.db")
        let leaf = try stores.clone(hub, as: "leaf.db")
        for number in UInt8(1)...2 { try hub.put("apple", number, 1) }
        try hub.put("cedar", 1, 1)
        try leaf.exchange(hub, ["apple"])
        let backup = try stores.clone(leaf, as: "third.db")
        // The leaf knows more of one table than of all, and so does its floor.
        try hub.execute("DELETE FROM apple WHERE id = ?", [key(1)])
        try leaf.exchange(hub, ["apple"])
        let number = try #require(
            try leaf.value("SELECT tbl FROM _sync_table WHERE name = 'apple'", as: Int64.self))
        try leaf.queue.write { db in
            let coverage = try Coverage.load(db, StoreMetadata.require(db))
            #expect(coverage.parts[number] != nil)
            try Tombstones(db: db).raiseFloor(ofTable: number, to: coverage[number].known, coverage)
        }
        #expect(try leaf.value("SELECT count(*) FROM _sync_row WHERE NOT cl & 1", as: Int.self) == 0)
        let common = try backup.known("apple")[hub.replica()]
        try leaf.peer.renewIdentity([Fork(replica: hub.replica(), common: common)])
        try backup.exchange(leaf, ["apple"])
        #expect(try backup.values("apple") == leaf.values("apple"))
        #expect(try leaf.values("apple").keys.sorted() == [2])
        #expect(try leaf.problems() == [] && backup.problems() == [])
    }
}
