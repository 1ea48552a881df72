import Foundation
import SyncRelay
import Synchronization
import TestSupport
import Testing

@testable import SyncRelayPostgres

/// Backends that are ended at any moment while two relays are busy.
@Suite(.needsPostgres, .fewAtATime, .timeLimit(.minutes(5))) struct TerminatedBackendTests {
    @Test func nothingAcknowledgedIsLostAndNothingIsDoubled() async throws {
        let database = try TestDatabase()
        let nodes = [try database.open(), try database.open()]
        let channel = try await TestChannel(in: nodes[0])
        let isDone = Mutex(false)
        async let killing: Int = onThread {
            var count = 0
            while !isDone.withLock({ $0 }) {
                // One at a time, so that others go on.
                let ended = try? database.run(
                    """
                    SELECT count(pg_terminate_backend(pid)) FROM (SELECT pid FROM pg_stat_activity
                    WHERE datname = current_database() AND pid <> pg_backend_pid() ORDER BY random() LIMIT 1) AS one
                    """)
                count += ended == "1" ? 1 : 0
            }
            return count
        }
        let written = try await withThrowingTaskGroup(of: [String: RelayPosition].self) { group in
            for writer in 0..<8 {
                group.addTask { try await Self.write(nodes, channel, writer) }
            }
            return try await group.reduce(into: [:]) { $0.merge($1) { one, _ in one } }
        }
        isDone.withLock { $0 = true }
        let killed = await killing
        #expect(killed > 0)
        let listing = try await nodes[0].listing(channel.id)
        // Each position is that of one acknowledged change, and the file has it.
        #expect(written.count == 8 * 40)
        #expect(
            Set(written.values) == Set(1...Int64(written.count))
                && listing.last.position == Int64(written.count))
        for (file, entry) in listing.files {
            #expect(written["\(file.folder.last ?? "?")/\(file.name)"] == entry.position)
        }
        for writer in 0..<8 {
            #expect(
                try await nodes[1].content("f39", in: channel.id, folder: writer)
                    == pattern(300, seed: UInt64(writer * 100 + 39)))
        }
    }

    /// Writes 40 files that nobody else writes, each until it is acknowledged.
    private static func write(
        _ nodes: [PostgresRelayStorage], _ channel: TestChannel, _ writer: Int
    ) async throws -> [String: RelayPosition] {
        var written: [String: RelayPosition] = [:]
        for number in 0..<40 {
            let content = pattern(300, seed: UInt64(writer * 100 + number))
            while true {
                do {
                    let outcome = try await nodes[(writer + number) % 2].put(
                        "f\(number)", content, in: channel.id, folder: writer, replacing: false)
                    written["\(writer)/f\(number)"] = outcome.position
                    break
                } catch let problem as RelayProblem where problem.code == .unavailable {
                    // As a client that is told to come again.
                    continue
                }
            }
        }
        return written
    }
}
