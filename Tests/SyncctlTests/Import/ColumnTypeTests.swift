import Foundation
import TestSupport
import Testing

@testable import SyncctlCommands

/// The types of columns, and the values of fields.
@Suite(.anyEngine) struct ColumnTypeTests {
    private func inference(_ lines: [String]) throws -> ColumnTypeInference {
        let folder = try TemporaryFolder()
        let path = try folder.write("v\n\(lines.joined(separator: "\n"))\n", to: "v.csv")
        var inference = ColumnTypeInference(columnCount: 1)
        try CSVReader(path: path).forEachRecord { inference.observe($0) }
        #expect(inference.rowCount == lines.count)
        return inference
    }

    @Test(
        arguments: [
            (.integer, ["0", "-1", "NA", "", "9223372036854775807", "-9223372036854775808", "\"12\""]),
            (.real, ["1.5", "-0.25", "0.0", "100000.0", "1e-05", "1e+300", "123.456"]),
            (.numeric, ["1.5", "9223372036854775807", "-2", "NA"]), (.text, ["", "NA"]),
            (.text, ["1.5", "2", "3.0"]), (.text, ["+4930123456", "5"]), (.text, ["1.10", "1.9"]),
            (.text, ["2.50", "3.75"]), (.text, ["1e5"]), (.text, [".5", "0.25"]), (.text, ["-0.0", "1.5"]),
        ]
            + [
                #""""#, #""NA""#, #""1,5""#, "na", "007", "-0", "00.5", "9223372036854775808",
                "-9223372036854775809",
                "99999999999999999999", "1e400", "1e-400", "4.9e-324", "1.23456789012345678", "inf",
                "-Infinity",
                "nan", "0x1F", "5.", "e5", "1e", "1e+", "1.e5", "1.5.2", " 1", "1 ", "1_0", "1e1_0", "--1",
                "+-1",
                "-", "+", ".", "١",
            ].map { (.text, ["1", $0]) } as [(ColumnType, [String])])
    func typeIsThatOfEveryValue(type: ColumnType, values: [String]) throws {
        #expect(try inference(values).types == [type], "\(values)")
        #expect(try inference(values.reversed()).types == [type], "\(values)")
    }

    @Test func onlyAColumnFullOfUUIDsIsAUUIDKey() throws {
        let keys = ["0A1b2c3d-0000-4000-8000-00000000000f", "\"ffffffff-ffff-ffff-ffff-ffffffffffff\""]
        #expect(try inference(keys).isUUIDKey(0) && inference(keys).types == [.text])
        for other in ["NA", "g0000000-0000-4000-8000-000000000000", "0000000-00000-4000-8000-000000000000"] {
            #expect(try !inference(keys + [other]).isUUIDKey(0))
        }
        #expect(!ColumnTypeInference(columnCount: 1).isUUIDKey(0))
    }

    /// The value of a field as text, because a value that points into the field cannot leave the closure.
    private func value(_ field: String, _ type: ColumnType, isQuoted: Bool = false) -> String {
        Array(field.utf8).withUnsafeBytes { bytes in
            switch FieldValue.parse(field: bytes, isQuoted: isQuoted, as: type) {
            case .null: "null"
            case .integer(let value): "integer \(value)"
            case .real(let value): "real \(value)"
            case .text(let value): "text \(String(decoding: value, as: UTF8.self))"
            case .blob(let value): "blob \(value.map { String($0, radix: 16) }.joined(separator: " "))"
            }
        }
    }

    @Test func fieldBecomesAValueOfItsColumn() {
        #expect(value("-9223372036854775808", .integer) == "integer -9223372036854775808")
        #expect(value("+42", .real) == "real 42.0" && value("42", .text) == "text 42")
        #expect(value("", .text) == "null" && value("", .text, isQuoted: true) == "text ")
        #expect(value("NA", .real) == "null" && value("NA", .real, isQuoted: true) == "text NA")
        #expect(value("007", .integer) == "text 007" && value("1.5", .integer) == "text 1.5")
        #expect(value("9007199254740993", .real) == "text 9007199254740993")
        #expect(value("2", .numeric) == "integer 2" && value("2.5", .numeric) == "real 2.5")
        #expect(value("1.10", .any) == "text 1.10" && value("7", .any) == "integer 7")
        #expect(value("00fF", .blob) == "blob 0 ff" && value("0f0", .blob) == "text 0f0")
        #expect(value("", .blob, isQuoted: true) == "blob ")
    }

    @Test func aNumberIsCanonicalWhenItComesBackAsItWas() {
        func isCanonical(_ field: String) -> Bool? {
            Array(field.utf8).withUnsafeBytes { bytes in WrittenNumber(bytes)?.isCanonical(writtenAs: bytes) }
        }
        var generator = SplitMix64(state: 1985)
        for _ in 0..<20_000 {
            let whole =
                Int.random(in: 0..<1_000_000, using: &generator) >> Int.random(in: 0...19, using: &generator)
            let digits = Int.random(in: 0..<100_000_000, using: &generator)
            let field = "\(whole).\(digits)"
            #expect(isCanonical(field) == ("\(Double(field) ?? .nan)" == field), "\(field)")
        }
        for field in ["0.0001", "0.00001", "0.00012", "123456789012345.6", "1234567890123456.5", "9.5e+20"] {
            #expect(isCanonical(field) == ("\(Double(field) ?? .nan)" == field), "\(field)")
        }
    }

    @Test func realsAreTheNearestDoubles() {
        var generator = SplitMix64(state: 754)
        for _ in 0..<20_000 {
            let number = Int.random(in: 0..<99_999_999_999_999_990, using: &generator)
            let digits = 10 + (number >> Int.random(in: 0...50, using: &generator))
            var field = "\(digits)e\(Int.random(in: -60...60, using: &generator))"
            field.insert(".", at: field.index(after: field.startIndex))
            #expect(value(field, .real) == "real \(Double(field) ?? .nan)")
        }
    }
}
