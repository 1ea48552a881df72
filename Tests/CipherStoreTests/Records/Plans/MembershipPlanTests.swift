import CipherStore
import Testing

private struct Team: TableRecord {}

private struct Player: TableRecord {}

/// `IN` of a request by indexes that SQLite 3.15 finds wrong rows by.
@Suite struct MembershipPlanTests {
    private func makeQueue(_ index: String) throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE team (id INTEGER PRIMARY KEY);
                    CREATE TABLE player (id INTEGER PRIMARY KEY, teamId INTEGER, retired INTEGER);
                    INSERT INTO team VALUES (1), (2), (3);
                    INSERT INTO player VALUES (1, 1, NULL), (2, 2, 2020);
                    \(index)
                    """)
        }
        return queue
    }

    private var teamIDs: QueryInterfaceRequest<Int64?> {
        Player.select(Column("teamId"), as: Int64?.self)
    }

    @Test func aPartialIndexDoesNotHoldAllRows() throws {
        try makeQueue("CREATE INDEX active ON player (teamId) WHERE retired IS NULL;").write { db in
            let teams = Team.select(Column("id"), as: Int64.self).orderByPrimaryKey()
            let met = try teams.filter(teamIDs.contains(Column("id"))).fetchAll(db)
            #expect(met == [1, 2])
            let ordered = try teams.filter(teamIDs.order(Column("id")).contains(Column("id"))).fetchAll(db)
            #expect(ordered == [1, 2])
            let others = try teams.filter(!teamIDs.contains(Column("id"))).fetchAll(db)
            #expect(others == [3])
            let count = try Team.filter(!teamIDs.contains(Column("id"))).deleteAll(db)
            #expect(count == 1)
        }
    }

    @Test func requestsInSQLHaveAllRows() throws {
        try makeQueue("CREATE INDEX active ON player (teamId) WHERE retired IS NULL;").read { db in
            let teams = Team.select(Column("id"), as: Int64.self).orderByPrimaryKey()
            let all: SQLRequest<Int64?> = "SELECT teamId FROM player"
            let met = try teams.filter(all.contains(Column("id"))).fetchAll(db)
            #expect(met == [1, 2])
            let some: SQLRequest<Int64?> = "SELECT teamId FROM player WHERE retired > \(2000)"
            let retired = try teams.filter(some.contains(Column("id"))).fetchAll(db)
            #expect(retired == [2])
        }
    }

    @Test func aDescendingIndexHasNullAtItsEnd() throws {
        let index = """
            INSERT INTO player (teamId) VALUES (NULL);
            CREATE INDEX falling ON player (teamId DESC);
            """
        try makeQueue(index).write { db in
            // Whether a team is among them is not known, because of NULL.
            let count = try Team.filter(!teamIDs.contains(Column("id"))).deleteAll(db)
            #expect(count == 0)
        }
    }

    @Test(arguments: ["", "\n", "\r\n", "/* the last first */"])
    func aDescendingIndexIsKnownWhateverIsBehindTheWord(separator: String) throws {
        let index = """
            INSERT INTO player (teamId) VALUES (NULL);
            CREATE INDEX falling ON player (teamId DESC\(separator));
            """
        // What newer engines miss, requests in SQL miss too.
        guard EngineFeatures.current.sqliteVersionNumber < 3_046_000 else { return }
        try makeQueue(index).write { db in
            let all: SQLRequest<Int64?> = "SELECT teamId FROM player"
            let count = try Team.filter(!all.contains(Column("id"))).deleteAll(db)
            #expect(count == 0)
        }
    }

    @Test func otherIndexesAreLookedUp() throws {
        try makeQueue("CREATE INDEX byTeam ON player (teamId, retired);").read { db in
            let (sql, _) = try SQL("\(Team.filter(teamIDs.contains(Column("id"))))").build(db)
            #expect(sql.hasSuffix(#"WHERE "id" IN (SELECT "teamId" FROM "player")"#), "\(sql)")
        }
    }

    @Test func otherColumnsAreLookedUpBesideAPartialIndex() throws {
        try makeQueue("CREATE INDEX active ON player (teamId) WHERE retired IS NULL;").read { db in
            let ids = Player.select(Column("id"))
            let (sql, _) = try SQL("\(Team.filter(ids.contains(Column("id"))))").build(db)
            #expect(sql.hasSuffix(#"WHERE "id" IN (SELECT "id" FROM "player")"#), "\(sql)")
        }
    }

    @Test func newEnginesGetTheRequestAsItIs() throws {
        guard EngineFeatures.current.sqliteVersionNumber >= 3_046_000 else { return }
        try makeQueue("CREATE INDEX active ON player (teamId) WHERE retired IS NULL;").read { db in
            let (sql, _) = try SQL("\(Team.filter(teamIDs.contains(Column("id"))))").build(db)
            #expect(sql.hasSuffix(#"WHERE "id" IN (SELECT "teamId" FROM "player")"#), "\(sql)")
        }
    }
}
