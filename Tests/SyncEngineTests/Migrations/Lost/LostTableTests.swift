import CipherStore
import Foundation
import Testing

@testable import SyncEngine

/// Tables that another program dropped: nobody gets a row without its values, and the rows come back.
@Suite struct LostTableTests {
    let stores: TestStores

    init() throws { stores = try TestStores() }

    private static let anew = """
        CREATE TABLE note (id BLOB PRIMARY KEY, title TEXT COLLATE NOCASE, body TEXT, stars INTEGER DEFAULT 0)
        """

    /// `a` and `b` have a row that `p` lacks, and a value that is old there.
    private func replicas() throws -> (a: TestReplica, b: TestReplica, p: TestReplica) {
        let a = try stores.create()
        try a.insert(1, "one")
        let b = try stores.clone(a, as: "b.db")
        let p = try stores.clone(a, as: "p.db")
        try a.execute("UPDATE note SET body = 'written later' WHERE title = 'one'")
        try a.insert(2, "two")
        try a.execute("INSERT INTO tag (id, name) VALUES (?, 'kept')", [key(7)])
        try b.insert(3, "of b")
        try a.sync(b)
        return (a, b, p)
    }

    @Test func nobodyGetsRowsWithoutTheirValues() throws {
        let (a, b, p) = try replicas()
        try a.changeUnobserved("DROP TABLE note")
        try a.sync(p)
        #expect(try p.titles() == ["one"])
        #expect(try p.value("SELECT name FROM tag", as: String.self) == "kept")
        try p.sync(b)
        #expect(try p.titles() == ["one", "two", "of b"])
        #expect(try p.value("SELECT body FROM note WHERE title = 'one'") == "written later")
        #expect(try p.state(["note"]) == b.state(["note"]))
    }

    @Test func whatWasWrittenJustBeforeEmptiesNoRowsAndDeletionsAreTold() throws {
        let (a, b, p) = try replicas()
        try a.execute("UPDATE note SET title = 'edited' WHERE title = 'one'")
        try a.execute("DELETE FROM note WHERE title = 'two'")
        try a.changeUnobserved("DROP TABLE note")
        try a.sync(b)
        #expect(try b.titles() == ["one", "of b"])
        #expect(try b.value("SELECT body FROM note WHERE title = 'one'") == "written later")
        try a.sync(p)
        #expect(try p.titles() == ["one", "of b"])
        try p.sync(b)
        #expect(try p.state(["note"]) == b.state(["note"]))
        try a.changeUnobserved(Self.anew)
        try a.synchronizer.track(["note"])
        #expect(try a.titles() == ["one", "of b"])
        #expect(try a.problems() == [])
    }

    @Test func theRowsComeBackWhenThereIsATableForThem() throws {
        let (a, b, p) = try replicas()
        try a.changeUnobserved("DROP TABLE note")
        try a.sync(b)
        // What came since is handed on, as from any replica that lacks the table.
        try b.execute("UPDATE note SET title = 'TWO' WHERE title = 'two'")
        try a.sync(b)
        try a.sync(p)
        #expect(try p.titles() == ["one", "TWO", "of b"])
        try a.changeUnobserved(Self.anew)
        try a.synchronizer.track(["note"])
        #expect(try a.titles() == ["one", "TWO", "of b"])
        try a.execute("DELETE FROM note WHERE title = 'one'")
        try a.sync(b)
        try a.sync(p)
        for replica in [a, b, p] { #expect(try replica.titles() == ["TWO", "of b"]) }
        #expect(try a.state(["note"]) == p.state(["note"]))
        #expect(try a.problems() == [])
    }

    /// Nothing of the table is here but its name, which is what says that its rows are wanted.
    @Test func aCompactionDoesNotForgetWhatIsWanted() throws {
        let (a, b, p) = try replicas()
        try a.changeUnobserved("DROP TABLE note")
        _ = try a.peer.greet()
        _ = try a.synchronizer.compact()
        try a.sync(p)
        #expect(try p.titles() == ["one"])
        try a.sync(b)
        try a.changeUnobserved(Self.anew)
        try a.synchronizer.track(["note"])
        #expect(try a.titles() == ["one", "two", "of b"])
        try p.sync(a)
        #expect(try p.titles() == ["one", "two", "of b"])
        #expect(try a.problems() == [])
    }

    @Test func theTableMayBeThereBeforeTheRows() throws {
        let (a, b, _) = try replicas()
        try a.changeUnobserved("DROP TABLE note; " + Self.anew)
        try a.insert(4, "new")
        try a.synchronizer.track(["note"])
        #expect(try a.titles() == ["new"])
        try a.sync(b)
        for replica in [a, b] { #expect(try replica.titles() == ["one", "two", "of b", "new"]) }
        #expect(try a.state(["note"]) == b.state(["note"]))
        #expect(try a.problems() == [])
    }

    @Test func whoLacksForgottenDeletionsKeepsTheRows() throws {
        let (a, b, p) = try replicas()
        try p.sync(b)
        try b.execute("DELETE FROM note WHERE title = 'two'")
        for replica in [a, p] { try replica.sync(b) }
        for replica in [b, a] { try replica.sync(p) }
        _ = try a.synchronizer.compact()
        try a.changeUnobserved("DROP TABLE note")
        try a.sync(p)
        #expect(try p.titles() == ["one", "of b"])
        #expect(try b.titles() == ["one", "of b"])
    }

    // MARK: Own rows that a third replica lacks

    private func waiting(_ report: SyncReport) -> [String] { report.waitingTables.map(\.name) }

    /// A deletion is what is left of the table, and would take all own changes along.
    @Test func rowsThatAThirdReplicaNeverGotDoNotCountAsKnownThere() throws {
        let (a, b, p) = try replicas()
        try a.execute("DELETE FROM note WHERE title = 'of b'")
        try a.changeUnobserved("DROP TABLE note")
        let report = try a.sync(p)
        #expect(waiting(report) == ["note"])
        #expect(try p.titles() == ["one"])
        try p.sync(b)
        #expect(try p.titles() == ["one", "two", "of b"])
        #expect(try p.value("SELECT body FROM note WHERE title = 'one'") == "written later")
        let later = try a.sync(p)
        #expect(waiting(later) == [])
        #expect(try p.titles() == ["one", "two"])
        try p.sync(b)
        #expect(try p.state(["note"]) == b.state(["note"]))
        try a.changeUnobserved(Self.anew)
        try a.synchronizer.track(["note"])
        #expect(try a.state(["note"]) == b.state(["note"]))
        #expect(try a.problems() == [] && p.problems() == [])
    }

    /// The third replica knows all that others wrote, so that it could be taken for one that has all rows.
    @Test func rowsThatAThirdReplicaNeverGotAreWaitedForInATableThatIsThereAgain() throws {
        let a = try stores.create()
        try a.insert(1, "one")
        let p = try stores.clone(a, as: "p.db")
        try a.insert(2, "two")
        let b = try stores.clone(a, as: "b.db")
        try a.changeUnobserved("DROP TABLE note; " + Self.anew)
        try a.synchronizer.track(["note"])
        try a.insert(4, "new")
        let report = try a.sync(p)
        #expect(waiting(report) == ["note"])
        #expect(try a.titles() == ["new"] && p.titles() == ["one"])
        let later = try a.sync(b)
        #expect(waiting(later) == [])
        #expect(try a.titles() == ["one", "two", "new"])
        try a.sync(p)
        for replica in [b, p] {
            #expect(try replica.titles() == ["one", "two", "new"])
            #expect(try replica.state(["note"]) == a.state(["note"]))
        }
        #expect(try a.problems() == [])
    }

    /// What an edit replaced that was not folded yet, others have still.
    @Test func whatWasReplacedJustBeforeIsWaitedForToo() throws {
        let a = try stores.create()
        try a.insert(1, "one")
        let p = try stores.clone(a, as: "p.db")
        try a.execute("UPDATE note SET body = 'written later'")
        try a.insert(2, "two")
        let b = try stores.clone(a, as: "b.db")
        try a.execute("UPDATE note SET title = 'ONE', body = 'nowhere' WHERE title = 'one'")
        try a.execute("DELETE FROM note WHERE title = 'two'")
        try a.changeUnobserved("DROP TABLE note")
        let report = try a.sync(p)
        #expect(waiting(report) == ["note"])
        try p.sync(b)
        #expect(try p.value("SELECT body FROM note WHERE title = 'one'") == "written later")
        try a.sync(p)
        #expect(try p.titles() == ["one"])
    }

    /// Nobody has them, as far as is known here: a copy of the file may, of which nobody has heard.
    @Test func rowsThatWereNeverSentAreReportedUntilTheyAreGivenUp() throws {
        let a = try stores.create()
        try a.insert(1, "one")
        let b = try stores.clone(a, as: "b.db")
        try a.insert(2, "nowhere")
        _ = try a.peer.greet()
        try a.changeUnobserved("DROP TABLE note")
        let report = try a.sync(b)
        #expect(waiting(report) == ["note"])
        #expect(report.waitingTables.first?.reason.contains("a new identity") == true)
        try b.insert(3, "of b")
        try a.synchronizer.renewIdentity()
        let later = try a.sync(b)
        #expect(waiting(later) == [])
        try a.changeUnobserved(Self.anew)
        try a.synchronizer.track(["note"])
        try a.insert(4, "new")
        try a.sync(b)
        for replica in [a, b] {
            #expect(try replica.titles() == ["one", "of b", "new"])
            #expect(try replica.problems() == [])
        }
    }

    /// Rows that no copy of the file can have either.
    @Test func rowsThatNobodyCanHaveAreWaitedForByNobody() throws {
        let a = try stores.create()
        try a.insert(1, "one")
        let b = try stores.clone(a, as: "b.db")
        try a.insert(2, "nowhere")
        try a.changeUnobserved("DROP TABLE note")
        let report = try a.sync(b)
        #expect(waiting(report) == [])
        #expect(try b.titles() == ["one"])
    }

    // MARK: Hidden rows

    private static let unique = "CREATE TABLE note (id BLOB PRIMARY KEY, title TEXT UNIQUE)"

    /// Two replicas, of which the first one has a hidden row of its own.
    private func pairWithAHiddenRow(isSent: Bool) throws -> (a: TestReplica, b: TestReplica) {
        let a = try stores.create(schema: Self.unique, tables: ["note"])
        let b = try stores.clone(a, as: "b.db")
        try b.execute("INSERT INTO note VALUES (?, 'same')", [key(2)])
        try a.execute("INSERT INTO note VALUES (?, 'same')", [key(1)])
        try a.sync(b, isSent ? .both : .pull)
        #expect(try a.value("SELECT count(*) FROM _sync_hidden", as: Int.self) == 1)
        return (a, b)
    }

    @Test func aHiddenRowThatNobodyElseHasIsNotLost() throws {
        let (a, b) = try pairWithAHiddenRow(isSent: false)
        try a.changeUnobserved("DROP TABLE note")
        try a.sync(b)
        try b.execute("UPDATE note SET title = 'other'")
        try a.sync(b)
        #expect(try b.titles() == ["same", "other"])
        try a.changeUnobserved(Self.unique)
        try a.synchronizer.track(["note"])
        #expect(try a.titles() == ["same", "other"])
        try a.sync(b)
        #expect(try a.state(["note"]) == b.state(["note"]))
        #expect(try a.problems() == [])
    }

    @Test func aHiddenRowThatOthersHaveComesBackFromThem() throws {
        let (a, b) = try pairWithAHiddenRow(isSent: true)
        try a.changeUnobserved("DROP TABLE note")
        _ = try a.peer.greet()
        #expect(try a.value("SELECT count(*) FROM _sync_row WHERE cl & 1", as: Int.self) == 0)
        #expect(try a.value("SELECT count(*) FROM _sync_shadow", as: Int.self) == 0)
        try b.execute("DELETE FROM note")
        try a.sync(b)
        try a.changeUnobserved(Self.unique)
        try a.synchronizer.track(["note"])
        try a.sync(b)
        #expect(try a.titles() == ["same"])
        #expect(try a.state(["note"]) == b.state(["note"]))
    }

    @Test func aTableThatTakesTheNameOfAnotherKeepsItsRowsForPeers() throws {
        let (a, b, p) = try replicas()
        try b.execute("CREATE TABLE memo (id BLOB PRIMARY KEY, title TEXT)")
        try b.synchronizer.track(["memo"])
        try b.execute("INSERT INTO memo (id, title) VALUES (?, 'a memo')", [key(5)])
        try a.sync(b)
        try a.migrate("rename") { try $0.rename(table: "note", to: "memo") }
        try a.sync(p)
        #expect(try p.titles() == ["one", "two", "of b"])
        #expect(try p.value("SELECT body FROM note WHERE title = 'one'") == "written later")
    }

    @Test func aFolderIsNotWrittenUntilTheRowsAreBack() throws {
        let (a, b, _) = try replicas()
        try a.changeUnobserved("DROP TABLE note")
        let folder = FolderTransport(
            path: stores.path("shared"), passphrase: try Passphrase("folder"), cost: .minimum)
        #expect(throws: SyncError.self) { try a.synchronizer.run(.both, folder) }
        try a.sync(b)
        _ = try a.synchronizer.run(.both, folder)
    }
}
