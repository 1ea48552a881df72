import CipherStore
import Testing

private struct Team: TableRecord {}

private struct Player: TableRecord {}

private struct Pair: TableRecord {}

/// Rows that an optional association does not find, in whose columns SQLite 3.15 leaves values of others when it looks for
/// alternatives by indexes.
@Suite struct LeftJoinPlanTests {
    private let pairs = """
        SELECT team.id AS id, player.teamId AS other, player.level AS level
        FROM team LEFT JOIN player ON player.teamId >= team.id
        """

    private func makeQueue() throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE team (id INTEGER PRIMARY KEY, level INTEGER);
                    CREATE TABLE player (id INTEGER PRIMARY KEY, teamId INTEGER, level INTEGER, score INTEGER);
                    CREATE INDEX byTeam ON player (teamId, level);
                    CREATE INDEX byLevel ON player (level, teamId);
                    INSERT INTO team VALUES (1, 3), (2, 1), (3, 7), (10, 0), (20, 0);
                    INSERT INTO player VALUES (1, 1, 1, 5), (2, 1, NULL, 6), (3, 2, 3, 7), (4, 3, 1, 8);
                    CREATE VIEW pair AS \(pairs);
                    """)
        }
        return queue
    }

    /// The players of a team, and of those behind it.
    private var followers: JoinAssociation<Team, Player> {
        Table<Team>("team").association(to: Player.self) { team, player in
            player[Column("teamId")] >= team[Column("id")]
        }
    }

    private var teamIDs: QueryInterfaceRequest<Team> { Team.select(Column("id")) }

    private func isMet(_ player: TableAlias<Player>) -> SQLExpression {
        player[Column("level")] == 1 || player[Column("teamId")] == 2
    }

    @Test func aRowThatIsAbsentHasNoValues() throws {
        let players = Table<Team>("team").association(to: Player.self) { team, player in
            player[Column("level")] == team[Column("level")] || player[Column("teamId")] == team[Column("id")]
        }
        let selected = players.select(Column("teamId").forKey("other"), Column("level").forKey("met"))
        let rows = try makeQueue().read { db in
            try Row.fetchAll(db, teamIDs.annotated(withOptional: selected))
        }
        let texts = rows.map { row in
            let other: Int? = row["other"]
            let met: Int? = row["met"]
            return "\(row["id"] as Int) \(other ?? 0) \(met ?? 0)"
        }
        let expected = ["1 1 0", "1 1 1", "1 2 3", "10 0 0", "2 1 1", "2 2 3", "2 3 1", "20 0 0", "3 3 1"]
        #expect(texts.sorted() == expected)
    }

    @Test func conditionsAreNotMetByRowsThatAreAbsent() throws {
        try makeQueue().write { db in
            let player = TableAlias<Player>()
            let joined = teamIDs.joining(optional: followers.aliased(player)).order(Column("id"))
            let found = try Int.fetchAll(db, joined.filter(isMet(player)))
            #expect(found == [1, 1, 1, 2, 2, 3])
            let both = try Int.fetchAll(db, joined.filter(Column("id") > 0 && isMet(player)))
            #expect(both == [1, 1, 1, 2, 2, 3])
            let named = teamIDs.joining(optional: followers).order(Column("id"))
                .filter(sql: "player.level = 1 or player.teamId = ?", arguments: [2])
            let raw = try Int.fetchAll(db, named)
            #expect(raw == [1, 1, 1, 2, 2, 3])
            let count = try joined.filter(isMet(player)).deleteAll(db)
            #expect(count == 3)
        }
    }

    @Test func conditionsOnViewsAndCommonTablesAreNotMetByRowsThatAreAbsent() throws {
        try makeQueue().read { db in
            let isMet = Column("level") == 1 || Column("other") == 2
            let found = try Pair.filter(isMet).select(Column("id"), as: Int.self).order(Column("id"))
                .fetchAll(db)
            #expect(found == [1, 1, 1, 2, 2, 3])
            let table = CommonTableExpression<Row>(named: "found", sql: self.pairs)
            let rows = try table.all().with(table).filter(isMet).order(Column("id")).fetchAll(db)
            #expect(rows.map { $0["id"] as Int } == [1, 1, 1, 2, 2, 3])
        }
    }

    @Test func rowsThatAnIndexLeavesOutAreNotAbsent() throws {
        try makeQueue().write { db in
            try db.execute(sql: "CREATE INDEX ranked ON player (teamId) WHERE level IS NULL")
            let player = TableAlias<Player>()
            let own = Team.hasMany(Player.self, using: ForeignKey(["teamId"]))
            let teams = teamIDs.joining(optional: own.aliased(player)).order(Column("id"))
            let found = try Int.fetchAll(db, teams.filter(player[Column("level")] == nil))
            #expect(found == [1, 10, 20])
            let raw = try Int.fetchAll(db, teams.filter(sql: "player.level IS NULL"))
            #expect(raw == [1, 10, 20])
            let count = try teams.filter(player[Column("level")] == nil).fetchCount(db)
            #expect(count == 3)
            let pairs = try Pair.filter(Column("level") == nil).select(Column("id"), as: Int.self)
                .order(Column("id")).fetchAll(db)
            #expect(pairs == [1, 10, 20])
        }
    }

    @Test func alternativesOfRowsThatAreThereUseIndexes() throws {
        try makeQueue().read { db in
            let teams = teamIDs.joining(optional: followers).filter(Column("level") == 3 || Column("id") == 2)
            let (sql, _) = try SQL("\(teams)").build(db)
            #expect(sql.hasSuffix(#"WHERE ("team"."level" = ?) OR ("team"."id" = ?)"#), "\(sql)")
        }
    }

    @Test func newEnginesGetTheConditionAsItIs() throws {
        guard EngineFeatures.current.sqliteVersionNumber >= 3_046_000 else { return }
        try makeQueue().read { db in
            let player = TableAlias<Player>(name: "p")
            let teams = teamIDs.joining(optional: followers.aliased(player)).filter(isMet(player))
            let (sql, _) = try SQL("\(teams)").build(db)
            #expect(sql.hasSuffix(#"WHERE ("p"."level" = ?) OR ("p"."teamId" = ?)"#), "\(sql)")
        }
    }
}
