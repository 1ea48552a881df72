import Foundation
import Testing
import TypedQueriesMacros

@Table struct Due: Equatable {
    let id: Int
    var day: Date
    @Column(as: Date.UnixTimeRepresentation.self) var seconds: Date
    var points = 0
    var rounds: Int?
}

extension DateModifiers {
    fileprivate static let lastOfMonth = Self.startOfMonth.months(1).days(-1)
}

/// Changes of dates, and numbers whose type nothing says.
@Suite struct DatesAndCastsTests {
    private func withDues(_ body: (Database) throws -> Void) throws {
        let queue = try encryptedDatabase(
            """
            CREATE TABLE dues (
                id INTEGER PRIMARY KEY, day TEXT NOT NULL, seconds INTEGER NOT NULL, points INTEGER NOT NULL,
                rounds INTEGER)
            """)
        try queue.write { db throws in
            try Due.insert {
                Due(
                    id: 1, day: date("2024-01-31 10:00:00"), seconds: date("2024-02-29 00:00:00"), points: 7,
                    rounds: 2)
                Due(id: 2, day: date("2023-03-15 23:59:59"), seconds: date("2023-12-31 12:00:00"))
            }.execute(db)
            try body(db)
        }
    }

    private func date(_ text: String) -> Date {
        let style = Date.ISO8601FormatStyle(timeZone: .gmt).year().month().day().dateTimeSeparator(.space)
            .time(includingFractionalSeconds: false)
        return (try? Date(text, strategy: style)) ?? .distantPast
    }

    @Test func aDayThatAMonthLacksGoesOnOrStays() throws {
        try withDues { db throws in
            let days = Due.order(by: \.id).select { ($0.day(.months(1)), $0.day(.months(1, .floor))) }
            let rows = try days.fetchAll(db)
            #expect(rows.map(\.0) == [date("2024-03-02 10:00:00"), date("2023-04-15 23:59:59")])
            #expect(rows.map(\.1) == [date("2024-02-29 10:00:00"), date("2023-04-15 23:59:59")])
            let years = Due.order(by: \.id).select {
                $0.seconds(.years(-1, .floor).months(1, .floor).days(1))
            }
            #expect(try years.fetchAll(db) == [date("2023-03-29 00:00:00"), date("2023-02-01 12:00:00")])
        }
        let sql = sql(Due.select { $0.day(.months(1, .floor)) })
        #expect(sql.contains(#"strftime('%Y-%m-%d %H:%M:%f', "dues"."day", '+1 months', 'floor')"#))
    }

    @Test func millisecondsAreAdded() throws {
        try withDues { db throws in
            let query = Due.find(1).select { ($0.day(.milliseconds(877)), $0.day(.milliseconds(-1_500))) }
            let row = try #require(try query.fetchOne(db))
            #expect(abs(row.0.timeIntervalSince(date("2024-01-31 10:00:00")) - 0.877) < 0.000_5)
            #expect(abs(row.1.timeIntervalSince(date("2024-01-31 10:00:00")) + 1.5) < 0.000_5)
        }
    }

    @Test func changesOfAnExtensionFollowOthers() throws {
        try withDues { db throws in
            #expect(
                try Due.find(1).select { $0.day(.days(1).lastOfMonth) }.fetchOne(db)
                    == date("2024-02-29 00:00:00"))
            #expect(
                try Due.find(2).select { $0.day(.lastOfMonth) }.fetchOne(db) == date("2023-03-31 00:00:00"))
        }
    }

    @Test func nowNeedsNoParentheses() throws {
        try withDues { db throws in
            #expect(try Due.where { $0.day < .now && $0.seconds < .now }.fetchAll(db).count == 2)
            #expect(try Due.where { $0.day > .now(.years(10)) }.fetchAll(db) == [])
            #expect(try Due.where { $0.seconds > .now(.months(1).lastOfMonth) }.fetchAll(db) == [])
        }
    }

    @Test func integersAreDividedAsNumbersWhereNothingElseIsSaid() throws {
        let query = Due.find(1).select { $0.points.cast(as: Double.self) / $0.rounds.ifnull(1).cast() }
        #expect(
            sql(query).hasPrefix(
                #"SELECT (CAST("dues"."points" AS REAL)) / (CAST(ifnull("dues"."rounds", 1) AS REAL))"#))
        try withDues { db throws in
            #expect(try query.fetchOne(db) == 3.5)
            #expect(try Due.find(2).select { $0.rounds.cast() / $0.points.cast() }.fetchAll(db) == [nil])
            let above = Due.where {
                $0.points.cast() >= Due.select { $0.points.avg() ?? 0 } && $0.points.cast() > 1.0
            }
            #expect(try above.fetchAll(db).map(\.id) == [1])
        }
    }

    @Test func theRestOfADivisionByZeroIsNull() throws {
        try withDues { db throws in
            #expect(try Due.order(by: \.id).select { $0.points % 0 }.fetchAll(db) == [nil, nil])
            #expect(try Due.where { ($0.points % 4).eq(3) }.fetchAll(db).map(\.id) == [1])
            #expect(try Due.find(1).select { $0.rounds % 2 + 1 }.fetchOne(db) == .some(1))
        }
    }
}
