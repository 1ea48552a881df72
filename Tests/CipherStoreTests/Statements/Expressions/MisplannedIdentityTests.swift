import CipherStore
import Testing

/// `===` of two values that may be NULL, by which SQLite 3.15 finds wrong rows behind a left join.
@Suite struct MisplannedIdentityTests {
    private let queue: DatabaseQueue
    private let writer = TableAlias()
    private let work = TableAlias()

    /// The second writer's work, and that of the third, have what the writer prefers.
    init() throws {
        queue = try DatabaseQueue()
        try queue.write { db throws in
            try db.execute(
                sql: """
                    CREATE TABLE writer (id INTEGER PRIMARY KEY, favorite TEXT);
                    CREATE TABLE work (
                        id INTEGER PRIMARY KEY, writerId INTEGER REFERENCES writer, genre TEXT, grade DOUBLE);
                    INSERT INTO writer VALUES (1, NULL), (2, 'essay'), (3, NULL);
                    INSERT INTO work VALUES (1, 1, 'novel', 3), (2, 2, 'essay', 4), (3, 3, NULL, NULL);
                    """)
        }
    }

    private var own: JoinAssociation<Row, Row> {
        Table("writer").association(
            to: Table("work"), on: { left, right in right[Column("writerId")] == left[Column("id")] })
    }

    /// The writers for whom a condition holds, with the work that they have.
    private func ids(_ condition: SQLExpression) throws -> [Int] {
        let pairs = Table("writer").aliased(writer).including(optional: own.aliased(work))
        return try queue.read { db throws in
            let rows = try Row.fetchAll(db, pairs.filter(condition).order(Column("id")))
            return rows.map { $0["id"] as Int }
        }
    }

    @Test func aLeftJoinMakesUpNoRow() throws {
        let (genre, favorite) = (work[Column("genre")], writer[Column("favorite")])
        #expect(try ids(genre === favorite) == [2, 3])
        #expect(try ids(favorite === genre) == [2, 3])
        #expect(try ids(!(genre !== favorite)) == [2, 3])
        #expect(try ids(genre === favorite && genre !== "novel") == [2, 3])
        #expect(try ids(genre === "essay") == [2])
        #expect(try ids(genre === nil) == [3])
    }

    @Test func aLeftJoinMakesUpNoRowByACollatedColumn() throws {
        let genre = work[Column("genre").collating(.nocase)]
        #expect(try ids(genre === writer[Column("favorite")]) == [2, 3])
        let collated = work[Column("genre")].collating(.nocase)
        #expect(try ids(collated === writer[Column("favorite")]) == [2, 3])
        #expect(try ids(collated === "ESSAY") == [2])
        #expect(try ids(collated === nil) == [3])
        #expect(try ids(collated == nil) == [3])
        try queue.write { db in try db.execute(sql: "UPDATE writer SET favorite = upper(favorite)") }
        #expect(try ids(collated === writer[Column("favorite")]) == [2, 3])
    }

    /// SQLite takes it for NULL.
    @Test func aLeftJoinMakesUpNoRowByANumberThatIsNone() throws {
        let grade = work[Column("grade")]
        #expect(try ids(grade === Double.nan) == [3])
        #expect(try ids(grade === 4) == [2])
    }

    @Test func aViewOfALeftJoinMakesUpNoRow() throws {
        try queue.write { db throws in
            let same = (work[Column("genre")] === writer[Column("favorite")]).forKey("same")
            let joined = Table("writer").aliased(writer).joining(optional: own.aliased(work))
            try db.create(view: "pair", as: joined.select(writer[Column("id")], same))
            try db.execute(
                sql: """
                    CREATE VIEW plain AS SELECT writer.id, favorite, genre FROM writer
                        LEFT JOIN work ON writerId = writer.id
                    """)
            let byCondition = Table("pair").filter(Column("same")).select(Column("id"), as: Int.self)
            #expect(try byCondition.fetchSet(db) == [2, 3])
            let plain = Table("plain").filter(Column("genre") === Column("favorite"))
            #expect(try plain.select(Column("id"), as: Int.self).fetchSet(db) == [2, 3])
        }
    }

    @Test func sqlWithALeftJoinMakesUpNoRow() throws {
        let same = SQLExpression.same(Column("genre"), Column("favorite"))
        let request: SQLRequest<Int> = """
            SELECT writer.id FROM writer LEFT JOIN work ON writerId = writer.id WHERE \(same) ORDER BY 1
            """
        let found = try queue.read { try request.fetchAll($0) }
        #expect(found == [2, 3])
    }

    @Test func rowsAreFoundByAnIndexWhereTheyAreRight() throws {
        try queue.write { db throws in
            try db.execute(sql: "CREATE INDEX byGenre ON work(genre)")
            func plan(_ request: QueryInterfaceRequest<Row>) throws -> String {
                let statement = try request.makePreparedRequest(db).statement
                let rows = try Row.fetchAll(
                    db, sql: "EXPLAIN QUERY PLAN " + statement.sql, arguments: statement.arguments)
                return rows.map { $0["detail"] as String }.joined(separator: "\n")
            }
            let works = Table("work")
            #expect(try plan(works.filter(Column("genre") === "essay")).contains("byGenre"))
            #expect(try plan(works.filter(Column("genre") === nil)).contains("byGenre"))
            let liked = Table("writer").association(
                to: works, on: { left, right in right[Column("genre")] === left[Column("favorite")] })
            let joined = Table("writer").joining(optional: liked)
            #expect(try plan(joined).contains("byGenre"))
            #expect(try joined.fetchCount(db) == 3)
        }
    }

    /// There is no left join, nor a row of one.
    @Test func aConditionOnOneTableIsWrittenAsItIs() throws {
        try queue.read { db throws in
            let request = Table("work").filter(Column("genre") === Column("writerId"))
            let sql = try request.makePreparedRequest(db).statement.sql
            #expect(sql == #"SELECT * FROM "work" WHERE "genre" IS "writerId""#)
        }
    }
}

extension SQLExpression {
    fileprivate static func same(_ left: Column, _ right: Column) -> SQLExpression { left === right }
}
