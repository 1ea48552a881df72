import CipherStore
import Foundation
import Testing

/// Observations of rows that get another rowid.
@Suite(.timeLimit(.minutes(5))) struct MovedRowTests {
    enum Kind: CaseIterable { case queue, pool }

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func open(_ kind: Kind) throws -> any DatabaseWriter {
        let path = folder.file("a.db")
        let writer: any DatabaseWriter =
            switch kind {
            case .queue: try DatabaseQueue(path: path, configuration: .keyed("secret"))
            case .pool: try DatabasePool(path: path, configuration: .keyed("secret"))
            }
        try writer.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE note (Id INTEGER PRIMARY KEY, title TEXT);
                    INSERT INTO note VALUES (1, 'a');
                    CREATE TABLE tag (name TEXT);
                    INSERT INTO tag VALUES ('a');
                    """)
        }
        return writer
    }

    /// Moves a row away and another one to its place.
    private func expectMoves(
        _ kind: Kind, of table: String, _ filter: SQLExpression, selecting title: String, by column: String
    ) async throws {
        let writer = try open(kind)
        let request = Table(table).filter(filter).select(Column(title), as: String.self)
        let recording = ObservationRecording(
            ValueObservation.tracking { try request.fetchOne($0) }, in: writer)
        try await recording.expect("a")
        // Once the second value is told, all changes are observed.
        try await writer.write { try $0.execute(sql: "UPDATE \(table) SET \(title) = 'b'") }
        try await recording.expect(finally: "b")
        try await writer.write { try $0.execute(sql: "UPDATE \(table) SET \(column) = 5 WHERE rowid = 1") }
        try await recording.expect(finally: nil)
        try await writer.write { try $0.execute(sql: "UPDATE \(table) SET \(column) = 1 WHERE rowid = 5") }
        try await recording.expect(finally: "b")
    }

    @Test(arguments: Kind.allCases, ["id", "rowid", "_ROWID_"])
    func aMovedRowIsObserved(kind: Kind, column: String) async throws {
        try await expectMoves(kind, of: "note", Column("id") == 1, selecting: "title", by: column)
    }

    @Test(arguments: Kind.allCases) func aMovedRowWithoutKeyIsObserved(kind: Kind) async throws {
        try await expectMoves(kind, of: "tag", Column.rowID == 1, selecting: "name", by: "oid")
    }

    @Test func aMoveModifiesAllColumnsOfItsTableAndNoOtherTable() throws {
        let region = try open(.queue).read { try Table("note").select(Column("title")).databaseRegion($0) }
        #expect(region.isModified(byEventsOfKind: .update(tableName: "note", columnNames: ["ROWID"])))
        #expect(!region.isModified(byEventsOfKind: .update(tableName: "note", columnNames: ["other"])))
        #expect(!region.isModified(byEventsOfKind: .update(tableName: "tag", columnNames: ["ROWID"])))
    }
}
