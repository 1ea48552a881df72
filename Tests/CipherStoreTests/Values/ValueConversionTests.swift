import Foundation
import Testing

@testable import CipherStore

@Suite struct ValueConversionTests {
    // MARK: Database values

    @Test func numbersAreEqualAcrossStorages() {
        #expect(1.databaseValue == 1.0.databaseValue)
        #expect(
            Set([1.databaseValue, 1.0.databaseValue, 0.0.databaseValue, (-0.0).databaseValue]).count == 2)
        #expect(Int64.max.databaseValue != Double(Int64.max).databaseValue)
        #expect(DatabaseValue.null == DatabaseValue.null)
        #expect("1".databaseValue != Data("1".utf8).databaseValue)
    }

    @Test func textsAreComparedByTheirBytes() {
        let composed = "\u{E9}"
        let decomposed = "e\u{301}"
        #expect(composed == decomposed)
        #expect(composed.databaseValue != decomposed.databaseValue)
    }

    @Test func anythingThatConvertsMakesADatabaseValue() {
        #expect(DatabaseValue(value: 1 as Any) == 1.databaseValue)
        #expect(DatabaseValue(value: (nil as Int?) as Any) == .null)
        #expect(DatabaseValue(value: NSNull()) == .null)
        #expect(DatabaseValue(value: [1]) == nil)
    }

    // MARK: Columns

    private func fetch<T: DatabaseValueConvertible & StatementColumnConvertible>(
        _ type: T.Type, _ expression: String
    ) throws -> T? {
        try DatabaseQueue().read { try T.fetchOne($0, sql: "SELECT \(expression)") }
    }

    @Test func columnsConvertAsSQLiteDoes() throws {
        #expect(try fetch(Int.self, "'12 monkeys'") == 12)
        #expect(try fetch(Int.self, "1.9") == 1)
        #expect(try fetch(Double.self, "'1.5e3'") == 1500)
        #expect(try fetch(Bool.self, "'0'") == false)
        #expect(try fetch(Bool.self, "0.5") == true)
        #expect(try fetch(String.self, "1.0") == "1.0")
        #expect(try fetch(Data.self, "12") == Data("12".utf8))
        #expect(try fetch(String.self, "x'C3A9FF'") == "é\u{FFFD}")
        #expect(try fetch(Substring.self, "'abc'") == "abc")
        #expect(try fetch(URL.self, "'https://example.org/a?b#c'")?.host() == "example.org")
        #expect(try fetch(CGFloat.self, "1.25") == 1.25)
    }

    @Test func columnsOutOfRangeAreErrors() throws {
        #expect(throws: RowDecodingError.self) { try fetch(Int8.self, "128") }
        #expect(throws: RowDecodingError.self) { try fetch(UInt64.self, "-1") }
        #expect(throws: RowDecodingError.self) { try fetch(Int64.self, "9223372036854775808.0") }
        #expect(throws: RowDecodingError.self) { try fetch(Date.self, "'yesterday'") }
        #expect(throws: RowDecodingError.self) { try fetch(Decimal.self, "'12 monkeys'") }
        #expect(throws: RowDecodingError.self) { try fetch(UUID.self, "x'00'") }
        #expect(throws: RowDecodingError.self) { try fetch(URL.self, "''") }
    }

    @Test func nullIsNoValueOfAnyType() throws {
        func check<T: DatabaseValueConvertible & StatementColumnConvertible>(_ type: T.Type) throws {
            let fetched = try fetch(type, "NULL")
            #expect(fetched == nil, "\(type)")
            #expect(T.fromDatabaseValue(.null) == nil, "\(type)")
        }
        try check(Int.self)
        try check(UInt8.self)
        try check(Bool.self)
        try check(Double.self)
        try check(Float.self)
        try check(CGFloat.self)
        try check(String.self)
        try check(Substring.self)
        try check(Data.self)
        try check(UUID.self)
        try check(URL.self)
        try check(Date.self)
        try check(Decimal.self)
        try check(DatabaseDateComponents.self)
        try check(Fruit.self)
    }

    private enum Fruit: String, Codable, DatabaseValueConvertible, StatementColumnConvertible { case apple }

    @Test func optionalsAreNullOrTheirValue() throws {
        #expect((nil as Int?).databaseValue == .null)
        #expect((1 as Int?).databaseValue == 1.databaseValue)
        #expect(Int?.fromDatabaseValue(.null) == .some(nil))
        #expect(Int?.fromDatabaseValue("x".databaseValue) == .none)
        #expect(Int?.fromMissingColumn() == .some(nil))
        #expect(Int.fromMissingColumn() == nil)
    }

    // MARK: Decimal numbers

    @Test(arguments: [
        "0", "-0.5", "18446744073709551615", "12345678901234567890123456789012345678", "1e10", "-1.5E-3",
        "+7",
        "0.00000000000000000000000000000000000001",
    ]) func decimalsKeepAllDigits(text: String) throws {
        let number = try #require(Decimal.fromDatabaseValue(text.databaseValue))
        #expect(number == Decimal(string: text))
        #expect(Decimal.fromDatabaseValue(number.databaseValue) == number)
    }

    @Test(arguments: ["", ".", "-", "1e", "e1", "1,5", "12 monkeys", " 1", "NaN", "0x10", "1.2.3", "１"])
    func textThatIsNoNumberIsNoDecimal(text: String) {
        #expect(Decimal.fromDatabaseValue(text.databaseValue) == nil)
        #expect(NSNumber.fromDatabaseValue(text.databaseValue) == nil)
    }

    @Test func noTextCrashesTheDecimalParser() {
        let alphabet = Array("0123456789.e-+E ")
        var random = SeededGenerator(seed: 6)
        var mismatches: [String] = []
        for _ in 0..<20_000 {
            let text = String(
                (0..<Int.random(in: 0...12, using: &random)).map { _ in
                    alphabet.randomElement(using: &random) ?? "0"
                })
            guard let number = Decimal.fromDatabaseValue(text.databaseValue) else { continue }
            let isSame = Decimal.fromDatabaseValue(number.databaseValue) == number
            if !isSame || Double("\(number)") != Double(text) { mismatches.append(text) }
        }
        #expect(mismatches.prefix(3).isEmpty)
    }

    @Test func numbersThatAreNotFiniteAreNoDecimal() throws {
        #expect(Decimal.nan.databaseValue.isNull)
        for value in [Double.infinity, -.infinity, .nan] {
            #expect(Decimal.fromDatabaseValue(value.databaseValue) == nil)
            #expect(NSDecimalNumber.fromDatabaseValue(value.databaseValue) == nil)
        }
        #expect(throws: RowDecodingError.self) { try fetch(Decimal.self, "9e999") }
    }

    @Test func floatingPointNumbersAreShortDecimals() throws {
        for text in ["3.133", "10000000.01", "1e+20", "-0.1"] {
            #expect(try fetch(Decimal.self, text) == Decimal(string: text))
        }
    }

    @Test func numbersTooLargeForAnIntegerAreRounded() {
        #expect(NSNumber(value: UInt64.max).databaseValue.storage == .double(0x1p64))
        #expect(NSDecimalNumber(string: "1e30").databaseValue.storage == .double(1e30))
        #expect(NSDecimalNumber.notANumber.databaseValue.isNull)
    }

    // MARK: Codable types

    private struct Point: Codable, Equatable, DatabaseValueConvertible {
        var x: Double
        var dates: [Date]
        var label: String?
    }

    private struct Identifier: Codable, Equatable, DatabaseValueConvertible {
        var uuid: UUID
        init(_ uuid: UUID) { self.uuid = uuid }
        init(from decoder: any Decoder) throws {
            uuid = try decoder.singleValueContainer().decode(UUID.self)
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(uuid)
        }
    }

    @Test func codableTypesAreJSONText() {
        let point = Point(x: 1.5, dates: [Date(timeIntervalSince1970: 0.125)], label: nil)
        #expect(point.databaseValue == #"{"dates":[125],"x":1.5}"#.databaseValue)
        #expect(Point.fromDatabaseValue(point.databaseValue) == point)
        #expect(Point.fromDatabaseValue(Data(#"{"dates":[],"x":1}"#.utf8).databaseValue)?.x == 1)
        for json in ["", "{", "[]", #"{"x":1}"#, #"{"x":"1","dates":[]}"#] {
            #expect(Point.fromDatabaseValue(json.databaseValue) == nil)
        }
        #expect(Point.fromDatabaseValue(.null) == nil)
    }

    @Test func codableTypesOfOneValueAreThatValue() {
        let identifier = Identifier(UUID())
        #expect(identifier.databaseValue == identifier.uuid.databaseValue)
        #expect(Identifier.fromDatabaseValue(identifier.databaseValue) == identifier)
        #expect(Identifier.fromDatabaseValue(1.databaseValue) == nil)
    }

    private struct Name: Codable, Equatable, DatabaseValueConvertible {
        var name: String?
        init(_ name: String?) { self.name = name }
        init(from decoder: any Decoder) throws {
            name = try decoder.singleValueContainer().decode(String?.self)
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(name)
        }
    }

    @Test func aCodableTypeMayHoldNull() {
        #expect(Name(nil).databaseValue.isNull)
        #expect(Name.fromDatabaseValue(.null) == Name(nil))
        #expect(Name.fromDatabaseValue(Name("x").databaseValue) == Name("x"))
    }

    /// Takes a number where it finds one, and an object where it does not.
    private struct Lenient: Decodable, DatabaseValueConvertible {
        var number: Int
        enum Key: CodingKey { case number }
        init(from decoder: any Decoder) throws {
            if let keyed = try? decoder.container(keyedBy: Key.self) {
                number = try keyed.decode(Int.self, forKey: .number)
            } else {
                number = try decoder.singleValueContainer().decode(Int.self)
            }
        }
        var databaseValue: DatabaseValue { number.databaseValue }
    }

    @Test func aTypeMayTryAnObjectAndThenAValue() {
        #expect(Lenient.fromDatabaseValue(7.databaseValue)?.number == 7)
        #expect(Lenient.fromDatabaseValue(#"{"number":7}"#.databaseValue)?.number == 7)
    }

    private enum Size: Int, Codable, DatabaseValueConvertible { case small = 1 }

    @Test func rawValuesComeBeforeEncoding() {
        #expect(Size.small.databaseValue == 1.databaseValue)
        #expect(Size.fromDatabaseValue(1.databaseValue) == .small)
        #expect(Size.fromDatabaseValue(2.databaseValue) == nil)
    }
}
