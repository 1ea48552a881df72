import Foundation
import SyncRelay
import TestSupport
import Testing

@testable import SyncRelayPostgres

/// How channels are counted and made while others want something of the database too.
@Suite(.needsPostgres, .fewAtATime, .timeLimit(.minutes(5))) struct ChannelCountTests {
    let database: TestDatabase

    init() throws { database = try TestDatabase() }

    @Test func thoseWhoMakeChannelsWaitWithOneConnection() async throws {
        let storage = try database.open()
        let channel = try await TestChannel(in: storage)
        // Another relay makes a channel, and takes long for that.
        let other = try database.connect()
        try other.execute(
            "BEGIN; SELECT pg_advisory_xact_lock(4851574867217408625)", until: .now + .seconds(30))
        let making = Task {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<10 { group.addTask { _ = try await TestChannel(in: storage) } }
                try await group.waitForAll()
            }
        }
        // Nine wait for the first one, which has one of the four connections.
        while storage.channelCount.waitingCount < 9 { await Task.yield() }
        for number in 0..<4 { try await storage.put("f\(number)", Data([1]), in: channel.id) }
        #expect(try await storage.state(of: channel.id).fileCount == 4)
        try other.execute("ROLLBACK", until: .now + .seconds(30))
        try await making.value
        #expect(try await storage.figures().channelCount == 11)
    }

    @Test func allChannelsAreCountedOnceUntilThereSeemsToBeNoRoom() async throws {
        let nodes = try (0..<2).map { _ in try database.open { $0.channelCountMax = 5 } }
        let counts = nodes.map(\.channelCount)
        var channels: [TestChannel] = []
        for number in 0..<5 { channels.append(try await TestChannel(in: nodes[number % 2])) }
        #expect(counts.map(\.countingCount) == [1, 1])
        let before = ContinuousClock.now
        try counts[0].requireHope(at: before)
        await expectProblem(.full) { try await TestChannel(in: nodes[0]) }
        #expect(counts[0].countingCount == 2)
        // For a while it is refused without being counted.
        #expect(throws: RelayProblem.self) { try counts[0].requireHope(at: before) }
        try counts[0].requireHope(at: before + .seconds(3_600))
        try await nodes[0].removeChannel(channels[0].id)
        _ = try await TestChannel(in: nodes[0])
        for node in nodes { await expectProblem(.full) { try await TestChannel(in: node) } }
        #expect(try await nodes[0].figures().channelCount == 5)
    }

    @Test func aDatabaseThatMayHaveBeenPutBackIsCountedAnew() async throws {
        let storage = try database.open()
        for _ in 0..<3 { _ = try await TestChannel(in: storage) }
        #expect(storage.channelCount.countingCount == 1)
        try database.run("VACUUM FULL cipherstore_relay.channel")
        _ = try await TestChannel(in: storage)
        #expect(storage.channelCount.countingCount == 2)
    }
}
