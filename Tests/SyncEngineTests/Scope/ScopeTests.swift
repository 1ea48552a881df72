import CipherStore
import Foundation
import SyncWire
import Testing

@testable import SyncEngine

/// Some tables only: what comes, what is claimed, and what others get of it.
@Suite struct ScopeTests {
    let stores: TestStores

    init() throws { stores = try TestStores() }

    private func hubAndLeaf() throws -> (hub: TestReplica, leaf: TestReplica) {
        let hub = try stores.createScoped("hub.db")
        return (hub, try stores.clone(hub, as: "leaf.db"))
    }

    private func tombstones(_ replica: TestReplica) throws -> Int? {
        try replica.value("SELECT count(*) FROM _sync_row WHERE NOT cl & 1", as: Int.self)
    }

    // MARK: What comes

    @Test func onlyTheChosenTablesComeAndGo() throws {
        let (hub, leaf) = try hubAndLeaf()
        for (number, table) in scopedTables.enumerated() {
            try hub.put(table, 1, Int64(number))
            try leaf.put(table, 2, Int64(number) + 10)
        }
        let report = try leaf.exchange(hub, ["apple", "BIRCH"])
        #expect(report.pulled?.rowCount == 2 && report.pushed?.rowCount == 2)
        #expect(try leaf.contents() == ["apple 1=0 2=10", "birch 1=1 2=11", "cedar 2=12"])
        #expect(try hub.contents() == ["apple 1=0 2=10", "birch 1=1 2=11", "cedar 1=2"])
        #expect(try leaf.problems() == [] && hub.problems() == [])
    }

    @Test func whatCameOnceDoesNotComeAgain() throws {
        let (hub, leaf) = try hubAndLeaf()
        try hub.put("apple", 1, 1)
        try hub.put("cedar", 1, 1)
        try leaf.exchange(hub, ["apple"])
        let again = try leaf.exchange(hub, ["apple"])
        #expect(again.pulled == nil && again.pushed == nil)
        try hub.put("apple", 2, 2)
        #expect(try leaf.exchange(hub, ["apple"]).pulled?.rowCount == 1)
        // A change that is not for the leaf moves its vector, and brings nothing.
        try hub.put("cedar", 2, 2)
        #expect(try leaf.exchange(hub, ["apple"]).pulled?.rowCount == 0)
        #expect(try leaf.contents() == ["apple 1=1 2=2"])
    }

    @Test func wideningBringsExactlyWhatIsMissing() throws {
        let (hub, leaf) = try hubAndLeaf()
        for number in 1...3 { try hub.put("apple", UInt8(number), 1) }
        for number in 1...2 { try hub.put("birch", UInt8(number), 1) }
        try hub.put("cedar", 1, 1)
        try leaf.exchange(hub, ["apple"])
        #expect(try leaf.exchange(hub, ["apple", "birch"]).pulled?.rowCount == 2)
        #expect(try leaf.exchange(hub).pulled?.rowCount == 1)
        #expect(try leaf.contents() == hub.contents())
        #expect(try leaf.coverage().parts.isEmpty && hub.coverage().parts.isEmpty)
        #expect(try leaf.vector() == hub.vector())
    }

    @Test func narrowingKeepsTheRowsAndWhatIsKnownOfThem() throws {
        let (hub, leaf) = try hubAndLeaf()
        try hub.put("apple", 1, 1)
        try hub.put("birch", 1, 1)
        try leaf.exchange(hub, ["apple", "birch"])
        try leaf.execute("UPDATE birch SET value = 5")
        try hub.put("birch", 2, 2)
        try leaf.exchange(hub, ["apple"])
        #expect(try leaf.contents() == ["apple 1=1", "birch 1=5"])
        #expect(try hub.contents() == ["apple 1=1", "birch 1=1 2=2"])
        // The edit goes, and what was missed comes, when the table is chosen again.
        let report = try leaf.exchange(hub, ["apple", "birch"])
        #expect(report.pulled?.rowCount == 1 && report.pushed?.rowCount == 1)
        #expect(try leaf.contents() == ["apple 1=1", "birch 1=5 2=2"])
        #expect(try hub.contents() == leaf.contents())
    }

    @Test func changesOfOneTableAloneLeaveNothingDivided() throws {
        let (hub, leaf) = try hubAndLeaf()
        try hub.put("cedar", 1, 1)
        try leaf.put("apple", 1, 1)
        try leaf.exchange(hub, ["apple"])
        // All that the leaf had to send was in the table that was chosen.
        #expect(try hub.coverage().parts.isEmpty)
        #expect(try hub.vector()[leaf.replica()] == leaf.vector()[leaf.replica()])
    }

    // MARK: Third replicas

    @Test func aThirdReplicaInALineGetsTheRestFromElsewhere() throws {
        let (hub, leaf) = try hubAndLeaf()
        let third = try stores.clone(hub, as: "third.db")
        for table in scopedTables { try hub.put(table, 1, 1) }
        try leaf.exchange(hub, ["apple"])
        try leaf.put("cedar", 7, 7)
        try third.exchange(leaf)
        #expect(try third.contents() == ["apple 1=1", "cedar 7=7"])
        let report = try third.exchange(hub)
        #expect(report.pulled?.rowCount == 2)
        #expect(try third.contents() == ["apple 1=1", "birch 1=1", "cedar 1=1 7=7"])
        #expect(try hub.contents() == third.contents())
        #expect(try third.coverage().parts.isEmpty)
    }

    @Test func aTriangleOfDifferentChoicesMissesNothing() throws {
        let one = try stores.createScoped("1.db")
        let two = try stores.clone(one, as: "2.db")
        let three = try stores.clone(one, as: "3.db")
        for (index, replica) in [one, two, three].enumerated() {
            for table in scopedTables { try replica.put(table, UInt8(index + 1), Int64(index)) }
        }
        for _ in 0..<2 {
            try one.exchange(two, ["apple"])
            try two.exchange(three, ["birch"])
            try three.exchange(one, ["cedar"])
        }
        #expect(try one.contents() == ["apple 1=0 2=1", "birch 1=0", "cedar 1=0 3=2"])
        #expect(try two.contents() == ["apple 1=0 2=1", "birch 2=1 3=2", "cedar 2=1"])
        for _ in 0..<2 {
            try one.exchange(two)
            try two.exchange(three)
        }
        for replica in [one, two, three] {
            #expect(
                try replica.contents() == ["apple 1=0 2=1 3=2", "birch 1=0 2=1 3=2", "cedar 1=0 2=1 3=2"])
            #expect(try replica.problems() == [])
        }
    }

    @Test func concurrentValuesGoToTheJournalAcrossParts() throws {
        let (hub, leaf) = try hubAndLeaf()
        try hub.put("apple", 1, 1)
        try leaf.exchange(hub, ["apple"])
        try hub.execute("UPDATE apple SET value = 2")
        try leaf.execute("UPDATE apple SET value = 3")
        #expect(try leaf.exchange(hub, ["apple"]).conflictCount == 1)
        #expect(try hub.contents() == ["apple 1=3"])
        // Known to both now, so no conflict.
        try hub.execute("UPDATE apple SET value = 4")
        #expect(try leaf.exchange(hub, ["apple"]).conflictCount == 0)
    }

    // MARK: Deletions

    private func declare(_ replica: TestReplica, _ tables: [String]) throws {
        try replica.synchronizer.setScope(.tables(tables), ofRemote: "hub.db")
    }

    @Test func aDeletionIsForgottenWithoutThoseThatDoNotHoldTheTable() throws {
        let (hub, leaf) = try hubAndLeaf()
        try declare(leaf, ["apple"])
        try hub.put("apple", 1, 1)
        try hub.put("cedar", 1, 1)
        try leaf.exchange(hub, ["apple"])
        try hub.execute("DELETE FROM cedar")
        try hub.execute("DELETE FROM apple")
        // What the leaf holds it must know first.
        #expect(try hub.synchronizer.compact().forgottenDeletionCount == 0)
        try leaf.exchange(hub, ["apple"])
        try leaf.exchange(hub, ["apple"])
        #expect(try hub.synchronizer.compact().forgottenDeletionCount == 2)
        #expect(try hub.synchronizer.compact().awaitedReplicas == [])
        #expect(try tombstones(leaf) == 1)
        try hub.put("apple", 3, 3)
        try leaf.exchange(hub, ["apple"])
        #expect(try tombstones(leaf) == 0)
        #expect(try leaf.problems() == [] && hub.problems() == [])
    }

    @Test func aReplicaOfAllTablesIsWaitedForInAll() throws {
        let (hub, leaf) = try hubAndLeaf()
        try hub.put("cedar", 1, 1)
        try leaf.exchange(hub, ["apple"])
        try hub.execute("DELETE FROM cedar")
        try leaf.exchange(hub, ["apple"])
        try leaf.exchange(hub, ["apple"])
        #expect(try hub.synchronizer.compact().forgottenDeletionCount == 0)
        #expect(try hub.synchronizer.compact().awaitedReplicas == [leaf.replica()])
    }

    @Test func aTableThatWasLeftOutIsBroughtUpToDateThoughItsDeletionsAreForgotten() throws {
        let (hub, leaf) = try hubAndLeaf()
        for number in 1...3 { try hub.put("cedar", UInt8(number), 1) }
        try hub.put("apple", 1, 1)
        try leaf.exchange(hub)
        try declare(leaf, ["apple"])
        try leaf.exchange(hub, ["apple"])
        try hub.execute("DELETE FROM cedar WHERE id = ?", [key(1)])
        try leaf.execute("UPDATE cedar SET value = 9 WHERE id = ?", [key(1)])
        try leaf.put("cedar", 5, 5)
        for _ in 0..<2 { try leaf.exchange(hub, ["apple"]) }
        #expect(try hub.synchronizer.compact().forgottenDeletionCount == 1)
        // What was deleted goes and is no live row anywhere; the edit that lost is in the journal.
        try leaf.exchange(hub, ["apple", "cedar"])
        try leaf.exchange(hub)
        #expect(try leaf.contents() == ["apple 1=1", "cedar 2=1 3=1 5=5"])
        #expect(try hub.contents() == leaf.contents())
        let kept = try [hub, leaf].map { try $0.conflicts() }.flatMap { $0 }
        #expect(kept.contains { $0.contains("9") })
        #expect(try leaf.problems() == [] && hub.problems() == [])
    }

    @Test func countersAreSummedInWhatCame() throws {
        let (hub, leaf) = try hubAndLeaf()
        try hub.put("apple", 1, 10)
        try hub.put("cedar", 1, 10)
        try leaf.exchange(hub)
        try hub.synchronizer.setPolicies([
            ColumnPolicy(table: "apple", column: "value", kind: .counter),
            ColumnPolicy(table: "cedar", column: "value", kind: .counter),
        ])
        try leaf.exchange(hub, ["apple"])
        for replica in [hub, leaf] {
            try replica.execute("UPDATE apple SET value = value + 1")
            try replica.execute("UPDATE cedar SET value = value + 5")
        }
        try leaf.exchange(hub, ["apple"])
        #expect(try hub.contents() == ["apple 1=12", "cedar 1=15"])
        #expect(try leaf.contents() == ["apple 1=12", "cedar 1=15"])
        #expect(try leaf.problems() == [] && hub.problems() == [])
    }

    // MARK: Copies

    @Test func aFileThatWasRestoredShowsThoughPartsOnlyAreKnownOfIt() throws {
        let (hub, leaf) = try hubAndLeaf()
        try leaf.put("cedar", 1, 1)
        try leaf.put("apple", 1, 1)
        try leaf.exchange(hub, ["apple"])
        let old = try leaf.replica()
        try leaf.queue.close()
        try stores.copy("leaf.db", to: "backup.db")
        let later = try stores.open("leaf.db")
        try later.put("apple", 2, 2)
        try later.exchange(hub, ["apple"])
        try later.queue.close()
        try stores.copy("backup.db", to: "leaf.db")
        let restored = try stores.open("leaf.db")
        try restored.put("apple", 3, 3)
        let report = try restored.exchange(hub, ["apple"])
        #expect(report.renewedReplicas.count == 1 && report.renewedReplicas != [old])
        #expect(try restored.contents() == ["apple 1=1 2=2 3=3", "cedar 1=1"])
        #expect(try hub.contents() == ["apple 1=1 2=2 3=3"])
        #expect(try restored.problems() == [] && hub.problems() == [])
        try restored.exchange(hub)
        #expect(try hub.contents() == restored.contents())
    }

    // MARK: The choice

    @Test func theChoiceIsKeptWithTheRemote() throws {
        let (hub, leaf) = try hubAndLeaf()
        for table in scopedTables { try hub.put(table, 1, 1) }
        try leaf.synchronizer.setScope(.tables(["Cedar", "apple"]), ofRemote: hub.transport.name)
        #expect(try leaf.synchronizer.scope(ofRemote: hub.transport.name) == .tables(["apple", "cedar"]))
        try leaf.sync(hub)
        #expect(try leaf.contents() == ["apple 1=1", "cedar 1=1"])
        try leaf.put("birch", 2, 2)
        try leaf.put("cedar", 2, 2)
        #expect(try leaf.synchronizer.status().peers.map(\.pendingCount) == [1])
        #expect(try leaf.synchronizer.status().remotes.map(\.scope) == [.tables(["apple", "cedar"])])
        try leaf.sync(hub, .push)
        #expect(try leaf.synchronizer.status().peers.map(\.pendingCount) == [0])
        #expect(try hub.contents() == ["apple 1=1", "birch 1=1", "cedar 1=1 2=2"])
        try leaf.synchronizer.setScope(.everything, ofRemote: hub.transport.name)
        try leaf.sync(hub)
        #expect(try hub.contents() == leaf.contents())
        #expect(try leaf.contents() == ["apple 1=1", "birch 1=1 2=2", "cedar 1=1 2=2"])
    }

    @Test func tablesThatCanNotBeChosenAreRefused() throws {
        let (_, leaf) = try hubAndLeaf()
        try leaf.queue.write { try $0.execute(sql: "CREATE TABLE plain (id INTEGER PRIMARY KEY)") }
        for names in [["nothing"], ["apple", "plain"], [], ["_sync_row"]] {
            let error = #expect(throws: SyncError.self) {
                try leaf.synchronizer.setScope(.tables(names), ofRemote: "x")
            }
            #expect(error?.code == .noSuchTable)
            #expect(try leaf.synchronizer.scope(ofRemote: "x") == .everything)
        }
    }

    @Test func parentsThatAreNotChosenAreNamed() throws {
        let schema = """
            CREATE TABLE list (id BLOB PRIMARY KEY);
            CREATE TABLE item (id BLOB PRIMARY KEY, list BLOB REFERENCES list(id), next BLOB REFERENCES item(id));
            """
        let hub = try stores.create("hub.db", schema: schema, tables: ["list", "item"])
        let leaf = try stores.clone(hub, as: "leaf.db")
        #expect(try leaf.synchronizer.setScope(.tables(["item"]), ofRemote: "x") == ["list"])
        #expect(try leaf.synchronizer.setScope(.tables(["item", "list"]), ofRemote: "x") == [])
        try hub.execute("INSERT INTO list VALUES (?)", [key(1)])
        try hub.execute("INSERT INTO item VALUES (?, ?, NULL)", [key(2), key(1)])
        try leaf.exchange(hub, ["item"])
        #expect(try leaf.value("SELECT count(*) FROM item", as: Int.self) == 0)
        #expect(try leaf.synchronizer.status().parkedCount == 1)
        try leaf.exchange(hub)
        #expect(try leaf.value("SELECT count(*) FROM item", as: Int.self) == 1)
    }

    @Test func aTableIsFoundUnderItsFormerName() throws {
        let (hub, leaf) = try hubAndLeaf()
        try hub.put("apple", 1, 1)
        try leaf.exchange(hub, ["apple"])
        try hub.migrate("rename") { try $0.rename(table: "apple", to: "acorn") }
        try hub.execute("INSERT INTO acorn (id, value) VALUES (?, 2)", [key(2)])
        try leaf.exchange(hub, ["apple"])
        #expect(try leaf.contents() == ["apple 1=1 2=2"])
        #expect(try leaf.exchange(hub, ["apple"]).pulled == nil)
    }
}
