import CipherStore
import Testing

/// Aggregates with a condition are those of SQLite, on engines without `FILTER` too.
@Suite struct FilteredAggregateTests {
    private let words = Table("word")
    private let text = Column("text")
    private let plain = Column("plain")
    private let number = Column("number")

    private func makeQueue() throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE word (text TEXT COLLATE NOCASE, plain TEXT, number INTEGER);
                    INSERT INTO word VALUES ('a', 'a', 1), ('A', 'A', 2), ('B', 'B', NULL);
                    """)
        }
        return queue
    }

    @Test func groupsOfJSONHaveTheRowsOfTheirConditionOnly() throws {
        try makeQueue().read { (db: Database) throws -> Void in
            func value(_ expression: SQLExpression) throws -> String? {
                try String.fetchOne(db, words.select(expression))
            }
            let condition = plain != "a"
            #expect(try value(Database.jsonGroupArray(number, filter: condition)) == "[2,null]")
            #expect(try value(Database.jsonGroupArray(number, filter: plain == "none")) == "[]")
            let object = Database.jsonGroupObject(key: plain, value: number, filter: condition)
            #expect(try value(object) == #"{"A":2,"B":null}"#)
            let array = Database.jsonbGroupArray(number, filter: condition)
            #expect(try value(Database.json(array)) == "[2,null]")
            let binaryObject = Database.jsonbGroupObject(key: plain, value: number, filter: condition)
            #expect(try value(Database.json(binaryObject)) == #"{"A":2,"B":null}"#)
        }
    }

    @Test func groupsOfJSONTakeArgumentsInTheOrderInWhichTheyAreWritten() throws {
        try makeQueue().read { (db: Database) throws -> Void in
            let shown = SQL("plain || \("!")").sqlExpression
            let request = words.select(Database.jsonGroupArray(shown, filter: plain == "A"))
            #expect(try String.fetchOne(db, request) == #"["A!"]"#)
        }
    }

    @Test func textsAreComparedByTheCollationOfTheirColumn() throws {
        try makeQueue().read { (db: Database) throws -> Void in
            // The collation of the condition is not that of the values.
            let condition = plain.collating(.nocase) != "none"
            func values(_ value: SQLExpression) throws -> [DatabaseValue] {
                let request = words.select(
                    count(distinct: value, filter: condition), min(value, filter: condition),
                    max(value, filter: condition))
                return try Row.fetchAll(db, request).flatMap { Array($0.databaseValues) }
            }
            let ignoringCase = [2.databaseValue, "a".databaseValue, "B".databaseValue]
            let byBytes = [3.databaseValue, "A".databaseValue, "a".databaseValue]
            #expect(try values(text.sqlExpression) == ignoringCase)
            #expect(try values(plain.sqlExpression) == byBytes)
            #expect(try values(plain.collating(.nocase)) == ignoringCase)
            #expect(try values(text.collating(.binary)) == byBytes)
        }
    }
}
