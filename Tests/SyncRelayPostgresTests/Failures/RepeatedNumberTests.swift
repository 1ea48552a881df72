import Foundation
import SyncRelay
import TestSupport
import Testing

@testable import SyncRelayPostgres

/// Numbers of bodies that are given out a second time, because the database was put back or by any other way: what was
/// committed stays readable.
@Suite(.needsPostgres, .fewAtATime, .timeLimit(.minutes(5))) struct RepeatedNumberTests {
    let database: TestDatabase
    private let large = pattern(600_000)

    init() throws { database = try TestDatabase() }

    /// Puts the database back to when channels had no files and no numbers were given out, while relays are connected.
    private func putBack() throws {
        try database.run(
            """
            CREATE TABLE kept AS SELECT * FROM cipherstore_relay.channel;
            TRUNCATE cipherstore_relay.channel, cipherstore_relay.file, cipherstore_relay.block;
            INSERT INTO cipherstore_relay.channel OVERRIDING SYSTEM VALUE SELECT * FROM kept;
            UPDATE cipherstore_relay.channel SET position = 0, byte_count = 0, file_count = 0, tickets = '';
            SELECT setval('cipherstore_relay.body', 1000, false)
            """)
    }

    @Test func numbersFromBeforeARestoringAreGivenToNoFileAfterIt() async throws {
        let nodes = [try database.open(), try database.open()]
        let channel = try await TestChannel(in: nodes[0])
        let other = try await TestChannel(in: nodes[0])
        try await nodes[0].put("before", Data([1]), in: channel.id)
        try putBack()
        // The first node has hundreds of numbers left, which the second one gets from the database.
        try await nodes[0].put("a", pattern(500), in: channel.id)
        for name in ["b", "c", "d"] { try await nodes[1].upload(name, large, to: other.id) }
        #expect(try await nodes[1].content("a", in: channel.id) == pattern(500))
        for name in ["b", "c", "d"] {
            #expect(try await nodes[0].content(name, in: other.id) == large)
        }
    }

    @Test func numbersFromBeforeARestoringAreGivenToNoUploadAfterIt() async throws {
        let nodes = [try database.open(), try database.open()]
        let channel = try await TestChannel(in: nodes[0])
        let other = try await TestChannel(in: nodes[0])
        try await nodes[0].put("before", Data([1]), in: channel.id)
        try putBack()
        let upload = try await nodes[0].begin("a", large, to: channel.id)
        for name in ["b", "c", "d"] { try await nodes[1].put(name, pattern(500), in: other.id) }
        try await nodes[0].send(large, to: upload)
        _ = try await nodes[0].finish(upload)
        #expect(try await nodes[1].content("a", in: channel.id) == large)
        for name in ["b", "c", "d"] {
            #expect(try await nodes[0].content(name, in: other.id) == pattern(500))
        }
    }

    /// How an upload comes to its end.
    enum End: CaseIterable {
        case givenUp, channelRemoved, finishedWithoutBytes
    }

    @Test(arguments: End.allCases) func anUploadThatHasTheNumberOfAFileLeavesItsBytes(end: End) async throws {
        let storage = try database.open()
        let channel = try await TestChannel(in: storage)
        let other = try await TestChannel(in: storage)
        try await storage.put("a", pattern(500), in: channel.id)
        let bytes = end == .finishedWithoutBytes ? Data() : large
        // The file that is there already makes the upload a needless one.
        if end == .finishedWithoutBytes { try await storage.put("b", bytes, in: other.id) }
        let upload = try await storage.begin("b", bytes, to: other.id, replacing: false)
        try database.run(
            """
            UPDATE cipherstore_relay.block SET body = \(upload.handle)
            WHERE body = (SELECT body FROM cipherstore_relay.file WHERE name = 'a');
            UPDATE cipherstore_relay.file SET body = \(upload.handle) WHERE name = 'a'
            """)
        switch end {
        case .givenUp:
            await expectProblem(.unavailable) {
                try await storage.append(bytes.prefix(262_144), at: 0, to: upload)
            }
            await storage.abandon(upload)
        case .channelRemoved: try await storage.removeChannel(other.id)
        case .finishedWithoutBytes: _ = try await storage.finish(upload)
        }
        while !storage.cleaner.isIdle { await Task.yield() }
        #expect(try await storage.content("a", in: channel.id) == pattern(500))
    }
}
