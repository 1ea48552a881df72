import CipherStore
import Testing

private struct Folder: TableRecord {}

/// SQL of the user that ends in a comment, where other SQL follows.
@Suite struct SQLCommentTests {
    /// Three folders, of which 2 is in 1, and 3 in 2.
    private func withFolders<Value>(_ body: (Database) throws -> Value) throws -> Value {
        let queue = try DatabaseQueue()
        return try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE folder (id INTEGER PRIMARY KEY, parentId INTEGER);
                    INSERT INTO folder VALUES (1, NULL), (2, 1), (3, 2);
                    """)
            return try body(db)
        }
    }

    private func ids(_ db: Database, _ request: QueryInterfaceRequest<Folder>) throws -> [Int] {
        try request.order(Column("id")).select(Column("id"), as: Int.self).fetchAll(db)
    }

    @Test func deletionsOfRowsThatAQueryFinds() throws {
        try withFolders { db in
            let count = try Folder.filter(sql: "id IN (SELECT parentId FROM folder) -- parents").deleteAll(db)
            let rest = try ids(db, Folder.all())
            #expect(count == 2 && rest == [3])
        }
    }

    @Test func conditionsThatOthersFollow() throws {
        try withFolders { db in
            let both = try ids(db, Folder.filter(sql: "id > 1 -- not the first").filter(Column("id") < 3))
            let negated = try ids(db, Folder.filter(!SQL(sql: "id > 1 --").sqlExpression))
            let alone = try Folder.filter(sql: "id > 1 -- not the first").fetchCount(db)
            #expect(both == [2] && negated == [1] && alone == 2)
            let joined = [SQL(sql: "id > 1 -- a"), SQL(sql: "id < 3 -- b")].joined(separator: " AND ")
            let condition: SQL = "(\(SQL(sql: "id > 1 -- a"))) AND id < 3"
            let found = [
                try ids(db, Folder.filter(literal: joined)), try ids(db, Folder.filter(literal: condition)),
            ]
            #expect(found == [[2], [2]])
        }
    }

    @Test func queriesWithinOthers() throws {
        try withFolders { db in
            let parents = SQLRequest<Int>(sql: "SELECT parentId FROM folder -- of all\n  -- and the root's")
            let found = try ids(db, Folder.filter(parents.contains(Column("id"))))
            let count = try parents.fetchCount(db)
            #expect(found == [1, 2] && count == 3)
            let table = CommonTableExpression<Int>(named: "parents", sql: "SELECT parentId FROM folder --")
            let rows = try table.all().with(table).fetchCount(db)
            #expect(rows == 3)
        }
    }

    @Test func selectionsOrdersAndAssignments() throws {
        try withFolders { db in
            let selected = try Folder.select(sql: "id, parentId -- both").order(sql: "id DESC -- last")
                .limit(1).asRequest(of: Row.self).fetchAll(db)
            #expect(selected == [["id": 3, "parentId": 2]])
            let value = SQL(sql: "id * 10 -- tens")
            try Folder.filter(Column("id") == 2).updateAll(
                db, Column("parentId").set(to: value), Column("id").set(to: 4))
            let changed = try Row.fetchOne(db, sql: "SELECT * FROM folder WHERE id = 4")
            #expect(changed == ["id": 4, "parentId": 20])
        }
    }

    @Test func textsThatOnlyLookLikeCommentsStayAsTheyAre() throws {
        try withFolders { db in
            let texts = [
                "id <> '--'", "id > 1 -- all\n", "id > 1 -- all\n AND id < 5", "id > 1 /* -- */",
                "id - -1 > 2",
            ]
            for text in texts {
                let (sql, _) = try SQL(sql: "(\(text))").build(db)
                let (wrapped, _) = try SQL("(\(SQL(sql: text)))").build(db)
                #expect(wrapped == sql)
                let found = try ids(db, Folder.filter(sql: text).filter(Column("id") > 0))
                #expect(found == (text == texts[0] ? [1, 2, 3] : [2, 3]))
            }
            let (sql, _) = try SQL(sql: "SELECT 1 -- one").build(db)
            #expect(sql == "SELECT 1 -- one")
        }
    }

    @Test func definitionsOfTables() throws {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.create(table: "note") { t in
                t.column("id", .integer).check(sql: "id > 0 -- a number")
                t.column("rank", .integer).notNull().defaults(sql: "7 -- in the middle")
                t.column(sql: "size INTEGER -- in bytes")
                t.check(sql: "rank < 10 -- of ten")
                t.constraint(sql: "UNIQUE (id) -- once")
            }
            try db.create(
                index: "noteRanks", on: "note", expressions: [SQL(sql: "rank -- first"), Column("size")])
            try db.alter(table: "note") { t in
                t.addColumn(sql: "title TEXT -- one line")
                t.add(column: "length", .integer).defaults(sql: "5 -- letters")
            }
            try db.execute(sql: "INSERT INTO note (id, size) VALUES (1, 2)")
            let row = try Row.fetchOne(db, sql: "SELECT * FROM note")
            #expect(row == ["id": 1, "rank": 7, "size": 2, "title": nil, "length": 5])
            for values in ["(0, 1)", "(2, 10)", "(1, 1)"] {
                #expect(throws: DatabaseError.self) {
                    try db.execute(sql: "INSERT INTO note (id, rank) VALUES \(values)")
                }
            }
        }
    }
}
