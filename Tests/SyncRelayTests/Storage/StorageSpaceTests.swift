import CipherStore
import Foundation
import Synchronization
import Testing

@testable import SyncRelay

/// What nobody sees any more goes faster than anything comes.
@Suite(.fewAtATime) struct StorageSpaceTests {
    private func blockCount(_ db: Database) throws -> Int {
        try Int.fetchOne(db, sql: "SELECT count(*) FROM block") ?? 0
    }

    @Test func aSliceRemovesTwiceWhatCameBeforeIt() async throws {
        let folder = try StorageFolder()
        let storage = try folder.open()
        let channel = try await TestChannel(in: storage)
        try await storage.put("there", pattern(500), in: channel.id)
        let content = pattern(12 << 20)
        let upload = try await storage.begin("a", content, to: channel.id)
        try await storage.send(content, to: upload)
        try await storage.settle()
        let counts = try await storage.pool.writeWithoutTransaction { db -> [Int] in
            try db.execute(sql: "INSERT INTO discarded SELECT body FROM upload; DELETE FROM upload")
            var counts = [try blockCount(db)]
            for newByteCount in [0, 4 << 20] {
                _ = try RelaySpace.doSlice(db, after: newByteCount)
                counts.append(try blockCount(db))
            }
            return counts
        }
        // 48 blocks of 256 KiB: 4 MiB and a block go, and then the rest.
        #expect(counts == [49, 32, 1])
        #expect(try await storage.content("there", in: channel.id) == pattern(500))
    }

    @Test func manySmallBodiesGoInOneSlice() async throws {
        let folder = try StorageFolder()
        let storage = try folder.open()
        let channel = try await TestChannel(in: storage)
        for first in stride(from: 0, to: 1_000, by: 250) {
            let changes = try (first..<first + 250).map { number in
                RelayChanges.Change.write(
                    try .numbered(0, "f\(number)"), replacing: true, content: pattern(20))
            }
            _ = try await storage.change(channel.id, changes)
        }
        try await storage.settle()
        let left = try await storage.pool.writeWithoutTransaction { db -> [Int?] in
            try db.execute(sql: "INSERT INTO discarded SELECT body FROM file; DELETE FROM file")
            _ = try RelaySpace.doSlice(db, after: 0)
            return [try blockCount(db), try Int.fetchOne(db, sql: "SELECT count(*) FROM discarded")]
        }
        #expect(left == [0, 0])
    }

    @Test func aSliceAfterAGroupIsToldWhatTheGroupBrought() async throws {
        let folder = try StorageFolder()
        let storage = try folder.open()
        try await storage.settle()
        let told = ToldByteCounts()
        let queue = CommitQueue(storage.pool) { _, newByteCount in
            told.all.withLock { $0.append(newByteCount) }
            return false
        }
        queue.hold()
        queue.noteLeisureWork()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for byteCount in [1_000, 200] {
                group.addTask { try await queue.run(byteCount: byteCount) { _ in } }
            }
            while queue.waitingCount < 2 { await Task.yield() }
            queue.release()
            try await group.waitForAll()
        }
        queue.drain()
        let all = told.all.withLock { $0 }
        #expect(all == [1_200])
    }
}

/// What a slice was told each time.
private final class ToldByteCounts: Sendable {
    let all = Mutex<[Int]>([])
}
