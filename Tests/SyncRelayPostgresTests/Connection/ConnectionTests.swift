import Foundation
import SyncRelay
import TestSupport
import Testing

@testable import SyncRelayPostgres

@Suite(.needsPostgres, .fewAtATime) struct ConnectionTests {
    @Test func valuesComeBackAsTheyWere() throws {
        let connection = try TestDatabase().connect()
        let statement = PostgresStatement(
            "values", [.integer, .bytes, .text, .integers, .byteStrings, .texts],
            """
            SELECT $1, $2, $3, array_to_string($4, ',', 'NULL'), $5[2], $6[1], $5[1] IS NULL,
                cardinality($4), 7::int2, true, NULL
            """)
        let bytes = pattern(100_000)
        let row = try #require(
            try connection.run(
                statement,
                [
                    .integer(.min), .bytes(bytes), .text("ä\n'\\"), .integers([1, nil, .max]),
                    .byteStrings([nil, Data([0, 255])]), .texts(["x'y", ""]),
                ], until: .now + .seconds(30)
            ).first)
        #expect(try row.integer(0) == .min && row.bytes(1) == bytes && row.text(2) == "ä\n'\\")
        #expect(try row.text(3) == "1,NULL,9223372036854775807" && row.bytes(4) == Data([0, 255]))
        #expect(try row.text(5) == "x'y" && row.bool(6) && row.integer(7) == 3 && row.integer(8) == 7)
        #expect(try row.bool(9) && row.optionalBytes(10) == nil)
        let empty = try #require(
            try connection.run(
                statement,
                [
                    .integer(nil), .bytes(Data()), .text(""), .integers([]), .byteStrings([]), .texts([]),
                ], until: .now + .seconds(30)
            ).first)
        #expect(try empty.optionalInteger(0) == nil && empty.bytes(1).isEmpty && empty.text(2).isEmpty)
        #expect(try empty.integer(7) == 0)
    }

    @Test func aStatementIsPlannedOnce() throws {
        let connection = try TestDatabase().connect()
        let many = PostgresStatement("many", [.texts], "SELECT count(*) FROM unnest($1::text[]) AS name")
        for count in 0..<8 {
            let names = PostgresValue.texts(Array(repeating: "x", count: count))
            #expect(
                try connection.run(many, [names], until: .now + .seconds(30)).first?.integer(0)
                    == Int64(count))
        }
        let plans = PostgresStatement(
            "plans", [], "SELECT generic_plans, custom_plans FROM pg_prepared_statements WHERE name = 'many'")
        let row = try #require(try connection.run(plans, [], until: .now + .seconds(30)).first)
        #expect(try row.integer(0) == 8 && row.integer(1) == 0)
    }

    @Test func aRefusalHasItsCodeAndLeavesTheConnection() throws {
        let connection = try TestDatabase().connect()
        let wrong = failure { try connection.execute("SELECT 1 / 0", until: .now + .seconds(30)) }
        #expect(wrong?.kind == .refused("22012") && wrong?.endsConnection == false)
        try connection.execute("SELECT 1", until: .now + .seconds(30))
    }

    @Test func statementsThatAreSentTogetherAreRunInTheirOrder() throws {
        let connection = try TestDatabase().connect()
        let add = PostgresStatement("add", [.integer, .bytes], "SELECT $1 + 1, length($2)")
        let divide = PostgresStatement("divide", [.integer], "SELECT 100 / $1")
        let large = pattern(3_000_000)
        // The first time they are prepared one by one; then they go together.
        for _ in 0..<3 {
            let results = try connection.run(
                together: [
                    PostgresCall(add, [.integer(1), .bytes(large)]), PostgresCall(divide, [.integer(4)]),
                    PostgresCall(add, [.integer(2), .bytes(large)]),
                ], until: .now + .seconds(30))
            #expect(try results.map { try $0.first?.integer(0) } == [2, 25, 3])
            #expect(try results[2].first?.integer(1) == 3_000_000)
        }
        // One that is refused ends those after it, and not the connection.
        let refused = failure {
            _ = try connection.run(
                together: [
                    PostgresCall(divide, [.integer(1)]), PostgresCall(divide, [.integer(0)]),
                    PostgresCall(divide, [.integer(2)]),
                ], until: .now + .seconds(30))
        }
        #expect(refused?.kind == .refused("22012") && connection.isUsable)
        #expect(try connection.run(divide, [.integer(5)], until: .now + .seconds(30)).first?.integer(0) == 20)
    }

    @Test func aConnectionThatEndsAmongStatementsThatWereSentTogetherIsLost() throws {
        let connection = try TestDatabase().connect()
        let harmless = PostgresStatement("harmless", [], "SELECT 1")
        let deadly = PostgresStatement(
            "deadly", [.integer], "SELECT CASE WHEN $1 = 1 THEN pg_terminate_backend(pg_backend_pid()) END")
        let calls = { (number: Int64) in
            [PostgresCall(harmless), PostgresCall(deadly, [.integer(number)]), PostgresCall(harmless)]
        }
        _ = try connection.run(together: calls(0), until: .now + .seconds(30))
        let ended = failure { _ = try connection.run(together: calls(1), until: .now + .seconds(30)) }
        #expect(ended?.endsConnection == true && ended?.leavesDoubt == true && !connection.isUsable)
    }

    @Test func aServerThatIsTooSlowIsGivenUpAtTheDeadline() throws {
        let connection = try TestDatabase().connect()
        let start = ContinuousClock.now
        let late = failure {
            try connection.execute("SELECT pg_sleep(60)", until: .now + .milliseconds(200))
        }
        #expect(late?.kind == .tooLate && late?.problem.status == 503 && !connection.isUsable)
        #expect(ContinuousClock.now - start < .seconds(59))
        #expect(
            failure { try connection.execute("SELECT 1", until: .now + .seconds(1)) }?.kind == .connectionLost
        )
    }

    @Test func theServerEndsAStatementThatRunsTooLong() throws {
        let connection = try TestDatabase().connect(seconds: 20)
        try connection.execute("SET statement_timeout = 50", until: .now + .seconds(20))
        let long = failure { try connection.execute("SELECT pg_sleep(60)", until: .now + .seconds(20)) }
        #expect(long?.kind == .refused("57014") && long?.problem.code == .unavailable && connection.isUsable)
    }

    @Test func aConnectionThatTheServerEndsSaysSo() throws {
        let database = try TestDatabase()
        let connection = try database.connect()
        try database.run(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()
            """)
        let ended = failure { try connection.execute("SELECT 1", until: .now + .seconds(30)) }
        #expect(ended?.endsConnection == true && ended?.isWorthRepeating == true && !connection.isUsable)
    }

    @Test func aServerThatIsNotThereIsSaidAtOnce() throws {
        let address = try PostgresAddress("postgresql:///relay?host=/tmp/no-such-folder")
        let none = failure {
            _ = try PostgresConnection(
                LibPQ.shared(), address, statementSeconds: 5, until: .now + .seconds(30))
        }
        #expect(none?.kind == .cannotConnect && none?.message.contains("no-such-folder") == true)
        expectStorageError(.cannotOpen) { _ = try PostgresRelayStorage(address) }
    }

    @Test func aWrongPasswordIsSaidWithoutIt() throws {
        let database = try TestDatabase()
        try database.run(
            "DO $$ BEGIN CREATE ROLE locked LOGIN PASSWORD 'right'; EXCEPTION WHEN duplicate_object THEN NULL; END $$"
        )
        let text = database.server.address(of: database.name, role: "locked") + "&password=s3cret"
        do {
            _ = try PostgresRelayStorage(PostgresAddress(text))
            Issue.record("nothing was thrown")
        } catch let error as RelayStorageError {
            #expect(error.code == .cannotOpen && !"\(error)".contains("s3cret"))
            #expect(error.message.contains("password authentication failed"))
        }
    }

    @Test func aServerThatAcceptsAndSaysNothingIsGivenUp() throws {
        // A socket that listens where PostgreSQL would, and that nobody answers at.
        let folder = NSTemporaryDirectory() + "silent-" + UUID().uuidString.prefix(8)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let silent = try SilentSocket(path: folder + "/.s.PGSQL.5432")
        defer { silent.close() }
        let address = try PostgresAddress("postgresql:///relay?host=\(folder)")
        let start = ContinuousClock.now
        let late = failure {
            _ = try PostgresConnection(
                LibPQ.shared(), address, statementSeconds: 5, until: .now + .milliseconds(200))
        }
        #expect(late?.kind == .cannotConnect && ContinuousClock.now - start < .seconds(59))
    }

    @Test func aHostThatSaysNothingLeavesTimeForTheNextOne() throws {
        let folder = NSTemporaryDirectory() + "silent-" + UUID().uuidString.prefix(8)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let silent = try SilentSocket(path: folder + "/.s.PGSQL.5432")
        defer { silent.close() }
        let database = try TestDatabase()
        let address = try PostgresAddress(
            "postgresql://relay@/\(database.name)?host=\(folder),\(database.server.folder)")
        #expect(address.hosts.inOrder.map(\.number) == [0, 1])
        let connection = try PostgresConnection(
            LibPQ.shared(), address, statementSeconds: 30, until: .now + .seconds(4))
        try connection.execute("SELECT 1", until: .now + .seconds(30))
        // The next connection begins with the one that answered.
        #expect(address.hosts.inOrder.map(\.number) == [1, 0])
    }

    @Test func ofSeveralHostsThatAreNotThereEachIsNamed() throws {
        let address = try PostgresAddress("postgresql:///relay?host=/tmp/no-such-folder,/tmp/no-other-folder")
        let none = failure {
            _ = try PostgresConnection(
                LibPQ.shared(), address, statementSeconds: 5, until: .now + .seconds(30))
        }
        #expect(none?.kind == .cannotConnect && none?.message.contains("no-such-folder") == true)
        #expect(none?.message.contains("no-other-folder") == true)
    }
}
