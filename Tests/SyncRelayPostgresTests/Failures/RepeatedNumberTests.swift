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

    // MARK: Numbers that were given out and not committed

    /// Lets the database give out its first numbers again, as after a crash before anybody has committed.
    private func forgetNumbers() throws {
        try database.run("SELECT setval('cipherstore_relay.body', 1000, false)")
    }

    @Test func numbersOfATransactionThatFailedAreUsedByNoOther() async throws {
        let nodes = [try database.open(), try database.open()]
        let channel = try await TestChannel(in: nodes[0])
        try database.run(
            """
            CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN RAISE 'no blocks now'; END $$;
            CREATE TRIGGER refuse BEFORE INSERT ON cipherstore_relay.block FOR EACH ROW EXECUTE FUNCTION refuse()
            """)
        await expectProblem(.unavailable) { try await nodes[0].put("a", pattern(500), in: channel.id) }
        try database.run("DROP TRIGGER refuse ON cipherstore_relay.block")
        try forgetNumbers()
        // The other one is given them, and the first one has none of them left.
        for name in ["b", "c", "d"] { try await nodes[1].put(name, pattern(500), in: channel.id) }
        try await nodes[0].put("a", pattern(600), in: channel.id)
        #expect(try await nodes[1].content("a", in: channel.id) == pattern(600))
    }

    @Test func aRepeatedBeginningTakesNoUploadOfAnotherRelay() async throws {
        let nodes = [try database.open(), try database.open()]
        let channel = try await TestChannel(in: nodes[0])
        let other = try await TestChannel(in: nodes[1])
        let foreign = try await nodes[1].begin("b", large, to: other.id)
        try forgetNumbers()
        // The first attempt fails as one does whose connection is lost: what it was given is not committed.
        try database.run(
            """
            CREATE SEQUENCE attempt;
            CREATE FUNCTION fail_once() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN
                    IF nextval('public.attempt') = 1 THEN RAISE SQLSTATE '40001'; END IF;
                    RETURN NEW;
                END $$;
            CREATE TRIGGER fail_once BEFORE INSERT ON cipherstore_relay.upload
                FOR EACH ROW EXECUTE FUNCTION fail_once()
            """)
        let own = try await nodes[0].begin("a", large, to: channel.id)
        #expect(own.handle != foreign.handle)
        for (node, upload) in zip(nodes, [own, foreign]) {
            try await node.send(large, to: upload)
            _ = try await node.finish(upload)
        }
        #expect(try await nodes[1].content("a", in: channel.id) == large)
        #expect(try await nodes[0].content("b", in: other.id) == large)
    }

    @Test func anUploadWhoseBeginningWasAnsweredToNobodyGoesOn() async throws {
        let proxy = try CuttingProxy(toServerIn: database.server.folder)
        var options = PostgresRelayStorage.Options()
        options.lookSeconds = 3_600
        let address = try PostgresAddress("postgresql://relay@/\(database.name)?host=\(proxy.folder)")
        let storage = try PostgresRelayStorage(address, options: options)
        let channel = try await TestChannel(in: storage)
        while !storage.cleaner.isIdle { await Task.yield() }
        proxy.cut("commit", .after)
        let upload = try await storage.begin("a", large, to: channel.id)
        #expect(proxy.cutCount == 1)
        #expect(try database.run("SELECT body FROM cipherstore_relay.upload") == "\(upload.handle)")
        storage.close()
    }

    @Test(arguments: [true, false]) func aNumberWhoseBlocksAreBeingRemovedIsGivenToNoFile(
        _ isUpload: Bool
    ) async throws {
        let storage = try database.open()
        let channel = try await TestChannel(in: storage)
        while !storage.cleaner.isIdle { await Task.yield() }
        // The first number that a new database gives out.
        try database.run("INSERT INTO cipherstore_relay.discarded (body) VALUES (1)")
        let content = isUpload ? large : pattern(500)
        await expectProblem(.unavailable) {
            if isUpload { return try await storage.upload("a", content, to: channel.id) }
            return try await storage.put("a", content, in: channel.id)
        }
        // The next ones are another thousand.
        if isUpload {
            try await storage.upload("a", content, to: channel.id)
        } else {
            try await storage.put("a", content, in: channel.id)
        }
        storage.cleaner.wake()
        while !storage.cleaner.isIdle { await Task.yield() }
        #expect(try database.run("SELECT count(*) FROM cipherstore_relay.discarded") == "0")
        #expect(try await storage.content("a", in: channel.id) == content)
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
