import CipherStore
import Testing

private struct Task: TableRecord {}

/// Conditions that are met by rows with NULL, and that SQLite 3.15 looks for in an index without these rows.
@Suite struct PartialIndexPlanTests {
    private func withTasks(_ body: (Database) throws -> Void) throws {
        try DatabaseQueue().write { db in
            try db.execute(
                sql: """
                    CREATE TABLE task (id INTEGER PRIMARY KEY, list INTEGER, rank INTEGER, isDone INTEGER, isLate INTEGER);
                    CREATE INDEX ranked ON task (list) WHERE rank IS NOT NULL;
                    CREATE INDEX done ON task (list, id) WHERE isDone IS NOT NULL;
                    INSERT INTO task VALUES (1, 1, NULL, NULL, 1), (2, 1, 5, 1, 0), (3, 1, 7, 0, 0), (4, 2, NULL, NULL, 0);
                    """)
            try body(db)
        }
    }

    private var tasks: QueryInterfaceRequest<Int> {
        Task.select(Column("id"), as: Int.self).orderByPrimaryKey()
    }

    @Test func rowsWithoutAValueHaveNotTheSame() throws {
        try withTasks { db in
            let others = Column("rank") !== 5
            let all = try tasks.filter(others).fetchAll(db)
            #expect(all == [1, 3, 4])
            let ofList = try tasks.filter(Column("list") == 1 && others).fetchAll(db)
            #expect(ofList == [1, 3])
            let either = try tasks.filter(others && Column("list") == 1 || Column("id") == 2).fetchAll(db)
            #expect(either == [1, 2, 3])
            let count = try Task.filter(Column("list") == 1 && others).updateAll(
                db, Column("isLate").set(to: 2))
            #expect(count == 2)
            let columns = try tasks.filter(Column("list") == 1 && Column("rank") !== Column("isDone"))
                .fetchAll(db)
            #expect(columns == [2, 3])
        }
    }

    @Test func oneOfTwoTruthsIsEnough() throws {
        try withTasks { db in
            let met = try tasks.filter(Column("list") == 1 && (Column("isDone") || Column("isLate")))
                .fetchAll(db)
            #expect(met == [1, 2])
        }
    }

    @Test func otherConditionsStayAsTheyAre() throws {
        try withTasks { db in
            let present = Column("list") == 1 && Column("rank") != nil
            let (sql, _) = try SQL("\(tasks.filter(present))").build(db)
            #expect(sql.contains(#"WHERE ("list" = ?) AND ("rank" IS NOT NULL)"#), "\(sql)")
        }
    }

    @Test func newEnginesGetTheConditionAsItIs() throws {
        guard EngineFeatures.current.sqliteVersionNumber >= 3_046_000 else { return }
        try withTasks { db in
            let (sql, _) = try SQL("\(tasks.filter(Column("rank") !== 5))").build(db)
            #expect(sql.contains(#"WHERE "rank" IS NOT ? ORDER"#), "\(sql)")
        }
    }
}
