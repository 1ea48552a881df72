import CipherStore
import Foundation
import SyncMembers
import SyncWire
import Testing

@testable import SyncEngine

/// What stores without members write is what they always wrote.
@Suite struct UnchangedFolderTests {
    @Test func aHeadHasTheBytesThatItHad() throws {
        let stores = try TestStores()
        let store = try stores.create()
        try store.insert(1, "x")
        let folder = FolderTransport(
            path: stores.path("shared"), passphrase: try Passphrase("folder"), cost: .minimum)
        _ = try store.synchronizer.run(.both, folder)
        let status = try store.synchronizer.status()
        let path = "\(folder.path)/\(status.replica)/head"
        let file = try SealedFileReader(
            path: path, kind: FolderHead.kind, opening: ArchiveSecret(Passphrase("folder")))
        var content = Data()
        while let piece = try file.next() { content.append(piece) }
        let object = try #require(try JSONSerialization.jsonObject(with: content) as? [String: Any])
        #expect(
            Set(object.keys) == [
                "bundles", "chain", "format", "generation", "replicaID", "storeID", "unreadable", "vector",
            ])
        #expect(object["format"] as? Int == 1 && content.last == UInt8(ascii: "}"))
        let bundle = try #require((object["bundles"] as? [[String: Any]])?.first)
        #expect(Set(bundle.keys) == ["name", "base", "target", "byteCount"])
        let names = try FileManager.default.contentsOfDirectory(atPath: "\(folder.path)/\(status.replica)")
        #expect(names.filter { $0 != "head" && !$0.hasSuffix(".bundle") } == [])
    }

    /// Its passphrase is the right one, and nothing is damaged.
    @Test func aStoreThatIsNoMemberIsToldOnlyThat() throws {
        let stores = try TestStores()
        let anna = try stores.create("anna.db")
        let carl = try stores.clone(anna, as: "carl.db")
        let folder = FolderTransport(
            path: stores.path("shared"), passphrase: try Passphrase("folder"), cost: .minimum)
        for replica in [anna, carl] { _ = try replica.synchronizer.run(.both, folder) }
        _ = try anna.synchronizer.membership.found(MemberName("anna"))
        try anna.insert(2, "for members")
        _ = try anna.synchronizer.run(.both, folder)
        let report = try carl.synchronizer.run(.both, folder)
        #expect(!report.remarks.contains { $0.contains("is damaged") }, "\(report.remarks)")
        #expect(report.remarks.filter { $0.contains("this store is none of them") }.count == 1)
    }

    @Test func aHeadOfAProgramFromBeforeIsRead() throws {
        let text = """
            {"bundles":[{"base":{},"byteCount":4711,"name":"0001700000000000-00112233445566ff.bundle",\
            "target":{"0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a":12}}],"format":1,"generation":3,\
            "replicaID":"0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a","storeID":"00112233445566778899aabbccddeeff",\
            "unreadable":[],"vector":{"0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a":12}}
            """
        let head = try JSONDecoder().decode(FolderHead.self, from: Data(text.utf8))
        #expect(head.bundles.first?.byteCount == 4711 && head.deviceID == nil)
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        #expect(String(decoding: try encoder.encode(head), as: UTF8.self) == text)
    }
}
