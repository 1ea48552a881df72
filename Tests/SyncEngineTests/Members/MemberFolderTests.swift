import CipherStore
import Foundation
import SyncMembers
import SyncWire
import Testing

@testable import SyncEngine

/// What members of a database exchange through a folder, and what nobody else does.
@Suite struct MemberFolderTests {
    let club: MemberStores

    init() throws { club = try MemberStores() }

    private func expectEqual(_ replicas: TestReplica...) throws {
        let expected = try replicas[0].dump()
        for replica in replicas.dropFirst() { #expect(try replica.dump() == expected) }
    }

    @Test func threeMembersConvergeAndThenWriteNothing() throws {
        let (ben, carl) = (try club.join("ben"), try club.join("carl"))
        for (number, replica) in [club.anna, ben, carl].enumerated() {
            try replica.insert(UInt8(10 + number), "row \(number)")
        }
        try club.settle(club.anna, ben, carl)
        try expectEqual(club.anna, ben, carl)
        #expect(try club.anna.titles().count == 4)
        let before = try club.files().map { try? Data(contentsOf: URL(fileURLWithPath: club.path($0))) }
        for replica in [club.anna, ben, carl] {
            let report = try club.sync(replica)
            #expect(report.pulled == nil && report.pushed == nil && report.remarks.isEmpty)
            #expect(report.refused.isEmpty && report.unsent == nil)
        }
        #expect(
            try club.files().map { try? Data(contentsOf: URL(fileURLWithPath: club.path($0))) } == before)
    }

    @Test func filesOfMembersDoNotOpenWithThePassphraseOfTheFolder() throws {
        try club.anna.insert(2, "marker-4711")
        try club.sync(club.anna)
        for file in try club.files() where !file.hasSuffix(".statements") {
            let kind = file.hasSuffix("head") ? FolderHead.kind : BundleFile.kind
            let error = #expect(throws: StoreError.self, "\(file)") {
                try SealedFileReader(
                    path: club.path(file), kind: kind, opening: club.folder.transport.secret)
            }
            #expect(error?.code == .wrongPassphrase)
        }
    }

    @Test func aNewcomerBeginsFromTheSnapshotAndReadsWhatWasBefore() throws {
        let ben = try club.join("ben")
        try ben.insert(2, "of ben")
        try club.settle(club.anna, ben)
        try club.anna.synchronizer.publishSnapshot(in: club.folder)
        try ben.insert(3, "after the snapshot")
        let invitation = try club.anna.synchronizer.membership.invite(MemberName("carl"), as: .writer)
        try club.settle(club.anna, ben)
        try Synchronizer.join(
            club.folder.transport, at: club.stores.path("carl.db"),
            passphrase: Passphrase("passphrase of carl.db"), invitation: invitation,
            environment: club.stores.clock.environment)
        let carl = try club.stores.open("carl.db")
        #expect(try carl.synchronizer.membership.record()?.role == .writer)
        try carl.insert(4, "of carl")
        try club.settle(carl, club.anna, ben)
        try expectEqual(club.anna, ben, carl)
        #expect(try carl.titles().count == 4)
    }

    @Test func nobodyBeginsFromASnapshotWithoutAnInvitation() throws {
        try club.anna.synchronizer.publishSnapshot(in: club.folder)
        let error = #expect(throws: SyncError.self) {
            try Synchronizer.join(
                club.folder, at: club.stores.path("eve.db"), passphrase: Passphrase("eve"),
                environment: club.stores.clock.environment)
        }
        #expect(error?.code == .notMember)
        #expect(!FileManager.default.fileExists(atPath: club.stores.path("eve.db")))
    }

    @Test func aReplicaFromBeforeTheFoundingIsToldToGetAnInvitation() throws {
        let stores = try TestStores(seed: 7)
        let folder = FolderTransport(
            path: stores.path("shared"), passphrase: try Passphrase("folder"), cost: .minimum)
        let first = try stores.create()
        let second = try stores.clone(first, as: "b.db")
        try second.insert(5, "before")
        for replica in [first, second, first] { _ = try replica.synchronizer.run(.both, folder) }
        _ = try first.synchronizer.membership.found(MemberName("anna"))
        try second.insert(6, "after")
        for replica in [first, second] { _ = try replica.synchronizer.run(.both, folder) }
        let told = try second.synchronizer.run(.both, folder)
        #expect(told.remarks.contains { $0.contains("ask an admin for an invitation") })
        let refused = try first.synchronizer.run(.both, folder)
        #expect(refused.refused.map(\.reason) == [.unsigned])
        #expect(try first.titles() == ["before"])
        // As a member, it brings all that it has.
        let invitation = try first.synchronizer.membership.invite(MemberName("ben"), as: .writer)
        _ = try first.synchronizer.run(.both, folder)
        try second.synchronizer.membership.accept(invitation, through: folder.transport)
        for replica in [second, first] { _ = try replica.synchronizer.run(.both, folder) }
        #expect(try first.titles() == ["before", "after"])
    }

    @Test func aReaderKeepsItsEditsAndReadsOn() throws {
        let ben = try club.join("ben", as: .reader)
        try club.sync(club.anna)
        for number in 20..<23 { try ben.insert(UInt8(number), "of a reader") }
        let report = try club.sync(ben)
        #expect(report.role == .reader && report.pushed == nil)
        #expect(report.unsent == UnsentChanges(count: 3, reason: .role(.reader)))
        #expect(report.unsent?.description == "3 changes are not sent: your role is reader")
        try club.anna.insert(2, "news")
        try club.settle(club.anna, ben)
        #expect(try club.anna.titles() == ["of anna", "news"])
        #expect(try ben.titles().count == 5)
        let again = try club.sync(club.anna)
        #expect(again.remarks.isEmpty && again.refused.isEmpty)
        #expect(try ben.synchronizer.status().remotes.first?.lastError?.contains("reader") == true)
    }

    @Test func aReaderWhoBecomesAWriterSendsWhatItKept() throws {
        let ben = try club.join("ben", as: .reader)
        try ben.insert(20, "kept")
        try club.settle(club.anna, ben)
        try club.anna.synchronizer.membership.setRole(.writer, of: club.member("ben").id)
        try club.settle(club.anna, ben)
        #expect(try club.anna.titles() == ["of anna", "kept"])
    }

    @Test func twoAdminsWhoRemoveEachOtherAreBothGoneAndTheRecoveryKeyHelps() throws {
        let (ben, carl) = (try club.join("ben", as: .admin), try club.join("carl"))
        try club.settle(club.anna, ben, carl)
        let anna = try club.member("anna").id
        try club.remove("ben")
        try ben.synchronizer.membership.remove(anna)
        try club.settle(club.anna, ben, carl)
        for replica in [club.anna, ben] {
            try replica.insert(UInt8(replica === ben ? 30 : 31), "of nobody")
            #expect(try club.sync(replica).unsent?.reason == .removed)
        }
        try carl.insert(32, "of carl")
        // Carl may write, so it makes the key that nobody of the two has.
        #expect(try club.sync(carl).pushed != nil)
        try carl.synchronizer.membership.recover(by: club.recovery, as: MemberName("carl again"))
        try club.sync(carl)
        #expect(try carl.synchronizer.membership.record()?.role == .admin)
        #expect(try carl.titles() == ["of anna", "of carl"])
    }

    @Test func aStoreThatRecoversIsToldFromACopy() throws {
        let ben = try club.join("ben")
        try club.settle(club.anna, ben)
        let former = try ben.replica()
        try ben.synchronizer.membership.recover(by: club.recovery, as: MemberName("ben again"))
        let report = try club.sync(ben)
        #expect(report.renewedReplica == former && report.isRenewedForMember)
        #expect(try !club.sync(ben).isRenewedForMember)
    }

    @Test func statementFilesOfAReplicaAreMadeOneNowAndThen() throws {
        for number in 0..<12 {
            _ = try club.anna.synchronizer.membership.invite(MemberName("guest \(number)"), as: .reader)
            try club.sync(club.anna)
        }
        #expect(try club.files(".statements").count <= 8)
        let ben = try club.join("ben")
        #expect(
            try ben.synchronizer.membership.state() == club.anna.synchronizer.membership.state()
                || ben.synchronizer.membership.state()?.members.count == 14)
    }
}
