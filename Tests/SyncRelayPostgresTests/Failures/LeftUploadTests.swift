import Foundation
import SyncRelay
import TestSupport
import Testing

@testable import SyncRelayPostgres

/// Uploads that could not be given up, since the database was not there or refused it.
@Suite(.needsPostgres, .fewAtATime, .timeLimit(.minutes(5))) struct LeftUploadTests {
    let database: TestDatabase
    private let hand = RelayClockHand()
    private let content = pattern(600_000)

    init() throws { database = try TestDatabase() }

    private func counts() throws -> String {
        try database.run(
            "SELECT (SELECT count(*) FROM cipherstore_relay.upload), (SELECT count(*) FROM cipherstore_relay.block)"
        )
    }

    /// A storage with an upload that it could not give up.
    private func storage() async throws -> PostgresRelayStorage {
        let hand = hand
        let storage = try database.open { $0.milliseconds = { hand.milliseconds } }
        let channel = try await TestChannel(in: storage)
        let upload = try await storage.begin("a", content, to: channel.id)
        try await storage.append(content.prefix(262_144), at: 0, to: upload)
        try database.run(
            """
            CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$;
            CREATE TRIGGER refuse BEFORE DELETE ON cipherstore_relay.upload FOR EACH ROW EXECUTE FUNCTION refuse()
            """)
        await storage.abandon(upload)
        #expect(try counts() == "1|1")
        try database.run("DROP TRIGGER refuse ON cipherstore_relay.upload")
        return storage
    }

    private func leftCount(_ storage: PostgresRelayStorage) -> Int {
        storage.leftUploads.withLock { $0.count }
    }

    @Test func theyAreGivenUpByALaterTidying() async throws {
        let storage = try await storage()
        try await storage.tidy()
        #expect(try counts() == "1|1" && leftCount(storage) == 1)
        hand.advance(seconds: 121)
        try await storage.tidy()
        while !storage.cleaner.isIdle { await Task.yield() }
        #expect(try counts() == "0|0")
        try await storage.tidy()
        #expect(leftCount(storage) == 0)
    }

    @Test(arguments: ["byte_count = byte_count + 1", "channel = channel + 1"])
    func anotherUploadThatHasGotTheNumberStays(_ change: String) async throws {
        let storage = try await storage()
        try database.run("UPDATE cipherstore_relay.upload SET \(change)")
        hand.advance(seconds: 121)
        try await storage.tidy()
        while !storage.cleaner.isIdle { await Task.yield() }
        #expect(try counts() == "1|1")
    }
}
