import CipherStore
import Testing

private struct Player: TableRecord {}

private struct Winner: TableRecord {}

/// The least value by an index in which SQLite 3.15 leaves out rows whose next column is NULL.
@Suite struct MinimumPlanTests {
    private func makeQueue() throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE player (id INTEGER PRIMARY KEY, level INTEGER, score INTEGER);
                    INSERT INTO player VALUES (1, 1, NULL), (2, 1, NULL), (3, 3, 5), (4, 3, NULL), (5, NULL, 1);
                    CREATE INDEX byLevel ON player (level, score);
                    CREATE VIEW winner AS SELECT * FROM player WHERE level = 1;
                    """)
        }
        return queue
    }

    @Test func theLeastValueIsFoundBesideNull() throws {
        try makeQueue().read { db in
            let least = Player.select(min(Column("level")), as: Int.self)
            let one = try least.filter(Column("level") == 1).fetchOne(db)
            #expect(one == 1)
            let several = try least.filter([1, 3].contains(Column("level"))).fetchOne(db)
            #expect(several == 1)
            let ofAll = try least.fetchOne(db)
            #expect(ofAll == 1)
            let none = try least.filter(Column("level") == 2).fetchOne(db)
            #expect(none == nil)
            let winners = try Winner.select(min(Column("level")), as: Int.self).fetchOne(db)
            #expect(winners == 1)
            let equals = try Player.filter(least.filter(Column("level") == 3) == Column("level")).fetchCount(
                db)
            #expect(equals == 2)
        }
    }

    @Test func theTextStaysWhereTheEngineIsRight() throws {
        try makeQueue().read { db in
            let least = Player.select(min(Column("level")))
            for request in [least, least.group(Column("score"))] {
                let (sql, _) = try SQL("\(request)").build(db)
                #expect(sql.hasPrefix(#"SELECT MIN("level") FROM "player""#), "\(sql)")
            }
            guard EngineFeatures.current.sqliteVersionNumber >= 3_046_000 else { return }
            let (sql, _) = try SQL("\(least.filter(Column("level") == 1))").build(db)
            #expect(sql.hasPrefix(#"SELECT MIN("level") FROM "player""#), "\(sql)")
        }
    }
}
