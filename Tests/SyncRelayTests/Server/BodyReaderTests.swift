import HummingbirdCore
import NIOCore
import Synchronization
import Testing

@testable import SyncRelay

/// How slowly a body may come, in a time that the tests make.
@Suite struct BodyReaderTests {
    /// A body whose pieces come at certain seconds.
    private func reader(_ pieces: [(seconds: Double, byteCount: Int)], silenceSeconds: Double = 30)
        -> BodyReader
    {
        let start = ContinuousClock.now
        let clock = SharedClock(start)
        let body = RequestBody(
            asyncSequence: AsyncStream { continuation in
                for piece in pieces { continuation.yield(piece) }
                continuation.finish()
            }.map { piece in
                clock.set(start + .seconds(piece.seconds))
                return ByteBuffer(repeating: 7, count: piece.byteCount)
            })
        return BodyReader(
            body, silenceSeconds: silenceSeconds, now: { clock.now }, onBytes: { _ in })
    }

    private func expectSlow(_ pieces: [(seconds: Double, byteCount: Int)]) async {
        let error = await #expect(throws: RelayProblem.self) {
            var reader = reader(pieces)
            while try await !reader.read(1000).isEmpty {}
        }
        #expect(error?.code == .malformed && error?.status == 408)
    }

    @Test func aBodyThatComesFastEnoughIsReadWhole() async throws {
        var reader = reader((1...100).map { (Double($0), 5_000) })
        var count = 0
        while true {
            let data = try await reader.read(7_777)
            if data.isEmpty { break }
            count += data.count
        }
        #expect(count == 500_000)
    }

    @Test func bytesAreCountedBeforeTheyAreKept() async throws {
        var reader = reader([(1, 1_000), (2, 500), (3, 4_000)])
        var counts: [Int] = []
        let data = try await reader.read(3_000) { counts.append($0) }
        #expect(data.count == 3_000 && counts == [1_000, 1_500, 3_000])
    }

    @Test func bytesThatFindNoRoomAreNotKept() async {
        await expectProblem(.busy) {
            var reader = reader([(1, 1_000)])
            return try await reader.read(1_000) { _ in throw RelayProblem(.busy, "") }
        }
    }

    @Test func aBodyThatDripsIsRefused() async {
        await expectSlow((1...100).map { (Double($0), 100) })
    }

    @Test func whatCameFastEarnsNoSlownessAfterwards() async {
        await expectSlow([(1, 10_000_000)] + (1...100).map { (Double($0) + 1, 100) })
    }

    @Test func aSlowMomentWithinASpanIsNoProblem() async throws {
        var reader = reader([(1, 200_000), (29, 10), (31, 200_000), (40, 10)])
        #expect(try await reader.read(1 << 20).count == 400_020)
    }
}

/// A time that is set.
private final class SharedClock: Sendable {
    private let time: Mutex<ContinuousClock.Instant>

    init(_ time: ContinuousClock.Instant) { self.time = Mutex(time) }

    var now: ContinuousClock.Instant { time.withLock { $0 } }

    func set(_ now: ContinuousClock.Instant) { time.withLock { $0 = now } }
}
