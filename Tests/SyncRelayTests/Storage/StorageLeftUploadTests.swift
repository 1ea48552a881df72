import CipherStore
import Foundation
import Testing

@testable import SyncRelay

/// Uploads that were cut off keep the room of their channel for minutes, and those that live for as long as they live.
@Suite(.fewAtATime) struct StorageLeftUploadTests {
    private func piece(_ number: Int, of content: Data) -> Data {
        Data(content.dropFirst(number * 262_144).prefix(262_144))
    }

    @Test(arguments: StorageKind.tested) func anUploadThatIsLeftIsRemovedAfterAQuarterOfAnHour(
        _ kind: StorageKind
    ) async throws {
        let place = try StoragePlace(kind)
        let storage = try place.open { $0.channelByteCountMax = 10_000_000 }
        let channel = try await TestChannel(in: storage)
        let content = pattern(600_000)
        let left = try await storage.begin("left", content, to: channel.id)
        try await storage.append(piece(0, of: content), at: 0, to: left)
        place.clock.advance(seconds: 600)
        let slow = try await storage.begin("slow", content, to: channel.id)
        place.clock.advance(seconds: 299)
        try await storage.tidy()
        #expect(try await storage.counts("upload", "block") == [2, 1])
        place.clock.advance(seconds: 2)
        try await storage.tidy()
        #expect(try await storage.counts("upload", "block", "discarded", "file") == [1, 0, 0, 0])
        await expectProblem(.missing) {
            try await storage.append(piece(1, of: content), at: 262_144, to: left)
        }
        try await storage.send(content, to: slow)
        _ = try await storage.finish(slow)
    }

    @Test(arguments: StorageKind.tested) func anUploadThatWasCutOffTakesNoRoomAfterMinutes(
        _ kind: StorageKind
    ) async throws {
        let place = try StoragePlace(kind)
        let storage = try place.open { $0.channelByteCountMax = 10_000_000 }
        let channel = try await TestChannel(in: storage)
        let content = pattern(6_000_000)
        let first = try await storage.begin("a", content, to: channel.id)
        for number in 0..<3 {
            place.clock.advance(seconds: 299)
            await expectProblem(.busy) { try await storage.begin("b", content, to: channel.id) }
            // One that goes on keeps it, however long it takes.
            try await storage.append(piece(number, of: content), at: Int64(number) * 262_144, to: first)
        }
        place.clock.advance(seconds: 301)
        try await storage.tidy()
        let second = try await storage.begin("b", content, to: channel.id)
        try await storage.send(content, to: second)
        // It is not ended by that.
        for number in 3..<23 {
            try await storage.append(piece(number, of: content), at: Int64(number) * 262_144, to: first)
        }
        #expect(try await storage.finish(first).position == 1)
        #expect(try await storage.content("a", in: channel.id) == content)
        // The quota counts when it is finished.
        await expectProblem(.full) { try await storage.finish(second) }
    }

    @Test func anUploadThatCouldNotBeGivenUpIsAtTheNextTidying() async throws {
        let folder = try StorageFolder()
        let storage = try folder.open()
        let channel = try await TestChannel(in: storage)
        let content = pattern(600_000)
        let upload = try await storage.begin("a", content, to: channel.id)
        try await storage.append(piece(0, of: content), at: 0, to: upload)
        try await storage.pool.write { db in
            try db.execute(
                sql: """
                    CREATE TRIGGER refuse BEFORE DELETE ON upload BEGIN SELECT RAISE(ABORT, 'refused'); END
                    """)
        }
        await storage.abandon(upload)
        await #expect(throws: RelayProblem.self) { try await storage.tidy() }
        #expect(try await storage.counts("upload", "block") == [1, 1])
        try await storage.pool.write { try $0.execute(sql: "DROP TRIGGER refuse") }
        let other = try await storage.begin("b", content, to: channel.id)
        try await storage.tidy()
        #expect(try await storage.counts("upload", "block", "discarded") == [1, 0, 0])
        let left = storage.leftUploads.withLock { $0 }
        #expect(left.isEmpty)
        try await storage.send(content, to: other)
        _ = try await storage.finish(other)
    }
}
