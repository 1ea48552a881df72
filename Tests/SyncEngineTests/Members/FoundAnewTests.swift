import CipherStore
import SyncMembers
import SyncWire
import Testing

@testable import SyncEngine

/// What is left to an admin when nothing can be said any more.
@Suite struct FoundAnewTests {
    let club: MemberStores

    init() throws { club = try MemberStores() }

    private func foundAnew() throws {
        try club.anna.synchronizer.membership.foundAnew(
            MemberName("anna"), recoveryKey: MembershipRecoveryKey())
        try club.sync(club.anna)
    }

    @Test func whoIsInvitedAnewGoesOnAndTheOthersAreOut() throws {
        let (ben, carl) = (try club.join("ben"), try club.join("carl"))
        try ben.insert(2, "of ben")
        try club.settle(ben, carl, club.anna)
        try foundAnew()
        let state = try #require(try club.anna.synchronizer.membership.state())
        #expect(state.members.values.map(\.name.text) == ["anna"] && state.currentEpoch != nil)
        let invitation = try club.anna.synchronizer.membership.invite(MemberName("ben"), as: .writer)
        try club.sync(club.anna)
        // Nobody goes over unasked.
        #expect(throws: SyncError.self) {
            try ben.synchronizer.membership.accept(invitation, through: club.folder.transport)
        }
        #expect(try ben.synchronizer.membership.state()?.members.count == 3)
        try ben.insert(3, "meanwhile")
        try ben.synchronizer.membership.acceptAnew(invitation, through: club.folder.transport)
        #expect(try ben.synchronizer.membership.role() == .writer)
        try carl.insert(4, "of carl")
        try club.settle(ben, carl, club.anna)
        try club.settle(ben, club.anna)
        let titles = try club.anna.titles()
        #expect(try ben.titles() == titles)
        #expect(titles.contains("meanwhile") && !titles.contains("of carl"))
        // It is one of the members now, whose invitation was used.
        #expect(throws: SyncError.self) {
            try ben.synchronizer.membership.acceptAnew(invitation, through: club.folder.transport)
        }
    }

    @Test func noKeyFromBeforeGoesOn() throws {
        let former = try #require(try club.anna.synchronizer.membership.record())
        try foundAnew()
        let record = try #require(try club.anna.synchronizer.membership.record())
        #expect(record.role == .admin && record.device?.card != former.device?.card)
        #expect(former.keyring.opened.allSatisfy { record.keyring[$0] == nil })
        #expect(record.state.founding != former.state.founding)
    }

    @Test func aSetThatIsFullAndDamagedIsReplaced() throws {
        // Nothing of what is replaced is read, so neither its number nor what is in it is in the way.
        let count = MembershipLimits.statementCountMax
        try club.anna.synchronizer.database.write { db in
            try db.execute(
                sql: """
                    WITH RECURSIVE counter(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counter WHERE n < ?)
                    INSERT INTO _sync_statement (name, content, at) SELECT randomblob(32), randomblob(8), 1 FROM counter
                    """, arguments: [count])
        }
        #expect(throws: SyncError.self) { try club.anna.synchronizer.membership.state() }
        try foundAnew()
        let state = try #require(try club.anna.synchronizer.membership.state())
        #expect(state.members.values.map(\.name.text) == ["anna"] && state.currentEpoch != nil)
        #expect(state.statements.count < 10)
    }

    @Test func aMembershipIsNotReplacedUnasked() throws {
        #expect(throws: SyncError.self) {
            try club.anna.synchronizer.membership.found(
                MemberName("eve"), recoveryKey: MembershipRecoveryKey())
        }
    }
}
