import CipherStore
import Foundation
import SyncMembers
import SyncWire
import Testing

@testable import SyncEngine

/// Heads of a format that this program does not know, which anybody can leave who has some key to the folder.
@Suite struct LaterHeadTests {
    let club: MemberStores
    let carl: TestReplica

    init() throws {
        club = try MemberStores()
        carl = try club.join("carl")
        try club.settle(club.anna, carl)
    }

    private func device(_ replica: TestReplica) throws -> MemberDeviceKeys {
        try #require(try replica.synchronizer.membership.record()?.device)
    }

    /// Puts a head of a later format in the place of a replica's, under the passphrase of the folder.
    private func leave(of replica: TestReplica, by keys: MemberDeviceKeys?) throws {
        var head = FolderHead(try replica.peer.greet())
        head.prepare(for: keys?.card.id)
        let (store, id) = (try #require(head.store), try #require(head.replica))
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let format = keys == nil ? 1 : 2
        let text = String(decoding: try encoder.encode(head), as: UTF8.self)
            .replacingOccurrences(of: "\"format\":\(format)", with: "\"format\":3")
        var content = Data(text.utf8)
        if let keys {
            let signature = try HeadSignature.sign(content, store: store, replica: id, by: keys)
            content.append(contentsOf: ("\n" + HeadSignature.text(signature)).utf8)
        }
        try FileManager.default.createDirectory(
            atPath: club.path(id.description), withIntermediateDirectories: true)
        let file = try SealedFileWriter(
            path: club.path("\(id)/head"), kind: FolderHead.kind, lock: club.folder.transport.lock(store),
            now: Date())
        try content.withUnsafeBytes { try file.write($0) }
        try file.finish(replacing: true)
    }

    /// The members go on, and say why they do without the head.
    private func expectHealthy(_ reason: RefusedFiles.Reason) throws {
        try carl.insert(60, "goes on")
        let report = try club.sync(carl)
        #expect(report.refused.map(\.reason) == [reason] && report.pushed != nil)
        try club.sync(club.anna)
        #expect(try club.anna.titles() == ["of anna", "goes on"])
    }

    @Test func oneByARemovedMemberStopsNobody() throws {
        let ben = try club.join("ben")
        try club.settle(club.anna, ben, carl)
        try club.remove("ben")
        try club.settle(club.anna, carl)
        try leave(of: ben, by: device(ben))
        try expectHealthy(.removed)
    }

    @Test func oneThatNobodyHasSignedStopsNobody() throws {
        try leave(of: club.stranger("eve"), by: nil)
        try expectHealthy(.unsigned)
    }

    @Test func oneByAReaderIsSaidAndStopsNobody() throws {
        let dora = try club.join("dora", as: .reader)
        try club.settle(club.anna, dora, carl)
        try leave(of: dora, by: device(dora))
        try carl.insert(60, "goes on")
        let report = try club.sync(carl)
        #expect(report.remarks.contains { $0.contains("has format 3") } && report.pushed != nil)
        try club.sync(club.anna)
        #expect(try club.anna.titles() == ["of anna", "goes on"])
    }

    @Test func oneByAWriterStopsThoseWhoCannotReadIt() throws {
        let ben = try club.join("ben")
        try club.settle(club.anna, ben, carl)
        try leave(of: ben, by: device(ben))
        let error = #expect(throws: SyncError.self) { try club.sync(carl) }
        #expect(error?.code == .metadataTooNew)
        // An admin who removes the writer goes on.
        try club.remove("ben")
        #expect(try club.sync(club.anna).refused.map(\.reason) == [.removed])
    }
}
