import Foundation
import Testing

@testable import CipherStore

@Suite struct ValueTests {
    private func roundTrip<T: DatabaseValueConvertible & StatementColumnConvertible & Equatable>(_ value: T)
        throws
    {
        let queue = try DatabaseQueue()
        let fetched = try queue.read { try T.fetchOne($0, sql: "SELECT ?", arguments: [value]) }
        #expect(fetched == value)
        #expect(T.fromDatabaseValue(value.databaseValue) == value)
    }

    @Test func valuesOfEachTypeComeBackAsTheyWere() throws {
        for value in [Int64.min, -1, 0, 1, Int64.max] { try roundTrip(value) }
        for value in [Int8.min, Int8.max] { try roundTrip(value) }
        for value in [UInt32.min, UInt32.max] { try roundTrip(value) }
        for value in [true, false] { try roundTrip(value) }
        for value in [0.1, -0.0, .infinity, .leastNonzeroMagnitude, .greatestFiniteMagnitude] {
            try roundTrip(value)
        }
        for value in ["", "é日🐟", "a\0b", "'\"`"] { try roundTrip(value) }
        for value in [Data(), Data([0, 255]), Data(repeating: 1, count: 100_000)] { try roundTrip(value) }
        try roundTrip(Float(1.5))
        try roundTrip(UUID())
    }

    @Test func uuidsAreSixteenBytesAndAreReadFromText() throws {
        let uuid = try #require(UUID(uuidString: "0190F5FE-7C00-7A00-8000-00000000000A"))
        #expect(
            uuid.databaseValue.storage
                == .blob(Data([1, 0x90, 0xF5, 0xFE, 0x7C, 0, 0x7A, 0, 0x80, 0, 0, 0, 0, 0, 0, 10])))
        #expect(UUID.fromDatabaseValue("0190f5fe-7c00-7a00-8000-00000000000a".databaseValue) == uuid)
        #expect(UUID.fromDatabaseValue(Data([1]).databaseValue) == nil)
    }

    @Test func numbersOutOfRangeDoNotDecode() {
        #expect(Int8.fromDatabaseValue(Int64(128).databaseValue) == nil)
        #expect(UInt64.fromDatabaseValue(Int64(-1).databaseValue) == nil)
        #expect(Int64.fromDatabaseValue((0x1p63).databaseValue) == nil)
        #expect(Int64.fromDatabaseValue(Double.nan.databaseValue) == nil)
        #expect(Int.fromDatabaseValue(1.9.databaseValue) == 1)
        #expect(Int.fromDatabaseValue("1".databaseValue) == nil)
    }

    @Test(arguments: [
        ("1970-01-01 00:00:00.000", 0.0), ("2013-01-01 10:00:00.125", 1_357_034_400.125),
        ("1969-12-31 23:59:59.999", -0.001), ("2000-02-29 12:00:00.000", 951_825_600),
        ("0000-01-01 00:00:00.000", -62_167_219_200), ("9999-12-31 23:59:59.999", 253_402_300_799.999),
    ]) func datesAreUTCTextWithMilliseconds(text: String, seconds: Double) {
        let date = Date(timeIntervalSince1970: seconds)
        #expect(date.databaseValue == text.databaseValue)
        let parsed = Date.fromDatabaseValue(text.databaseValue)
        #expect(parsed.map { abs($0.timeIntervalSince1970 - seconds) < 0.0005 } == true)
    }

    @Test(arguments: [
        ("2013-01-01", 1_356_998_400.0), ("2013-01-01 10:00", 1_357_034_400),
        ("2013-01-01T10:00:00Z", 1_357_034_400),
        ("2013-01-01T12:00:00+02:00", 1_357_034_400), ("2013-01-01 05:30:00.5-04:30", 1_357_034_400.5),
    ]) func datesAreReadInSQLitesFormats(text: String, seconds: Double) {
        #expect(Date.fromDatabaseValue(text.databaseValue)?.timeIntervalSince1970 == seconds)
    }

    @Test(arguments: [
        "", "2013", "2013-13-01", "2013-01-32", "2013-01-01 ", "2013-01-01 1:00", "2013-01-01 10:00:00.", "x",
    ])
    func textThatIsNoDateDoesNotDecode(text: String) {
        #expect(Date.fromDatabaseValue(text.databaseValue) == nil)
    }

    @Test func civilDatesAndDayNumbersAreInverse() {
        for day in stride(from: -800_000, through: 3_000_000, by: 137) {
            let (year, month, dayOfMonth) = DateText.civil(days: day)
            #expect(DateText.days(year: year, month: month, day: dayOfMonth) == day)
        }
    }

    @Test func versionSevenUUIDsAscendEvenWhenTheClockDoesNot() {
        var generator = UUIDVersion7()
        var random = SystemRandomNumberGenerator()
        var last = ""
        for step in 0..<20_000 {
            // The clock stands still, then goes back.
            let uuid = generator.next(
                milliseconds: step < 10_000 ? 1_700_000_000_000 : 1_600_000_000_000, using: &random)
            let text = uuid.uuidString
            #expect(text > last)
            #expect(Array(text)[14] == "7")
            #expect("89AB".contains(Array(text)[19]))
            last = text
        }
        #expect(last.hasPrefix("018BCFE5-68"))
    }

    @Test func enumsAreStoredAsTheirRawValues() throws {
        #expect(Colour.red.databaseValue == "red".databaseValue)
        #expect(Colour.fromDatabaseValue("red".databaseValue) == .red)
        #expect(Colour.fromDatabaseValue("black".databaseValue) == nil)
    }

    private enum Colour: String, DatabaseValueConvertible { case red }
}
