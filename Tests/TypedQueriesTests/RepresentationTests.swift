import Foundation
import Testing
import TypedQueries

/// Stores a value, reads it back, and tells how it is stored.
private func stored<Value: QueryRepresentable>(
    _ value: Value.QueryOutput, as type: Value.Type
) throws -> (storage: String, value: Value.QueryOutput?) {
    try withStore { (db) throws in
        let storage = try SQLQueryExpression(
            "SELECT typeof(\(BindQueryExpression(value, as: type))) || ':' || quote(\(BindQueryExpression(value, as: type)))",
            as: String.self
        ).fetchOne(db)
        let read = try SQLQueryExpression("SELECT \(BindQueryExpression(value, as: type))", as: type)
            .fetchOne(db)
        return (storage ?? "", read)
    }
}

@Suite struct RepresentationTests {
    let uuid = UUID(
        uuid: (0xDE, 0xAD, 0xBE, 0xEF, 0xDE, 0xAD, 0xBE, 0xEF, 0xDE, 0xAD, 0xBE, 0xEF, 0xDE, 0xAD, 0xBE, 0xEF)
    )
    let date = Date(timeIntervalSince1970: 1_764_101_700.125)

    @Test func uuids() throws {
        #expect(try stored(uuid, as: UUID.self) == ("text:'deadbeef-dead-beef-dead-beefdeadbeef'", uuid))
        #expect(
            try stored(uuid, as: UUID.UppercasedRepresentation.self)
                == ("text:'DEADBEEF-DEAD-BEEF-DEAD-BEEFDEADBEEF'", uuid))
        #expect(
            try stored(uuid, as: UUID.BytesRepresentation.self)
                == ("blob:X'DEADBEEFDEADBEEFDEADBEEFDEADBEEF'", uuid))
        let none = try stored(nil, as: UUID?.BytesRepresentation.self)
        #expect(none.storage == "null:NULL")
        #expect(none.value == .some(nil))
    }

    @Test func dates() throws {
        #expect(try stored(date, as: Date.self) == ("text:'2025-11-25 20:15:00.125'", date))
        let whole = Date(timeIntervalSince1970: 1_764_101_700)
        #expect(try stored(date, as: Date.UnixTimeRepresentation.self) == ("integer:1764101700", whole))
        let julian = try stored(date, as: Date.JulianDayRepresentation.self)
        #expect(julian.storage.hasPrefix("real:2"))
        #expect(julian.value == date)
        try withStore { (db) throws in
            for text in ["2025-11-25T20:15:00.125Z", "2025-11-25 21:15:00.125+01:00"] {
                #expect(try SQLQueryExpression("SELECT \(bind: text)", as: Date.self).fetchOne(db) == date)
            }
            #expect(throws: QueryDecodingFailure.self) {
                try SQLQueryExpression("SELECT '2025-13-25'", as: Date.self).fetchOne(db)
            }
            // SQLite itself agrees on days long ago and far ahead.
            #expect(
                QueryBinding.date(Date(timeIntervalSince1970: -1.5)).debugDescription
                    == "'1969-12-31 23:59:58.500'")
            for seconds in [-62_135_596_800.0, -1, 0, 951_782_400, 4_102_444_799] {
                let day = Date(timeIntervalSince1970: seconds)
                let expected = try String.fetchOne(
                    db, sql: "SELECT strftime('%Y-%m-%d %H:%M:%S.000', ?, 'unixepoch')", arguments: [seconds])
                #expect(QueryBinding.date(day).debugDescription == "'\(expected ?? "")'")
            }
        }
    }

    @Test func json() throws {
        #expect(
            try stored(["a\"b", "c"], as: [String].JSONRepresentation.self) == (
                #"text:'["a\"b","c"]'"#, ["a\"b", "c"]
            ))
        let binary = try stored(["a\"b", "ä\u{1}", "1"], as: [String].JSONBRepresentation.self)
        #expect(binary.value == ["a\"b", "ä\u{1}", "1"])
        #expect(binary.storage.hasPrefix("blob:"))
        let numbers = try stored([1.5, -2, 1e20], as: [Double].JSONBRepresentation.self)
        #expect(numbers.value == [1.5, -2, 1e20])
        let nested = ["k": [[1, 2], [], [300]]]
        #expect(try stored(nested, as: [String: [[Int]]].JSONBRepresentation.self).value == nested)
        try withStore { (db) throws in
            for blob in ["X'FF'", "X'1B'", "X'CB05'", "X'BC'", "X'2C10'"] {
                #expect(throws: (any Error).self) {
                    try SQLQueryExpression("SELECT \(raw: blob)", as: [Int].JSONBRepresentation.self)
                        .fetchOne(db)
                }
            }
        }
    }

    @Test func decimals() throws {
        let long = try #require(Decimal(string: "12345678901234567890.25"))
        #expect(try stored(long, as: Decimal.self) == ("text:'12345678901234567890.25'", long))
        let none = try stored(Decimal.nan, as: Decimal?.self)
        #expect(none.storage == "null:NULL")
        #expect(none.value == .some(nil))
        try withStore { (db) throws in
            let numbers = [
                "'12.50'": "12.5", "1.5": "1.5", "0.1": "0.1", "9007199254740993": "9007199254740993",
                "1e3": "1000", "-2": "-2",
            ]
            for (literal, number) in numbers {
                let read = try SQLQueryExpression("SELECT \(raw: literal)", as: Decimal.self).fetchOne(db)
                #expect(read == Decimal(string: number), "\(literal)")
            }
            for literal in ["'12 apples'", "''", "'NaN'", "X'31'", "9e999"] {
                #expect(throws: QueryDecodingFailure.self, "\(literal)") {
                    try SQLQueryExpression("SELECT \(raw: literal)", as: Decimal.self).fetchOne(db)
                }
            }
        }
    }

    @Test func decimalsAreNumbersInJSONAndInSums() throws {
        try withStore { (db) throws in
            let price = SQLQueryExpression("price", as: Decimal.self)
            let rows: QueryFragment = "(SELECT '1.50' AS price UNION ALL SELECT 2 UNION ALL SELECT 0.25)"
            let prices = try SQLQueryExpression(
                "SELECT \(price.jsonGroupArray()) FROM \(rows)", as: [Decimal].JSONRepresentation.self
            ).fetchOne(db)
            #expect(prices == [1.5, 2, 0.25])
            let sum = try SQLQueryExpression("SELECT \(price.sum()) FROM \(rows)", as: Decimal?.self)
                .fetchOne(db)
            #expect(sum == .some(3.75 as Decimal))
        }
    }

    @Test func rawValuesAndTheRest() throws {
        enum Level: Int, QueryBindable {
            case low = 1
            case high = 3
        }
        #expect(try stored(Level.high, as: Level.self) == ("integer:3", .high))
        #expect(try stored(Data([1, 2]), as: Data.self) == ("blob:X'0102'", Data([1, 2])))
        #expect(try stored(Data(), as: Data.self) == ("blob:X''", Data()))
        #expect(try stored([7], as: [UInt8].self) == ("blob:X'07'", [7]))
        #expect(try stored(true, as: Bool.self) == ("integer:1", true))
        #expect(try stored(2.5, as: Double.self) == ("real:2.5", 2.5))
        try withStore { (db) throws in
            #expect(throws: QueryDecodingFailure.self) {
                try SQLQueryExpression("SELECT 2", as: Level.self).fetchOne(db)
            }
        }
    }
}
