import Testing

@testable import CipherStore

private struct Card: TableRecord, FetchableRecord, Codable, Hashable, Identifiable {
    var id: Int64
    var name: String
}

/// Changes of some of the rows that a request finds.
@Suite struct LimitedChangeTests {
    private func makeQueue() throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE card (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
                        INSERT INTO card SELECT i, 'card ' || i FROM n;
                    """)
        }
        return queue
    }

    @Test func theRowsOfALimitedDeletionAreThoseThatGo() throws {
        try makeQueue().write { db in
            let drawn = Card.all().order(sql: "RANDOM()").limit(10)
            let all = try Card.all().fetchSet(db)
            let records = try drawn.deleteAndFetchSet(db)
            let afterRecords = try Card.all().fetchSet(db)
            #expect(records == all.subtracting(afterRecords))
            let ids = try drawn.deleteAndFetchIds(db)
            let afterIds = try Card.all().fetchSet(db)
            #expect(ids == Set(afterRecords.subtracting(afterIds).map(\.id)))
            let cursor = try Array(drawn.deleteAndFetchCursor(db))
            let afterCursor = try Card.all().fetchSet(db)
            #expect(Set(cursor) == afterIds.subtracting(afterCursor))
            #expect(afterCursor.count == 70)
        }
    }
}
