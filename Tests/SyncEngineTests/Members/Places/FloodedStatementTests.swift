import CipherStore
import Foundation
import SyncMembers
import SyncWire
import Testing

@testable import SyncEngine

/// What somebody who was removed says by the hundred, which its old keys sign as if from before.
@Suite struct FloodedStatementTests {
    let club: MemberStores
    let ben: TestReplica
    let carl: TestReplica
    let xena: TestReplica

    init() throws {
        club = try MemberStores()
        ben = try club.join("ben")
        carl = try club.join("carl")
        xena = try club.join("xena", as: .reader)
        try club.settle(club.anna, ben, carl, xena)
        try club.remove("xena")
        try club.sync(club.anna)
    }

    /// Leaves removals of xena's own device in one file. Each knows the device's addition and nothing else, so it counts.
    private func flood(_ count: Int) throws {
        let record = try #require(try xena.synchronizer.membership.record())
        let keys = try #require(record.device)
        let added = try #require(record.state.devices[keys.card.id]?.addedBy)
        let statements = try (1...count).map { number in
            let cutOffs = [Identifier128(high: 9, low: 1): Int64(number)]
            return try SignedStatement(
                SyncMembers.Statement(
                    store: record.state.store, issuer: .device(keys.card), parents: [added],
                    kind: .removeDevice(DeviceRemoval(device: keys.card.id, cutOffs: cutOffs))), by: keys)
        }
        let (transport, store) = (club.folder.transport, record.state.store)
        let path = FolderPaths(try club.id(xena)).file(StatementFile.name(Identifier128(high: 7, low: 1)))
        _ = try transport.place.write(path, replacing: false) { sink in
            try StatementFile.write(statements, lock: transport.lock(store), now: Date(), to: sink)
        }
    }

    @Test func removalsByTheHundredStopNobodyFromWriting() throws {
        try flood(400)
        try ben.insert(50, "of ben")
        let report = try club.sync(ben)
        #expect(report.unsent == nil && report.pushed != nil, "\(report.remarks)")
        let record = try #require(try ben.synchronizer.membership.record())
        #expect(record.current != nil && !record.makesEpoch)
        #expect(record.state.devices.values.flatMap(\.removedBy).count >= 400)
        try club.sync(club.anna)
        #expect(try club.anna.titles() == ["of anna", "of ben"])
        // Nobody makes another one because of them.
        let epochCount = record.state.epochs.count
        try club.settle(ben, club.anna, carl)
        #expect(try club.anna.synchronizer.membership.state()?.epochs.count == epochCount)
    }

    @Test func amongThemAMemberIsRemovedAtOnce() throws {
        try flood(400)
        try club.sync(club.anna, .pull)
        #expect(try club.anna.synchronizer.membership.state()?.currentEpoch == nil)
        try club.remove("carl")
        let record = try #require(try club.anna.synchronizer.membership.record())
        #expect(record.current != nil && !record.makesEpoch)
        try club.anna.insert(2, "without carl")
        #expect(try club.sync(club.anna).unsent == nil)
        #expect(try club.sync(carl).unsent?.reason == .removed)
        #expect(try carl.titles() == ["of anna"])
        try club.sync(ben)
        #expect(try ben.titles() == ["of anna", "without carl"])
    }

    @Test func amongThemSomebodyIsLetIn() throws {
        try flood(400)
        try club.sync(club.anna, .pull)
        let dora = try club.join("dora")
        #expect(try dora.titles() == ["of anna"])
        #expect(try dora.synchronizer.membership.record()?.current != nil)
    }

    @Test func theRecoveryKeyMakesAnAdminWhoWritesAmongThem() throws {
        try flood(400)
        try club.sync(ben, .pull)
        try ben.synchronizer.membership.recover(by: club.recovery, as: MemberName("ben again"))
        let record = try #require(try ben.synchronizer.membership.record())
        #expect(record.role == .admin && record.current != nil && !record.makesEpoch)
    }
}
