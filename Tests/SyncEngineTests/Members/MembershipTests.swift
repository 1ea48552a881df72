import CipherStore
import Foundation
import SyncMembers
import SyncWire
import Synchronization
import Testing

@testable import SyncEngine

@Suite struct MembershipTests {
    @Test func theFounderIsAnAdminWithAKeyToWriteWith() throws {
        let stores = try TestStores()
        let store = try stores.create()
        #expect(try store.synchronizer.membership.state() == nil)
        let recovery = try store.synchronizer.membership.found(MemberName("anna"))
        let record = try #require(try store.synchronizer.membership.record())
        #expect(record.role == .admin && record.member?.name.text == "anna")
        #expect(record.current != nil && !record.makesEpoch)
        #expect(record.state.recovery == recovery.card)
    }

    @Test func aRecoveryKeyThatItsOwnerHasAlreadyCounts() throws {
        let stores = try TestStores()
        let store = try stores.create()
        let membership = store.synchronizer.membership
        let (first, next) = (try MembershipRecoveryKey(), try MembershipRecoveryKey())
        try membership.found(MemberName("anna"), recoveryKey: first)
        #expect(try membership.state()?.recovery == first.card)
        try membership.recover(by: first, as: MemberName("anna again"), successor: next)
        #expect(try membership.state()?.recovery == next.card)
    }

    @Test func aDatabaseIsFoundedOnce() throws {
        let stores = try TestStores()
        let store = try stores.create()
        _ = try store.synchronizer.membership.found(MemberName("anna"))
        let error = #expect(throws: SyncError.self) {
            try store.synchronizer.membership.found(MemberName("anna"))
        }
        #expect(error?.code == .notMember)
    }

    @Test func whatIsKnownOfMembersOutlivesTheProcess() throws {
        let stores = try TestStores()
        let store = try stores.create()
        _ = try store.synchronizer.membership.found(MemberName("anna"))
        _ = try store.synchronizer.membership.invite(MemberName("ben"), as: .reader)
        let again = try stores.open("a.db")
        let (before, after) = (
            try store.synchronizer.membership.record(), try again.synchronizer.membership.record()
        )
        #expect(before?.state == after?.state && after?.state.members.count == 2)
        #expect(before?.keyring.opened == after?.keyring.opened && after?.current != nil)
    }

    @Test func noCopyOfAStoreHasItsKeys() throws {
        let stores = try TestStores()
        let store = try stores.create()
        _ = try store.synchronizer.membership.found(MemberName("anna"))
        let clone = try stores.clone(store, as: "b.db")
        let record = try #require(try clone.synchronizer.membership.record())
        #expect(record.device == nil && record.keyring.opened.isEmpty && record.role == nil)
        #expect(try record.state == store.synchronizer.membership.state())
        for table in ["_sync_member_key", "_sync_epoch_key", "_sync_statement_file"] {
            #expect(try clone.value("SELECT count(*) FROM \(table)", as: Int.self) == 0, "\(table)")
        }
    }

    @Test func onlyAnAdminInvitesAndRemoves() throws {
        let club = try MemberStores()
        let ben = try club.join("ben")
        let error = #expect(throws: MembershipError.self) {
            try ben.synchronizer.membership.invite(MemberName("carl"), as: .reader)
        }
        #expect(error?.code == .notAllowed)
        let anna = try club.member("anna").id
        #expect(throws: MembershipError.self) { try ben.synchronizer.membership.remove(anna) }
        // What was not allowed is not kept.
        #expect(try ben.synchronizer.membership.state()?.members.count == 2)
    }

    @Test func anInvitationIsUsedOnceAndLeavesADeviceThatNobodyElseHasHadTheKeysOf() throws {
        let club = try MemberStores()
        let invitation = try club.anna.synchronizer.membership.invite(MemberName("ben"), as: .writer)
        try club.sync(club.anna)
        let (first, second) = (try club.stranger("first"), try club.stranger("second"))
        try first.synchronizer.membership.accept(invitation, through: club.folder.transport)
        try club.sync(first)
        let error = #expect(throws: SyncError.self) {
            try second.synchronizer.membership.accept(invitation, through: club.folder.transport)
        }
        #expect(error?.code == .notMember && error?.message.contains("used") == true)
        #expect(try first.synchronizer.membership.hasAccepted(invitation))
        #expect(try !second.synchronizer.membership.hasAccepted(invitation))
        #expect(try !club.anna.synchronizer.membership.hasAccepted(invitation))
        let record = try #require(try first.synchronizer.membership.record())
        #expect(record.state.devices[invitation.keys.card.id]?.isActive == false)
        #expect(record.device?.card.id != invitation.keys.card.id && record.role == .writer)
    }

    /// Two acceptances would void each other, and the invitation would be used up.
    @Test func aStoreThatAnotherProcessMakesADeviceMeanwhileStaysThatDevice() throws {
        let club = try MemberStores()
        let invitation = try club.anna.synchronizer.membership.invite(MemberName("ben"), as: .writer)
        try club.sync(club.anna)
        let ben = try club.stranger("ben")
        let elsewhere = try club.stores.open("ben.db").synchronizer.membership
        let folder = club.folder.transport
        var interrupted = folder
        interrupted.mailbox = InterruptedMailbox(folder.mailbox) {
            try elsewhere.accept(invitation, through: folder)
        }
        let error = #expect(throws: SyncError.self) {
            try ben.synchronizer.membership.accept(invitation, through: interrupted)
        }
        #expect(error?.code == .notMember && error?.message.contains("already") == true)
        #expect(try ben.synchronizer.membership.role() == .writer)
        try club.settle(ben, club.anna)
        #expect(try club.member("ben").role == .writer)
        #expect(try ben.synchronizer.membership.role() == .writer)
    }

    @Test func anAcceptanceKeepsWhatTheStoreKnowsAndNothingByStrangers() throws {
        let club = try MemberStores()
        let invitation = try club.anna.synchronizer.membership.invite(MemberName("ben"), as: .writer)
        try club.sync(club.anna)
        let ben = try club.stranger("ben")
        let known = try #require(try ben.synchronizer.membership.state())
        let eve = try MemberDeviceKeys()
        let strange = try SignedStatement(
            Statement(
                store: known.store, issuer: .device(eve.card), parents: known.heads,
                kind: .removeDevice(DeviceRemoval(device: eve.card.id, cutOffs: [:]))), by: eve)
        try ben.queue.write { db throws in try StatementLedger.add(db, [strange], at: 5) }
        let before = try ben.queue.read { try StatementLedger.times($0) }
        club.stores.clock.advance(milliseconds: 1000)
        try ben.synchronizer.membership.accept(invitation, through: club.folder.transport)
        let after = try ben.queue.read { try StatementLedger.times($0) }
        #expect(after[strange.id] == nil && before[strange.id] == 5)
        // It has known the others for as long as before.
        #expect(known.statements.keys.allSatisfy { after[$0] == before[$0] && before[$0] != nil })
        #expect(try ben.synchronizer.membership.role() == .writer)
    }

    @Test func anInvitationOfAMemberWhoWasRemovedMeanwhileDoesNotCount() throws {
        let club = try MemberStores()
        let invitation = try club.anna.synchronizer.membership.invite(MemberName("ben"), as: .writer)
        try club.remove("ben")
        try club.sync(club.anna)
        let ben = try club.stranger("ben")
        #expect(throws: SyncError.self) {
            try ben.synchronizer.membership.accept(invitation, through: club.folder.transport)
        }
    }

    @Test func anInvitationThatNobodyHasUsedInTimeFreesItsNameAndRemovesNobody() throws {
        let club = try MemberStores()
        let membership = club.anna.synchronizer.membership
        let (ben, dora) = (try MemberName("ben"), try MemberName("dora"))
        let now = club.stores.clock.environment.milliseconds()
        try membership.note(endOf: membership.invite(ben, as: .writer), now + 5000)
        // Of this one nobody knows until when it can be used.
        _ = try membership.invite(dora, as: .reader)
        #expect(try membership.openInvitations(of: ben).count == 1)
        #expect(try membership.expiredInvitations() == [])
        club.stores.clock.advance(milliseconds: 5000)
        #expect(try membership.openInvitations(of: ben) == [])
        #expect(try membership.expiredInvitations().map(\.member.name) == [ben])
        #expect(try membership.invitedNames() == [ben, dora])
        // Who has not come may have used the link all the same, and keeps the role.
        club.stores.clock.advance(milliseconds: 30 * 86_400_000)
        try membership.note(endOf: membership.invite(ben, as: .writer), now + 60 * 86_400_000)
        #expect(try membership.openInvitations(of: ben).count == 1)
        #expect(try membership.expiredInvitations().map(\.member.role) == [.writer])
        #expect(try membership.openInvitations(of: dora).count == 1)
    }

    /// Anna has not synchronized since.
    @Test func aMemberWhoHasComeUnnoticedStaysWhenSomebodyElseIsInvited() throws {
        let club = try MemberStores()
        let membership = club.anna.synchronizer.membership
        let name = try MemberName("ben")
        let invitation = try membership.invite(name, as: .writer)
        try membership.note(endOf: invitation, club.stores.clock.environment.milliseconds() + 5000)
        try club.sync(club.anna)
        let ben = try club.stranger("ben")
        try ben.synchronizer.membership.accept(invitation, through: club.folder.transport)
        club.stores.clock.advance(milliseconds: 86_400_000)
        #expect(try membership.expiredInvitations().map(\.member.name) == [name])
        let other = try membership.invite(MemberName("carl"), as: .writer)
        try membership.note(endOf: other, club.stores.clock.environment.milliseconds() + 5000)
        try club.settle(ben, club.anna)
        #expect(try club.member("ben").role == .writer)
        #expect(try membership.expiredInvitations() == [])
        #expect(try membership.openInvitations(of: name) == [])
        // Somebody who is no admin can withdraw nothing.
        club.stores.clock.advance(milliseconds: 5000)
        #expect(try membership.expiredInvitations().count == 1)
        #expect(try ben.synchronizer.membership.expiredInvitations() == [])
    }

    @Test func theEndOfAnInvitationThatAnotherProcessMakesMeanwhileIsKept() throws {
        let club = try MemberStores()
        let elsewhere = try club.stores.open(club.anna.name).synchronizer.membership
        let end = club.stores.clock.environment.milliseconds() + 5000
        func inviteElsewhere() throws {
            try elsewhere.note(endOf: elsewhere.invite(MemberName("carl"), as: .writer), end)
        }
        let membership = club.anna.synchronizer.membership
        let invitation = try membership.invite(MemberName("ben"), as: .writer)
        // Whatever is read in several transactions may be of several states.
        var transactionCount = 0
        var result: Result<Void, any Error>?
        club.anna.queue.inDatabase { db in
            db.trace { event in
                guard "\(event)".hasPrefix("BEGIN") else { return }
                transactionCount += 1
                if transactionCount == 2 { result = Result { try inviteElsewhere() } }
            }
        }
        try membership.note(endOf: invitation, end)
        club.anna.queue.inDatabase { $0.trace(options: []) }
        #expect(transactionCount > 0)
        try (result ?? Result { try inviteElsewhere() }).get()
        club.stores.clock.advance(milliseconds: 5000)
        let expired = try membership.expiredInvitations()
        #expect(expired.map(\.member.name.text) == ["ben", "carl"])
    }

    @Test func anInvitationThatReachesNobodyIsWithdrawn() throws {
        let club = try MemberStores()
        let membership = club.anna.synchronizer.membership
        let name = try MemberName("ben")
        try membership.withdraw(membership.invite(name, as: .writer))
        #expect(try membership.openInvitations(of: name) == [])
        #expect(try club.member("ben").role == nil)
    }

    @Test func anInvitationTravelsAsBytesAndIsNotShown() throws {
        let club = try MemberStores()
        let invitation = try club.anna.synchronizer.membership.invite(MemberName("ben"), as: .writer)
        let again = try MembershipInvitation(rawRepresentation: invitation.rawRepresentation)
        #expect(again.founding == invitation.founding && again.keys.card == invitation.keys.card)
        #expect(throws: MembershipError.self) {
            try MembershipInvitation(rawRepresentation: Array(invitation.rawRepresentation.dropLast()))
        }
        // One by an older program does not name the database.
        let old = Array(invitation.rawRepresentation.prefix(MembershipInvitation.byteCountWithoutStore))
        let read = try MembershipInvitation(rawRepresentation: old)
        #expect(read.keys.card == invitation.keys.card && read.store == nil && read.rawRepresentation == old)
        #expect(try again.store == club.anna.synchronizer.status().store)
        let secret = invitation.rawRepresentation.dropFirst(32).prefix(64).map { "\($0)" }
            .joined(separator: ", ")
        #expect(
            !String(reflecting: invitation).contains(secret)
                && Mirror(reflecting: invitation).children.isEmpty)
    }

    @Test func theRecoveryKeyPutsInAnAdminWhenNoneIsLeft() throws {
        let club = try MemberStores()
        let ben = try club.join("ben")
        try club.sync(club.anna)
        try club.remove("anna")
        #expect(try club.anna.synchronizer.membership.record()?.role == nil)
        #expect(throws: MembershipError.self) {
            try ben.synchronizer.membership.recover(by: MembershipRecoveryKey(), as: MemberName("eve"))
        }
        let next = try ben.synchronizer.membership.recover(
            by: club.recovery, as: MemberName("ben again"), renewingKey: true)
        let record = try #require(try ben.synchronizer.membership.record())
        #expect(record.role == .admin && record.state.recovery == next?.card)
        try ben.insert(9, "after recovery")
        let report = try club.sync(ben)
        #expect(report.pushed != nil && report.role == .admin)
        // Its device is another one, so what it writes is another replica's.
        #expect(report.renewedReplica != nil)
    }

    @Test func aStoreOfAProgramFromBeforeGetsTheTables() throws {
        let stores = try TestStores()
        let store = try stores.create()
        for table in ["_sync_statement", "_sync_member_key", "_sync_epoch_key", "_sync_statement_file"] {
            try store.changeUnobserved("DROP TABLE \(table)")
        }
        #expect(try store.synchronizer.membership.state() == nil)
        _ = try store.synchronizer.membership.found(MemberName("anna"))
        #expect(try store.synchronizer.membership.record()?.role == .admin)
    }
}

/// A mailbox in which something happens before a file is opened for the first time.
private final class InterruptedMailbox: Mailbox {
    private let mailbox: any Mailbox
    private let body: @Sendable () throws -> Void
    private let isDone = Mutex(false)

    init(_ mailbox: any Mailbox, _ body: @escaping @Sendable () throws -> Void) {
        (self.mailbox, self.body) = (mailbox, body)
    }

    var name: String { mailbox.name }
    var location: String { mailbox.location }
    func folders() throws -> [String] { try mailbox.folders() }
    func files(in folder: String) throws -> [MailboxFile] { try mailbox.files(in: folder) }

    func open(_ path: MailboxPath) throws -> any MailboxReader {
        let isFirst = isDone.withLock { done in
            guard !done else { return false }
            done = true
            return true
        }
        if isFirst { try body() }
        return try mailbox.open(path)
    }

    func write(
        _ path: MailboxPath, replacing: Bool,
        _ body: (_ sink: @escaping (Data) throws -> Void) throws -> Void
    ) throws {
        try mailbox.write(path, replacing: replacing, body)
    }

    func remove(_ path: MailboxPath) throws { try mailbox.remove(path) }
}
