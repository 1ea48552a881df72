import Foundation
import SyncRelay

/// What writes to a relay's storage: each writer waits for its piece before it sends the next one.
struct Writers {
    var count = 32
    var channelCount = 32
    var pieceByteCount = 300
    /// How many pieces come in one request.
    var pieceCount = 1

    /// The channels, under names that a C loop and pgbench can make too.
    static func channel(_ number: Int) -> RelayChannelID {
        let bytes = (0..<16).map { UInt8(truncatingIfNeeded: $0 < 8 ? 0 : number >> (8 * (15 - $0))) }
        guard let id = RelayChannelID(bytes: bytes) else { preconditionFailure("a channel has 16 bytes") }
        return id
    }

    func makeChannels(in storage: some RelayStorage) async throws {
        for number in 1...channelCount {
            let registration = RelayRegistration(
                readToken: RelayToken.random().digest, writeToken: RelayToken.random().digest)
            _ = try await storage.makeChannel(Self.channel(number), registration)
        }
    }

    /// Writes for some time.
    ///
    /// - returns: How many pieces were written a second.
    func run(_ storage: some RelayStorage, seconds: Double, round: Int) async throws -> Double {
        let start = ContinuousClock.now
        let end = start + .seconds(seconds)
        let written = try await withThrowingTaskGroup(of: Int.self) { group in
            for writer in 0..<count {
                group.addTask { try await write(storage, writer, round, until: end) }
            }
            return try await group.reduce(0, +)
        }
        return Double(written) / ((ContinuousClock.now - start) / .seconds(1))
    }

    private func write(
        _ storage: some RelayStorage, _ writer: Int, _ round: Int, until end: ContinuousClock.Instant
    ) async throws -> Int {
        let channel = Self.channel(writer % channelCount + 1)
        let folder = String(repeating: "0", count: 30) + String(format: "%02x", writer)
        var written = 0
        while ContinuousClock.now < end {
            let changes = try (0..<pieceCount).map { _ in
                written += 1
                let file = try RelayFileName(folder: folder, name: "r\(round)-\(written)")
                return RelayChanges.Change.write(
                    file, replacing: false,
                    content: Data(repeating: UInt8(truncatingIfNeeded: written), count: pieceByteCount))
            }
            _ = try await storage.change(channel, changes)
        }
        return written
    }
}
