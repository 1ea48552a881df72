import Foundation
import Testing

@testable import SyncHTTP

@Suite struct ByteSpoolTests {
    @Test(arguments: [0, 1, 262_143, 262_144, 262_145, 1_000_003])
    func itIsReadFromAnyByte(count: Int) throws {
        let spool = try ByteSpool(folder: NSTemporaryDirectory(), byteCountMax: 1 << 30)
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) }
        var rest = bytes[...]
        var step = 1
        while !rest.isEmpty {
            let part = Array(rest.prefix(step))
            try part.withUnsafeBytes { try spool.append($0) }
            rest = rest.dropFirst(step)
            step = step * 3 + 1
        }
        try spool.finish()
        #expect(spool.byteCount == Int64(count))
        for start in [0, 1, count / 2, max(0, count - 1), count, count + 5] {
            var read: [UInt8] = []
            while case let piece = try spool.read(from: Int64(start + read.count)), !piece.isEmpty {
                read += piece
            }
            #expect(read == Array(bytes.dropFirst(start)))
        }
    }

    @Test func itTakesNoMoreThanItMay() throws {
        let spool = try ByteSpool(folder: NSTemporaryDirectory(), byteCountMax: 10)
        let ten = [UInt8](repeating: 0, count: 10)
        try ten.withUnsafeBytes { try spool.append($0) }
        #expect(throws: RemoteError.self) { try [1].withUnsafeBytes { try spool.append($0) } }
    }

    @Test func aFolderThatIsNotThereIsAnError() {
        #expect(throws: RemoteError.self) { try ByteSpool(folder: "/nowhere/at/all", byteCountMax: 1) }
    }

    private static func add(_ count: Int, to spool: ByteSpool) throws {
        try [UInt8](repeating: 7, count: count).withUnsafeBytes { try spool.append($0) }
    }

    @Test func aReaderWaitsForWhatIsNotWrittenYet() throws {
        let spool = try ByteSpool(folder: NSTemporaryDirectory(), byteCountMax: 1 << 30)
        try Self.add(300_000, to: spool)
        let first = try spool.reach(beyond: 0)
        #expect(first.byteCount == 262_144 && !first.isWhole)
        let late = try spool.reach(beyond: 262_144, until: Date())
        #expect(late.byteCount == 262_144 && !late.isWhole)
        let reader = BackgroundWork { try spool.read(from: 262_144) }
        try Self.add(100_000, to: spool)
        try spool.finish()
        #expect(try reader.value().count == 137_856)
        #expect(try spool.reach(beyond: 400_000).isWhole)
    }

    @Test func whoWaitsWithoutAThreadIsWokenByWhatTheyWaitFor() async throws {
        let spool = try ByteSpool(folder: NSTemporaryDirectory(), byteCountMax: 1 << 30)
        let first = Task { try await spool.reached(beyond: 0) }
        let second = Task { try await spool.reached(beyond: 262_144, seconds: 3600) }
        let whole = Task { try await spool.reached(beyond: 1 << 40) }
        try Self.add(300_000, to: spool)
        #expect(try await first.value.byteCount >= 262_144)
        #expect(spool.presentByteCount == 262_144)
        try Self.add(300_000, to: spool)
        #expect(try await second.value.byteCount >= 524_288)
        try spool.finish()
        let reach = try await whole.value
        #expect(reach.byteCount == 600_000 && reach.isWhole)
        #expect(try await spool.reached(beyond: 1 << 40).isWhole)
    }

    @Test func waitingEndsWithItsTimeAndWithAFailure() async throws {
        let spool = try ByteSpool(folder: NSTemporaryDirectory(), byteCountMax: 1 << 30)
        let late = try await spool.reached(beyond: 0, seconds: 0)
        #expect(late.byteCount == 0 && !late.isWhole)
        let waiting = Task { try await spool.reached(beyond: 0) }
        spool.fail(RemoteError(.busy, "told"))
        let error = await #expect(throws: RemoteError.self) { _ = try await waiting.value }
        #expect(error?.code == .busy)
    }

    @Test func aFailureReachesReadersAndTheWriter() throws {
        let spool = try ByteSpool(folder: NSTemporaryDirectory(), byteCountMax: 1 << 30)
        try Self.add(1, to: spool)
        let reader = BackgroundWork { try spool.read(from: 0) }
        spool.fail(RemoteError(.busy, "told"))
        let error = #expect(throws: RemoteError.self) { try reader.value() }
        #expect(error?.code == .busy)
        #expect(throws: RemoteError.self) { try Self.add(1, to: spool) }
        let whole = try ByteSpool(folder: NSTemporaryDirectory(), byteCountMax: 10)
        try whole.finish()
        whole.fail(RemoteError(.busy, "too late"))
        #expect(try whole.read(from: 0).isEmpty)
    }
}
