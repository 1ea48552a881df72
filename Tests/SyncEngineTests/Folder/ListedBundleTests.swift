import CipherStore
import Foundation
import SyncWire
import Testing

@testable import SyncEngine

/// Bundles of a folder have to be what the heads there say of them.
@Suite struct ListedBundleTests {
    let stores: TestStores
    let folder: FolderTransport

    init() throws {
        stores = try TestStores()
        folder = FolderTransport(
            path: stores.path("shared"), passphrase: try Passphrase("folder"), cost: .minimum)
    }

    @discardableResult
    private func sync(_ replica: TestReplica) throws -> FolderReport {
        stores.clock.advance(milliseconds: 10)
        return try replica.synchronizer.run(.both, folder)
    }

    private func bundles(of replica: TestReplica) throws -> [String] {
        let own = try folder.path + "/" + replica.synchronizer.status().replica.description
        return try FileManager.default.contentsOfDirectory(atPath: own).filter { $0.hasSuffix(".bundle") }
            .sorted().map { own + "/" + $0 }
    }

    @Test func whatIsWrittenAgainAfterADeletionWasForgottenIsTakenIn() throws {
        let first = try stores.create()
        try first.insert(1, "first")
        let (second, newcomer) = (
            try stores.clone(first, as: "second.db"), try stores.clone(first, as: "newcomer.db")
        )
        for replica in [first, second] { try sync(replica) }
        try first.insert(2, "short-lived")
        for replica in [first, second] { try sync(replica) }
        try first.execute("DELETE FROM note WHERE id = ?", [key(2)])
        try first.insert(3, "third")
        for replica in [first, second, first] { try sync(replica) }
        // Nobody has heard of the newcomer.
        #expect(try first.synchronizer.compact().forgottenDeletionCount == 1)
        try FileManager.default.removeItem(atPath: #require(bundles(of: first).last))
        try sync(first)
        let report = try sync(newcomer)
        #expect(report.remarks.isEmpty)
        #expect(try newcomer.dump() == first.dump())
    }

    /// As version 0.9 wrote it when deletions had been forgotten.
    @Test func aBundleThatIsListedWronglyIsWrittenAgain() throws {
        let first = try stores.create()
        let second = try stores.clone(first, as: "second.db")
        try first.insert(1, "first")
        try sync(first)
        try first.insert(2, "second")
        try sync(first)
        let replica = try first.synchronizer.status().replica
        let place = FolderPaths(replica).file(FolderPaths.headName)
        var head = try FolderHead.read(place, folder.transport)
        let listed = try #require(head.bundles.last)
        head.bundles[1] = FolderHead.File(
            name: listed.name, base: [:], target: listed.target, byteCount: listed.byteCount)
        try head.write(
            place, folder.transport, store: #require(head.store), now: stores.clock.environment.milliseconds()
        )
        #expect(try sync(second).remarks.contains { $0.contains("not the one that its replica lists") })
        #expect(try sync(first).pushed != nil)
        #expect(try sync(second).remarks.isEmpty)
        #expect(try second.dump() == first.dump())
        #expect(try second.titles().count == 2)
    }

    @Test(
        arguments: [
            ("0001700000000000-00112233445566ff.bundle", 1_700_000_000_000),
            ("0001700000000000-00112233445566FF.bundle", nil),
            ("0001700000000000-00112233445566fg.bundle", nil),
            ("0001700000000000-00112233445566ff (1).bundle", nil),
            ("000170000000000a-00112233445566ff.bundle", nil),
        ] as [(String, Int64?)])
    func onlyNamesThatAWriterGivesAreThoseOfBundles(_ name: String, _ number: Int64?) {
        #expect(FolderPaths.number(ofBundle: name) == number)
    }
}
