import CipherStore
import Foundation
import SyncMembers
import SyncWire
import Testing

@testable import SyncEngine

/// Heads that somebody leaves so that a store which has just founded a membership finds nothing else there that it takes in.
@Suite struct FoundedFolderTests {
    /// What is wrong with a head.
    enum Fault: CaseIterable, Sendable {
        case passphrase, database
    }

    /// Leaves a head under the salt of a database, which is sealed under another passphrase, or is of another database.
    private func leave(_ fault: Fault, in folder: FolderTransport, of store: StoreID) throws {
        let stranger = try TestStores(seed: 9).create()
        var head = FolderHead(try stranger.peer.greet())
        let other = MailboxTransport(
            mailbox: LocalFolder(path: folder.path), passphrase: try Passphrase("other"), cost: .minimum)
        let id = try #require(head.replica)
        head.generation = 1
        try head.write(
            FolderPaths(id).file(FolderPaths.headName), fault == .passphrase ? other : folder.transport,
            store: store, now: 1_700_000_000_000)
    }

    @Test(arguments: Fault.allCases) func aFounderGoesOnBesideHeadsFromBefore(fault: Fault) throws {
        let stores = try TestStores()
        let folder = FolderTransport(
            path: stores.path("shared"), passphrase: try Passphrase("folder"), cost: .minimum)
        let first = try stores.create()
        let second = try stores.clone(first, as: "b.db")
        for replica in [first, second] { _ = try replica.synchronizer.run(.both, folder) }
        _ = try first.synchronizer.membership.found(MemberName("anna"))
        try leave(fault, in: folder, of: first.peer.store())
        try first.insert(1, "of first")
        let report = try first.synchronizer.run(.both, folder)
        #expect(report.pushed != nil && !report.remarks.isEmpty)
    }

    @Test(arguments: Fault.allCases) func whoFoundsAnewGoesOnBesideMembersFromBefore(fault: Fault) throws {
        let club = try MemberStores()
        let ben = try club.join("ben")
        try club.settle(club.anna, ben)
        try club.anna.synchronizer.membership.foundAnew(
            MemberName("anna"), recoveryKey: MembershipRecoveryKey())
        try leave(fault, in: club.folder, of: club.anna.peer.store())
        let report = try club.sync(club.anna)
        #expect(report.pushed != nil && !report.remarks.isEmpty)
    }

    @Test(arguments: [false, true])
    func filesThatAreOnlyNamedLikeStatementsKeepNobodyOut(isLate: Bool) throws {
        let club = try MemberStores()
        let ben = try club.join("ben")
        try club.settle(club.anna, ben)
        try club.anna.synchronizer.membership.foundAnew(
            MemberName("anna"), recoveryKey: MembershipRecoveryKey())
        // The files that are there are known then, though nothing in them counts any more.
        if isLate { try club.sync(club.anna, .pull) }
        try leave(.passphrase, in: club.folder, of: club.anna.peer.store())
        let folder = club.folder.path + "/" + String(repeating: "5a", count: 16)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        for number in 0..<80 {
            let random = try #require(Identifier128(hexadecimal: String(format: "%032x", number)))
            let name = StatementFile.name(random)
            try Data([1, 2, 3]).write(to: URL(fileURLWithPath: folder + "/" + name))
        }
        let report = try club.sync(club.anna)
        #expect(report.pushed != nil && !report.remarks.isEmpty)
    }

    @Test(arguments: Fault.allCases) func aPlaceThatShowsNothingElseIsRefused(fault: Fault) throws {
        let club = try MemberStores()
        for folder in try Set(club.files().map { $0.prefix(32) }) {
            try FileManager.default.removeItem(atPath: club.path(String(folder)))
        }
        try leave(fault, in: club.folder, of: club.anna.peer.store())
        #expect(throws: (any Error).self) { try club.sync(club.anna) }
    }
}
