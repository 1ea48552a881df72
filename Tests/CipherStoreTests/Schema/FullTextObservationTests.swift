import Testing

@testable import CipherStore

/// Observations of how many rows a full-text table has: SQLite tells of changes of the tables behind it only.
@Suite(.timeLimit(.minutes(20))) struct FullTextObservationTests {
    enum Kind: CaseIterable { case queue, pool }

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func open(_ kind: Kind, _ schema: String) throws -> any DatabaseWriter {
        let path = folder.file("a.db")
        let writer: any DatabaseWriter =
            switch kind {
            case .queue: try DatabaseQueue(path: path, configuration: .keyed("secret"))
            case .pool: try DatabasePool(path: path, configuration: .keyed("secret"))
            }
        try writer.write { try $0.execute(sql: schema) }
        return writer
    }

    /// With FTS 3, the last row goes with all of the tables' rows at once.
    @Test(arguments: Kind.allCases, ["fts3(text)", "fts4(text)", "fts4(text, matchinfo=fts3)"])
    func insertionsAndDeletionsChangeTheCount(kind: Kind, module: String) async throws {
        let writer = try open(kind, "CREATE VIRTUAL TABLE page USING \(module)")
        let recording = ObservationRecording(
            ValueObservation.tracking { db in try Table("page").fetchCount(db) }, in: writer)
        try await recording.expect(0)
        try await writer.write { try $0.execute(sql: "INSERT INTO page VALUES ('milk'), ('bread')") }
        try await recording.expect(finally: 2)
        try await writer.write { try $0.execute(sql: "DELETE FROM page WHERE page MATCH 'milk'") }
        try await recording.expect(finally: 1)
        try await writer.write { try $0.execute(sql: "DELETE FROM page") }
        try await recording.expect(finally: 0)
    }

    @Test(arguments: Kind.allCases) func changesOfATableItIsSynchronizedWithChangeTheCount(
        kind: Kind
    ) async throws {
        let writer = try open(kind, "CREATE TABLE page (id INTEGER PRIMARY KEY, text TEXT)")
        try await writer.write { db throws in
            try db.create(virtualTable: "words", using: FTS4()) { table in
                table.synchronize(withTable: "page")
                table.column("text")
            }
        }
        let recording = ObservationRecording(
            ValueObservation.tracking { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM words") ?? 0 },
            in: writer)
        try await recording.expect(0)
        try await writer.write { try $0.execute(sql: "INSERT INTO page (text) VALUES ('milk'), ('bread')") }
        try await recording.expect(finally: 2)
        try await writer.write { try $0.execute(sql: "DELETE FROM page") }
        try await recording.expect(finally: 0)
    }
}
