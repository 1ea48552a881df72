import Foundation
import SyncRelay
import TestSupport
import Testing

@testable import SyncRelayPostgres

/// The server plans each statement of a connection once, often while the tables are new. What it thought then must not make
/// a commit slower with each file of its channel.
@Suite(.needsPostgres, .fewAtATime) struct StatementPlanTests {
    let database: TestDatabase

    init() throws { database = try TestDatabase() }

    /// Prepares a statement as a storage does, and gives the plan that it has from then on.
    private func plan(_ statement: PostgresStatement, _ values: [PostgresValue], _ words: String) throws
        -> [String]
    {
        try database.open().close()
        let connection = try database.connect()
        let deadline = PostgresConnection.Deadline.now + .seconds(30)
        try connection.execute("BEGIN", until: deadline)
        try connection.run(statement, values, until: deadline)
        let explain = PostgresStatement(
            "explain", [], "EXPLAIN (COSTS OFF) EXECUTE \"\(statement.name)\"(\(words))")
        let lines = try connection.run(explain, until: deadline).rows.map { try $0.text(0) }
        try connection.execute("ROLLBACK", until: deadline)
        return lines
    }

    @Test func namesAreLookedUpByTheKeyOfTheirTable() throws {
        let plan = try plan(
            ChannelWriting.files, [.integer(1), .texts(["a"]), .texts(["b"])], "1, '{a}', '{b}'")
        let text = plan.joined(separator: "\n")
        #expect(text.contains("Index Scan using file_pkey"), "\(text)")
        #expect(!text.contains("Hash") && !text.contains("Bitmap"), "\(text)")
        #expect(
            text.contains("(channel = $1) AND (folder = wanted.folder) AND (name = wanted.name)"), "\(text)")
    }

    @Test func bodiesThatAreBeingRemovedAreLookedUpByTheirNumbers() throws {
        let none: [PostgresValue] = [.integers([]), .integers([]), .byteStrings([])]
        let files: [PostgresValue] = [
            .texts([]), .texts([]), .integers([]), .integers([]), .byteStrings([]), .integers([]),
        ]
        let sums = [PostgresValue](repeating: .integer(0), count: 5)
        let plan = try plan(
            ChannelWriting.write, [.integer(1)] + none + files + sums + [.bytes(Data())],
            "1, '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', 0, 0, 0, 0, 0, ''")
        let text = plan.joined(separator: "\n")
        #expect(!text.contains("Seq Scan"), "\(text)")
        #expect(text.contains("discarded_pkey"), "\(text)")
    }
}
