import CipherStore
import Foundation
import SyncWire
import Testing

@testable import SyncEngine

/// A head lists two vectors for each bundle, and others read a bounded number of its bytes.
@Suite struct LongHeadTests {
    let stores: TestStores

    init() throws { stores = try TestStores() }

    private func folder() throws -> FolderTransport {
        FolderTransport(path: stores.path("shared"), passphrase: try Passphrase("folder"), cost: .minimum)
    }

    private func vector(_ count: Int) -> VersionVector {
        VersionVector(
            Dictionary(
                (0..<count).map { (AdmissionTests.replica($0), Int64(1) << 50) },
                uniquingKeysWith: { first, _ in first }))
    }

    private func head(_ replica: TestReplica, knowing vector: VersionVector, bundles: Int) throws
        -> FolderHead
    {
        let encoded = FolderHead.encode(vector)
        var head = FolderHead(try replica.peer.greet(), vector: vector)
        head.bundles = (0..<bundles).map { number in
            FolderHead.File(
                name: FolderPaths.bundleName(Int64(number), 7), base: encoded, target: encoded,
                byteCount: number, sha256: String(repeating: "a", count: 64))
        }
        return head
    }

    @Test func aHeadIsShorterThanItIsExpectedToBe() throws {
        let replica = try stores.create()
        let vector = vector(300)
        let head = try head(replica, knowing: vector, bundles: 5)
        let more = try self.head(replica, knowing: vector, bundles: 6)
        let byteCount = try JSONEncoder().encode(more).count
        #expect(head.byteCount(withOneTo: vector) >= byteCount)
        #expect(head.byteCount(withOneTo: vector) < 2 * byteCount)
    }

    @Test func bundlesAreReplacedBeforeTheHeadIsTooLong() throws {
        let first = try stores.create()
        let other = try stores.clone(first, as: "b.db")
        try first.queue.write { db in
            try db.execute(
                sql: """
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
                    INSERT INTO _sync_replica (rid, oseq) SELECT CAST(printf('%016d', i) AS BLOB), 1 FROM n
                    """)
        }
        var folder = try folder()
        folder.compaction.headByteCountMax = 30_000
        var compactions = 0
        for number in 1...8 {
            try first.execute("INSERT INTO note (id, title) VALUES (?, 'row')", [key(UInt8(number))])
            stores.clock.advance(milliseconds: 10)
            if try first.synchronizer.run(.both, folder).isCompacted { compactions += 1 }
        }
        #expect(compactions >= 1 && compactions < 8)
        _ = try other.synchronizer.run(.both, folder)
        #expect(try other.value("SELECT count(*) FROM note", as: Int.self) == 8)
    }

    @Test func aHeadThatNobodyReadsIsNotWritten() throws {
        let replica = try stores.create()
        _ = try replica.synchronizer.run(.both, folder())
        var head = FolderHead(try replica.peer.greet())
        head.unreadable = [String(repeating: "x", count: FolderHead.byteCountMax)]
        let (transport, long) = (try folder().transport, head)
        let (file, store) = (MailboxPath(folder: "a", name: "head"), try replica.peer.greet().store)
        let found = try code { try long.write(file, transport, store: store, now: 1) }
        #expect(found == .capacityExceeded)
    }
}
