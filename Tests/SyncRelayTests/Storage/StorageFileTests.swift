import Foundation
import Testing

@testable import SyncRelay

@Suite(.fewAtATime) struct StorageFileTests {
    @Test(arguments: StorageKind.tested, [0, 1, 812, 262_143, 262_144, 262_145, 786_432, 1_000_000])
    func aFileComesBackAsItWas(_ kind: StorageKind, _ count: Int) async throws {
        let place = try StoragePlace(kind)
        let storage = try place.open { $0.channelByteCountMax = 10_000_000 }
        let channel = try await TestChannel(in: storage)
        let content = pattern(count)
        #expect(try await storage.put("whole", content, in: channel.id).isNew)
        #expect(try await storage.upload("pieces", content, to: channel.id).position == 2)
        #expect(try await storage.content("whole", in: channel.id) == content)
        #expect(try await storage.content("pieces", in: channel.id) == content)
        let state = try await storage.state(of: channel.id)
        #expect(state.byteCount == Int64(2 * count) && state.fileCount == 2 && state.position == 2)
    }

    @Test(arguments: StorageKind.tested) func aReplacedFileHasItsNewBytesAndFreesTheOldOnes(
        _ kind: StorageKind
    ) async throws {
        let place = try StoragePlace(kind)
        let storage = try place.open { $0.channelByteCountMax = 10_000_000 }
        let channel = try await TestChannel(in: storage)
        try await storage.upload("a", pattern(2_000_000), to: channel.id)
        let old = try await storage.version(of: .numbered(0, "a"), in: channel.id)
        #expect(try await storage.put("a", pattern(5, seed: 2), in: channel.id).isNew == false)
        #expect(try await storage.content("a", in: channel.id) == pattern(5, seed: 2))
        try await storage.settle()
        // Whoever reads the old version is told, and gets no bytes of the new one.
        await expectProblem(.missing) { try await storage.read(old, from: 0) }
        #expect(try await storage.count("block") == 1)
        #expect(try await storage.state(of: channel.id).byteCount == 5)
    }

    @Test(arguments: StorageKind.tested) func aFileThatIsNotToBeReplacedStays(_ kind: StorageKind)
        async throws
    {
        let place = try StoragePlace(kind)
        let storage = try place.open { $0.channelByteCountMax = 10_000_000 }
        let channel = try await TestChannel(in: storage)
        try await storage.put("a", pattern(5), in: channel.id, replacing: false)
        await expectProblem(.exists) {
            try await storage.put("a", pattern(6), in: channel.id, replacing: false)
        }
        await expectProblem(.exists) {
            try await storage.upload("a", pattern(400_000), to: channel.id, replacing: false)
        }
        // A repetition with the same bytes is no change.
        let again = try await storage.put("a", pattern(5), in: channel.id, replacing: false)
        #expect(again == RelayOutcome(position: 1, isNew: false))
        #expect(try await storage.upload("a", pattern(5), to: channel.id, replacing: false).position == 1)
        #expect(try await storage.state(of: channel.id).position == 1)
        #expect(try await storage.content("a", in: channel.id) == pattern(5))
    }

    @Test(arguments: StorageKind.tested) func aRemovedFileIsGoneAndItsRemovalHasAPosition(_ kind: StorageKind)
        async throws
    {
        let place = try StoragePlace(kind)
        let storage = try place.open { $0.channelByteCountMax = 10_000_000 }
        let channel = try await TestChannel(in: storage)
        try await storage.put("a", pattern(5), in: channel.id)
        #expect(try await storage.remove("a", in: channel.id) == 2)
        #expect(try await storage.remove("a", in: channel.id) == 2)
        #expect(try await storage.remove("never", in: channel.id) == 2)
        await expectProblem(.missing) { try await storage.content("a", in: channel.id) }
        // It may come back.
        #expect(
            try await storage.put("a", pattern(6), in: channel.id, replacing: false)
                == .init(position: 3, isNew: true))
        let state = try await storage.state(of: channel.id)
        #expect(state.fileCount == 1 && state.byteCount == 6)
    }

    @Test(arguments: StorageKind.tested) func channelsDoNotSeeEachOther(_ kind: StorageKind) async throws {
        let place = try StoragePlace(kind)
        let storage = try place.open { $0.channelByteCountMax = 10_000_000 }
        let one = try await TestChannel(in: storage)
        let two = try await TestChannel(in: storage)
        try await storage.put("a", pattern(5), in: one.id)
        await expectProblem(.missing) { try await storage.content("a", in: two.id) }
        try await storage.remove("a", in: two.id)
        #expect(try await storage.content("a", in: one.id) == pattern(5))
        #expect(try await storage.listing(two.id).files.isEmpty)
    }

    // MARK: Several at once

    @Test(arguments: StorageKind.tested) func severalChangesAreMadeInTheirOrder(_ kind: StorageKind)
        async throws
    {
        let place = try StoragePlace(kind)
        let storage = try place.open { $0.channelByteCountMax = 10_000_000 }
        let channel = try await TestChannel(in: storage)
        let (a, b) = (try RelayFileName.numbered(1, "a"), try RelayFileName.numbered(2, "b"))
        let result = try await storage.change(
            channel.id,
            [
                .write(a, replacing: false, content: Data([1])),
                .write(b, replacing: true, content: Data([2])),
                .remove(a), .remove(a), .write(a, replacing: false, content: Data([3, 4])),
            ])
        #expect(result.outcomes.map(\.position) == [1, 2, 3, 3, 4])
        #expect(result.position == 4)
        #expect(try await storage.content("a", in: channel.id, folder: 1) == Data([3, 4]))
        #expect(try await storage.change(channel.id, []).position == 4)
    }

    @Test(arguments: StorageKind.tested) func oneRefusedChangeRefusesAll(_ kind: StorageKind) async throws {
        let place = try StoragePlace(kind)
        let storage = try place.open { $0.channelByteCountMax = 10_000_000 }
        let channel = try await TestChannel(in: storage)
        try await storage.put("there", Data([1]), in: channel.id)
        let before = try await storage.state(of: channel.id)
        let refused: [RelayChanges.Change] = [
            .write(try .numbered(0, "there"), replacing: false, content: Data([9])),
            .write(try .numbered(0, "large"), replacing: false, content: Data(count: 10_000_001)),
        ]
        for last in refused {
            await expectProblem(last == refused[0] ? .exists : .full) {
                try await storage.change(
                    channel.id,
                    [
                        .write(.numbered(0, "new"), replacing: true, content: Data(count: 300_000)),
                        .remove(.numbered(0, "there")),
                        .write(.numbered(0, "there"), replacing: true, content: Data([7])),
                        last,
                    ])
            }
        }
        #expect(try await storage.state(of: channel.id) == before)
        #expect(try await storage.content("there", in: channel.id) == Data([1]))
        await expectProblem(.missing) { try await storage.content("new", in: channel.id) }
    }

    // MARK: Bounds

    @Test(arguments: StorageKind.tested) func theQuotaRefusesWhatAddsAndNothingElse(_ kind: StorageKind)
        async throws
    {
        let place = try StoragePlace(kind)
        let storage = try place.open { $0.channelByteCountMax = 10_000_000 }
        let channel = try await TestChannel(in: storage)
        try await storage.upload("a", pattern(6_000_000), to: channel.id)
        do {
            try await storage.put("b", pattern(4_000_001), in: channel.id)
            Issue.record("nothing was thrown")
        } catch let problem as RelayProblem {
            #expect(problem.code == .full && problem.status == 507)
            #expect(problem.byteCount == 10_000_001 && problem.byteCountMax == 10_000_000)
        }
        await expectProblem(.full) { try await storage.begin("b", pattern(4_000_001), to: channel.id) }
        try await storage.upload("b", pattern(4_000_000), to: channel.id)
        await expectProblem(.full) { try await storage.put("c", Data([1]), in: channel.id) }
        // An empty file adds nothing, and a file may be replaced by one that is not larger.
        try await storage.put("empty", Data(), in: channel.id)
        try await storage.upload("b", pattern(4_000_000, seed: 2), to: channel.id)
        #expect(try await storage.content("a", in: channel.id).count == 6_000_000)
        try await storage.remove("a", in: channel.id)
        try await storage.put("c", Data([1]), in: channel.id)
    }

    @Test(arguments: StorageKind.tested) func aChannelOverALowerQuotaCanBecomeSmaller(_ kind: StorageKind)
        async throws
    {
        let place = try StoragePlace(kind)
        let storage = try place.open { $0.channelByteCountMax = 10_000_000 }
        let channel = try await TestChannel(in: storage)
        try await storage.put("a", pattern(1000), in: channel.id)
        try await storage.put("b", pattern(1000), in: channel.id)
        try storage.end()
        let lower = try place.open { $0.channelByteCountMax = 500 }
        await expectProblem(.full) { try await lower.put("a", pattern(1001), in: channel.id) }
        try await lower.put("a", pattern(999), in: channel.id)
        try await lower.put("b", pattern(1000, seed: 2), in: channel.id)
        try await lower.remove("a", in: channel.id)
        #expect(try await lower.content("b", in: channel.id) == pattern(1000, seed: 2))
    }

    @Test(arguments: StorageKind.tested) func theNumberOfFilesIsBounded(_ kind: StorageKind) async throws {
        let place = try StoragePlace(kind)
        let small = try place.open { $0.channelFileCountMax = 2 }
        let channel = try await TestChannel(in: small)
        try await small.put("a", Data(), in: channel.id)
        try await small.put("b", Data(), in: channel.id)
        await expectProblem(.full) { try await small.put("c", Data(), in: channel.id) }
        await expectProblem(.full) { try await small.begin("c", pattern(300_000), to: channel.id) }
        try await small.put("a", Data([1]), in: channel.id)
        try await small.remove("b", in: channel.id)
        try await small.put("c", Data(), in: channel.id)
    }

    @Test(arguments: StorageKind.tested) func aChannelAtItsLastPositionIsReadAndNotChanged(
        _ kind: StorageKind
    ) async throws {
        let place = try StoragePlace(kind)
        let storage = try place.open { $0.channelByteCountMax = 10_000_000 }
        let channel = try await TestChannel(in: storage)
        try await storage.put("a", Data([1]), in: channel.id)
        try await storage.setPosition(.max - 1)
        #expect(try await storage.put("b", Data([2]), in: channel.id).position == .max)
        await expectProblem(.unavailable) { try await storage.put("c", Data([3]), in: channel.id) }
        await expectProblem(.unavailable) { try await storage.remove("a", in: channel.id) }
        let listing = try await storage.listing(channel.id, .since(storage.moment(channel, at: .max - 1)))
        #expect(listing.files.keys.map(\.name) == ["b"] && listing.last.position == .max)
        #expect(
            try await storage.listing(channel.id, .since(storage.moment(channel, at: .max))).files.isEmpty)
    }
}
