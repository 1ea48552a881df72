import CipherStore
import Foundation
import SyncWire
import Testing

@testable import SyncEngine

/// Folders in which others leave more heads under other salts than a newcomer tries.
@Suite struct CrowdedJoinTests {
    let stores: TestStores
    let author: TestReplica
    /// So many lie in folders that come before all others.
    private static let strangers = (1...9).map { Identifier128(high: 0, low: UInt64($0)).description }

    init() throws {
        stores = try TestStores()
        author = try stores.create()
        try author.execute("INSERT INTO note (id, title) VALUES (?, 'row')", [key(1)])
    }

    /// A way to the folder that has derived no keys yet, as every process begins.
    private func folder() throws -> FolderTransport {
        FolderTransport(
            path: stores.path("shared"), passphrase: try Passphrase("folder"), cost: .minimum)
    }

    /// Copies the head of the author, each time under another salt.
    ///
    /// - parameter logN: The cost that they ask for; nil for the author's.
    private func leaveHeads(
        _ count: Int = CrowdedJoinTests.strangers.count, logN: UInt8? = nil, written: Date
    ) throws {
        let own = try author.synchronizer.status().replica.description
        let head = try Data(contentsOf: URL(fileURLWithPath: stores.path("shared/\(own)/head")))
        let place = MailboxPath(folder: own, name: "head")
        let source = try folder().transport.place.open(place)
        let salt = try #require(try SealedFileReader.salt(of: source))
        let range = try #require(head.range(of: Data(salt)))
        for (number, stranger) in Self.strangers.prefix(count).enumerated() {
            let folder = stores.path("shared/\(stranger)")
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            var copy = head
            copy[range.lowerBound] ^= UInt8(number + 1)
            // Before the salt come N, r and p.
            if let logN { copy[range.lowerBound - 3] = logN }
            try copy.write(to: URL(fileURLWithPath: folder + "/head"))
            try FileManager.default.setAttributes(
                [.modificationDate: written], ofItemAtPath: folder + "/head")
        }
    }

    private func join() throws {
        try Synchronizer.join(
            folder(), at: stores.path("new.db"), passphrase: Passphrase("passphrase of new.db"),
            environment: stores.clock.environment)
    }

    @Test func whatMostReplicasHaveInCommonIsTriedFirst() throws {
        let other = try stores.clone(author, as: "b.db")
        for replica in [author, other] { _ = try replica.synchronizer.run(.both, folder()) }
        try author.synchronizer.publishSnapshot(in: folder())
        try leaveHeads(written: Date(timeIntervalSince1970: 4_000_000_000))
        try join()
        #expect(try stores.open("new.db").titles() == ["row"])
    }

    @Test func whatWasWrittenLastIsTriedBeforeTheRest() throws {
        try author.synchronizer.publishSnapshot(in: folder())
        try leaveHeads(written: Date(timeIntervalSince1970: 1_000_000))
        try join()
        #expect(try stores.open("new.db").titles() == ["row"])
    }

    @Test func whoCannotTryAllIsToldOfTheOthers() throws {
        try author.synchronizer.publishSnapshot(in: folder())
        try leaveHeads(written: Date(timeIntervalSince1970: 4_000_000_000))
        let error = #expect(throws: SyncError.self) { try join() }
        #expect(error?.code == .otherStore && error?.message.contains("2 were not tried") == true)
        #expect(!FileManager.default.fileExists(atPath: stores.path("new.db")))
    }

    /// A head that asks for more memory than is allowed is none that was left for want of time.
    @Test func aWrongPassphraseIsSaidToBeOneBesideAHeadThatCostsTooMuch() throws {
        try author.synchronizer.publishSnapshot(in: folder())
        try leaveHeads(1, logN: 21, written: Date(timeIntervalSince1970: 4_000_000_000))
        let mistyped = FolderTransport(
            path: stores.path("shared"), passphrase: try Passphrase("foldre"), cost: .minimum)
        let error = #expect(throws: StoreError.self) {
            try Synchronizer.join(
                mistyped, at: stores.path("new.db"), passphrase: Passphrase("passphrase of new.db"),
                environment: stores.clock.environment)
        }
        #expect(error?.code == .wrongPassphrase)
    }
}
