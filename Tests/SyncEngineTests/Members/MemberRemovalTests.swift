import CipherStore
import Foundation
import SyncMembers
import SyncWire
import Testing

@testable import SyncEngine

/// A removal ends what the removed one can read and write from then on.
@Suite struct MemberRemovalTests {
    let club: MemberStores

    init() throws { club = try MemberStores() }

    /// The files that none of the keys of a store opens.
    private func closed(_ files: [String], to replica: TestReplica) throws -> [String] {
        let secret = try club.transport(replica).secret
        return files.filter { file in
            let kind =
                file.hasSuffix("head")
                ? FolderHead.kind : file.hasSuffix(".csa") ? nil : BundleFile.kind
            guard let kind else {
                return
                    (try? StoreArchive.restore(
                        club.path(file), to: club.stores.path("tried.db"), opening: secret,
                        passphrase: Passphrase("x"))) == nil
            }
            return (try? SealedFileReader(path: club.path(file), kind: kind, opening: secret)) == nil
        }
    }

    @Test func nothingThatIsWrittenLaterOpensWithAKeyThatTheRemovedOneHas() throws {
        let (ben, carl) = (try club.join("ben"), try club.join("carl"))
        try club.settle(club.anna, ben, carl)
        try club.remove("ben")
        // A file that is there stays, and one that is replaced is another one.
        let before = try Dictionary(
            uniqueKeysWithValues: club.files().map {
                ($0, try Data(contentsOf: URL(fileURLWithPath: club.path($0))))
            })
        try club.settle(club.anna, carl)
        try club.anna.insert(2, "after the removal")
        try carl.insert(3, "after the removal, too")
        try club.settle(club.anna, carl)
        try club.anna.synchronizer.publishSnapshot(in: club.folder)
        // Ben reads what is there, all statements, too.
        try club.sync(ben)
        let later = try club.files().filter { file in
            let content = try Data(contentsOf: URL(fileURLWithPath: club.path(file)))
            return before[file] != content && !file.hasSuffix(".statements")
        }
        #expect(later.count >= 5)
        #expect(try closed(later, to: ben) == later)
        #expect(try closed(later, to: carl) == [])
        #expect(try ben.titles() == ["of anna"])
        #expect(try carl.titles().count == 3)
    }

    @Test func whatARemovedMemberWritesLaterNobodyTakesIn() throws {
        let (ben, carl) = (try club.join("ben"), try club.join("carl"))
        try ben.insert(2, "before")
        try club.settle(club.anna, ben, carl)
        try club.remove("ben")
        try ben.insert(3, "after")
        // Ben does not know it yet, and its files are as good as they ever were.
        try club.sync(ben, .push)
        try club.settle(club.anna, carl)
        #expect(try club.anna.titles() == ["of anna", "before"])
        #expect(try carl.titles() == ["of anna", "before"])
        let report = try club.sync(club.anna)
        let refused = try #require(report.refused.first)
        #expect(try report.refused.count == 1 && refused.replica == club.id(ben))
        #expect(refused.reason == .removed && refused.member?.text == "ben")
        #expect(refused.description.hasSuffix("ben was removed"))
        // It was said before.
        #expect(!report.notes.contains { $0.contains("was removed") }, "\(report.notes)")
        #expect(
            try club.anna.synchronizer.status().remotes.first?.lastError?.contains("ben was removed") == true)
        let told = try club.sync(ben)
        #expect(told.unsent == UnsentChanges(count: 1, reason: .removed))
        #expect(told.role == nil && told.pushed == nil)
    }

    @Test func whatAnotherMemberTookInBeforeItKnewOfTheRemovalStays() throws {
        let (ben, carl) = (try club.join("ben"), try club.join("carl"))
        try club.settle(club.anna, ben, carl)
        try club.remove("ben")
        try ben.insert(3, "in between")
        try club.sync(ben)
        try club.sync(carl)
        #expect(try carl.titles() == ["of anna", "in between"])
        try club.settle(club.anna, carl)
        #expect(try club.anna.titles() == ["of anna", "in between"])
    }

    @Test func whatOnlyTheRemovedOneHadBroughtIsWrittenAgainByOthers() throws {
        let ben = try club.join("ben")
        try ben.insert(2, "of ben")
        try club.settle(club.anna, ben)
        try club.remove("ben")
        try club.settle(club.anna)
        try FileManager.default.removeItem(atPath: club.path(club.id(ben).description))
        let carl = try club.join("carl")
        #expect(try carl.titles() == ["of anna", "of ben"])
    }

    @Test func aRoleThatIsLoweredEndsWritingAndNotReading() throws {
        let ben = try club.join("ben")
        try ben.insert(2, "as a writer")
        try club.settle(club.anna, ben)
        try club.anna.synchronizer.membership.setRole(.reader, of: club.member("ben").id)
        try ben.insert(3, "as a reader")
        try club.sync(ben, .push)
        try club.settle(club.anna, ben)
        #expect(try club.anna.titles() == ["of anna", "as a writer"])
        try club.anna.insert(4, "for readers")
        try club.settle(club.anna, ben)
        #expect(try ben.titles() == ["of anna", "as a writer", "as a reader", "for readers"])
    }

    @Test func whoMayNotWriteAnyMoreLeavesNoSnapshot() throws {
        let ben = try club.join("ben")
        try club.settle(club.anna, ben)
        try ben.synchronizer.publishSnapshot(in: club.folder)
        #expect(try club.files(".csa").count == 1)
        try club.anna.synchronizer.membership.setRole(.reader, of: club.member("ben").id)
        try club.settle(club.anna, ben)
        club.stores.clock.advance(milliseconds: 600_000)
        try club.settle(club.anna, ben)
        #expect(try club.files(".csa").isEmpty)
    }

    @Test func whoeverWritesNextMakesTheKeyThatIsDue() throws {
        let (ben, carl) = (try club.join("ben", as: .admin), try club.join("carl"))
        try club.settle(club.anna, ben, carl)
        // A removal alone, as a device would leave it that was switched off then.
        let target = try club.member("ben").id
        try club.anna.synchronizer.membership.speak { record, _ in
            [try record.say(.removeMember(MemberRemoval(member: target)))]
        }
        #expect(try club.anna.synchronizer.membership.record()?.makesEpoch == true)
        try club.sync(club.anna, .push)
        let record = try #require(try club.anna.synchronizer.membership.record())
        #expect(!record.makesEpoch && record.current != nil)
        #expect(try club.head(club.anna).deviceID == record.device?.card.id)
        try club.settle(carl, club.anna)
        #expect(try carl.synchronizer.membership.record()?.current?.epoch == record.state.currentEpoch)
    }

    @Test func aReaderWithoutAKeyWaitsForSomebodyWhoMayMakeOne() throws {
        let ben = try club.join("ben", as: .reader)
        // Only ben has said something since: its device for one use is gone.
        let record = try #require(try ben.synchronizer.membership.record())
        #expect(record.state.currentEpoch == nil && !record.makesEpoch)
        // It has nothing to send, so it is told nothing.
        #expect(try club.sync(ben).unsent == nil)
        #expect(try ben.synchronizer.membership.record()?.current == nil)
        try club.settle(club.anna, ben)
        #expect(try ben.synchronizer.membership.record()?.current != nil)
        #expect(try club.sync(ben).unsent == nil)
    }

    @Test func aReaderWithoutAKeyIsToldThatItsOwnChangesStayForItsRole() throws {
        let ben = try club.join("ben", as: .reader)
        try ben.insert(7, "of a reader")
        #expect(try club.sync(ben).unsent == UnsentChanges(count: 1, reason: .role(.reader)))
        try club.settle(club.anna, ben)
        #expect(try club.sync(ben).unsent == UnsentChanges(count: 1, reason: .role(.reader)))
    }
}

/// Keys that somebody is missing who came while others made them.
@Suite struct CrossedEpochTests {
    @Test func whatIsWrittenInAKeyThatANewcomerHasNotComesToIt() throws {
        let club = try MemberStores()
        let invitation = try club.anna.synchronizer.membership.invite(MemberName("ben"), as: .writer)
        try club.sync(club.anna)
        let ben = try club.stranger("ben")
        try ben.synchronizer.membership.accept(invitation, through: club.folder.transport)
        // Anna does not know of ben's own device yet when she makes another key, and writes with it.
        _ = try club.anna.synchronizer.membership.invite(MemberName("carl"), as: .reader)
        try club.anna.insert(2, "in between")
        try club.sync(club.anna)
        try club.sync(ben)
        #expect(try ben.titles() == ["of anna"])
        try club.settle(club.anna, ben)
        #expect(try ben.titles() == ["of anna", "in between"])
        #expect(try club.sync(ben).refused.isEmpty)
    }

    @Test func aKeyThatACompleteOneDoesNotBringIsBroughtByTheNext() throws {
        let club = try MemberStores()
        let carl = try club.join("carl")
        let invitations = try [("ben", MemberRole.writer), ("dora", .reader)].map { name, role in
            try club.anna.synchronizer.membership.invite(MemberName(name), as: role)
        }
        try club.settle(club.anna, carl)
        let (ben, dora) = (try club.stranger("ben"), try club.stranger("dora"))
        // Dora may make no key, so one is due. Ben makes one, and so does carl, who does not know of ben's device.
        try dora.synchronizer.membership.accept(invitations[1], through: club.folder.transport)
        try club.sync(dora)
        try ben.synchronizer.membership.accept(invitations[0], through: club.folder.transport)
        try carl.insert(2, "in between")
        try club.sync(carl)
        let ofCarl = try #require(try carl.synchronizer.membership.record()?.state.currentEpoch)
        try club.settle(ben, carl, ben)
        let record = try #require(try ben.synchronizer.membership.record())
        #expect(record.state.currentEpoch != ofCarl && record.keyring.opened.contains(ofCarl))
        #expect(try ben.titles() == ["of anna", "in between"])
    }

    @Test func whatOthersWroteInTheKeyOfOneWhoWasRemovedIsWrittenAgainForNewcomers() throws {
        let club = try MemberStores()
        // A replica that knows nothing of what comes.
        let dora = try club.stranger("dora")
        let (ben, carl) = (try club.join("ben"), try club.join("carl"))
        try club.settle(club.anna, ben, carl)
        try club.remove("ben")
        // Ben makes a key that the removal does not know, and carl writes with it.
        try ben.synchronizer.membership.speak { record, _ in [try record.sayEpoch()] }
        let former = try #require(try ben.synchronizer.membership.record()?.state.currentEpoch)
        try club.sync(ben)
        try carl.insert(2, "in a key that does not count")
        try club.sync(carl)
        #expect(try club.head(carl).salt == former.fileSalt)
        try club.settle(club.anna, carl)
        #expect(try club.head(carl).salt != former.fileSalt)
        let invitation = try club.anna.synchronizer.membership.invite(MemberName("dora"), as: .writer)
        try club.settle(club.anna, carl)
        try dora.synchronizer.membership.accept(invitation, through: club.folder.transport)
        try club.settle(dora, club.anna, carl)
        #expect(try dora.titles() == ["of anna", "in a key that does not count"])
        let report = try club.sync(dora)
        #expect(
            report.remarks.isEmpty && report.refused.allSatisfy { $0.reason == .removed },
            "\(report.remarks) \(report.refused)")
    }

    // MARK: Keys

    /// What is sealed with another key than the epoch's nobody else could open.
    @Test func aContentKeyThatAnotherProgramChangedIsNamedAndNotUsed() throws {
        let club = try MemberStores()
        let membership = club.anna.synchronizer.membership
        #expect(try membership.record()?.current != nil)
        try club.anna.changeUnobserved("UPDATE _sync_epoch_key SET key = zeroblob(32)")
        let error = #expect(throws: SyncError.self) { try membership.record() }
        #expect(error?.code == .damagedMetadata)
        #expect(error?.message.contains("content key") == true)
    }
}
