import Foundation
import SyncRelay
import TestSupport
import Testing

@testable import SyncRelayPostgres

@Suite(.needsPostgres, .fewAtATime) struct SchemaTests {
    let database: TestDatabase

    init() throws { database = try TestDatabase() }

    private static let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Schemas/relay/storage-v1.sql")

    @Test func theTablesAreThoseOfTheContract() throws {
        let contract = try String(contentsOf: Self.file, encoding: .utf8)
        #expect(contract.hasSuffix(PostgresSchema.schemaSQL + "\n" + PostgresSchema.sql + "\n"))
    }

    @Test func aSecondOpeningFindsWhatTheFirstMade() async throws {
        let first = try database.open()
        let channel = try await TestChannel(in: first)
        try await first.put("a", pattern(600_000), in: channel.id)
        first.close()
        let second = try database.open()
        #expect(try await second.content("a", in: channel.id) == pattern(600_000))
        #expect(try await second.figures().storageByteCount > 600_000)
    }

    @Test func aNewerStorageIsRefused() throws {
        try database.open().close()
        try database.run("UPDATE cipherstore_relay.storage SET version = 2")
        expectStorageError(.tooNew) { _ = try database.open() }
    }

    @Test(arguments: ["9223372036854775807", "-9223372036854775808"])
    func sumsThatCannotBeStopNothingAndHeal(_ number: String) async throws {
        let storage = try database.open()
        let channel = try await TestChannel(in: storage)
        try await storage.put("a", pattern(5_000), in: channel.id)
        try await storage.put("b", pattern(5_000), in: channel.id)
        try database.run(
            """
            UPDATE cipherstore_relay.channel SET byte_count = \(number), file_count = \(number),
                removal_count = \(number);
            UPDATE cipherstore_relay.file SET byte_count = \(number) WHERE name = 'a'
            """)
        // What makes the channel smaller is always taken, and what was written is found.
        _ = try await storage.list(channel.id, .all)
        _ = try await storage.figures()
        let names = try (RelayFileName.numbered(0, "a"), RelayFileName.numbered(0, "b"))
        _ = try await storage.change(
            channel.id, [.write(names.0, replacing: true, content: pattern(100)), .remove(names.1)])
        #expect(try await storage.content("a", in: channel.id) == pattern(100))
        try database.run("UPDATE cipherstore_relay.channel SET byte_count = 100, file_count = 1")
        try await storage.put("c", pattern(5_000), in: channel.id)
        #expect(try await storage.state(of: channel.id).byteCount == 5_100)
    }

    @Test(arguments: [Double.infinity, 1e300]) func anEndlessTimeIsADay(seconds: Double) async throws {
        let storage = try database.open { ($0.secondsMax, $0.lookSeconds) = (seconds, seconds) }
        #expect(storage.pool.limits.seconds == 86_400)
        storage.close()
    }

    @Test func tablesOfOthersStayAsTheyAre() async throws {
        try database.run("CREATE TABLE channel (name text); INSERT INTO channel VALUES ('mine')")
        let storage = try database.open()
        _ = try await TestChannel(in: storage)
        #expect(try database.run("SELECT name FROM public.channel") == "mine")
    }

    @Test(arguments: [
        "CREATE TABLE cipherstore_relay.note (id bigint)",
        "CREATE TABLE cipherstore_relay.storage (name text)",
        "CREATE TABLE cipherstore_relay.storage (version bigint)",
        "CREATE VIEW cipherstore_relay.storage AS SELECT 1::bigint AS version",
    ])
    func aSchemaOfSomebodyElseIsRefusedAndStaysAsItIs(_ sql: String) throws {
        try database.run("CREATE SCHEMA cipherstore_relay; \(sql)")
        expectStorageError(.notAStorage) { _ = try database.open() }
        #expect(
            try database.run(
                "SELECT count(*) FROM pg_class WHERE relnamespace = 'cipherstore_relay'::regnamespace") == "1"
        )
    }

    /// A role that may do nothing but what it is told.
    private func makeRole() throws -> String {
        let role = "role_" + database.name
        try database.run("CREATE ROLE \(role) LOGIN")
        return role
    }

    @Test func aRoleThatMayNotMakeTablesIsTold() throws {
        let role = try makeRole()
        do {
            _ = try database.open(role: role)
            Issue.record("nothing was thrown")
        } catch let error as RelayStorageError {
            #expect(error.code == .cannotOpen && error.message.contains("CREATE SCHEMA"))
        }
    }

    @Test func aRoleUsesASchemaThatWasMadeForIt() async throws {
        let role = try makeRole()
        try database.run("CREATE SCHEMA cipherstore_relay AUTHORIZATION \(role)")
        let storage = try database.open(role: role)
        let channel = try await TestChannel(in: storage)
        try await storage.put("a", pattern(300_000), in: channel.id)
        #expect(try await storage.figures().fileCount == 1)
    }

    @Test func tablesThatAreLostWhileARelayRunsAreAProblemAndNoEnd() async throws {
        let storage = try database.open()
        let channel = try await TestChannel(in: storage)
        try database.run("DROP SCHEMA cipherstore_relay CASCADE")
        await expectProblem(.unavailable) { try await storage.put("a", Data([1]), in: channel.id) }
        await expectProblem(.unavailable) { try await storage.figures() }
    }

    @Test func noTokenIsInTheTables() async throws {
        let storage = try database.open()
        let channel = try await TestChannel(in: storage)
        try await storage.put("a", pattern(100), in: channel.id)
        let text = try database.run("SELECT row_to_json(channel) FROM cipherstore_relay.channel")
        for token in [channel.readToken, channel.writeToken] {
            #expect(!text.contains(token.secretText) && text.contains("\(token.digest)"))
        }
    }

    // MARK: Epochs

    @Test(arguments: [
        // As a restoring of the table does, by any means that leave the server running.
        "CREATE TABLE kept AS SELECT * FROM cipherstore_relay.channel; TRUNCATE cipherstore_relay.channel; INSERT INTO cipherstore_relay.channel OVERRIDING SYSTEM VALUE SELECT * FROM kept",
        "VACUUM FULL cipherstore_relay.channel",
    ])
    func whatMayHaveBeenPutBackBeginsAnotherEpoch(_ sql: String) async throws {
        let storage = try database.open()
        let channel = try await TestChannel(in: storage)
        try await storage.put("a", Data([1]), in: channel.id)
        let before = try await storage.state(of: channel.id)
        try database.run(sql)
        let after = try await storage.state(of: channel.id)
        #expect(after.epoch != before.epoch && after.position == 1)
        let moment = RelayMoment(epoch: before.epoch, position: 1)
        #expect(try await storage.list(channel.id, .since(moment)).isComplete)
    }

    @Test func aDatabaseThatIsACopyHasAnotherEpoch() async throws {
        let storage = try database.open()
        let channel = try await TestChannel(in: storage)
        let epoch = try await storage.state(of: channel.id).epoch
        storage.close()
        let copy = database.name + "_copy"
        try database.server.run("CREATE DATABASE \(copy) TEMPLATE \(database.name)", in: "postgres")
        let other = try PostgresRelayStorage(PostgresAddress(database.server.address(of: copy)))
        #expect(try await other.state(of: channel.id).epoch != epoch)
    }

    @Test func aChannelThatIsMadeAgainHasAnotherEpoch() async throws {
        let storage = try database.open()
        let channel = try await TestChannel(in: storage)
        let epoch = try await storage.state(of: channel.id).epoch
        try await storage.removeChannel(channel.id)
        _ = try await storage.makeChannel(channel.id, channel.registration)
        #expect(try await storage.state(of: channel.id).epoch != epoch)
    }
}
