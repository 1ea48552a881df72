import CipherStore
import Testing

private struct Player: Codable, FetchableRecord, PersistableRecord, Equatable {
    var id: Int64
    var score: Int
    var bonus: Int
}

/// Names that no column has, which old engines take for texts.
@Suite struct UnknownColumnTests {
    private func makeQueue() throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE player (id INTEGER PRIMARY KEY, score INTEGER, bonus INTEGER);
                    INSERT INTO player VALUES (1, 10, 1), (2, 20, 2), (3, 30, 3);
                    CREATE TABLE pair (a TEXT PRIMARY KEY, n INTEGER) WITHOUT ROWID;
                    INSERT INTO pair VALUES ('x', 1);
                    CREATE VIRTUAL TABLE page USING fts4(body);
                    INSERT INTO page VALUES ('one'), ('two'), ('three');
                    """)
        }
        return queue
    }

    private let unknown = Column("bonsu")

    @Test func aChangeByAnUnknownNameChangesNothing() throws {
        let total = (Column("score") + Column("bonus")).forKey("total")
        let high = Player.annotated(with: total).filter(Column("total") > 100)
        let misspelled = Player.filter(unknown > 1)
        let raised = Column("score").set(to: unknown + 1)
        try makeQueue().write { db in
            let before = try Player.orderByPrimaryKey().fetchAll(db)
            #expect(throws: DatabaseError.self) { try high.deleteAll(db) }
            #expect(throws: DatabaseError.self) { try high.limit(2).deleteAll(db) }
            #expect(throws: DatabaseError.self) { try high.deleteAndFetchAll(db) }
            #expect(throws: DatabaseError.self) { try misspelled.deleteAll(db) }
            #expect(throws: DatabaseError.self) {
                try misspelled.updateAndFetchAll(db, [Column("score").set(to: 0)])
            }
            #expect(throws: DatabaseError.self) { try Player.all().updateAll(db, [raised]) }
            #expect(throws: DatabaseError.self) { try Player.all().updateAndFetchAll(db, [raised]) }
            #expect(throws: DatabaseError.self) {
                try Player(id: 1, score: 0, bonus: 0).upsertAndFetch(db, doUpdate: { _ in [raised] })
            }
            #expect(throws: DatabaseError.self) { try Table("pair").filter(Column.rowID > 0).deleteAll(db) }
            let after = try Player.orderByPrimaryKey().fetchAll(db)
            #expect(after == before)
            let pairs = try Table("pair").fetchCount(db)
            #expect(pairs == 1)
        }
    }

    @Test func aRequestByAnUnknownNameIsAnError() throws {
        try makeQueue().read { db in
            #expect(throws: DatabaseError.self) { try Player.filter(unknown > 1).fetchAll(db) }
            #expect(throws: DatabaseError.self) { try Player.filter(unknown > 1).fetchCount(db) }
            #expect(throws: DatabaseError.self) { try Player.order(unknown).fetchAll(db) }
        }
    }

    @Test func anUnknownNameInASubqueryIsAnError() throws {
        let ids = Player.filter(unknown > 1).select(Column("id"))
        let chosen = Player.filter(ids.contains(Column("id")))
        let nested = Player.filter(chosen.select(Column("id")).contains(Column("id")))
        try makeQueue().write { db in
            #expect(throws: DatabaseError.self) { try chosen.fetchAll(db) }
            #expect(throws: DatabaseError.self) { try nested.fetchAll(db) }
            #expect(throws: DatabaseError.self) { try Player.filter(ids.exists()).fetchAll(db) }
            #expect(throws: DatabaseError.self) { try chosen.deleteAll(db) }
            let count = try Player.fetchCount(db)
            #expect(count == 3)
        }
    }

    @Test func aSubqueryTakesNamesFromAroundIt() throws {
        // `score` is a column of the players, `total` a name that is selected, and `extra` one in SQL of the user.
        let byColumn = Table("pair").filter(Column("score") > 15).select(Column("n"))
        let byName = Table("pair").filter(Column("total") > 15).select(Column("n"))
        let byText = Table("pair").filter(Column("extra") > 1).select(Column("n"))
        let total = (Column("score") + Column("bonus")).forKey("total")
        let literal: SQL =
            "id IN (SELECT other.id FROM (SELECT 3 AS id, 5 AS extra) AS other WHERE EXISTS (\(byText)))"
        try makeQueue().read { db in
            let columns = try Player.filter(byColumn.exists()).order(Column("id")).fetchAll(db)
            #expect(columns.map(\.id) == [2, 3])
            let named = Player.annotated(with: total).filter(byName.exists())
            let names = try named.order(Column("id")).fetchAll(db)
            #expect(names.map(\.id) == [2, 3])
            let undeclared = Table("pair").filter(Column("docid") > 1).select(Column("n"))
            let documents = try Table("page").filter(undeclared.exists()).fetchCount(db)
            #expect(documents == 2)
            let texts = try Player.filter(literal: literal).fetchAll(db)
            #expect(texts.map(\.id) == [3])
        }
    }

    @Test func aCommonTableStandsForTheTableOfItsName() throws {
        let players = CommonTableExpression(named: "Player", sql: "SELECT 1 AS id, 5 AS x")
        let pairs = Table("pair").filter(Column("x") > 0).select(Column("n"))
        let chosen = Table("player").filter(pairs.exists())
        try makeQueue().write { db in
            let count = try chosen.with(players).fetchCount(db)
            #expect(count == 1)
            let outer = try Table("pair").with(players).filter(chosen.exists()).fetchCount(db)
            #expect(outer == 1)
            #expect(throws: DatabaseError.self) { try Row.fetchAll(db, chosen) }
            let deleted = try Table("pair").with(players).filter(chosen.exists()).deleteAll(db)
            #expect(deleted == 1)
        }
    }

    @Test func columnsThatAreNotDeclaredAreKnown() throws {
        try makeQueue().write { db in
            for (name, id) in [("ROWID", 1), ("oid", 2), ("_rowid_", 3)] {
                let count = try Player.filter(Column(name) == id).deleteAll(db)
                #expect(count == 1)
            }
            let byDocument = try Table("page").filter(Column("docid") == 1).deleteAll(db)
            #expect(byDocument == 1)
            let byRow = try Table("page").filter(Column.rowID == 2).deleteAll(db)
            #expect(byRow == 1)
            let byText = try Table("page").filter(Column("page").match(FTS3Pattern(rawPattern: "three")))
                .deleteAll(db)
            #expect(byText == 1)
        }
    }
}
