import Foundation
import Testing
import TypedQueriesMacros

@Table struct Fibonacci: Equatable {
    var n: Int
    var previous: Int
    var current: Int
}

@Selection struct PersonSize: Equatable {
    var width = 1
    var height = 2
}

@Table struct Person: Equatable {
    let id: Int
    var bossID: Int?
    var name = ""
    var born = Date(timeIntervalSinceReferenceDate: 0)
    @Column(as: [String].JSONRepresentation.self) var tags: [String] = []
    var size = PersonSize()
}

@Selection struct Report: Equatable {
    var id: Int
    var name: String
    var size: PersonSize
}

private let standardDepth = 7

/// Its initializers are public, and its default values speak of what is not.
@Selection public struct PublicRow: Equatable {
    /// A number.
    public var depth: Int = standardDepth
    /// A text.
    public var title = "none"
    /// Several texts.
    @Column(as: [String].JSONRepresentation.self) public var tags: [String] = []
}

@Selection struct Inner { var depth: Int }
@Selection struct Outer { var inner: Inner }

/// Rows, and `Columns` of them, as parts of statements.
@Suite struct RowStatementsTests {
    private func withPeople(_ body: (Database) throws -> Void) throws {
        let queue = try encryptedDatabase(
            """
            CREATE TABLE persons (
                id INTEGER PRIMARY KEY, bossID INTEGER, name TEXT NOT NULL, born TEXT NOT NULL, tags TEXT NOT NULL,
                width INTEGER NOT NULL, height INTEGER NOT NULL)
            """)
        try queue.write { db throws in
            try Person.insert {
                Person(id: 1, name: "Ann")
                Person(id: 2, bossID: 1, name: "Bob", size: PersonSize(width: 5, height: 6))
                Person(id: 3, bossID: 2, name: "Cid")
                Person(id: 4, name: "Dan")
            }.execute(db)
            try body(db)
        }
    }

    @Test func aRowBeginsARecursiveTable() throws {
        let query = With {
            Fibonacci(n: 1, previous: 0, current: 1)
                .union(
                    Fibonacci.select {
                        Fibonacci.Columns(
                            n: $0.n + 1, previous: $0.current, current: $0.previous + $0.current)
                    })
        } query: {
            Fibonacci.select(\.current).limit(8)
        }
        #expect(
            sql(query) == """
                WITH "fibonaccis" AS (
                SELECT 1 AS "n", 0 AS "previous", 1 AS "current"
                UNION
                SELECT ("fibonaccis"."n") + (1) AS "n", "fibonaccis"."current" AS "previous", \
                ("fibonaccis"."previous") + ("fibonaccis"."current") AS "current"
                FROM "fibonaccis"
                )
                SELECT "fibonaccis"."current"
                FROM "fibonaccis"
                LIMIT 8
                """)
        try withPeople { db throws in #expect(try query.fetchAll(db) == [1, 1, 2, 3, 5, 8, 13, 21]) }
    }

    @Test func aRowWithAGroupBeginsARecursiveTable() throws {
        let first = Report(id: 1, name: "Ann", size: PersonSize())
        let query = With {
            first.union(
                all: true,
                Person.select { Report.Columns(id: $0.id, name: $0.name, size: $0.size) }
                    .join(Report.all) { $0.bossID.is($1.id) })
        } query: {
            Report.order(by: \.id)
        }
        try withPeople { db throws in
            #expect(try query.fetchAll(db).map(\.name) == ["Ann", "Bob", "Cid"])
            #expect(try query.fetchAll(db)[1].size == PersonSize(width: 5, height: 6))
            let table = #sql(
                "WITH \(Report.self) AS (\(first)) SELECT \(Report.name) FROM \(Report.self)", as: String.self
            )
            #expect(try table.fetchAll(db) == ["Ann"])
            #expect(try Values(first).fetchOne(db) == first)
        }
    }

    @Test func aRowIsACommonTable() throws {
        try withPeople { db throws in
            let query = With {
                Report(id: 2, name: "x", size: PersonSize())
            } query: {
                Person.join(Report.all) { $0.id.eq($1.id) }.select { ($0.name, $1.name) }
            }
            let row = try #require(try query.fetchOne(db))
            #expect(row.0 == "Bob")
            #expect(row.1 == "x")
        }
    }

    @Test func propertiesWithAValueNeedNotBeSelected() throws {
        let query = Person.find(2).select { Person.Columns(id: $0.id, name: $0.name.upper()) }
        try withPeople { db throws in
            #expect(
                try query.fetchOne(db)
                    == Person(id: 2, bossID: nil, name: "BOB", tags: [], size: PersonSize()))
        }
    }

    @Test func valuesOfPublicPropertiesMaySpeakOfWhatIsNotPublic() throws {
        try withPeople { db throws in
            let row = try Values(PublicRow.Columns(tags: #bind(["a"]))).fetchOne(db)
            #expect(row?.depth == 7)
            #expect(row?.tags == ["a"])
            #expect(try Values(PublicRow.Columns(depth: 1)).fetchOne(db)?.tags == [])
        }
    }

    @Test func aSelectionInAnotherHasTheNamesOfItsColumns() throws {
        let columns = Outer.Columns(inner: Inner.Columns(depth: 42))
        #expect(sql(Values(columns)) == #"SELECT 42 AS "depth""#)
        try withPeople { db throws in
            #expect(try Values(columns).fetchOne(db)?.inner.depth == 42)
            #expect(try Person.find(1).select { _ in columns }.fetchOne(db)?.inner.depth == 42)
        }
    }

    @Test func statementsWithChosenColumnsAreJoined() throws {
        enum Boss: AliasName {}
        let bosses = Person.as(Boss.self)
        try withPeople { db throws in
            let both = Person.select(\.name).join(bosses.select(\.name)) { $0.bossID.eq($1.id) }
                .order { worker, _ in worker.id }
            #expect(try both.fetchAll(db).map { "\($0) \($1)" } == ["Bob Ann", "Cid Bob"])
            let one = Person.select(\.name).join(bosses.all) { $0.bossID.eq($1.id) }.order { worker, _ in
                worker.id
            }
            #expect(try one.fetchAll(db) == ["Bob", "Cid"])
            let optional = Person.select(\.name).leftJoin(bosses.select(\.name)) { $0.bossID.is($1.id) }
                .order { worker, _ in worker.id }
            #expect(try optional.fetchAll(db).map(\.1) == [nil, "Ann", "Bob", nil])
        }
    }

    @Test func chosenColumnsAreReplaced() throws {
        try withPeople { db throws in
            let swapped = Person.find(2).select { ($0.id, $0.name) }.map { ($1, $0) }
            #expect(sql(swapped).hasPrefix(#"SELECT "persons"."name", "persons"."id""#))
            #expect(try #require(try swapped.fetchOne(db)).0 == "Bob")
            let whole = Person.find(2).select { ($0.id, $0.name) }.map { _, _ in }
            #expect(try whole.fetchOne(db)?.size.height == 6)
            let report = Person.find(2).select { ($0.size, ($0.id + 1).abs()) }
                .map { Report.Columns(id: $1, name: "(,)", size: $0) }
            #expect(
                try report.fetchOne(db) == Report(id: 3, name: "(,)", size: PersonSize(width: 5, height: 6)))
        }
    }

    @Test func handwrittenColumnsAreReplaced() throws {
        try withPeople { db throws in
            let texts = [
                "name /* don't, ( */", "name -- (,'\n", "'(' || [name]", "`name`", "max(id, 2) - -1",
            ]
            for text in texts {
                let column = SQLQueryExpression(QueryFragment(text), as: String.self)
                let query = Person.find(2).select { (column, $0.id) }.map { first, _ in first }
                let plain = Person.find(2).select { _ in column }
                #expect(sql(query) == sql(plain))
            }
            let unbalanced = SQLQueryExpression("name)", as: String.self)
            let query = Person.find(2).select { (unbalanced, $0.id) }.map { ($1, $0) }
            #expect(throws: QueryBindingError.self) { try query.fetchAll(db) }
        }
    }

    @Test func aRowMeetsTheRowsOfAStatement() throws {
        let place = Report(id: 1, name: "Ann", size: PersonSize())
        let all = Person.select { Report.Columns(id: $0.id, name: $0.name, size: $0.size) }
        try withPeople { db throws in
            #expect(try place.intersect(all).fetchAll(db) == [place])
            #expect(try place.except(all).fetchAll(db) == [])
            #expect(try place.union(all).fetchAll(db).count == 4)
            #expect(try place.union(all: true, all).fetchAll(db).count == 5)
        }
    }

    @Test func keysAreFoundByAStatementInASelection() throws {
        try withPeople { db throws in
            let bosses = Person.where { $0.bossID.isNot(nil) }.select(\.bossID)
            #expect(try Person.order(by: \.id).find(bosses).fetchAll(db).map(\.name) == ["Ann", "Bob"])
        }
    }

    @Test func identifiersAreCast() throws {
        let id = try #require(UUID(uuidString: "00000000-0000-0000-0000-00000000002A"))
        try withPeople { db throws in
            let text = Values(Data(id.uuidString.lowercased().utf8).cast(as: UUID.self))
            #expect(sql(text).hasPrefix("SELECT CAST("))
            #expect(try text.fetchOne(db) == id)
            let bytes = Values("abcdefghijklmnop".cast(as: UUID.BytesRepresentation.self))
            #expect(sql(bytes) == "SELECT CAST('abcdefghijklmnop' AS BLOB)")
            #expect(try bytes.fetchOne(db)?.uuid.0 == UInt8(ascii: "a"))
        }
    }
}
