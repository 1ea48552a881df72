import CipherStore
import Testing

private struct Mark: TableRecord {}

private struct Entry: TableRecord {}

/// Ranges in indexes whose limits are of another table, and are asked for a second time, which SQLite 3.15 takes for NULL then.
@Suite struct RangeLimitTests {
    private let indexes = ["t", "t DESC", "n", "n DESC", "t, id", "n, id DESC", "length(t) DESC"]

    /// Checks that something is found with each index that is found without one.
    private func expectSame<Found: Equatable>(
        _ find: (Database) throws -> Found, _ check: (Found) -> Bool
    ) throws {
        try DatabaseQueue().write { db in
            try db.execute(
                sql: """
                    CREATE TABLE mark (id INTEGER PRIMARY KEY, t TEXT, n INTEGER);
                    CREATE TABLE entry (id INTEGER PRIMARY KEY, t TEXT, u TEXT, n INTEGER);
                    INSERT INTO mark VALUES (2, 'm', 2), (3, 'x', 3);
                    INSERT INTO entry VALUES
                        (1, 'c', 'q', 1), (2, 'k', 'm', 2), (3, 'p', 'z', 3), (4, NULL, 'y', NULL);
                    CREATE VIEW pair AS
                    SELECT mark.id, mark.t, entry.n, entry.t AS u FROM mark, entry;
                    """)
            let expected = try find(db)
            #expect(check(expected), "\(expected)")
            for index in indexes {
                try db.execute(sql: "CREATE INDEX byValue ON entry (\(index))")
                let found = try find(db)
                #expect(found == expected, "\(index)")
                try db.execute(sql: "DROP INDEX byValue")
            }
        }
    }

    private func association(
        _ condition: @escaping @Sendable (TableAlias<Mark>, TableAlias<Entry>) -> any SQLExpressible
    ) -> JoinAssociation<Mark, Entry> {
        Table<Mark>("mark").association(to: Table<Entry>("entry")) { condition($0, $1) }.forKey("earlier")
            .select(Column("t").forKey("before"), Column("n").forKey("number"))
    }

    private let earlier = { @Sendable (mark: TableAlias<Mark>, entry: TableAlias<Entry>) -> SQLExpression in
        entry[Column("t")] < mark[Column("t")] && entry[Column("u")] != mark[Column("t")]
    }

    @Test func leftJoinsFindTheRowsBefore() throws {
        let request = Mark.order(Column("id"))
            .annotated(withOptional: association(earlier).order(Column("t").desc))
        try expectSame({ try Row.fetchAll($0, request) }, { $0.count == 4 })
    }

    @Test func innerJoinsFindTheRowsBefore() throws {
        let request = Mark.order(Column("id"))
            .annotated(withRequired: association(earlier).order(Column("t").desc))
        try expectSame({ try Row.fetchAll($0, request) }, { $0.count == 4 })
        let others = association { mark, entry in
            (entry[Column("t")] < mark[Column("t")] || entry[Column("n")] == 3)
                && entry[Column("u")] != mark[Column("t")]
        }
        let either = Mark.order(Column("id")).annotated(withRequired: others.order(Column("id")))
        try expectSame({ try Row.fetchAll($0, either) }, { $0.count == 5 })
    }

    @Test func numbersOfRowsStayBesideSmallerOnes() throws {
        let smaller = association { mark, entry in entry[Column("n")] < mark[Column("id")] }
        let request = Mark.order(Column("id"))
            .annotated(withRequired: smaller.order(Column("n").desc))
        try expectSame(
            { try Row.fetchAll($0, request).map { $0["id"] as Int? } }, { $0 == [2, 3, 3] })
        let pairs = Table("pair").filter(Column("n") < Column("id"))
            .order(Column("id"), Column("n").desc)
        try expectSame({ try Row.fetchAll($0, pairs).map { $0["id"] as Int? } }, { $0 == [2, 3, 3] })
    }

    @Test func rowsWithOneOfASmallerNumberAreFound() throws {
        let mark = TableAlias<Mark>()
        let before = Entry.filter(Column("id") < mark[Column("id")] && Column("u") != mark[Column("t")])
        let marks = Mark.aliased(mark).select(Column("id"), as: Int.self).order(Column("id"))
        try expectSame({ try marks.filter(before.exists()).fetchAll($0) }, { $0 == [2, 3] })
        let alone = Mark.aliased(mark).filter(!before.exists())
        try expectSame({ try alone.deleteAll($0) }, { $0 == 0 })
    }

    @Test func lengthsBesideNumbersOfOthersAreFound() throws {
        let mark = TableAlias<Mark>()
        let shorter = Entry.filter(
            length(Column("t")) < mark[Column("n")] && Column("n") != mark[Column("n")])
        let marks = Mark.aliased(mark).select(Column("id"), as: Int.self).order(Column("id"))
        try expectSame({ try marks.filter(shorter.exists()).fetchAll($0) }, { $0 == [2, 3] })
        try expectSame({ try marks.filter(!shorter.exists()).fetchAll($0) }, \.isEmpty)
    }

    @Test func subqueriesFindTheRowsBefore() throws {
        let mark = TableAlias<Mark>()
        let before = Entry.filter(
            Column("t") < mark[Column("t")] && Column("u") != mark[Column("t")])
        let marks = Mark.aliased(mark).select(Column("id"), as: Int.self).order(Column("id"))
        try expectSame({ try marks.filter(before.exists()).fetchAll($0) }, { $0 == [2, 3] })
        try expectSame({ try marks.filter(!before.exists()).fetchAll($0) }, \.isEmpty)
        let latest = before.select(Column("u")).order(Column("t").desc).limit(1)
        let request = Mark.aliased(mark).annotated(with: latest.forKey("latest")).order(Column("id"))
        try expectSame(
            { try Row.fetchAll($0, request).map { $0["latest"] as String? } }, { $0 == ["q", "z"] })
        let grouped = marks.group(Column("id")).having(before.exists())
        try expectSame({ try grouped.fetchAll($0) }, { $0 == [2, 3] })
    }

    @Test func deletionsKeepRowsWithOthersBeforeThem() throws {
        let mark = TableAlias<Mark>()
        let before = Entry.filter(
            Column("t") < mark[Column("t")] && Column("u") != mark[Column("t")])
        let alone = Mark.aliased(mark).filter(!before.exists())
        try expectSame({ try alone.deleteAll($0) }, { $0 == 0 })
    }

    @Test func valuesAndNumbersOfTablesAroundAreLookedForInIndexes() throws {
        try expectSame(
            { db in
                let mark = TableAlias<Mark>()
                let smaller = Entry.filter(Column("n") < mark[Column("n")] && Column("t") > "a")
                let request = Mark.aliased(mark).filter(smaller.exists())
                let (sql, _) = try SQL("\(request)").build(db)
                return sql
            }, { !$0.contains("+") })
    }
}
