import CipherStore
import Foundation
import Testing

/// What the short cuts of fetching and binding must not change.
@Suite struct HotPathTests {
    private let queue: DatabaseQueue

    init() throws { queue = try DatabaseQueue() }

    @Test func argumentsComeBackAsTheyAreWhateverTheirLength() throws {
        let lengths = [0, 1, 15, 16, 17, 500, 1023, 1024, 1025, 5000]
        try queue.write { db in
            let statement = try db.makeStatement(sql: "SELECT ?, ?, ?, typeof(?), typeof(?)")
            for first in lengths {
                for second in lengths {
                    let text = (first % 2 == 1 ? "a" : "") + String(repeating: "é", count: first / 2)
                    let blob = Data(repeating: 7, count: second)
                    let arguments: StatementArguments = [text, blob, UUID(uuid: Self.bytes), "", Data()]
                    let row = try #require(try Row.fetchOne(statement, arguments: arguments))
                    #expect(row[0] == text)
                    #expect(row[1] == blob)
                    #expect(row[2] == UUID(uuid: Self.bytes))
                    #expect(row[3] == "text")
                    #expect(row[4] == "blob")
                }
            }
        }
    }

    @Test func aStatementKeepsItsArgumentsBetweenRuns() throws {
        try queue.read { db in
            let statement = try db.makeStatement(sql: "SELECT :first || :second")
            for length in [1, 2000] {
                let long = String(repeating: "b", count: length)
                try statement.setArguments(["second": long, "first": "a"])
                for _ in 0..<2 { #expect(try fetch(statement) == "a" + long) }
                statement.setUncheckedArguments(["a", long])
                for _ in 0..<2 { #expect(try fetch(statement) == "a" + long) }
            }
            statement.setUncheckedArguments(["a"])
            #expect(try fetch(statement) == nil)
            #expect(throws: DatabaseError.self) { try statement.setArguments(["a"]) }
            #expect(throws: DatabaseError.self) { try statement.setArguments(["a", "b", "c"]) }
        }
    }

    private func fetch(_ statement: Statement) throws -> String? {
        try Row.fetchOne(statement)?.decodeIfPresent(String.self, atIndex: 0)
    }

    @Test func aStatementThatWasSteppedByItsHandleBeginsAnew() throws {
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE t (a)")
            let insert = try db.makeStatement(sql: "INSERT INTO t VALUES (?)")
            let select = try db.makeStatement(sql: "SELECT 1 UNION ALL SELECT 2")
            try insert.execute(arguments: ["first"])
            for value in ["second", "third"] {
                // To its end, without a reset: it takes no values in that state.
                #expect(RawStep.next(insert.sqliteStatement) == false)
                try insert.execute(arguments: [value])
                #expect(RawStep.next(insert.sqliteStatement) == false)
                insert.setUncheckedArguments([value])
                try insert.execute()
            }
            let counts = try Row.fetchAll(db, sql: "SELECT a, count(*) FROM t WHERE a IS NOT NULL GROUP BY a")
            #expect(counts.map { $0[0] as String } == ["first", "second", "third"])
            // Unchecked values stay bound, so that the handle inserts them once more.
            #expect(counts.map { $0[1] as Int } == [1, 3, 2])
            // In the middle.
            #expect(RawStep.next(select.sqliteStatement) == true)
            #expect(try Int.fetchAll(select) == [1, 2])
            #expect(RawStep.next(select.sqliteStatement) == true)
            try select.execute()
            #expect(try Int.fetchAll(select) == [1, 2])
        }
    }

    @Test func aValueOfSixteenBytesIsLikeEveryOtherBlob() throws {
        let data = Data(1...16)
        let value = data.databaseValue
        #expect(value == UUID(uuid: Self.bytes).databaseValue)
        #expect(value.hashValue == UUID(uuid: Self.bytes).databaseValue.hashValue)
        #expect(value.storage == .blob(data))
        #expect(value != Data(1...15).databaseValue)
        #expect(value.description == "Data(16 bytes)")
        #expect(Data.fromDatabaseValue(value) == data)
        try queue.read { db in
            let sql = "SELECT x'0102030405060708090A0B0C0D0E0F10'"
            let row = try #require(try Row.fetchOne(db, sql: sql))
            #expect(row.databaseValues == [value])
            #expect(try Data.fetchOne(db, sql: sql) == data)
        }
    }

    @Test func aNameIsThatOfTheLeftmostColumnInWhateverOrderItIsAsked() throws {
        try queue.read { db in
            let cursor = try Row.fetchCursor(db, sql: "SELECT 1 AS a, 2 AS b, 3 AS A, 4 AS \"\"")
            let same = try #require(try cursor.next())
            for _ in 0..<2 {
                #expect(same["b"] == 2)
                #expect(same["A"] == 1)
                #expect(same["a"] == 1)
                #expect(same[""] == 4)
            }
            let rows = try Row.fetchCursor(db, sql: "SELECT 1 AS a, 2 AS b, 3 AS c")
            let row = try #require(try rows.next())
            for name in ["a", "b", "c", "a", "c", "b", "B", "C", "b", "a"] {
                #expect(row[name] == Int(try #require(name.lowercased().utf8.first)) - 96)
            }
            #expect(row["d"] as Int? == nil)
        }
    }

    @Test func invalidTextIsRepaired() throws {
        try queue.read { db in
            #expect(try String.fetchOne(db, sql: "SELECT CAST(x'61FF62' AS TEXT)") == "a\u{FFFD}b")
            let long = try String.fetchOne(db, sql: "SELECT CAST(x'61FF62' AS TEXT) || 'cccccccccccccccc'")
            #expect(long == "a\u{FFFD}bcccccccccccccccc")
            #expect(try String.fetchOne(db, sql: "SELECT ''") == "")
        }
    }

    private static let bytes: uuid_t = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)
}
