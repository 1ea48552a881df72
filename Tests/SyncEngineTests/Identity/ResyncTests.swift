import CipherStore
import Foundation
import SyncWire
import Testing

@testable import SyncEngine

/// Replicas that return after deletions were forgotten, to rows that were made again meanwhile.
@Suite struct ResyncTests {
    /// The row of the next life is older than an edit of the one before, so only what the sender knows tells
    /// that the edit ended with its row.
    @Test(arguments: [SyncDirection.both, .pull, .push], [false, true])
    func anEditOfAnEarlierLifeEndsWithIt(direction: SyncDirection, isKnown: Bool) throws {
        let stores = try TestStores()
        let a = try stores.create()
        let other = try stores.clone(a, as: "other.db")
        try a.insert(1, "first life")
        let away = try stores.clone(a, as: "away.db")
        let b = try stores.clone(a, as: "b.db")
        for replica in [away, b] { try replica.meet(a) }
        stores.clock.advance(milliseconds: 1000)
        try other.insert(1, "made elsewhere")
        stores.clock.advance(milliseconds: 1000)
        try away.execute("UPDATE note SET title = 'edited'")
        if isKnown { try away.meet(a) }
        try a.execute("DELETE FROM note")
        for _ in 0..<2 { try b.meet(a) }
        stores.clock.advance(milliseconds: 365 * 24 * 60 * 60 * 1000)
        try b.insert(2, "a year later")
        try b.meet(a)
        #expect(try a.synchronizer.compact().forgottenDeletionCount == 1)
        try other.meet(a)
        #expect(try a.titles() == ["made elsewhere", "a year later"])
        // Divergences that a meeting repairs would be in its report.
        #expect(try away.meet(a, direction).divergence == nil)
        try expectEqual([a, b, other, away])
        // An edit that nobody had before is one of the row that is there.
        #expect(try a.titles() == [isKnown ? "made elsewhere" : "edited", "a year later"])
    }

    @Test func aSenderThatWroteNothingIsNamedInTheJournalOfWhatItsForgottenDeletionTook() throws {
        let stores = try TestStores()
        let a = try stores.create()
        try a.insert(1, "first life")
        let away = try stores.clone(a, as: "away.db")
        let b = try stores.clone(a, as: "b.db")
        try a.execute("DELETE FROM note")
        for _ in 0..<2 { try b.meet(a) }
        #expect(try b.synchronizer.compact().forgottenDeletionCount == 1)
        try away.execute("UPDATE note SET title = 'edited'")
        let bundle = stores.path("everything.bundle")
        try b.synchronizer.writeBundle(to: bundle, since: .nothing, .plaintext)
        _ = try away.synchronizer.applyBundle(at: bundle, .plaintext)
        #expect(try away.titles().isEmpty)
        let conflicts = try away.synchronizer.conflicts()
        let sender = try b.synchronizer.status().replica
        #expect(conflicts.map(\.winner.replica) == [sender])
        #expect(try away.queue.read { try MetadataCheck.problems(of: $0, isDeep: true) }.isEmpty)
    }

    /// Whoever never had a table does not name it. All of its rows went, and whoever was away would bring them back.
    @Test func rowsOfATableThatTheSenderDoesNotHaveGo() throws {
        let stores = try TestStores()
        let a = try stores.create()
        try a.insert(1, "one")
        let other = try stores.clone(a, as: "other.db")
        try a.migrate("extra") { try $0.execute(sql: "CREATE TABLE extra (id BLOB PRIMARY KEY, v)") }
        try a.synchronizer.track(["extra"])
        try a.execute("INSERT INTO extra VALUES (?, 'gone')", [key(1)])
        let away = try stores.clone(a, as: "away.db")
        let b = try stores.clone(a, as: "b.db")
        try a.execute("DELETE FROM extra")
        try away.execute("INSERT INTO extra VALUES (?, 'made while away')", [key(2)])
        for _ in 0..<2 { try b.meet(a) }
        stores.clock.advance(milliseconds: 365 * 24 * 60 * 60 * 1000)
        try b.insert(2, "a year later")
        try b.meet(a)
        #expect(try a.synchronizer.compact().forgottenDeletionCount == 1)
        try other.meet(a)
        #expect(try other.value("SELECT count(*) FROM _sync_table WHERE name = 'extra' AND tracked = 1") == 0)
        #expect(try away.meet(other).divergence == nil)
        #expect(try away.value("SELECT group_concat(v) FROM extra", as: String.self) == "made while away")
        try other.meet(a)
        for replica in [b, away] { try replica.meet(a) }
        for replica in [a, b, away] {
            #expect(
                try replica.value("SELECT group_concat(v) FROM extra", as: String.self) == "made while away")
        }
    }

    /// An edit that the sender knows outlives nothing; one beside it that nobody knows goes to the journal with its row.
    @Test func anUnknownEditOfAnEarlierLifeIsInTheJournal() throws {
        let stores = try TestStores()
        let a = try stores.create()
        let other = try stores.clone(a, as: "other.db")
        try a.insert(1, "first life")
        let away = try stores.clone(a, as: "away.db")
        let b = try stores.clone(a, as: "b.db")
        for replica in [away, b] { try replica.meet(a) }
        stores.clock.advance(milliseconds: 1000)
        try other.insert(1, "made elsewhere")
        stores.clock.advance(milliseconds: 1000)
        try away.execute("UPDATE note SET title = 'edited'")
        try away.meet(a)
        try away.execute("UPDATE note SET stars = 5")
        _ = try away.vector()
        try a.execute("DELETE FROM note")
        for _ in 0..<2 { try b.meet(a) }
        stores.clock.advance(milliseconds: 365 * 24 * 60 * 60 * 1000)
        try b.insert(2, "a year later")
        try b.meet(a)
        #expect(try a.synchronizer.compact().forgottenDeletionCount == 1)
        try other.meet(a)
        #expect(try away.meet(a).divergence == nil)
        try expectEqual([a, b, other, away])
        #expect(try a.titles() == ["made elsewhere", "a year later"])
        let lost = try away.synchronizer.conflicts()
        #expect(
            lost.contains { $0.column == "stars" && "\($0.lost)" == "5" && $0.reason == .deleted }, "\(lost)")
        #expect(try away.problems() == [])
    }

    /// Rows that were deleted while a replica was away go with what nobody knows of them into the journal, and without their
    /// children, which wait.
    @Test func rowsThatWereDeletedMeanwhileGoAsIfTheirDeletionHadCome() throws {
        let stores = try TestStores()
        let a = try stores.create(
            "a.db",
            schema: """
                CREATE TABLE parent (id BLOB PRIMARY KEY, name TEXT, note TEXT, size INTEGER);
                CREATE TABLE child (id BLOB PRIMARY KEY, parent BLOB REFERENCES parent (id));
                """, tables: ["parent", "child"])
        for number in 1...3 as ClosedRange<UInt8> {
            try a.execute("INSERT INTO parent VALUES (?, 'name', 'note', 1)", [key(number)])
        }
        let away = try stores.clone(a, as: "away.db")
        let b = try stores.clone(a, as: "b.db")
        for replica in [away, b] { try replica.meet(a) }
        stores.clock.advance(milliseconds: 1000)
        // This edit is known everywhere, and is lost with its row.
        try away.execute("UPDATE parent SET name = 'known' WHERE id = ?", [key(2)])
        try away.meet(a)
        try away.execute("UPDATE parent SET note = 'unseen', name = 'unseen too' WHERE id = ?", [key(1)])
        try away.execute("INSERT INTO child VALUES (?, ?)", [key(9), key(1)])
        _ = try away.vector()
        try a.execute("DELETE FROM parent WHERE id < ?", [key(3)])
        for _ in 0..<2 { try b.meet(a) }
        stores.clock.advance(milliseconds: 365 * 24 * 60 * 60 * 1000)
        try b.execute("UPDATE parent SET size = 2")
        try b.meet(a)
        #expect(try a.synchronizer.compact().forgottenDeletionCount == 2)
        let report = try away.meet(a)
        #expect(report.divergence == nil)
        // One row that changed, and two that went.
        #expect(report.pulled?.rowCount == 3)
        #expect(
            try away.value("SELECT group_concat(hex(id)) FROM parent", as: String.self)
                == key(3).map { String(format: "%02X", $0) }.joined())
        #expect(try away.value("SELECT count(*) FROM child", as: Int.self) == 0)
        #expect(try away.synchronizer.parkedRows().map(\.table) == ["child"])
        let lost = try away.queue.read {
            try Row.fetchAll(
                $0, sql: "SELECT val, life, why FROM _sync_conflict WHERE why <> 'row' ORDER BY rowid"
            )
            .map { "\($0[0] as String) \($0[1] as Int) \($0[2] as String)" }
        }
        #expect(lost == ["unseen too 1 deleted", "unseen 1 deleted"])
        // Of the row whose edits are all known, nothing is kept.
        #expect(
            try away.value(
                "SELECT count(*) FROM _sync_conflict WHERE pk = x'\(key(2).map { String(format: "%02x", $0) }.joined())'",
                as: Int.self) == 0)
        #expect(try away.problems() == [] && a.problems() == [])
    }

    /// A replica that has forgotten a row's deletion hears of an older one, by a bundle that was on the way for long.
    @Test func aRowThatIsMadeAgainIsThereWhereAnOlderDeletionCameLate() throws {
        let stores = try TestStores()
        let a = try stores.create()
        try a.insert(1, "first life")
        let b = try stores.clone(a, as: "b.db")
        try a.meet(b)
        // Nobody but b hears of this one.
        let c = try stores.clone(b, as: "c.db")
        try c.execute("DELETE FROM note")
        let late = stores.path("late.bundle")
        try c.synchronizer.writeBundle(to: late, since: .replica(a.replica()), .plaintext)
        stores.clock.advance(milliseconds: 1000)
        try a.execute("DELETE FROM note")
        try a.meet(b)
        try b.meet(c)
        #expect(try a.synchronizer.compact().forgottenDeletionCount == 1)
        _ = try b.synchronizer.compact()
        _ = try a.synchronizer.applyBundle(at: late, .plaintext)
        try b.insert(1, "second life")
        #expect(try b.meet(a).divergence == nil)
        #expect(try a.titles() == ["second life"])
        try c.meet(b)
        try expectEqual([a, b, c])
    }

    /// An edit of a row reaches somebody for a second time, who deleted the row meanwhile, forgot the deletion and made
    /// the row again. The clock of its writer was ahead, so the edit is later than the row that is there.
    ///
    /// - parameter isOld: Whether the row had been deleted and made again before.
    @Test(arguments: [false, true])
    func anEditOfAFormerRowIsNotOneOfTheRowThatWasMadeAgain(isOld: Bool) throws {
        let stores = try TestStores()
        let a = try stores.create()
        try a.insert(1, "first")
        if isOld {
            _ = try a.synchronizer.status()
            try a.execute("DELETE FROM note")
            _ = try a.synchronizer.status()
            try a.insert(1, "second")
        }
        let b = try stores.clone(a, as: "b.db")
        try a.meet(b)
        // So far ahead that no clock follows.
        stores.clock.advance(milliseconds: 3 * 86_400_000)
        try b.execute("UPDATE note SET title = 'late'")
        let late = stores.path("late.bundle")
        try b.synchronizer.writeBundle(to: late, since: .replica(a.replica()), .plaintext)
        stores.clock.advance(milliseconds: -3 * 86_400_000)
        try a.meet(b)
        try a.execute("DELETE FROM note")
        try a.meet(b)
        #expect(try a.synchronizer.compact().forgottenDeletionCount == 1)
        #expect(try b.synchronizer.compact().forgottenDeletionCount == 1)
        try a.insert(1, "new")
        try a.meet(b)
        _ = try a.synchronizer.applyBundle(at: late, .plaintext)
        #expect(try a.titles() == ["new"])
        let meeting = try a.meet(b)
        #expect(meeting.divergence == nil && meeting.pulled == nil && meeting.pushed == nil)
        try expectEqual([a, b])
    }

    /// A deletion is not forgotten as long as somebody has written changes that are not here: they may be of the row.
    @Test func aDeletionIsNotForgottenWhileChangesOfSomebodyWhoKnowsItAreMissing() throws {
        let stores = try TestStores()
        let a = try stores.create()
        try a.insert(1, "first")
        let b = try stores.clone(a, as: "b.db")
        try a.meet(b)
        try a.execute("DELETE FROM note")
        try b.execute("UPDATE note SET title = 'edited'")
        // b tells of its edit, which a does not get, and gets the deletion.
        _ = try b.sync(a, .pull)
        #expect(try a.synchronizer.compact().forgottenDeletionCount == 0)
        #expect(try a.synchronizer.compact().awaitedReplicas == [b.replica()])
        try a.meet(b)
        #expect(try a.synchronizer.compact().forgottenDeletionCount == 1)
        try a.insert(1, "new")
        try a.meet(b)
        #expect(try b.titles() == ["new"])
        try expectEqual([a, b])
    }

    /// A row is made in two places, and deleted where one of the two is known. Whoever forgot the deletion takes the
    /// other one for a new row, and whoever did not forget it takes it for a deleted one.
    ///
    /// - parameter isSent: Whether the other row comes to where the deletion is, or the deletion to the row.
    @Test(arguments: [false, true])
    func aDeletionThatEndsARowThatItsWriterDidNotKnowIsNotForgottenBeforeThatIsKnown(isSent: Bool) throws {
        let stores = try TestStores()
        let a = try stores.create()
        let away = try stores.clone(a, as: "away.db")
        let other = try stores.clone(a, as: "other.db")
        try a.insert(1, "deleted")
        let b = try stores.clone(a, as: "b.db")
        try a.execute("DELETE FROM note")
        for _ in 0..<2 { try b.meet(a) }
        #expect(try a.synchronizer.compact().forgottenDeletionCount == 1)
        try away.insert(1, "made elsewhere")
        try away.meet(other, .push)
        try away.meet(b, isSent ? .push : .pull)
        // What b or away told of the deletion is forgotten here: the row is new.
        try other.meet(a, .pull)
        #expect(try other.titles() == ["made elsewhere"])
        for (one, another) in [(other, b), (other, away), (other, a), (other, b), (away, other), (a, other)] {
            #expect(try one.meet(another).divergence == nil)
        }
        try expectEqual([a, b, away, other])
        #expect(try a.titles() == [])
        // A deletion that was re-issued is forgotten as any other.
        for replica in [b, away, other, b, away, other] { try replica.meet(a) }
        #expect(try a.synchronizer.compact().keptDeletionCount == 0)
    }

    /// A row is made again where its deletion was forgotten, and takes an edit of the former row that nobody had before.
    /// Who remembers the deletion has taken that edit for a late one.
    @Test func anEditThatWasLateElsewhereComesWithTheRowThatWasMadeAgain() throws {
        let stores = try TestStores()
        let a = try stores.create()
        try a.insert(1, "first")
        let b = try stores.clone(a, as: "b.db")
        let away = try stores.clone(a, as: "away.db")
        for replica in [b, away] { try replica.meet(a) }
        try a.execute("DELETE FROM note")
        for _ in 0..<2 { try b.meet(a) }
        stores.clock.advance(milliseconds: 365 * 24 * 60 * 60 * 1000)
        try b.insert(2, "a year later")
        try b.meet(a)
        #expect(try a.synchronizer.compact().forgottenDeletionCount == 1)
        try a.insert(1, "second")
        stores.clock.advance(milliseconds: 1000)
        try away.execute("UPDATE note SET title = 'edited'")
        _ = try a.sync(away, .pull)
        #expect(try a.titles() == ["edited", "a year later"])
        _ = try b.meet(away)
        for (one, another) in [(a, b), (a, away), (b, away)] {
            #expect(try one.meet(another).divergence == nil)
        }
        try expectEqual([a, b, away])
    }
}
