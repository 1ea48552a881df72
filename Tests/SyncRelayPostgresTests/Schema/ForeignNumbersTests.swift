import Foundation
import SyncRelay
import TestSupport
import Testing

@testable import SyncRelayPostgres

/// A database to which another program wrote numbers that no relay writes. Nothing overflows, and all of it is healed by use.
@Suite(.needsPostgres, .fewAtATime, .timeLimit(.minutes(5))) struct ForeignNumbersTests {
    let database: TestDatabase

    init() throws { database = try TestDatabase() }

    private static let numbers: [Int64] = [.min, -1, 1 << 54, .max]

    @Test(arguments: numbers) func sumsOfAChannelAreCountedAnew(number: Int64) async throws {
        let storage = try database.open()
        let channels = [try await TestChannel(in: storage), try await TestChannel(in: storage)]
        let channel = channels[0]
        try await storage.put("a", pattern(500), in: channel.id)
        try await storage.put("gone", pattern(5), in: channel.id)
        try await storage.remove("gone", in: channel.id)
        try database.run(
            """
            UPDATE cipherstore_relay.channel
            SET byte_count = \(number), file_count = \(number), removal_count = \(number)
            """)
        let figures = try await storage.figures()
        #expect(figures.channelCount == 2 && figures.byteCount >= 0 && figures.fileCount >= 0)
        try await storage.put("b", pattern(20), in: channel.id)
        let state = try await storage.state(of: channel.id)
        #expect(state.fileCount == 2 && state.byteCount == 520)
        try await storage.upload("c", pattern(300_000), to: channels[1].id)
        let other = try await storage.state(of: channels[1].id)
        #expect(other.fileCount == 1 && other.byteCount == 300_000)
        #expect(try await storage.content("a", in: channel.id) == pattern(500))
    }

    @Test(arguments: numbers) func aFileOfAnImpossibleSizeIsReplacedAndRemoved(number: Int64) async throws {
        let storage = try database.open { $0.channelByteCountMax = .max }
        let channel = try await TestChannel(in: storage)
        for name in ["a", "b"] { try await storage.put(name, pattern(500), in: channel.id) }
        try database.run("UPDATE cipherstore_relay.file SET byte_count = \(number)")
        let listed = try await storage.listing(channel.id).files
        #expect(listed.count == 2 && listed.values.allSatisfy { $0.byteCount >= 0 })
        try await storage.put("a", pattern(20), in: channel.id)
        try await storage.remove("b", in: channel.id)
        #expect(try await storage.content("a", in: channel.id) == pattern(20))
        #expect(try await storage.state(of: channel.id).byteCount >= 0)
    }

    @Test(arguments: numbers) func anUploadOfAnImpossibleSizeIsInTheWayUntilItIsGivenUp(number: Int64)
        async throws
    {
        let storage = try database.open()
        let channel = try await TestChannel(in: storage)
        let uploads = [
            try await storage.begin("a", pattern(300_000), to: channel.id),
            try await storage.begin("b", pattern(300_000), to: channel.id),
        ]
        try database.run("UPDATE cipherstore_relay.upload SET byte_count = \(number)")
        if number > 0 {
            await expectProblem(.busy) { try await storage.upload("c", pattern(300_000), to: channel.id) }
        }
        for upload in uploads { await storage.abandon(upload) }
        try await storage.upload("c", pattern(300_000), to: channel.id)
        #expect(try await storage.content("c", in: channel.id) == pattern(300_000))
    }
}
