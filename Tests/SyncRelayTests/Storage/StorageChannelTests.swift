import Foundation
import Testing

@testable import SyncRelay

@Suite(.fewAtATime) struct StorageChannelTests {
    @Test(arguments: StorageKind.tested) func aChannelIsMadeOnceWithTheSameTokens(_ kind: StorageKind)
        async throws
    {
        let place = try StoragePlace(kind)
        let storage = try place.open()
        let channel = TestChannel()
        #expect(try await storage.makeChannel(channel.id, channel.registration))
        #expect(try await !storage.makeChannel(channel.id, channel.registration))
        await expectProblem(.conflict) {
            try await storage.makeChannel(channel.id, TestChannel().registration)
        }
        #expect(try await storage.registration(of: channel.id) == channel.registration)
        let state = try await storage.state(of: channel.id)
        #expect(state.position == 0 && state.fileCount == 0 && state.byteCount == 0)
        #expect(state.byteCountMax == 1 << 30)
    }

    @Test(arguments: StorageKind.tested) func nothingIsKnownOfAChannelThatIsNotThere(_ kind: StorageKind)
        async throws
    {
        let place = try StoragePlace(kind)
        let storage = try place.open()
        let id = RelayChannelID.random()
        #expect(try await storage.registration(of: id) == nil)
        await expectProblem(.unauthorized) { try await storage.state(of: id) }
        await expectProblem(.unauthorized) { try await storage.list(id, .all) }
        await expectProblem(.unauthorized) { try await storage.version(of: .numbered(0, "a"), in: id) }
        await expectProblem(.unauthorized) { try await storage.put("a", Data([1]), in: id) }
        await expectProblem(.unauthorized) { try await storage.begin("a", Data([1]), to: id) }
        try await storage.removeChannel(id)
    }

    @Test(arguments: StorageKind.tested) func theNumberOfChannelsIsBounded(_ kind: StorageKind) async throws {
        let place = try StoragePlace(kind)
        let small = try place.open { $0.channelCountMax = 2 }
        _ = try await TestChannel(in: small)
        let second = try await TestChannel(in: small)
        await expectProblem(.full) { try await small.makeChannel(.random(), second.registration) }
        #expect(try await !small.makeChannel(second.id, second.registration))
        try await small.removeChannel(second.id)
        _ = try await TestChannel(in: small)
    }

    @Test(arguments: StorageKind.tested) func aRemovedChannelLeavesNothingBehind(_ kind: StorageKind)
        async throws
    {
        let place = try StoragePlace(kind)
        let storage = try place.open()
        let channel = try await TestChannel(in: storage)
        let other = try await TestChannel(in: storage)
        try await storage.put("a", pattern(10), in: channel.id)
        try await storage.upload("b", pattern(3_000_000), to: channel.id)
        _ = try await storage.begin("c", pattern(600_000), to: channel.id)
        try await storage.leave(.init(sealed: Data([1]), seconds: 60), as: .random(), in: channel.id)
        try await storage.put("kept", pattern(5), in: other.id)
        let old = try await storage.state(of: channel.id).epoch
        try await storage.removeChannel(channel.id)
        let counts = try await storage.counts("file", "block", "upload", "discarded", "invitation", "channel")
        #expect(counts == [1, 1, 0, 0, 0, 1])
        #expect(try await storage.content("kept", in: other.id) == pattern(5))
        // Made again, it begins anew.
        _ = try await storage.makeChannel(channel.id, channel.registration)
        let new = try await storage.state(of: channel.id)
        #expect(new.epoch != old && new.position == 0)
    }

    @Test(arguments: StorageKind.tested) func figuresCountAllChannels(_ kind: StorageKind) async throws {
        let place = try StoragePlace(kind)
        let storage = try place.open()
        let one = try await TestChannel(in: storage)
        let two = try await TestChannel(in: storage)
        try await storage.put("a", pattern(100), in: one.id)
        try await storage.put("b", pattern(23), in: two.id)
        let figures = try await storage.figures()
        #expect(figures.channelCount == 2 && figures.fileCount == 2 && figures.byteCount == 123)
        #expect(figures.storageByteCount > 0)
    }

    @Test(arguments: StorageKind.tested) func aKeptValueStays(_ kind: StorageKind) async throws {
        let place = try StoragePlace(kind)
        let storage = try place.open()
        #expect(try await storage.kept("x") == nil)
        #expect(try await storage.keep(Data([1]), as: "x") == Data([1]))
        #expect(try await storage.keep(Data([2]), as: "x") == Data([1]))
        #expect(try await storage.kept("x") == Data([1]))
    }
}
