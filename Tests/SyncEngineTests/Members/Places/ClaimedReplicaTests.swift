import CipherStore
import Foundation
import SyncMembers
import SyncWire
import Testing

@testable import SyncEngine

/// What lies in a folder under an identity that another device claims.
@Suite struct ClaimedReplicaTests {
    let club: MemberStores
    let ben: TestReplica
    let former: ReplicaID

    init() throws {
        club = try MemberStores()
        ben = try club.join("ben")
        try ben.insert(50, "of ben")
        try club.settle(club.anna, ben)
        former = try club.id(ben)
    }

    /// What a replica wrote but for statements.
    private func files(of replica: ReplicaID) throws -> [String] {
        try club.files().filter { $0.hasPrefix("\(replica)/") && !$0.hasSuffix(".statements") }
    }

    /// Makes ben's store another device: its replica is that of the former one.
    private func recover() throws {
        try ben.synchronizer.membership.recover(by: club.recovery, as: MemberName("ben again"))
    }

    @Test func whoOnlyTakesRemovesNothing() throws {
        let before = try files(of: former)
        try #require(before.contains { $0.hasSuffix(".bundle") })
        try recover()
        #expect(try club.sync(ben, .pull).renewedReplica == former)
        #expect(try files(of: former) == before)
    }

    @Test func aPushThatFailsRemovesNothing() throws {
        let before = try files(of: former)
        try recover()
        let place = CountingMailbox(LocalFolder(path: club.folder.path))
        place.writesLeft.withLock { $0 = 0 }
        let transport = MailboxTransport(
            mailbox: place, passphrase: try Passphrase("folder"), cost: .minimum)
        #expect(throws: CountingMailbox.Killed.self) { try ben.synchronizer.run(.both, transport) }
        #expect(try files(of: former) == before)
    }

    @Test func whoGivesThemWritesWhatReplacesThem() throws {
        try recover()
        let report = try club.sync(ben)
        #expect(report.renewedReplica == former && report.pushed != nil)
        #expect(try files(of: former) == [])
        let record = try #require(try ben.synchronizer.membership.record())
        let contents = try FolderContents(
            club.transport(ben), store: ben.peer.store(), members: FolderMembers(record))
        let known = try ben.peer.greet().vector
        #expect(contents.reachable().covers(known))
    }

    @Test func aSnapshotIsWrittenAgainUnderTheNewIdentity() throws {
        try ben.synchronizer.publishSnapshot(in: club.folder)
        try recover()
        club.stores.clock.advance(milliseconds: 600_000)
        #expect(try club.sync(ben).isSnapshotRenewed)
        let own = try club.id(ben)
        #expect(try own != former && files(of: own).contains { $0.hasSuffix(".csa") })
    }

    /// Carl writes under an identity that ben has taken just now, and ben has not read it yet.
    @Test func whatTheOtherDeviceWroteThereStays() throws {
        let carl = try club.join("carl")
        try club.settle(club.anna, ben, carl)
        try ben.synchronizer.renewIdentity()
        let taken = try club.id(ben)
        try carl.synchronizer.membership.speak { record, _ in [try record.say(.bindReplica(taken))] }
        try carl.insert(51, "of carl")
        try club.sync(carl)
        let bundle = try #require(try club.head(carl).bundles.last)
        try FileManager.default.createDirectory(
            atPath: club.path("\(taken)"), withIntermediateDirectories: false)
        try FileManager.default.copyItem(
            atPath: club.path("\(try club.id(carl))/\(bundle.name)"),
            toPath: club.path("\(taken)/\(bundle.name)"))
        let record = try #require(try carl.synchronizer.membership.record())
        let keys = try #require(record.device)
        var head = FolderHead(try ben.peer.greet(), vector: VersionVector())
        head.bundles = [bundle]
        head.prepare(for: keys.card.id)
        try head.write(
            FolderPaths(taken).file(FolderPaths.headName),
            club.transport(carl).writing(in: #require(record.state.currentEpoch)),
            store: record.state.store, by: keys, now: club.stores.clock.environment.milliseconds())
        #expect(try club.sync(ben, .push).renewedReplica == taken)
        #expect(try files(of: taken) == ["\(taken)/\(bundle.name)", "\(taken)/head"])
    }
}
