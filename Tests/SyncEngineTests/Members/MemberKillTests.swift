import CipherStore
import Foundation
import SyncMembers
import Testing

@testable import SyncEngine

/// A process that ends between two files leaves a folder that goes on.
@Suite struct MemberKillTests {
    @Test(arguments: 0..<3) func aRemovalThatIsCutOffAfterAnyFileGoesOn(writes: Int) throws {
        let club = try MemberStores(seed: UInt64(10 + writes))
        let (ben, carl) = (try club.join("ben"), try club.join("carl"))
        try club.settle(club.anna, ben, carl)
        try club.remove("ben")
        try club.anna.insert(2, "after the removal")
        let mailbox = CountingMailbox(LocalFolder(path: club.folder.path))
        let transport = MailboxTransport(
            mailbox: mailbox, passphrase: try Passphrase("folder"), cost: .minimum)
        mailbox.writesLeft.withLock { $0 = writes }
        #expect(throws: CountingMailbox.Killed.self) { try club.anna.synchronizer.run(.both, transport) }
        #expect(mailbox.written.withLock { $0.count } == writes)
        try club.sync(carl)
        try ben.insert(3, "of ben")
        try club.sync(ben, .push)
        try club.settle(club.anna, carl)
        #expect(try carl.titles().contains("after the removal"))
        // What carl took in before it knew stays; here it did not meet ben in between.
        #expect(try club.anna.titles() == carl.titles())
        #expect(try !club.anna.titles().contains("of ben"))
    }

    @Test func aNewcomerWhoIsCutOffAfterItsStatementsGoesOn() throws {
        let club = try MemberStores()
        let invitation = try club.anna.synchronizer.membership.invite(MemberName("ben"), as: .writer)
        try club.sync(club.anna)
        let ben = try club.stranger("ben")
        try ben.synchronizer.membership.accept(invitation, through: club.folder.transport)
        try ben.insert(2, "of ben")
        let mailbox = CountingMailbox(LocalFolder(path: club.folder.path))
        let transport = MailboxTransport(
            mailbox: mailbox, passphrase: try Passphrase("folder"), cost: .minimum)
        mailbox.writesLeft.withLock { $0 = 1 }
        #expect(throws: CountingMailbox.Killed.self) { try ben.synchronizer.run(.both, transport) }
        try club.settle(club.anna, ben)
        #expect(try club.anna.titles() == ["of anna", "of ben"])
    }
}
