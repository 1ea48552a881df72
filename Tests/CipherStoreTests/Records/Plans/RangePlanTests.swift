import CipherStore
import Testing

private struct Visit: TableRecord {}

/// Joins by ranges in indexes, beside which SQLite 3.15 takes the limit of the range for NULL.
@Suite struct RangePlanTests {
    private func withVisits(index: String, _ body: (Database) throws -> Void) throws {
        try DatabaseQueue().write { db in
            try db.execute(
                sql: """
                    CREATE TABLE visit (id INTEGER PRIMARY KEY, ward INTEGER, day TEXT, number INTEGER);
                    INSERT INTO visit VALUES
                        (1, 1, '2020-01-01', 1), (2, 1, '2020-01-05', 2), (3, 1, '2020-01-07', 3), (4, 1, NULL, 4);
                    \(index);
                    CREATE VIEW pair AS
                    SELECT a.id, a.day, b.day AS earlier FROM visit AS a, visit AS b WHERE b.ward = 1;
                    """)
            try body(db)
        }
    }

    /// The visits of any ward before a visit.
    private func earlier(_ column: String) -> JoinAssociation<Visit, Visit> {
        Table<Visit>("visit").association(to: Table<Visit>("visit")) { visit, other in
            other[Column(column)] < visit[Column(column)]
        }.forKey("earlier")
    }

    private let indexes = [
        "CREATE INDEX byDay ON visit (day)", "CREATE INDEX byDay ON visit (ward, day DESC)",
    ]

    @Test func theDayOfAVisitStaysBesideEarlierOnes() throws {
        for index in indexes {
            try withVisits(index: index) { db in
                let other = earlier("day").select(Column("day").forKey("other")).order(Column("day").desc)
                    .filter(Column("ward") == 1)
                let rows = try Row.fetchAll(
                    db, Visit.filter(Column("id") == 3).annotated(withRequired: other))
                let days = rows.map { $0["day"] as String? }
                #expect(days == ["2020-01-07", "2020-01-07"])
                let others = rows.map { $0["other"] as String? }
                #expect(others == ["2020-01-05", "2020-01-01"])
            }
        }
    }

    @Test func theDayOfAVisitStaysInAView() throws {
        for index in indexes {
            try withVisits(index: index) { db in
                let pairs = Table("pair").filter(Column("earlier") < Column("day")).filter(Column("id") == 3)
                let rows = try Row.fetchAll(db, pairs.order(Column("earlier").desc))
                let days = rows.map { $0["day"] as String? }
                #expect(days == ["2020-01-07", "2020-01-07"])
            }
        }
    }

    @Test func numbersAreLookedForInIndexes() throws {
        try withVisits(index: "CREATE INDEX byNumber ON visit (number)") { db in
            let visits = Visit.joining(required: earlier("number"))
            let (sql, _) = try SQL("\(visits)").build(db)
            #expect(sql.hasSuffix(#"ON "visit2"."number" < "visit1"."number""#), "\(sql)")
        }
    }

    @Test func newEnginesGetTheConditionAsItIs() throws {
        guard EngineFeatures.current.sqliteVersionNumber >= 3_046_000 else { return }
        try withVisits(index: indexes[0]) { db in
            let (sql, _) = try SQL("\(Visit.joining(required: earlier("day")))").build(db)
            #expect(sql.hasSuffix(#"ON "visit2"."day" < "visit1"."day""#), "\(sql)")
        }
    }
}
