import Foundation
import SyncRelay
import TestSupport
import Testing

@testable import SyncRelayPostgres

/// The server plans each statement of a connection once, by what it knows of the tables then. What that was must not make
/// a commit, or a download, slower with each file that comes later.
@Suite(.needsPostgres, .fewAtATime) struct StatementPlanTests {
    let database: TestDatabase

    init() throws { database = try TestDatabase() }

    /// What the server knows of the tables.
    enum Knowledge: CaseIterable {
        case nothing
        /// It counted them while they took a page each.
        case small
        /// It has seen that nothing is in them.
        case empty

        var statements: [String] {
            let tables = ["file", "channel", "block", "discarded", "invitation", "upload"]
            let all = tables.map { "cipherstore_relay.\($0)" }
            switch self {
            case .nothing: return []
            case .small:
                let rows = """
                    INSERT INTO cipherstore_relay.file (channel, folder, name, position, byte_count, milliseconds)
                    SELECT 1, 'f', 'name' || n, n, 0, 0 FROM generate_series(1, 60) AS n;
                    INSERT INTO cipherstore_relay.discarded SELECT generate_series(1, 60);
                    """
                return [rows] + all.map { "ANALYZE \($0)" }
            case .empty: return all.map { "VACUUM ANALYZE \($0)" }
            }
        }
    }

    /// Prepares a statement as a storage does, and gives the plan that it has from then on.
    private func plan(
        _ statement: PostgresStatement, _ values: [PostgresValue], _ words: String, _ knowledge: Knowledge
    ) throws -> String {
        try database.open().close()
        for sql in knowledge.statements { try database.run(sql) }
        let connection = try database.connect()
        let deadline = PostgresConnection.Deadline.now + .seconds(30)
        try connection.execute("BEGIN", until: deadline)
        try connection.run(statement, values, until: deadline)
        let explain = PostgresStatement(
            "explain", [], "EXPLAIN (COSTS OFF) EXECUTE \"\(statement.name)\"(\(words))")
        let lines = try connection.run(explain, until: deadline).rows.map { try $0.text(0) }
        try connection.execute("ROLLBACK", until: deadline)
        let text = lines.joined(separator: "\n")
        for word in ["Seq Scan", "Bitmap", "Hash Join", "Merge", "Sort"] {
            #expect(!text.contains(word), "\(text)")
        }
        return text
    }

    @Test(arguments: Knowledge.allCases)
    func namesAreLookedUpByTheKeyOfTheirTable(_ knowledge: Knowledge) throws {
        let plan = try plan(
            ChannelWriting.files, [.integer(1), .texts(["a"]), .texts(["b"])], "1, '{a}', '{b}'", knowledge)
        #expect(
            plan.contains("Index Cond: (ROW(channel, folder, name) >= ROW($1, wanted.folder, wanted.name))"),
            "\(plan)")
    }

    @Test(arguments: Knowledge.allCases)
    func aFileIsLookedUpInItsChannel(_ knowledge: Knowledge) throws {
        let plan = try plan(
            PostgresRelayStorage.version, [.bytes(Data([1])), .text("a"), .text("b")], "'a', 'a', 'b'",
            knowledge)
        #expect(
            plan.contains("Index Cond: (ROW(channel, folder, name) >= ROW(channel.number, $2, $3))"),
            "\(plan)")
    }

    @Test(arguments: Knowledge.allCases)
    func bodiesThatAreBeingRemovedAreLookedUpByTheirNumbers(_ knowledge: Knowledge) throws {
        let none: [PostgresValue] = [.integers([]), .integers([]), .byteStrings([])]
        let files: [PostgresValue] = [
            .texts([]), .texts([]), .integers([]), .integers([]), .byteStrings([]), .integers([]),
        ]
        let sums = [PostgresValue](repeating: .integer(0), count: 5)
        let plan = try plan(
            ChannelWriting.write, [.integer(1)] + none + files + sums + [.bytes(Data())],
            "1, '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', 0, 0, 0, 0, 0, ''", knowledge)
        #expect(plan.contains("discarded_pkey"), "\(plan)")
    }

    @Test(arguments: Knowledge.allCases)
    func invitationsThatHaveExpiredAreLookedUpByTheirTime(_ knowledge: Knowledge) throws {
        let plan = try plan(PostgresRelayStorage.tidyInvitations, [.integer(1)], "1", knowledge)
        #expect(plan.contains("invitation_expiry"), "\(plan)")
    }

    /// A plan that can't do without what is turned off costs so much that the server would compile it each time.
    @Test func nothingIsCompiled() throws {
        let connection = try database.connect()
        let setting = PostgresStatement("setting", [], "SELECT current_setting('jit')")
        let deadline = PostgresConnection.Deadline.now + .seconds(30)
        #expect(try connection.run(setting, until: deadline).first?.text(0) == "off")
    }
}
