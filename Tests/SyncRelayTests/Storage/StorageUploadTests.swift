import CipherStore
import Foundation
import Testing

@testable import SyncRelay

@Suite(.fewAtATime) struct StorageUploadTests {
    private func counts(_ storage: some TestedStorage) async throws -> [String: Int] {
        try await storage.settle()
        var counts: [String: Int] = [:]
        for table in ["block", "upload", "discarded", "file"] {
            counts[table] = try await storage.count(table)
        }
        return counts
    }

    @Test(arguments: StorageKind.tested) func nobodySeesAnUploadBeforeItIsFinished(_ kind: StorageKind)
        async throws
    {
        let place = try StoragePlace(kind)
        let storage = try place.open { $0.channelByteCountMax = 10_000_000 }
        let channel = try await TestChannel(in: storage)
        let content = pattern(700_000)
        let upload = try await storage.begin("a", content, to: channel.id)
        try await storage.send(content, to: upload)
        await expectProblem(.missing) { try await storage.content("a", in: channel.id) }
        #expect(try await storage.listing(channel.id).files.isEmpty)
        #expect(try await storage.state(of: channel.id).position == 0)
        #expect(try await storage.finish(upload) == RelayOutcome(position: 1, isNew: true))
        #expect(try await storage.content("a", in: channel.id) == content)
        await expectProblem(.missing) { try await storage.finish(upload) }
        await expectProblem(.missing) { try await storage.append(pattern(262_144), at: 0, to: upload) }
    }

    @Test(arguments: StorageKind.tested) func anAbandonedUploadLeavesNothing(_ kind: StorageKind) async throws
    {
        let place = try StoragePlace(kind)
        let storage = try place.open { $0.channelByteCountMax = 10_000_000 }
        let channel = try await TestChannel(in: storage)
        let content = pattern(3_000_000)
        let upload = try await storage.begin("a", content, to: channel.id)
        try await storage.append(content.prefix(262_144), at: 0, to: upload)
        await storage.abandon(upload)
        await storage.abandon(upload)
        #expect(try await counts(storage) == ["block": 0, "upload": 0, "discarded": 0, "file": 0])
        await expectProblem(.missing) { try await storage.finish(upload) }
    }

    @Test(arguments: StorageKind.tested) func anIncompleteUploadIsNotFinished(_ kind: StorageKind)
        async throws
    {
        let place = try StoragePlace(kind)
        let storage = try place.open { $0.channelByteCountMax = 10_000_000 }
        let channel = try await TestChannel(in: storage)
        let content = pattern(600_000)
        let upload = try await storage.begin("a", content, to: channel.id)
        try await storage.append(content.prefix(262_144), at: 0, to: upload)
        await expectProblem(.malformed) { try await storage.finish(upload) }
        // Pieces go where they belong only.
        await expectProblem(.missing) { try await storage.append(content.prefix(262_144), at: 0, to: upload) }
        await expectProblem(.malformed) { try await storage.append(Data([1]), at: 262_144, to: upload) }
        await expectProblem(.malformed) { try await storage.append(Data([1]), at: 1, to: upload) }
        await expectProblem(.malformed) { try await storage.append(Data(), at: 262_144, to: upload) }
        await expectProblem(.malformed) {
            try await storage.append(content.prefix(262_144), at: 524_288, to: upload)
        }
    }

    @Test func anUploadAfterAKillIsRemovedWhenTheFileIsOpened() async throws {
        let folder = try StorageFolder()
        let storage = try folder.open { $0.channelByteCountMax = 10_000_000 }
        let channel = try await TestChannel(in: storage)
        let content = pattern(3_000_000)
        try await storage.upload("there", content, to: channel.id)
        let upload = try await storage.begin("cut", content, to: channel.id)
        for piece in 0..<4 {
            try await storage.append(
                Data(content.dropFirst(piece * 262_144).prefix(262_144)), at: Int64(piece) * 262_144,
                to: upload)
        }
        let again = try folder.reopened(after: storage)
        #expect(try await counts(again) == ["block": 12, "upload": 0, "discarded": 0, "file": 1])
        #expect(try await again.content("there", in: channel.id) == content)
        await expectProblem(.missing) { try await again.content("cut", in: channel.id) }
        await expectProblem(.missing) { try await again.finish(upload) }
        // What is written next doesn't get the blocks of what was removed.
        try await again.upload("cut", pattern(700_000, seed: 3), to: channel.id)
        #expect(try await again.content("cut", in: channel.id) == pattern(700_000, seed: 3))
    }

    @Test func anUploadWithoutBytesKeepsItsNumberAfterAKill() async throws {
        let folder = try StorageFolder()
        let storage = try folder.open()
        let channel = try await TestChannel(in: storage)
        let content = pattern(600_000)
        let first = try await storage.begin("first", content, to: channel.id)
        try await storage.append(content.prefix(262_144), at: 0, to: first)
        let second = try await storage.begin("second", content, to: channel.id)
        let again = try folder.reopened(after: storage)
        let next = try await again.begin("next", content, to: channel.id)
        #expect(next.handle > second.handle)
        try await again.send(content, to: next)
        _ = try await again.finish(next)
        // What was given up is removed, and nothing else.
        #expect(try await counts(again) == ["block": 3, "upload": 0, "discarded": 0, "file": 1])
        #expect(try await again.content("next", in: channel.id) == content)
    }

    @Test(arguments: StorageKind.tested) func whatIsBeingUploadedIsBoundedToo(_ kind: StorageKind)
        async throws
    {
        let place = try StoragePlace(kind)
        let storage = try place.open { $0.channelByteCountMax = 10_000_000 }
        let channel = try await TestChannel(in: storage)
        let large = pattern(6_000_000)
        let first = try await storage.begin("a", large, to: channel.id)
        await expectProblem(.busy) { try await storage.begin("b", large, to: channel.id) }
        await storage.abandon(first)
        let second = try await storage.begin("b", large, to: channel.id)
        try await storage.send(large, to: second)
        // The quota counts again when it is finished.
        try await storage.put("c", pattern(5_000_000), in: channel.id)
        await expectProblem(.full) { try await storage.finish(second) }
        await storage.abandon(second)
        #expect(try await storage.state(of: channel.id).byteCount == 5_000_000)
    }

    @Test(arguments: StorageKind.tested) func aKnownDigestIsNoWayAroundTheQuota(_ kind: StorageKind)
        async throws
    {
        let place = try StoragePlace(kind)
        let storage = try place.open { $0.channelByteCountMax = 10_000_000 }
        let channel = try await TestChannel(in: storage)
        let content = pattern(6_000_000)
        try await storage.upload("a", content, to: channel.id)
        await expectProblem(.exists) {
            try await storage.beginUpload(
                .init(
                    file: .numbered(0, "a"), isReplacing: false, byteCount: 4 << 30,
                    digest: RelayDigest(of: content)),
                to: channel.id)
        }
        // The same file may come again, but not any number of times at once.
        let again = try await storage.begin("a", content, to: channel.id, replacing: false)
        await expectProblem(.busy) {
            try await storage.begin("a", content, to: channel.id, replacing: false)
        }
        try await storage.send(content, to: again)
        #expect(try await storage.finish(again) == RelayOutcome(position: 1, isNew: false))
        #expect(try await counts(storage) == ["block": 23, "upload": 0, "discarded": 0, "file": 1])
    }

    @Test(arguments: StorageKind.tested) func ofTwoUploadsOfOneFileTheLastCounts(_ kind: StorageKind)
        async throws
    {
        let place = try StoragePlace(kind)
        let storage = try place.open { $0.channelByteCountMax = 10_000_000 }
        let channel = try await TestChannel(in: storage)
        let (one, two) = (pattern(600_000), pattern(700_000, seed: 2))
        let first = try await storage.begin("a", one, to: channel.id)
        let second = try await storage.begin("a", two, to: channel.id)
        try await storage.send(two, to: second)
        try await storage.send(one, to: first)
        #expect(try await storage.finish(second).position == 1)
        #expect(try await storage.finish(first) == RelayOutcome(position: 2, isNew: false))
        #expect(try await storage.content("a", in: channel.id) == one)
        #expect(try await counts(storage)["block"] == 3)
    }

    @Test(arguments: StorageKind.tested) func anUploadOfAChannelThatIsRemovedEnds(_ kind: StorageKind)
        async throws
    {
        let place = try StoragePlace(kind)
        let storage = try place.open { $0.channelByteCountMax = 10_000_000 }
        let channel = try await TestChannel(in: storage)
        let content = pattern(600_000)
        let upload = try await storage.begin("a", content, to: channel.id)
        try await storage.removeChannel(channel.id)
        await expectProblem(.missing) { try await storage.append(content.prefix(262_144), at: 0, to: upload) }
        await expectProblem(.missing) { try await storage.finish(upload) }
    }

    @Test(arguments: StorageKind.tested) func aFileIsNotLargerThanFourGibibytes(_ kind: StorageKind)
        async throws
    {
        let place = try StoragePlace(kind)
        let storage = try place.open { $0.channelByteCountMax = 10_000_000 }
        let channel = try await TestChannel(in: storage)
        for count in [(Int64(4) << 30) + 1, .max, -1, .min] {
            await expectProblem(.tooLarge) {
                try await storage.beginUpload(
                    .init(
                        file: .numbered(0, "a"), isReplacing: true, byteCount: count,
                        digest: RelayDigest(of: Data())),
                    to: channel.id)
            }
        }
        await expectProblem(.full) {
            try await storage.beginUpload(
                .init(
                    file: .numbered(0, "a"), isReplacing: true, byteCount: 4 << 30,
                    digest: RelayDigest(of: Data())),
                to: channel.id)
        }
    }

    @Test func theSpaceOfRemovedFilesGoesBackToTheDisk() async throws {
        let folder = try StorageFolder()
        let storage = try folder.open { $0.channelByteCountMax = 10_000_000 }
        let channel = try await TestChannel(in: storage)
        // More than the free pages that stay.
        let content = pattern(9_000_000)
        try await storage.upload("a", content, to: channel.id)
        try await storage.remove("a", in: channel.id)
        let other = try await TestChannel(in: storage)
        let third = try await TestChannel(in: storage)
        try await storage.upload("a", content, to: other.id)
        try await storage.upload("a", content, to: third.id)
        let before = try await storage.figures().storageByteCount
        #expect(before > 18_000_000)
        try await storage.removeChannel(other.id)
        try await storage.removeChannel(third.id)
        try await storage.tidy()
        storage.queue.drain()
        let after = try await storage.figures().storageByteCount
        #expect(after < 18_000_000)
        let free = try await storage.read { try Int.fetchOne($0, sql: "PRAGMA freelist_count") ?? 0 }
        #expect(free <= 4_096)
        #expect(try await counts(storage)["block"] == 0)
    }
}
