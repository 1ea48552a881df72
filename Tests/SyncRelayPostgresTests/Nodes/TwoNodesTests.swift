import Foundation
import SyncRelay
import TestSupport
import Testing

@testable import SyncRelayPostgres

/// Two relays on one database.
@Suite(.needsPostgres, .fewAtATime, .timeLimit(.minutes(5))) struct TwoNodesTests {
    let database: TestDatabase
    let one: PostgresRelayStorage
    let two: PostgresRelayStorage

    init() throws {
        database = try TestDatabase()
        // Looking from time to time is no help here: what is told is told by notices.
        one = try database.open { $0.lookSeconds = 3_600 }
        two = try database.open { $0.lookSeconds = 3_600 }
    }

    @Test func aWriteOnOneWakesAWatchOnTheOther() async throws {
        let channel = try await TestChannel(in: one)
        let told = ToldMoments(two, channel.id)
        while !two.listener.isListening { await Task.yield() }
        for number in 1...20 {
            try await one.put("f\(number)", Data([1]), in: channel.id)
            let moment = await told.wait { $0.position >= Int64(number) }
            #expect(
                try await moment
                    == RelayMoment(epoch: one.state(of: channel.id).epoch, position: Int64(number)))
        }
    }

    @Test func aRemovalOnOneEndsAWatchOnTheOther() async throws {
        let channel = try await TestChannel(in: one)
        let told = ToldMoments(two, channel.id)
        while !two.listener.isListening { await Task.yield() }
        try await one.removeChannel(channel.id)
        #expect(await told.waitForRemoval())
        await expectProblem(.unauthorized) { try await two.state(of: channel.id) }
    }

    @Test func anUploadThatOneBeganIsFinishedByTheOther() async throws {
        let channel = try await TestChannel(in: one)
        let content = pattern(900_000)
        let upload = try await one.begin("a", content, to: channel.id)
        try await one.append(content.prefix(262_144), at: 0, to: upload)
        var rest = content.dropFirst(262_144)
        var offset: Int64 = 262_144
        while !rest.isEmpty {
            let piece = Data(rest.prefix(262_144))
            try await two.append(piece, at: offset, to: upload)
            rest = rest.dropFirst(piece.count)
            offset += Int64(piece.count)
        }
        #expect(try await two.finish(upload) == RelayOutcome(position: 1, isNew: true))
        #expect(try await one.content("a", in: channel.id) == content)
    }

    @Test func concurrentChangesOfOneChannelFromBothGetContiguousPositions() async throws {
        let channel = try await TestChannel(in: one)
        let nodes = [one, two]
        let positions = try await withThrowingTaskGroup(of: [RelayPosition].self) { group in
            for writer in 0..<12 {
                group.addTask {
                    var positions: [RelayPosition] = []
                    for number in 0..<20 {
                        let name = number % 3 == 0 ? "head" : "f\(number)"
                        positions.append(
                            try await nodes[writer % 2].put(
                                name, pattern(300, seed: UInt64(writer * 100 + number)), in: channel.id,
                                folder: writer
                            ).position)
                    }
                    // Each writer's own come in their order.
                    #expect(positions == positions.sorted())
                    return positions
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(positions.sorted() == Array(1...240))
        let listing = try await one.listing(channel.id)
        #expect(try await two.listing(channel.id).files == listing.files && listing.last.position == 240)
        let content = try await two.content("f19", in: channel.id, folder: 5)
        #expect(content == pattern(300, seed: 519))
    }

    @Test func theEpochIsTheSameAtAllNodesAndStaysWhenOneIsStartedAgain() async throws {
        let channel = try await TestChannel(in: one)
        try await one.put("a", Data([1]), in: channel.id)
        let epoch = try await one.state(of: channel.id).epoch
        #expect(try await two.state(of: channel.id).epoch == epoch)
        one.close()
        let again = try database.open()
        #expect(try await again.state(of: channel.id).epoch == epoch)
        let moment = RelayMoment(epoch: epoch, position: 1)
        #expect(try await again.list(channel.id, .since(moment)).isComplete == false)
        await expectProblem(.unavailable) { try await one.state(of: channel.id) }
    }

    @Test func anInvitationIsHandedOutByOneOfThem() async throws {
        let channel = try await TestChannel(in: one)
        let nodes = [one, two]
        for _ in 0..<5 {
            let id = RelayInvitationID.random()
            try await one.leave(.init(sealed: Data([1]), seconds: 60), as: id, in: channel.id)
            let count = await withTaskGroup(of: Bool.self) { group in
                for number in 0..<8 {
                    group.addTask { (try? await nodes[number % 2].takeInvitation(id)) != nil }
                }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(count == 1)
        }
        #expect(try database.run("SELECT count(*) FROM cipherstore_relay.invitation") == "0")
    }

    @Test func thereAreNoMoreChannelsThanMayBeWhenBothMakeThem() async throws {
        let nodes = [
            try database.open { $0.channelCountMax = 5 }, try database.open { $0.channelCountMax = 5 },
        ]
        let count = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<16 {
                group.addTask { (try? await TestChannel(in: nodes[number % 2])) != nil }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(count == 5)
        #expect(try await one.figures().channelCount == 5)
    }

    @Test func bothKeepTheSameValue() async throws {
        let (one, two) = (one, two)
        async let first = one.keep(Data([1]), as: "certificate")
        async let second = two.keep(Data([2]), as: "certificate")
        #expect(try await first == second)
    }

    @Test func bothTidyAtOnceAndTakeNothingFromEachOther() async throws {
        let hand = RelayClockHand()
        let nodes = try (0..<2).map { _ in try database.open { $0.milliseconds = { hand.milliseconds } } }
        let channel = try await TestChannel(in: nodes[0])
        let content = pattern(9_000_000)
        for number in 0..<6 { try await nodes[number % 2].upload("f\(number)", content, to: channel.id) }
        let left = try await nodes[0].begin("left", content, to: channel.id)
        try await nodes[0].append(content.prefix(262_144), at: 0, to: left)
        for _ in 0..<10 {
            try await nodes[1].leave(.init(sealed: Data([1]), seconds: 60), as: .random(), in: channel.id)
        }
        hand.advance(seconds: 7_200)
        for number in 0..<5 { try await nodes[number % 2].remove("f\(number)", in: channel.id) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<8 { group.addTask { try await nodes[number % 2].tidy() } }
            try await group.waitForAll()
        }
        for node in nodes { while !node.cleaner.isIdle { await Task.yield() } }
        let counts = try database.run(
            """
            SELECT (SELECT count(*) FROM cipherstore_relay.block),
                (SELECT count(*) FROM cipherstore_relay.discarded),
                (SELECT count(*) FROM cipherstore_relay.upload), (SELECT count(*) FROM cipherstore_relay.invitation)
            """)
        #expect(counts == "35|0|0|0")
        #expect(try await nodes[0].content("f5", in: channel.id) == content)
    }

    @Test func manyRelaysStartAtOnceOnAnEmptyDatabase() async throws {
        let empty = try TestDatabase()
        let storages = try await withThrowingTaskGroup(of: PostgresRelayStorage.self) { group in
            for _ in 0..<6 {
                group.addTask { try await onThread { Result { try empty.open() } }.get() }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let channel = try await TestChannel(in: storages[0])
        for storage in storages { #expect(try await storage.state(of: channel.id).position == 0) }
    }
}
