import CipherStore
import Foundation
import SyncMembers
import SyncWire
import Testing

@testable import SyncEngine

/// Heads and bundles that are not by whom they say, although whoever made them has every key to the folder.
@Suite struct ForgedHeadTests {
    let club: MemberStores
    let ben: TestReplica
    let carl: TestReplica

    init() throws {
        club = try MemberStores()
        (ben, carl) = (try club.join("ben"), try club.join("carl"))
        try club.settle(club.anna, ben, carl)
    }

    private func device(_ replica: TestReplica) throws -> MemberDeviceKeys {
        try #require(try replica.synchronizer.membership.record()?.device)
    }

    /// Writes a head in the present epoch.
    private func write(
        _ head: FolderHead, of replica: TestReplica, by keys: MemberDeviceKeys?, in epoch: StatementID? = nil
    ) throws {
        let record = try #require(try ben.synchronizer.membership.record())
        let epoch = try epoch ?? #require(record.state.currentEpoch)
        var head = head
        head.prepare(for: keys?.card.id)
        try head.write(
            FolderPaths(club.id(replica)).file(FolderPaths.headName),
            club.transport(ben).writing(in: epoch), store: record.state.store, by: keys,
            now: club.stores.clock.environment.milliseconds())
    }

    /// A bundle that ben has written and that is news for others, as ben's head lists it.
    private func bundleOfBen(_ title: String = "forged") throws -> FolderHead.File {
        try ben.insert(50, title)
        try club.sync(ben, .push)
        return try #require(try club.head(ben).bundles.last)
    }

    private func refusal(_ reason: RefusedFiles.Reason) throws {
        let report = try club.sync(carl, .pull)
        #expect(report.refused.map(\.reason) == [reason], "\(report.refused)")
        #expect(try carl.titles() == ["of anna"])
    }

    @Test func whatBenHasSignedIsTakenIn() throws {
        _ = try bundleOfBen()
        #expect(try club.sync(carl, .pull).refused.isEmpty)
        #expect(try carl.titles() == ["of anna", "forged"])
    }

    @Test func aHeadThatNobodyHasSigned() throws {
        _ = try bundleOfBen()
        try write(club.head(ben), of: ben, by: nil)
        try refusal(.unsigned)
    }

    @Test func aHeadByADeviceThatNobodyHasAdded() throws {
        _ = try bundleOfBen()
        try write(club.head(ben), of: ben, by: MemberDeviceKeys())
        try refusal(.deviceUnknown)
    }

    @Test func aHeadByTheDeviceOfAnotherMember() throws {
        _ = try bundleOfBen()
        try write(club.head(ben), of: ben, by: device(club.anna))
        try refusal(.otherDevice)
    }

    @Test func aHeadThatNamesADeviceWhichHasNotSignedIt() throws {
        _ = try bundleOfBen()
        let path = club.path("\(try club.id(ben))/head")
        let signed = try #require(try club.head(ben).signed)
        var content = signed.content
        content.append(UInt8(ascii: " "))
        content.append(UInt8(ascii: "\n"))
        content.append(contentsOf: HeadSignature.text(signed.signature).utf8)
        try seal(content, at: path)
        try refusal(.signatureWrong)
    }

    private func seal(_ content: Data, at path: String) throws {
        let record = try #require(try ben.synchronizer.membership.record())
        let lock = try club.transport(ben).writing(in: #require(record.state.currentEpoch)).lock(
            record.state.store)
        let file = try SealedFileWriter(path: path, kind: FolderHead.kind, lock: lock, now: Date())
        try content.withUnsafeBytes { try file.write($0) }
        try file.finish(replacing: true)
    }

    @Test func aHeadInTheFolderOfAnotherReplica() throws {
        _ = try bundleOfBen()
        let head = try Data(contentsOf: URL(fileURLWithPath: club.path("\(try club.id(ben))/head")))
        try head.write(to: URL(fileURLWithPath: club.path("\(try club.id(club.anna))/head")))
        try FileManager.default.removeItem(atPath: club.path("\(try club.id(ben))"))
        let report = try club.sync(carl, .pull)
        #expect(report.remarks.contains { $0.contains("belongs to another replica") })
        #expect(try carl.titles() == ["of anna"])
    }

    @Test func aBundleWithAnotherDigest() throws {
        let file = try bundleOfBen()
        var head = try club.head(ben)
        head.bundles[head.bundles.count - 1].sha256 = String(repeating: "0", count: 64)
        try write(head, of: ben, by: device(ben))
        try refusal(.digestWrong)
        // Whoever knows what was in it writes it again.
        try club.sync(carl)
        for number in [51, 52] as [UInt8] {
            #expect(try club.head(carl).unreadable == ["\(try club.id(ben))/\(file.name)"])
            // It stays as long as the bundle does.
            try carl.insert(number, "of carl")
            #expect(try club.sync(carl).refused.map(\.reason) == [.digestWrong])
        }
        try club.settle(ben, carl)
        #expect(try carl.titles() == ["of anna", "forged", "of carl", "of carl"])
    }

    @Test func aBundleInThePlaceOfAnotherOfTheSameSize() throws {
        let file = try bundleOfBen("aaaaaa")
        let path = club.path("\(try club.id(ben))/\(file.name)")
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        bytes[bytes.count - 1] ^= 1
        try bytes.write(to: URL(fileURLWithPath: path))
        let report = try club.sync(carl, .pull)
        #expect(!report.remarks.isEmpty || report.refused.map(\.reason) == [.digestWrong])
        #expect(try carl.titles() == ["of anna"])
    }

    @Test func aBundleWithoutADigestAndABundleThatNoHeadLists() throws {
        _ = try bundleOfBen()
        var head = try club.head(ben)
        head.bundles[head.bundles.count - 1].sha256 = nil
        try write(head, of: ben, by: device(ben))
        #expect(try club.sync(carl, .pull).pulled == nil)
        head.bundles = []
        try write(head, of: ben, by: device(ben))
        #expect(try club.sync(carl, .pull).pulled == nil)
        #expect(try carl.titles() == ["of anna"])
    }

    @Test func aHeadFromBeforeThatIsShownAgain() throws {
        let path = URL(fileURLWithPath: club.path("\(try club.id(ben))/head"))
        let former = try Data(contentsOf: path)
        _ = try bundleOfBen()
        try former.write(to: path)
        let report = try club.sync(carl, .pull)
        // What it does not list is not there. That is late, and not wrong.
        #expect(report.refused.isEmpty && report.pulled == nil)
        try club.sync(ben)
        try club.sync(carl, .pull)
        #expect(try carl.titles() == ["of anna", "forged"])
    }

    @Test func aHeadInAnOldEpochBySomebodyWhoWasRemoved() throws {
        let old = try #require(try ben.synchronizer.membership.record()?.state.currentEpoch)
        try club.remove("ben")
        try club.settle(club.anna, carl)
        try ben.insert(50, "forged")
        try club.sync(ben, .push)
        let head = try club.head(ben)
        try write(head, of: ben, by: device(ben), in: old)
        let report = try club.sync(carl, .pull)
        #expect(report.refused.map(\.reason) == [.removed])
        #expect(try carl.titles() == ["of anna"])
    }

    @Test func aReaderWhoPushesAnyway() throws {
        let dora = try club.join("dora", as: .reader)
        try club.settle(club.anna, dora)
        _ = try bundleOfBen("forged by dora")
        let (from, to) = (try club.id(ben).description, try club.id(dora).description)
        let file = try #require(try club.head(ben).bundles.last)
        try FileManager.default.copyItem(
            atPath: club.path("\(from)/\(file.name)"), toPath: club.path("\(to)/\(file.name)"))
        try FileManager.default.removeItem(atPath: club.path(from))
        var head = try club.head(dora, seenBy: dora)
        head.bundles = [file]
        try write(head, of: dora, by: device(dora))
        try club.sync(carl, .pull)
        try refusal(.roleTooLow)
    }

    @Test func aReaderWhoSaysThatItKnowsMoreOfOthersThanThereIs() throws {
        let dora = try club.join("dora", as: .reader)
        try club.settle(club.anna, dora, ben, carl)
        let former = try club.id(carl)
        var head = try club.head(dora, seenBy: dora)
        head.vector["\(former)"] = AdmissionLimits.sequenceMax
        try write(head, of: dora, by: device(dora))
        try carl.insert(60, "of carl")
        #expect(try club.sync(carl).renewedReplica == nil)
        #expect(try club.id(carl) == former)
        try club.sync(club.anna)
        #expect(try club.anna.titles() == ["of anna", "of carl"])
    }

    @Test func aWriterWhoKnowsMoreOfAnotherShowsThatItsFileWasPutBack() throws {
        let former = try club.id(carl)
        var head = try club.head(ben)
        head.vector["\(former)"] = 1000
        try write(head, of: ben, by: device(ben))
        try carl.insert(60, "of carl")
        #expect(try club.sync(carl).renewedReplica == former)
        try club.sync(club.anna)
        #expect(try club.anna.titles() == ["of anna", "of carl"])
    }

    @Test func aReplicaThatAnotherDeviceClaimsGetsAnotherName() throws {
        let former = try club.id(ben)
        // Carl claims a replica that ben will have: here, one that ben has taken just now.
        try ben.synchronizer.renewIdentity()
        let taken = try club.id(ben)
        #expect(taken != former)
        try carl.synchronizer.membership.speak { record, _ in [try record.say(.bindReplica(taken))] }
        try ben.insert(51, "of ben")
        try club.settle(carl, ben, club.anna)
        #expect(try club.id(ben) != taken)
        #expect(try club.anna.titles() == ["of anna", "of ben"])
    }
}
