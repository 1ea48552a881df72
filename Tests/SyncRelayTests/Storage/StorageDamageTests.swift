import CipherStore
import Foundation
import Testing

@testable import SyncRelay

/// A storage to which another program wrote numbers that no relay writes. Nothing overflows, and all of it is healed by use.
@Suite struct StorageDamageTests {
    let folder: StorageFolder

    init() throws { folder = try StorageFolder() }

    private static let numbers: [Int64] = [.min, -1, 1 << 54, .max]

    private func damage(_ storage: SQLiteRelayStorage, _ sql: String) throws {
        try storage.pool.write { try $0.execute(sql: sql) }
    }

    @Test(arguments: numbers) func sumsOfAChannelAreCountedAnew(number: Int64) async throws {
        let storage = try folder.open()
        let channel = try await TestChannel(in: storage)
        try await storage.put("a", pattern(500), in: channel.id)
        try await storage.put("gone", pattern(5), in: channel.id)
        try await storage.remove("gone", in: channel.id)
        try damage(
            storage,
            "UPDATE channel SET byteCount = \(number), fileCount = \(number), removalCount = \(number)")
        let figures = try await storage.figures()
        #expect(figures.channelCount == 1 && figures.byteCount >= 0 && figures.fileCount >= 0)
        try await storage.put("b", pattern(20), in: channel.id)
        let state = try await storage.state(of: channel.id)
        #expect(state.fileCount == 2 && state.byteCount == 520)
        #expect(try await storage.content("a", in: channel.id) == pattern(500))
    }

    @Test(arguments: numbers) func aFileOfAnImpossibleSizeIsReplacedAndRemoved(number: Int64) async throws {
        let storage = try folder.open { $0.channelByteCountMax = .max }
        let channel = try await TestChannel(in: storage)
        for name in ["a", "b"] { try await storage.put(name, pattern(500), in: channel.id) }
        try damage(storage, "UPDATE file SET byteCount = \(number)")
        let listed = try await storage.listing(channel.id).files
        #expect(listed.count == 2 && listed.values.allSatisfy { $0.byteCount >= 0 })
        try await storage.put("a", pattern(20), in: channel.id)
        try await storage.remove("b", in: channel.id)
        #expect(try await storage.content("a", in: channel.id) == pattern(20))
        #expect(try await storage.state(of: channel.id).byteCount >= 0)
    }

    @Test(arguments: [Int64.min, -1, 1 << 50, .max]) func aBodyThatHasNoBlocksIsReplaced(number: Int64)
        async throws
    {
        let storage = try folder.open()
        let channel = try await TestChannel(in: storage)
        for name in ["a", "b"] { try await storage.put(name, pattern(500), in: channel.id) }
        try damage(storage, "UPDATE file SET body = \(number); INSERT INTO discarded VALUES (\(number))")
        await expectProblem(.missing) { try await storage.content("a", in: channel.id) }
        try await storage.put("a", pattern(20), in: channel.id)
        try await storage.remove("b", in: channel.id)
        #expect(try await storage.content("a", in: channel.id) == pattern(20))
        try await storage.settle()
        #expect(try await storage.count("discarded") == 0)
    }

    @Test(arguments: numbers) func anUploadOfAnImpossibleSizeIsInTheWayUntilItIsGivenUp(number: Int64)
        async throws
    {
        let storage = try folder.open()
        let channel = try await TestChannel(in: storage)
        let first = try await storage.begin("a", pattern(300_000), to: channel.id)
        try damage(
            storage, "UPDATE upload SET byteCount = \(number); INSERT INTO discarded SELECT body FROM upload")
        if number > 0 {
            await expectProblem(.busy) { try await storage.upload("b", pattern(300_000), to: channel.id) }
        }
        await storage.abandon(first)
        try await storage.upload("b", pattern(300_000), to: channel.id)
        try storage.close()
        let again = try folder.open()
        #expect(try await again.content("b", in: channel.id) == pattern(300_000))
    }
}
