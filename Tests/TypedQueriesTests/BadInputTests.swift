import Foundation
import Testing
import TypedQueries

@Suite struct BadInputTests {
    @Test func nullForANonOptionalSaysWhere() throws {
        try withStore { (db) throws in
            try db.execute(
                sql: "CREATE TABLE counters (value INTEGER); INSERT INTO counters VALUES (1), (NULL)")
            let error = #expect(throws: QueryDecodingFailure.self) { try Counter.all.fetchAll(db) }
            #expect(error?.reason == .missingRequiredColumn)
            #expect(error?.table == "counters")
            #expect(error?.column == "value")
            #expect(error?.rowType == "Counter")
            #expect(error?.sql.contains("FROM \"counters\"") == true)
            // The statement can be used again.
            #expect(try Counter.where { $0.value.isNot(nil) }.fetchAll(db).map(\.value) == [1])
        }
    }

    @Test func anotherTypeIsNotRead() throws {
        try withStore { (db) throws in
            try db.execute(sql: "CREATE TABLE counters (value); INSERT INTO counters VALUES ('many')")
            let error = #expect(throws: QueryDecodingFailure.self) { try Counter.all.fetchOne(db) }
            #expect(error?.reason == .typeMismatch(expected: "an integer", found: "text"))
            #expect(
                error.map { "\($0)" }?.contains(
                    "column \"value\" (0) of \"counters\" is text, not an integer") == true)
            #expect("\(error!)".contains("many") == false)
        }
    }

    @Test func aMissingColumnIsAnError() throws {
        try withStore { (db) throws in
            try db.execute(sql: "CREATE TABLE counters (other INTEGER)")
            let error = #expect(throws: DatabaseError.self) { try Counter.all.fetchAll(db) }
            #expect(error?.message?.contains("no such column: counters.value") == true)
            #expect(error?.sql?.contains("\"counters\".\"value\"") == true)
            let few = SQLQueryExpression("SELECT 1", as: RemindersList.self)
            #expect(throws: QueryDecodingFailure.self) { try few.fetchAll(db) }
        }
    }

    @Test func valuesOutOfRangeAreRefused() throws {
        try withStore { (db) throws in
            #expect(throws: (any Error).self) { try Values(UInt64.max).fetchOne(db) }
            #expect(throws: QueryDecodingFailure.self) {
                try SQLQueryExpression("SELECT 300", as: UInt8.self).fetchOne(db)
            }
            #expect(try Values(UInt8(3)).fetchOne(db) == 3)
        }
    }

    @Test func errorsHoldNoValue() throws {
        struct Measurement: Codable {
            var number = 48_213.5
            var limit = Double.infinity
            var days: [String: Date] = [:]
            var limits: [String: Double] = [:]
        }
        let date = Date(timeIntervalSince1970: 482_130_000_000)
        try withStore { (db) throws in
            let limits: [String: Double] = ["48213": .infinity]
            let reading = #expect(throws: QueryDecodingFailure.self) {
                try SQLQueryExpression("SELECT 48213", as: Int8.self).fetchOne(db)
            }
            #expect(reading.map { "\($0.reason)" }?.contains("48213") == false)
            let writing = [
                #expect(throws: QueryBindingError.self) {
                    try Values(Measurement.JSONRepresentation(queryOutput: Measurement())).fetchOne(db)
                },
                #expect(throws: QueryBindingError.self) {
                    try Values(
                        Measurement.JSONRepresentation(
                            queryOutput: Measurement(limit: 1, days: ["48213": date]))
                    )
                    .fetchOne(db)
                },
                #expect(throws: QueryBindingError.self) {
                    try Values(
                        Measurement.JSONRepresentation(queryOutput: Measurement(limit: 1, limits: limits))
                    )
                    .fetchOne(db)
                },
                #expect(throws: QueryBindingError.self) {
                    try Values([String: Double].JSONRepresentation(queryOutput: limits)).fetchOne(db)
                },
                #expect(throws: QueryBindingError.self) {
                    try Values([Measurement].JSONRepresentation(queryOutput: [Measurement()])).fetchOne(db)
                },
                #expect(throws: QueryBindingError.self) { try Values(UInt64.max).fetchOne(db) },
                #expect(throws: QueryBindingError.self) { try Values(date).fetchOne(db) },
            ].map { $0?.description }
            #expect(
                writing == [
                    "the value can't be written as JSON at limit", "the date is not in the years 0 to 9999",
                    "the value can't be written as JSON at limits", "the value can't be written as JSON",
                    "the value can't be written as JSON at limit",
                    "the integer is greater than what SQLite can store",
                    "the date is not in the years 0 to 9999",
                ])
        }
    }

    @Test func aClosedDatabaseIsAnErrorAndNoTrap() throws {
        let queue = try DatabaseQueue()
        let db = try queue.write { $0 }
        try queue.write { db throws in
            try db.execute(sql: "CREATE TABLE counters (value INTEGER)")
            #expect(try Counter.all.fetchAll(db).isEmpty)
        }
        try queue.close()
        #expect(throws: DatabaseError.self) { try Counter.all.fetchAll(db) }
        #expect(throws: DatabaseError.self) { try Counter.delete().execute(db) }
        #expect(throws: DatabaseError.self) { try Counter.all.fetchCursor(db) }
    }

    @Test func textsWithBytesOfTheCodeAreTexts() throws {
        try withStore { (db) throws in
            let text = "a\u{1}b\u{0}c\"d'e\u{8}\u{e}"
            #expect(try Values(text).fetchOne(db) == text)
            let quoted: QueryFragment = "SELECT \(quote: "x\u{1}'", delimiter: .text)"
            #expect(try SQLQueryExpression(quoted, as: String.self).fetchOne(db) == "x\u{1}'")
            let name: QueryFragment = "SELECT 1 AS \(quote: "we\"ird\u{2}")"
            #expect(try SQLQueryExpression(name, as: Int.self).fetchOne(db) == 1)
        }
    }
}
