import CipherStore
import Foundation
import SyncMembers
import Testing

@testable import SyncEngine

/// Members who go by mistake where another database lives.
@Suite struct ForeignPlaceTests {
    private let club: MemberStores

    init() throws { club = try MemberStores() }

    /// A store of another database, and its folder.
    private func others(
        hasMembers: Bool, cost: ScryptCost = .minimum
    ) throws -> (replica: TestReplica, folder: FolderTransport) {
        let stores = try TestStores(seed: 9)
        let replica = try stores.create()
        try replica.insert(1, "of others")
        if hasMembers { _ = try replica.synchronizer.membership.found(MemberName("olga")) }
        let folder = FolderTransport(
            path: stores.path("shared"), passphrase: try Passphrase("folder"), cost: cost)
        _ = try replica.synchronizer.run(.both, folder)
        return (replica, folder)
    }

    private func contents(_ folder: FolderTransport) throws -> [String: Data] {
        var contents: [String: Data] = [:]
        for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
            contents[path] = try? Data(contentsOf: URL(fileURLWithPath: folder.path + "/" + path))
        }
        return contents
    }

    @Test(arguments: [false, true])
    func aMemberOfAnotherDatabaseIsRefusedBeforeAnythingIsWritten(hasMembers: Bool) throws {
        let (replica, folder) = try others(hasMembers: hasMembers)
        let before = try contents(folder)
        // The second time the files are known.
        for direction in [SyncDirection.both, .push, .pull] {
            let error = #expect(throws: SyncError.self) {
                try club.anna.synchronizer.run(direction, folder)
            }
            #expect(error?.code == .otherStore)
        }
        #expect(throws: SyncError.self) {
            try club.anna.synchronizer.preview(.both, with: folder.transport)
        }
        #expect(throws: SyncError.self) { try club.anna.synchronizer.publishSnapshot(in: folder) }
        #expect(try contents(folder) == before)
        #expect(try replica.synchronizer.run(.both, folder).notes.isEmpty)
    }

    @Test(arguments: [false, true])
    func aMemberWithThePassphraseOfItsOwnPlaceIsRefused(hasMembers: Bool) throws {
        let (replica, folder) = try others(hasMembers: hasMembers, cost: ScryptCost(logN: 15))
        // Its files go with it.
        defer { withExtendedLifetime(replica) {} }
        let before = try contents(folder)
        let wrong = FolderTransport(path: folder.path, passphrase: try Passphrase("own"), cost: .minimum)
        let error = #expect(throws: StoreError.self) { try club.anna.synchronizer.run(.both, wrong) }
        #expect(error?.code == .wrongPassphrase)
        #expect(try contents(folder) == before)
    }

    /// Whatever others have left there, these are its own files.
    @Test(arguments: [false, true])
    func aMemberGoesOnBesideFilesOfAnotherDatabase(hasMembers: Bool) throws {
        let (replica, folder) = try others(hasMembers: hasMembers)
        let name = try replica.synchronizer.status().replica.description
        try FileManager.default.copyItem(atPath: folder.path + "/" + name, toPath: club.path(name))
        try club.anna.insert(2, "more")
        #expect(try club.sync(club.anna).pushed != nil)
        _ = try club.join("ben")
        // Who has founded anew opens no head there.
        try club.anna.synchronizer.membership.foundAnew(
            MemberName("anna"), recoveryKey: MembershipRecoveryKey())
        #expect(try club.sync(club.anna).pushed != nil)
    }

    @Test func aStoreWithoutMembersIsNotToldOfThoseOfAnotherDatabase() throws {
        let (replica, folder) = try others(hasMembers: false)
        // As versions before wrote there.
        let name = try club.id(club.anna).description
        try FileManager.default.copyItem(atPath: club.path(name), toPath: folder.path + "/" + name)
        try replica.insert(2, "more")
        let report = try replica.synchronizer.run(.both, folder)
        #expect(report.pushed != nil)
        #expect(report.notes == ["\(folder.path)/\(name): belongs to another database"])
    }

    @Test func aStoreWithoutMembersIsRefusedWhereMembersOfAnotherDatabaseMeet() throws {
        let (replica, _) = try others(hasMembers: false)
        let before = try contents(club.folder)
        let error = #expect(throws: SyncError.self) { try replica.synchronizer.run(.both, club.folder) }
        #expect(error?.code == .otherStore)
        #expect(try contents(club.folder) == before)
    }

    @Test func aMemberIsToldThatAnInvitationIsForAnotherDatabase() throws {
        let (replica, folder) = try others(hasMembers: true)
        let invitation = try club.anna.synchronizer.membership.invite(MemberName("ben"), as: .writer)
        let error = #expect(throws: SyncError.self) {
            try replica.synchronizer.membership.accept(invitation, through: folder.transport)
        }
        #expect(error?.code == .otherStore)
    }
}
