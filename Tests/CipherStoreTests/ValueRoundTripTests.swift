import Foundation
import Testing

@testable import CipherStore

/// Random values of each type, through an encrypted file that was closed and
/// opened between writing and reading.
@Suite struct ValueRoundTripTests {
    private func roundTrip<T: DatabaseValueConvertible & Equatable>(
        _ values: [T], seed: UInt64 = 0, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let folder = try TemporaryFolder()
        let path = folder.file("values.db")
        let writer = try DatabaseQueue(path: path, configuration: .keyed("secret"))
        try writer.write { db in
            try db.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, value)")
            for value in values {
                try db.execute(sql: "INSERT INTO t (value) VALUES (?)", arguments: [value])
            }
        }
        try writer.close()
        let reader = try DatabaseQueue(path: path, configuration: .keyed("secret"))
        let fetched = try reader.read { db in
            try Row.fetchAll(db, sql: "SELECT value FROM t ORDER BY id").map { row in
                try row.decode(T.self, atIndex: 0)
            }
        }
        #expect(fetched == values, sourceLocation: sourceLocation)
        for value in values {
            #expect(T.fromDatabaseValue(value.databaseValue) == value, sourceLocation: sourceLocation)
        }
    }

    private func many<T>(
        seed: UInt64, _ make: (inout SeededGenerator) -> T
    ) -> [T] {
        var random = SeededGenerator(seed: seed)
        return (0..<200).map { _ in make(&random) }
    }

    private func integers<T: FixedWidthInteger & Codable & DatabaseValueConvertible>(_ type: T.Type) throws {
        let greatest = T(clamping: Int64.max)
        try roundTrip([T.min, 0, 1, greatest] + many(seed: 1) { T.random(in: T.min...greatest, using: &$0) })
    }

    @Test func integers() throws {
        try integers(Int.self)
        try integers(Int8.self)
        try integers(Int16.self)
        try integers(Int32.self)
        try integers(Int64.self)
        try integers(UInt.self)
        try integers(UInt8.self)
        try integers(UInt16.self)
        try integers(UInt32.self)
        try integers(UInt64.self)
    }

    @Test func floatingPointNumbers() throws {
        let doubles = many(seed: 2) { random -> Double in
            let number = Double(bitPattern: random.next())
            return number.isNaN ? 0.1 : number
        }
        try roundTrip(doubles + [-0.0, .infinity, -.infinity, .ulpOfOne, .leastNonzeroMagnitude])
        try roundTrip(doubles.map { CGFloat($0) })
        try roundTrip(
            many(seed: 3) { random -> Float in
                let number = Float(bitPattern: UInt32.random(in: 0...UInt32.max, using: &random))
                return number.isNaN ? 0.1 : number
            })
    }

    @Test func textsAndBytes() throws {
        let scalars: [Unicode.Scalar] = ["a", "'", "\0", "\u{301}", "é", "日", "🐟", "\n", "\"", "\u{FEFF}"]
        let texts = many(seed: 4) { random -> String in
            var text = String.UnicodeScalarView()
            for _ in 0..<Int.random(in: 0...40, using: &random) {
                if let scalar = scalars.randomElement(using: &random) { text.append(scalar) }
            }
            return String(text)
        }
        try roundTrip(texts)
        try roundTrip(texts.map { $0.dropFirst() })
        try roundTrip(texts.map { NSString(string: $0) })
        let blobs = many(seed: 5) { random -> Data in
            Data((0..<Int.random(in: 0...40, using: &random)).map { _ in UInt8(random.next() & 0xFF) })
        }
        try roundTrip(blobs + [Data(repeating: 7, count: 1_000_000)])
        try roundTrip(blobs.map { NSData(data: $0) })
    }

    @Test func identifiersAndAddresses() throws {
        let uuids = many(seed: 6) { random -> UUID in
            let words = (random.next(), random.next())
            return withUnsafeBytes(of: words) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
        }
        try roundTrip(uuids)
        try roundTrip(uuids.map { $0 as NSUUID })
        let urls = try uuids.map { try #require(URL(string: "https://é.example.org/\($0)?q=%20a#é")) }
        try roundTrip(urls + [URL(fileURLWithPath: "/tmp/a b")])
        try roundTrip(urls.map { $0 as NSURL })
    }

    @Test func datesAndComponents() throws {
        let dates = many(seed: 7) { random -> Date in
            Date(
                timeIntervalSinceReferenceDate: Double(
                    Int.random(in: -63_000_000_000_000...252_000_000_000_000, using: &random)) / 1000)
        }
        try roundTrip(dates)
        try roundTrip(dates.map { $0 as NSDate })
        for (text, format) in [
            ("0000-01-01", DatabaseDateComponents.Format.YMD), ("1973-09-18 10:11", .YMD_HM),
            ("9999-12-31 23:59:59", .YMD_HMS), ("1973-09-18 10:11:12.007", .YMD_HMSS), ("10:11", .HM),
            ("10:11:12", .HMS), ("10:11:12.123", .HMSS),
        ] {
            let components = try #require(DatabaseDateComponents.fromDatabaseValue(text.databaseValue))
            #expect(components.format == format)
            #expect(components.databaseValue == text.databaseValue)
            let json = try JSONEncoder().encode([components])
            #expect(String(decoding: json, as: UTF8.self) == "[\"\(text)\"]")
            #expect(try JSONDecoder().decode([DatabaseDateComponents].self, from: json)[0].format == format)
        }
    }

    @Test func decimalNumbers() throws {
        let numbers = many(seed: 8) { random -> Decimal in
            var digits = String(Int.random(in: 1...9, using: &random))
            for _ in 0..<Int.random(in: 0...36, using: &random) {
                digits += String(Int.random(in: 0...9, using: &random))
            }
            let exponent = Int.random(in: -60...60, using: &random)
            let sign = Bool.random(using: &random) ? "-" : ""
            return Decimal(string: "\(sign)\(digits)e\(exponent)") ?? 0
        }
        try roundTrip(numbers)
    }

    @Test func wrappedValues() throws {
        try roundTrip([true, false])
        try roundTrip([1, nil, 3] as [Int?])
        try roundTrip([.null, 1.databaseValue, 1.5.databaseValue, "x".databaseValue, Data([1]).databaseValue])
        try roundTrip(many(seed: 9) { Colour(rawValue: $0.next() % 2 == 0 ? "red" : "blue") })
        try roundTrip(many(seed: 10) { Shape(sides: Int($0.next() % 9), name: "é\"\\") })
    }

    private enum Colour: String, Codable, DatabaseValueConvertible {
        case red
        case blue
    }

    private struct Shape: Codable, Equatable, DatabaseValueConvertible {
        var sides: Int
        var name: String
    }
}
