import Foundation
import Testing

@testable import CipherStore

/// The text form of dates, beside a calendar and beside SQLite.
@Suite struct DateTextTests {
    /// The first and the last second of the years 0000 to 9999.
    private let years = -62_167_219_200...253_402_300_799

    private func instant(using random: inout SeededGenerator) -> Date {
        let seconds = Int.random(in: years, using: &random)
        let milliseconds = Int.random(in: 0...999, using: &random)
        let sinceReference = (seconds - 978_307_200) * 1000 + milliseconds
        return Date(timeIntervalSinceReferenceDate: Double(sinceReference) / 1000)
    }

    @Test func datesComeBackAsTheyWere() {
        var random = SeededGenerator(seed: 1)
        var mismatches: [Date] = []
        for _ in 0..<100_000 {
            let date = instant(using: &random)
            if Date.fromDatabaseValue(date.databaseValue) != date { mismatches.append(date) }
        }
        #expect(mismatches.prefix(3).isEmpty)
    }

    @Test func textsAgreeWithACalendar() throws {
        var calendar = Calendar(identifier: .iso8601)
        calendar.timeZone = try #require(TimeZone(secondsFromGMT: 0))
        var random = SeededGenerator(seed: 2)
        var mismatches: [String] = []
        for _ in 0..<20_000 {
            let date = instant(using: &random)
            let parts = calendar.dateComponents(
                [.year, .month, .day, .hour, .minute, .second, .nanosecond], from: date)
            // Foundation's calendars change to the Julian one before October 1582.
            guard let year = parts.year, date.timeIntervalSince1970 > -12_219_292_800 else { continue }
            let text = DatabaseDateComponents(parts, format: .YMD_HMSS).databaseValue
            if text != date.databaseValue { mismatches.append("\(year): \(text) \(date.databaseValue)") }
        }
        #expect(mismatches.prefix(3).isEmpty)
    }

    @Test func textsAgreeWithSQLite() throws {
        var random = SeededGenerator(seed: 3)
        let dates = (0..<20_000).map { _ in instant(using: &random) }
        let mismatches = try DatabaseQueue().read { db -> [String] in
            let statement = try db.makeStatement(
                sql: "SELECT strftime('%Y-%m-%d %H:%M:%f', ?1), julianday(?1)")
            var mismatches: [String] = []
            for date in dates {
                let rows = try Row.fetchCursor(statement, arguments: [date])
                let row = try #require(try rows.next())
                let julianDay: Double = row[1]
                let text: String = row[0]
                // SQLite cuts milliseconds off where a fraction is not exact.
                let difference = Date.fromDatabaseValue(text.databaseValue)?.timeIntervalSince(date)
                let ofJulianDay = Date(julianDay: julianDay)?.timeIntervalSince(date)
                guard let difference, let ofJulianDay, abs(difference) < 0.0015, abs(ofJulianDay) < 0.0015
                else {
                    mismatches.append("\(date.databaseValue) \(text) \(julianDay)")
                    continue
                }
            }
            return mismatches
        }
        #expect(mismatches.prefix(3).isEmpty)
    }

    /// A text in one of the formats, whose numbers may be out of range.
    private func anyText(using random: inout SeededGenerator) -> String {
        func digits(_ width: Int, below bound: Int) -> String {
            let digits = String(Int.random(in: 0..<bound, using: &random))
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        var text = "\(digits(4, below: 10_000))-\(digits(2, below: 15))-\(digits(2, below: 34))"
        if Int.random(in: 0..<8, using: &random) == 0 { return text }
        text += Bool.random(using: &random) ? " " : "T"
        text += "\(digits(2, below: 27)):\(digits(2, below: 63))"
        if Bool.random(using: &random) {
            text += ":\(digits(2, below: 63))"
            if Bool.random(using: &random) { text += ".\(digits(3, below: 1000))" }
        }
        switch Int.random(in: 0..<3, using: &random) {
        case 0: text += "Z"
        case 1:
            text +=
                "\(Bool.random(using: &random) ? "+" : "-")\(digits(2, below: 17)):\(digits(2, below: 62))"
        default: break
        }
        return text
    }

    @Test func whatIsADateIsSQLitesDecision() throws {
        var random = SeededGenerator(seed: 4)
        let texts = (0..<20_000).map { _ in anyText(using: &random) }
        let mismatches = try DatabaseQueue().read { db -> [String] in
            let statement = try db.makeStatement(sql: "SELECT julianday(?)")
            return try texts.filter { text in
                let rows = try Row.fetchCursor(statement, arguments: [text])
                let row = try #require(try rows.next())
                let theirs = (row[0] as Double?).flatMap { Date(julianDay: $0) }
                let ours = Date.fromDatabaseValue(text.databaseValue)
                // Near the ends of its range SQLite gives up on the julian day.
                if text.hasPrefix("0000") || text.hasPrefix("9999") { return false }
                guard let theirs, let ours else { return (theirs == nil) != (ours == nil) }
                return abs(theirs.timeIntervalSince(ours)) > 0.0015
            }
        }
        #expect(mismatches.prefix(3).isEmpty)
    }

    @Test func noBytesCrashTheParser() {
        let alphabet = Array("0123456789-:. TZ+\u{0}é".utf8)
        var random = SeededGenerator(seed: 5)
        var count = 0
        for round in 0..<100_000 {
            var bytes: [UInt8]
            if round.isMultiple(of: 2) {
                bytes = (0..<Int.random(in: 0...30, using: &random)).map { _ in
                    alphabet.randomElement(using: &random) ?? 0
                }
            } else {
                bytes = Array(anyText(using: &random).utf8)
                let index = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.remove(at: index)
                default: bytes.insert(UInt8.random(in: 0...255, using: &random), at: index)
                }
            }
            let parts = bytes.withUnsafeBytes { DateText.parse($0) }
            if let date = parts?.date, Date.fromDatabaseValue(date.databaseValue) != date { count += 1 }
        }
        #expect(count == 0)
    }

    @Test(arguments: [
        (253_402_300_800.0, "+010000-01-01 00:00:00.000"),
        (-62_167_219_200.001, "-000001-12-31 23:59:59.999"),
        (31_494_784_780_799, "+999999-12-31 23:59:59.000"),
        (-31_619_087_596_800, "-999999-01-01 00:00:00.000"),
    ]) func yearsOutsideOfSQLitesHaveASign(seconds: Double, text: String) {
        let date = Date(timeIntervalSince1970: seconds)
        #expect(date.databaseValue == text.databaseValue)
        let parsed = Date.fromDatabaseValue(text.databaseValue)
        #expect(parsed.map { abs($0.timeIntervalSince(date)) < 0.01 } == true)
    }

    @Test(arguments: [
        Double.nan, .infinity, -.infinity, .greatestFiniteMagnitude, -1e300, 31_494_784_780_800 + 1,
    ]) func datesWithoutATextAreNull(seconds: Double) throws {
        let date = Date(timeIntervalSince1970: seconds)
        #expect(date.databaseValue.isNull)
        let isNull = try DatabaseQueue().read {
            try Bool.fetchOne($0, sql: "SELECT ? IS NULL", arguments: [date])
        }
        #expect(isNull == true)
    }

    @Test(arguments: [
        "2018-04-21 25:00", "2018-04-21 00:60", "2018-04-21 00:00:60", "2018-00-01", "2018-01-00",
        "2018-04-21 00:00+15:00", "2018-04-21 00:00+01:60", "2018-04-21 00:00+0100", "2018-04-21 00:00 Z",
        "2018-04-21Z", "2018-04-21T", "2018-04-21  00:00", "2018-4-21", "+2018-04-21", "-002018-04-21x",
        "2018-04-21 00:00:00.Z", "00:00", "00:00:00", "1/2/2018", "now", "2018-04-21 00:00:00\u{0}",
    ]) func whatIsNoDateDoesNotDecode(text: String) {
        #expect(Date.fromDatabaseValue(text.databaseValue) == nil)
    }

    @Test func aDayAfterTheEndOfItsMonthIsInTheNext() {
        let date = Date.fromDatabaseValue("2018-02-30 24:00".databaseValue)
        #expect(date?.databaseValue == "2018-03-03 00:00:00.000".databaseValue)
    }

    @Test func fractionsAreCutOffAfterTheMilliseconds() {
        let date = Date.fromDatabaseValue("2018-02-03 10:11:12.1239999999999999999999999".databaseValue)
        #expect(date?.databaseValue == "2018-02-03 10:11:12.123".databaseValue)
    }

    @Test func componentsAreReadInTheirZone() throws {
        var components = DateComponents(year: 2018, month: 4, day: 21, hour: 1, minute: 30)
        #expect(
            Date(databaseDateComponents: DatabaseDateComponents(components, format: .YMD_HM))?.databaseValue
                == "2018-04-21 01:30:00.000".databaseValue)
        components.timeZone = TimeZone(secondsFromGMT: 2 * 3600)
        #expect(
            Date(databaseDateComponents: DatabaseDateComponents(components, format: .YMD_HM))?.databaseValue
                == "2018-04-20 23:30:00.000".databaseValue)
        #expect(Date(databaseDateComponents: DatabaseDateComponents(components, format: .HM)) == nil)
        components.month = 13
        #expect(Date(databaseDateComponents: DatabaseDateComponents(components, format: .YMD)) == nil)
    }

    @Test func componentsOfAnySizeAreWrittenWithoutATrap() {
        let extremes = [Int.min, -1, 0, 100_000_000, Int.max - 1]
        for value in extremes {
            let components = DateComponents(
                year: value, month: value, day: value, hour: value, minute: value, second: value,
                nanosecond: value)
            let stored = DatabaseDateComponents(components, format: .YMD_HMSS)
            _ = stored.databaseValue
            #expect(Date(databaseDateComponents: stored) == nil, "\(stored.text) \(value)")
        }
    }

    @Test func julianDaysAreSQLites() {
        #expect(Date(julianDay: 2_440_587.5) == Date(timeIntervalSince1970: 0))
        #expect(Date(julianDay: 2_456_293.520833)?.databaseValue == "2013-01-01 00:29:59.971".databaseValue)
        for day in [Double.nan, .infinity, -1, 5_373_484.5] { #expect(Date(julianDay: day) == nil) }
    }
}
