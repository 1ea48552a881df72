import Foundation
import SyncRelay
import TestSupport
import Testing

@testable import SyncRelayPostgres

/// Blocks of bodies that nobody sees any more are removed faster than others come, by few and small transactions.
@Suite(.needsPostgres, .fewAtATime, .timeLimit(.minutes(5))) struct BlockRemovalTests {
    let database: TestDatabase

    init() throws { database = try TestDatabase() }

    /// A storage whose cleaner has nothing to do, and doesn't know of what is made.
    private func storage() async throws -> PostgresRelayStorage {
        let storage = try database.open { $0.lookSeconds = 3_600 }
        await settle(storage)
        return storage
    }

    private func settle(_ storage: PostgresRelayStorage) async {
        while !storage.cleaner.isIdle { await Task.yield() }
    }

    /// Makes bodies that are to be removed.
    private func make(_ bodies: ClosedRange<Int>, blocks: Int, byteCount: Int) throws {
        try database.run(
            """
            INSERT INTO cipherstore_relay.block SELECT body, number, convert_to(repeat('x', \(byteCount)), 'UTF8')
            FROM generate_series(\(bodies.lowerBound), \(bodies.upperBound)) AS body,
                generate_series(0, \(blocks - 1)) AS number;
            INSERT INTO cipherstore_relay.discarded
            SELECT generate_series(\(bodies.lowerBound), \(bodies.upperBound))
            """)
    }

    private func left() throws -> String {
        try database.run(
            "SELECT (SELECT count(*) FROM cipherstore_relay.block), (SELECT count(*) FROM cipherstore_relay.discarded)"
        )
    }

    private func slice(
        _ storage: PostgresRelayStorage, byteCount: Int64 = 0
    ) async throws -> BlockRemoval {
        try await storage.pool.run { try BlockRemoval.run($0, after: .min, byteCount: byteCount) }
    }

    // MARK: Slices

    @Test func manySmallBodiesGoByOneTransaction() async throws {
        let storage = try await storage()
        try make(5_001...6_500, blocks: 1, byteCount: 20)
        let first = try await slice(storage)
        #expect(first.bodies == 5_001...6_024 && first.blockCount == 1_024 && first.finishedCount == 1_024)
        #expect(first.isCut && first.byteCount == 20_480)
        #expect(try left() == "476|476")
        let second = try await slice(storage)
        #expect(second.finishedCount == 476 && second.isLast)
        let third = try await slice(storage)
        #expect(third.bodies == nil && third.isLast && !third.hasProgress)
    }

    @Test func aSliceOfLargeBodiesIsBoundedByTheirBytes() async throws {
        let storage = try await storage()
        // Each has 4 MiB.
        try make(5_001...5_004, blocks: 16, byteCount: 262_144)
        let first = try await slice(storage)
        #expect(first.blockCount == 16 && first.byteCount == 4 << 20 && first.finishedCount == 1)
        let second = try await slice(storage, byteCount: 8 << 20)
        #expect(second.blockCount == 32 && second.finishedCount == 2 && second.isCut)
        #expect(try left() == "16|1")
    }

    @Test func whatAnotherRelayHasInHandIsLeftOut() async throws {
        let storage = try await storage()
        try make(5_001...5_002, blocks: 3, byteCount: 20)
        let other = try database.connect()
        let deadline = PostgresConnection.Deadline.now + .seconds(60)
        try other.execute(
            """
            BEGIN; SELECT FROM cipherstore_relay.block WHERE body = 5001 AND number = 1 FOR UPDATE
            """, until: deadline)
        let first = try await slice(storage)
        #expect(first.blockCount == 5 && first.finishedCount == 1 && first.bodyCount == 2)
        #expect(try left() == "1|1")
        // The cleaner leaves it too, and doesn't wait for it.
        storage.cleaner.wake()
        await settle(storage)
        #expect(try left() == "1|1")
        try other.execute("ROLLBACK", until: deadline)
        storage.cleaner.wake()
        await settle(storage)
        #expect(try left() == "0|0")
    }

    @Test func severalRelaysRemoveOneBodyTogether() async throws {
        let nodes = [try await storage(), try await storage(), try await storage()]
        try make(5_001...5_001, blocks: 200, byteCount: 262_144)
        try make(5_002...5_800, blocks: 2, byteCount: 10)
        for node in nodes { node.cleaner.wake() }
        for node in nodes { await settle(node) }
        // One that ended while another had the rest in hand did not forget it; that one did.
        nodes[0].cleaner.wake()
        await settle(nodes[0])
        #expect(try left() == "0|0")
    }

    @Test func aChannelOfManyFilesGoesWithItsBlocks() async throws {
        let storage = try await storage()
        let channel = try await TestChannel(in: storage)
        let other = try await TestChannel(in: storage)
        try await storage.upload("a", pattern(900_000), to: other.id)
        for first in stride(from: 0, to: 1_500, by: 250) {
            let changes = try (first..<first + 250).map { number in
                RelayChanges.Change.write(
                    try .numbered(0, "f\(number)"), replacing: true, content: pattern(20))
            }
            _ = try await storage.change(channel.id, changes)
        }
        try await storage.upload("a", pattern(900_000), to: channel.id)
        try await storage.removeChannel(channel.id)
        await settle(storage)
        #expect(try left() == "4|0")
        #expect(try await storage.content("a", in: other.id) == pattern(900_000))
    }

    // MARK: Bounds

    @Test func writersAreToldToComeAgainWhileTooLittleIsRemoved() async throws {
        let storage = try await storage()
        let channel = try await TestChannel(in: storage)
        try make(5_001...5_001, blocks: 2, byteCount: 20)
        let other = try database.connect()
        let deadline = PostgresConnection.Deadline.now + .seconds(60)
        try other.execute(
            "BEGIN; SELECT FROM cipherstore_relay.block WHERE body = 5001 FOR UPDATE", until: deadline)
        storage.cleaner.wake()
        await settle(storage)
        storage.cleaner.noteWritten(BlockCleaner.aheadByteCountMax + 1)
        await settle(storage)
        let content = pattern(600_000)
        await expectProblem(.busy) { try await storage.begin("a", content, to: channel.id) }
        await expectProblem(.busy) { try await storage.put("b", pattern(20), in: channel.id) }
        // What takes no room goes on.
        try await storage.remove("c", in: channel.id)
        await settle(storage)
        try other.execute("ROLLBACK", until: deadline)
        // Who asks again has the cleaner try again.
        while (try? await storage.upload("a", content, to: channel.id)) == nil { await settle(storage) }
        await settle(storage)
        #expect(try left() == "3|0")
        #expect(try await storage.content("a", in: channel.id) == content)
    }

    @Test func whatIsWrittenCountsAsLongAsSomethingIsToBeRemoved() {
        var state = CleaningState()
        state.note(1 << 20)
        #expect(state.aheadByteCount == 0)
        let starts = state.begin()
        #expect(starts)
        _ = state.beginSlice()
        state.note(6 << 20)
        var cut = BlockRemoval()
        (cut.bodies, cut.bodyCount, cut.blockCount) = (7...9, 3, 16)
        (cut.byteCount, cut.isCut) = (4 << 20, true)
        let goesOn = state.endSlice(cut)
        #expect(goesOn && state.aheadByteCount == 2 << 20)
        // The first one is looked at again, and twice as much is removed as came.
        let next = state.beginSlice()
        #expect(next.body == 6 && next.byteCount == 12 << 20)
        // A failure leaves the count, and nothing left ends it.
        let goesOnAfterFailure = state.endSlice(nil)
        #expect(!goesOnAfterFailure && state.hasRest && state.aheadByteCount == 2 << 20)
        state.note(1 << 20)
        #expect(state.newByteCount == 1 << 20 && state.aheadByteCount == 3 << 20)
        _ = state.begin()
        let again = state.beginSlice()
        #expect(again.body == .min)
        let isMore = state.endSlice(BlockRemoval())
        #expect(!isMore && !state.hasRest && state.aheadByteCount == 0)
    }

    // MARK: Plans

    /// What a statement does when it was planned while its tables had few rows, or none.
    @Test(arguments: [true, false]) func noPlanReadsAllBlocks(_ isEmpty: Bool) async throws {
        try await storage().close()
        try make(5_001...5_060, blocks: 1, byteCount: 20)
        if isEmpty { try database.run("DELETE FROM cipherstore_relay.discarded") }
        try database.run("VACUUM ANALYZE cipherstore_relay.discarded")
        try database.run("VACUUM ANALYZE cipherstore_relay.block")
        let connection = try database.connect()
        let deadline = PostgresConnection.Deadline.now + .seconds(60)
        try connection.execute(
            """
            SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_hashjoin = off;
            SET enable_mergejoin = off; BEGIN
            """, until: deadline)
        let one: [PostgresValue] = [.integers([1])]
        let calls = [
            (PostgresCall(BlockRemoval.take, [.integer(0), .integer(1)]), "0, 1"),
            (PostgresCall(BlockRemoval.remove, one + [.integer(1), .integer(1)]), "'{1}', 1, 1"),
            (PostgresCall(BlockRemoval.forget, one), "'{1}'"),
        ]
        for (call, words) in calls {
            try connection.run(call.statement, call.values, until: deadline)
            let name = call.statement.name
            let explain = PostgresStatement(
                "explain-\(name)", [], "EXPLAIN (COSTS OFF) EXECUTE \"\(name)\"(\(words))")
            let lines = try connection.run(explain, until: deadline).rows.map { try $0.text(0) }
            let text = lines.joined(separator: "\n")
            #expect(text.contains("_pkey") && !text.contains("Seq Scan"), "\(text)")
        }
    }
}
