import CipherStore
import Foundation
import SyncMembers
import Testing

@testable import SyncEngine

/// Uses of the recovery key by stores that are behind.
@Suite struct HeardRecoveryTests {
    let club: MemberStores

    init() throws { club = try MemberStores() }

    private func recover(_ replica: TestReplica, as name: String) throws {
        try replica.synchronizer.membership.recover(
            by: club.recovery, as: MemberName(name), successor: nil)
    }

    @Test func whoHasHeardOfTheRecoveryBeforeTakesItAlong() throws {
        let (old, new) = (try club.stranger("old"), try club.stranger("new"))
        try recover(new, as: "new")
        try club.sync(new)
        let heard = try old.synchronizer.membership.hear(through: club.folder.transport)
        #expect(heard.isHeard && heard.remarks.isEmpty)
        try recover(old, as: "old")
        try club.settle(old, new, club.anna)
        let state = try #require(try club.anna.synchronizer.membership.state())
        let admins = Set(state.members.values.filter { $0.role == .admin }.map(\.name.text))
        #expect(admins == ["anna", "old", "new"])
        #expect(try new.synchronizer.membership.role() == .admin)
    }

    @Test func whoseRecoveryDoesNotCountIsToldThatAndNotThatItWasRemoved() throws {
        let (one, two) = (try club.stranger("one"), try club.stranger("two"))
        try recover(one, as: "one")
        try recover(two, as: "two")
        try club.settle(one, two)
        let loser = try one.synchronizer.membership.role() == nil ? one : two
        #expect(try loser.synchronizer.membership.role() == nil)
        let report = try club.sync(loser)
        #expect(report.unsent?.reason == .otherRecovery)
        try recover(loser, as: "again")
        try club.settle(one, two)
        #expect(try one.synchronizer.membership.role() == .admin)
        #expect(try two.synchronizer.membership.role() == .admin)
        let again = try club.sync(loser)
        #expect(again.unsent == nil)
    }

    @Test func aPlaceWithoutStatementsTellsNothing() throws {
        let path = club.stores.path("empty")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        let empty = FolderTransport(path: path, passphrase: try Passphrase("folder"), cost: .minimum)
        let heard = try club.anna.synchronizer.membership.hear(through: empty.transport)
        #expect(!heard.isHeard)
    }

    @Test func underAWrongPassphraseNothingIsHeardAndNothingPassesForDamaged() throws {
        let wrong = FolderTransport(
            path: club.folder.path, passphrase: try Passphrase("wrong"), cost: .minimum)
        let stranger = try club.stranger("stranger")
        try recover(stranger, as: "new")
        try club.sync(stranger)
        #expect(throws: SyncError.self) {
            try club.anna.synchronizer.membership.hear(through: wrong.transport)
        }
        // One that has read nothing there yet can't tell a wrong passphrase from files of strangers.
        let late = try club.stranger("late")
        let unheard = try late.synchronizer.membership.hear(through: wrong.transport)
        #expect(!unheard.isHeard)
        let heard = try club.anna.synchronizer.membership.hear(through: club.folder.transport)
        #expect(heard.isHeard)
        let state = try #require(try club.anna.synchronizer.membership.state())
        #expect(state.members.values.contains { $0.name.text == "new" })
    }
}
