import Foundation
import Testing

@testable import TypedQueries

@Suite struct DateFunctionTests {
    let event = Event.columns
    /// 2026-11-25 20:15:30, a Wednesday.
    let date = Date(timeIntervalSince1970: 1_795_637_730)
    /// 2026-11-24 00:00:00
    let before = Date(timeIntervalSince1970: 1_795_478_400)

    @Test func theSQLFollowsTheRepresentation() {
        expectSQL(
            event.day(.startOfDay.days(-1)),
            #"strftime('%Y-%m-%d %H:%M:%f', "events"."day", 'start of day', '-1 days')"#)
        expectSQL(
            event.unix(.months(2)),
            #"CAST(strftime('%s', "events"."unix", 'unixepoch', '+2 months') AS INTEGER)"#)
        expectSQL(event.julian(.seconds(-1.5)), #"julianday("events"."julian", '-1.500 seconds')"#)
        expectSQL(event.day.year, #"CAST(strftime('%Y', "events"."day") AS INTEGER)"#)
        expectSQL(event.unix.weekday, #"CAST(strftime('%w', "events"."unix", 'unixepoch') AS INTEGER)"#)
        expectSQL(event.day.strftime("%Y-%m"), #"strftime('%Y-%m', "events"."day")"#)
        expectSQL(
            event.day > .now(.days(-7)),
            #"("events"."day") > (strftime('%Y-%m-%d %H:%M:%f', 'now', '-7 days'))"#)
        expectSQL(event.unix.lt(.now()), #"("events"."unix") < (CAST(strftime('%s', 'now') AS INTEGER))"#)
        expectSQL(event.end.lt(.now()), #"("events"."end") < (strftime('%Y-%m-%d %H:%M:%f', 'now'))"#)
    }

    @Test func datesAreChanged() throws {
        try withTables { db throws in
            try Event.insert { Event(date) }.execute(db)
            #expect(try Event.select { $0.day(.startOfDay.days(-1)) }.fetchOne(db) == before)
            #expect(try Event.select { $0.unix(.startOfDay.days(-1)) }.fetchOne(db) == before)
            #expect(try Event.select { $0.julian(.startOfDay.days(-1)) }.fetchOne(db) == before)
            #expect(try Event.select { $0.end(.days(1)) }.fetchOne(db) == .some(nil))
            #expect(try Event.select { $0.unix(.seconds(-0.5)) }.fetchOne(db) == date.addingTimeInterval(-1))
            #expect(try Event.select { $0.day(.seconds(-0.5)) }.fetchOne(db) == date.addingTimeInterval(-0.5))
            #expect(try Event.select { $0.day(.hours(1).minutes(-60)) }.fetchOne(db) == date)
            #expect(try Event.select { $0.day(.startOfYear).date() }.fetchOne(db) == "2026-01-01")
            #expect(try Event.select { $0.day(.weekday(0)).date() }.fetchOne(db) == "2026-11-29")
            #expect(try Event.select { $0.unix.date(.startOfMonth.years(1)) }.fetchOne(db) == "2027-11-01")
        }
    }

    @Test func secondsHaveDecimals() throws {
        expectSQL(event.day.fractionalSecond, #"CAST(strftime('%f', "events"."day") AS REAL)"#)
        try withTables { db throws in
            try Event.insert { Event(date.addingTimeInterval(0.25)) }.execute(db)
            let text = try Event.select { $0.day.fractionalSecond }.fetchOne(db)
            #expect(text == 30.25)
            let missing = try Event.select { $0.end.fractionalSecond }.fetchOne(db)
            #expect(missing == .some(nil))
        }
    }

    @Test func partsOfDatesAreNumbers() throws {
        try withTables { db throws in
            try Event.insert { Event(date) }.execute(db)
            let row = try #require(
                try Event.select { ($0.day.year, $0.unix.month, $0.julian.day, $0.end.hour) }.fetchOne(db))
            #expect(row == (2026, 11, 25, nil))
            let time = try #require(
                try Event.select {
                    ($0.day.hour, $0.unix.minute, $0.day.second, $0.unix.weekday, $0.day.dayOfYear)
                }
                .fetchOne(db))
            #expect(time == (20, 15, 30, 3, 329))
            #expect(try Event.select { $0.day.week }.fetchOne(db) == 47)
            #expect(try Event.select { $0.unix.strftime("%d.%m.%Y") }.fetchOne(db) == "25.11.2026")
            #expect(try Event.select { $0.julian.time() }.fetchOne(db) == "20:15:30")
            #expect(try Event.select { $0.end.strftime("%Y") }.fetchOne(db) == .some(nil))
        }
    }

    @Test func datesAreComparedWithTheCurrentTime() throws {
        try withTables { db throws in
            let now = Date()
            try Event.insert { Event(now, end: now) }.execute(db)
            for past in [DateModifiers.days(-1), .hours(-1), .minutes(-10)] {
                #expect(try Event.where { $0.day > .now(past) }.fetchCount(db) == 1)
                #expect(try Event.where { $0.unix > .now(past) }.fetchCount(db) == 1)
                #expect(try Event.where { $0.julian > .now(past) }.fetchCount(db) == 1)
                #expect(try Event.where { $0.end > .now(past) }.fetchCount(db) == 1)
            }
            #expect(try Event.where { $0.day > .now(.days(1)) }.fetchCount(db) == 0)
            #expect(try Event.where { $0.unix > .now(.days(1)) }.fetchCount(db) == 0)
            #expect(try Event.where { $0.julian > .now(.days(1)) }.fetchCount(db) == 0)
        }
    }

    @Test func noDateIsAfterTheYear9999() throws {
        let last = Date(timeIntervalSince1970: 253_402_300_799)
        try withTables { db throws in
            try Event.insert { Event(last, end: last) }.execute(db)
            for change in [DateModifiers.days(1), .months(12), .seconds(1), .startOfMonth.months(1, .floor)] {
                let counts = [
                    try Event.where { $0.day(change) < .now }.fetchCount(db),
                    try Event.where { $0.day(change) > .now }.fetchCount(db),
                    try Event.where { $0.unix(change) < .now }.fetchCount(db),
                    try Event.where { $0.unix(change) > .now }.fetchCount(db),
                    try Event.where { $0.julian(change) < .now }.fetchCount(db),
                    try Event.where { $0.julian(change) > .now }.fetchCount(db),
                    try Event.where { $0.end(change) < .now }.fetchCount(db),
                    try Event.where { $0.end(change) > .now }.fetchCount(db),
                ]
                #expect(counts == Array(repeating: 0, count: 8))
            }
            let next = try Event.select { $0.end(.days(1)) }.fetchOne(db)
            #expect(next == .some(nil))
            let text = try Event.select { $0.end.date(.days(1)) }.fetchOne(db)
            #expect(text == .some(nil))
            let before = try Event.select { $0.day(.days(-1)) }.fetchOne(db)
            #expect(before == last.addingTimeInterval(-86_400))
            let future = try Event.where { $0.day > .now(.years(9000)) || $0.day < .now(.years(9000)) }
                .fetchCount(db)
            #expect(future == 0)
        }
    }

    @Test(arguments: [
        (253_402_300_799.0, 9999, "9999-12-31"), (110_000_000_000.0, 5455, "5455-10-06"),
        (-62_135_596_800.0, 1, "0001-01-01"), (-1.0, 1969, "1969-12-31"),
    ])
    func secondsOfAnyYearAreRead(_ seconds: Double, _ year: Int, _ day: String) throws {
        let date = Date(timeIntervalSince1970: seconds)
        try withTables { db throws in
            try Event.insert { Event(date) }.execute(db)
            let years = try Event.select { ($0.unix.year, $0.julian.year, $0.day.year) }.fetchOne(db)
            #expect(try #require(years) == (year, year, year))
            let days = try Event.select { ($0.unix.date(), $0.unix.strftime("%Y-%m-%d")) }.fetchOne(db)
            #expect(try #require(days) == (day, day))
            let before = try Event.select { $0.unix(.seconds(-1)) }.fetchOne(db)
            #expect(before == date.addingTimeInterval(-1))
            let json = try Event.select { event -> SQLQueryExpression<String> in
                var fragment = QueryFragment()
                Date.UnixTimeRepresentation.writeJSON(event.unix.queryFragment, to: &fragment)
                return SQLQueryExpression(fragment, as: String.self)
            }.fetchOne(db)
            #expect(json?.hasPrefix(day) == true)
        }
    }
}
