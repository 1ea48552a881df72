import CipherStore
import Foundation
import SyncWire
import Testing

@testable import SyncEngine

/// What comes of rows whose deletion is forgotten, from replicas that nobody waited for because nobody knew them.
@Suite struct ForgottenRowTests {
    let stores: TestStores

    init() throws { stores = try TestStores() }

    /// A store that forgot the deletion of a row, and a copy of it that still has the row.
    private func forgotten() throws -> (a: TestReplica, unknown: TestReplica) {
        let a = try stores.create()
        try a.insert(1, "first")
        let unknown = try stores.clone(a, as: "unknown.db")
        stores.clock.advance(milliseconds: 1000)
        try a.execute("DELETE FROM note")
        #expect(try a.synchronizer.compact().forgottenDeletionCount == 1)
        return (a, unknown)
    }

    private func send(_ replica: TestReplica, to other: TestReplica) throws {
        let path = stores.path("all.bundle")
        try replica.synchronizer.writeBundle(to: path, since: .nothing, .plaintext)
        _ = try other.synchronizer.applyBundle(at: path, .plaintext)
    }

    /// The values that were lost, with the life of their row and the reason.
    private func lost(_ replica: TestReplica) throws -> [String] {
        try replica.queue.read {
            try Row.fetchAll($0, sql: "SELECT val, life, why FROM _sync_conflict ORDER BY rowid")
                .map { "\($0[0] as String) \($0[1] as Int) \($0[2] as String)" }
        }
    }

    @Test func editsOfARowThatIsNotMadeAgainAreInTheJournal() throws {
        let (a, unknown) = try forgotten()
        try unknown.execute("UPDATE note SET title = 'title', body = 'body'")
        try send(unknown, to: a)
        #expect(try a.titles() == [])
        #expect(try lost(a) == ["title 1 deleted", "body 1 deleted"])
    }

    /// A bundle of everything tells the former row, too; what is known of it says nothing.
    @Test func anEditThatComesWithAllOfAnOlderFormerRowIsOneOfTheRowThatWasMadeAgain() throws {
        let (a, unknown) = try forgotten()
        try a.insert(1, "second")
        stores.clock.advance(milliseconds: 1000)
        try unknown.execute("UPDATE note SET title = 'edited'")
        try send(unknown, to: a)
        #expect(try a.titles() == ["edited"])
        // The value that the other side had not seen.
        #expect(try lost(a) == ["second 1 newer"])
    }

    /// The former row is newer than the one that is there. Its deletion is why it is gone, so an edit of it comes too late.
    @Test func anEditThatComesWithAllOfANewerFormerRowIsLate() throws {
        let start = try stores.create()
        let other = try stores.clone(start, as: "other.db")
        try other.insert(1, "older")
        _ = try other.vector()
        stores.clock.advance(milliseconds: 1000)
        let a = try stores.clone(start, as: "newer.db")
        try a.insert(1, "newer")
        let unknown = try stores.clone(a, as: "unknown.db")
        stores.clock.advance(milliseconds: 1000)
        try unknown.execute("UPDATE note SET title = 'edited'")
        try a.execute("DELETE FROM note")
        #expect(try a.synchronizer.compact().forgottenDeletionCount == 1)
        try other.meet(a)
        #expect(try a.titles() == ["older"])
        try send(unknown, to: a)
        #expect(try a.titles() == ["older"])
        #expect(try lost(a) == ["edited 1 deleted"])
    }

    /// Values of a column that is not here wait beside the row, and go with it.
    @Test func valuesThatWaitBesideARowOfAnEarlierLifeGoWithIt() throws {
        let a = try stores.create()
        let other = try stores.clone(a, as: "other.db")
        try a.insert(1, "first life")
        let away = try stores.clone(a, as: "away.db")
        try a.changeUnobserved("ALTER TABLE note ADD COLUMN color TEXT")
        try a.synchronizer.track(["note"])
        try a.execute("UPDATE note SET color = 'red'")
        try away.meet(a)
        #expect(try away.value("SELECT count(*) FROM _sync_shadow", as: Int.self) == 1)
        stores.clock.advance(milliseconds: 1000)
        try other.insert(1, "made elsewhere")
        stores.clock.advance(milliseconds: 1000)
        try away.execute("UPDATE note SET title = 'edited'")
        try away.meet(a)
        try a.execute("DELETE FROM note")
        stores.clock.advance(milliseconds: 365 * 24 * 60 * 60 * 1000)
        #expect(try a.synchronizer.compact().forgottenDeletionCount == 1)
        try other.meet(a)
        #expect(try away.meet(a).divergence == nil)
        #expect(try away.titles() == ["made elsewhere"])
        #expect(try away.value("SELECT group_concat(val) FROM _sync_shadow", as: String.self) == nil)
        #expect(try away.problems() == [] && a.problems() == [])
    }

    /// A row that waits for another's place is on a list, and goes from it with the row.
    @Test func aRowThatWaitsGoesFromTheListOfThoseThatDo() throws {
        let a = try stores.create()
        let away = try stores.clone(a, as: "away.db")
        try away.changeUnobserved("CREATE UNIQUE INDEX one_title ON note (title)")
        for number: UInt8 in 1...2 { try a.insert(number, "same") }
        try away.meet(a)
        #expect(try away.value("SELECT count(*) FROM _sync_hidden", as: Int.self) == 1)
        try a.execute("DELETE FROM note")
        stores.clock.advance(milliseconds: 365 * 24 * 60 * 60 * 1000)
        #expect(try a.synchronizer.compact().forgottenDeletionCount == 2)
        #expect(try away.meet(a).divergence == nil)
        #expect(try away.titles() == [])
        #expect(try away.value("SELECT count(*) FROM _sync_hidden", as: Int.self) == 0)
        #expect(try away.value("SELECT count(*) FROM _sync_shadow", as: Int.self) == 0)
        #expect(try away.problems() == [] && a.problems() == [])
    }

    // MARK: What was kept with deletions

    private static let kept =
        "SELECT (SELECT count(*) FROM _sync_last) || ',' || (SELECT count(*) FROM _sync_original)"

    /// A store in which a row was deleted by somebody else, after one value of it had been written as another type.
    private func deleted(_ hub: TestReplica, _ leaf: TestReplica, _ exchange: () throws -> Void) throws {
        try hub.execute("INSERT INTO s VALUES (?, '5')", [key(1)])
        for _ in 0..<2 { try exchange() }
        #expect(try leaf.value(Self.kept, as: String.self) == "0,1")
        try hub.execute("DELETE FROM s")
        for _ in 0..<2 { try exchange() }
    }

    private static let schema =
        "CREATE TABLE s (id BLOB PRIMARY KEY, v); CREATE TABLE t (id BLOB PRIMARY KEY, v)"

    private func hubAndLeaf() throws -> (hub: TestReplica, leaf: TestReplica) {
        let hub = try stores.create("hub.db", schema: Self.schema, tables: ["s", "t"])
        let leaf = try stores.clone(hub, as: "leaf.db")
        try leaf.changeUnobserved("DROP TABLE s; CREATE TABLE s (id BLOB PRIMARY KEY, v INTEGER)")
        try leaf.synchronizer.track(["s"])
        return (hub, leaf)
    }

    @Test func whatWasKeptOfARowGoesWithItsForgottenDeletion() throws {
        let (hub, leaf) = try hubAndLeaf()
        try deleted(hub, leaf) { try leaf.meet(hub) }
        #expect(try leaf.value(Self.kept, as: String.self)?.hasPrefix("1,") == true)
        #expect(try leaf.synchronizer.compact().forgottenDeletionCount == 1)
        #expect(try leaf.value(Self.kept, as: String.self) == "0,0")
        #expect(try leaf.synchronizer.compact().forgottenDeletionCount == 0)
    }

    @Test func theSameHoldsOfATableThatIsExchangedAlone() throws {
        let (hub, leaf) = try hubAndLeaf()
        try leaf.synchronizer.setScope(.tables(["s"]), ofRemote: "hub.db")
        try hub.execute("INSERT INTO t VALUES (?, 1)", [key(9)])
        try deleted(hub, leaf) { try leaf.exchange(hub, ["s"]) }
        #expect(try leaf.value(Self.kept, as: String.self)?.hasPrefix("1,") == true)
        #expect(try leaf.synchronizer.compact().forgottenDeletionCount == 1)
        #expect(try leaf.value(Self.kept, as: String.self) == "0,0")
        #expect(try leaf.synchronizer.compact().forgottenDeletionCount == 0)
    }
}
