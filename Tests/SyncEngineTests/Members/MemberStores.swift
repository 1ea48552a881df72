import CipherStore
import Foundation
import SyncMembers
import SyncWire
import Testing

@testable import SyncEngine

/// Stores of members that meet in a folder.
final class MemberStores {
    let stores: TestStores
    let folder: FolderTransport
    /// The first admin.
    let anna: TestReplica
    let recovery: MembershipRecoveryKey

    init(seed: UInt64 = 1) throws {
        stores = try TestStores(seed: seed)
        folder = FolderTransport(
            path: stores.path("shared"), passphrase: try Passphrase("folder"), cost: .minimum)
        anna = try stores.create("anna.db")
        try anna.insert(1, "of anna")
        recovery = try anna.synchronizer.membership.found(MemberName("anna"))
        try sync(anna)
    }

    @discardableResult
    func sync(_ replica: TestReplica, _ direction: SyncDirection = .both) throws -> FolderReport {
        stores.clock.advance(milliseconds: 10)
        return try replica.synchronizer.run(direction, folder)
    }

    /// A replica of the database that is no member's.
    func stranger(_ name: String) throws -> TestReplica { try stores.clone(anna, as: "\(name).db") }

    /// A store of a new member, which has synchronized once.
    func join(_ name: String, as role: MemberRole = .writer, by inviter: TestReplica? = nil) throws
        -> TestReplica
    {
        let inviter = inviter ?? anna
        let invitation = try inviter.synchronizer.membership.invite(MemberName(name), as: role)
        try sync(inviter)
        let replica = try stranger(name)
        try replica.synchronizer.membership.accept(invitation, through: folder.transport)
        try sync(replica)
        return replica
    }

    /// Brings all stores together: what the last one says the first ones hear in the second turn.
    func settle(_ replicas: TestReplica...) throws {
        for _ in 0..<3 { for replica in replicas { try sync(replica) } }
    }

    func member(_ name: String) throws -> Member {
        let state = try #require(try anna.synchronizer.membership.state())
        return try #require(state.members.values.first { $0.name.text == name })
    }

    func remove(_ name: String) throws {
        try anna.synchronizer.membership.remove(member(name).id)
    }

    func id(_ replica: TestReplica) throws -> ReplicaID { try replica.synchronizer.status().replica }

    /// The files of the folder, as paths in it.
    func files(_ suffix: String = "") throws -> [String] {
        (FileManager.default.enumerator(atPath: folder.path)?.allObjects as? [String] ?? [])
            .filter { $0.contains("/") && $0.hasSuffix(suffix) }.sorted()
    }

    func path(_ file: String) -> String { folder.path + "/" + file }

    /// The way into the folder with all keys that a store has.
    func transport(_ replica: TestReplica) throws -> MailboxTransport {
        let record = try #require(try replica.synchronizer.membership.record())
        return folder.transport.opening(record.filePassphrases())
    }

    func head(_ replica: TestReplica, seenBy reader: TestReplica? = nil) throws -> FolderHead {
        try FolderHead.read(
            FolderPaths(id(replica)).file(FolderPaths.headName), transport(reader ?? replica))
    }
}
