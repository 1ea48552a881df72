import Foundation
import Testing

@testable import CipherStore

/// Random values of each type, through an encrypted file that is closed between
/// writing and reading.
@Suite struct ValueRoundTripTests {
    /// A file that the values of one test share, because keys are slow to derive.
    private final class Store {
        private let folder: TemporaryFolder
        private let queue: DatabaseQueue
        private var checks: [(Database) throws -> Void] = []

        init() throws {
            folder = try TemporaryFolder()
            queue = try DatabaseQueue(path: folder.file("values.db"), configuration: .keyed("secret"))
        }

        /// Writes values, to be read by ``verify()``.
        func write<T: DatabaseValueConvertible & Equatable>(
            _ values: [T], sourceLocation: SourceLocation = #_sourceLocation
        ) throws {
            let table = "t\(checks.count)"
            try queue.write { db in
                try db.execute(sql: "CREATE TABLE \(table) (id INTEGER PRIMARY KEY, value)")
                for value in values {
                    try db.execute(sql: "INSERT INTO \(table) (value) VALUES (?)", arguments: [value])
                }
            }
            checks.append { db in
                let rows = try Row.fetchAll(db, sql: "SELECT value FROM \(table) ORDER BY id")
                let fetched = try rows.map { try $0.decode(T.self, atIndex: 0) }
                #expect(fetched == values, sourceLocation: sourceLocation)
            }
            let converted = values.map { T.fromDatabaseValue($0.databaseValue) }
            #expect(converted == values, sourceLocation: sourceLocation)
        }

        func verify() throws {
            try queue.close()
            let reader = try DatabaseQueue(path: queue.path, configuration: .keyed("secret"))
            try reader.read { db in
                for check in checks { try check(db) }
            }
        }
    }

    private func many<T>(
        seed: UInt64, _ make: (inout SeededGenerator) -> T
    ) -> [T] {
        var random = SeededGenerator(seed: seed)
        return (0..<200).map { _ in make(&random) }
    }

    private func integers<T: FixedWidthInteger & Codable & DatabaseValueConvertible>(
        _ type: T.Type, _ store: Store
    ) throws {
        let greatest = T(clamping: Int64.max)
        try store.write(
            [T.min, 0, 1, greatest] + many(seed: 1) { T.random(in: T.min...greatest, using: &$0) })
    }

    @Test func integers() throws {
        let store = try Store()
        try integers(Int.self, store)
        try integers(Int8.self, store)
        try integers(Int16.self, store)
        try integers(Int32.self, store)
        try integers(Int64.self, store)
        try integers(UInt.self, store)
        try integers(UInt8.self, store)
        try integers(UInt16.self, store)
        try integers(UInt32.self, store)
        try integers(UInt64.self, store)
        try store.verify()
    }

    @Test func floatingPointNumbers() throws {
        let store = try Store()
        let doubles = many(seed: 2) { random -> Double in
            let number = Double(bitPattern: random.next())
            return number.isNaN ? 0.1 : number
        }
        try store.write(doubles + [-0.0, .infinity, -.infinity, .ulpOfOne, .leastNonzeroMagnitude])
        try store.write(doubles.map { CGFloat($0) })
        try store.write(
            many(seed: 3) { random -> Float in
                let number = Float(bitPattern: UInt32.random(in: 0...UInt32.max, using: &random))
                return number.isNaN ? 0.1 : number
            })
        try store.verify()
    }

    @Test func textsAndBytes() throws {
        let store = try Store()
        let scalars: [Unicode.Scalar] = ["a", "'", "\0", "\u{301}", "é", "日", "🐟", "\n", "\"", "\u{FEFF}"]
        let texts = many(seed: 4) { random -> String in
            var text = String.UnicodeScalarView()
            for _ in 0..<Int.random(in: 0...40, using: &random) {
                if let scalar = scalars.randomElement(using: &random) { text.append(scalar) }
            }
            return String(text)
        }
        try store.write(texts)
        try store.write(texts.map { $0.dropFirst() })
        try store.write(texts.map { NSString(string: $0) })
        let blobs = many(seed: 5) { random -> Data in
            Data((0..<Int.random(in: 0...40, using: &random)).map { _ in UInt8(random.next() & 0xFF) })
        }
        try store.write(blobs + [Data(repeating: 7, count: 1_000_000)])
        try store.write(blobs.map { NSData(data: $0) })
        try store.verify()
    }

    @Test func identifiersAndAddresses() throws {
        let store = try Store()
        let uuids = many(seed: 6) { random -> UUID in
            let words = (random.next(), random.next())
            return withUnsafeBytes(of: words) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
        }
        try store.write(uuids)
        try store.write(uuids.map { $0 as NSUUID })
        let urls = try uuids.map { try #require(URL(string: "https://é.example.org/\($0)?q=%20a#é")) }
        try store.write(urls + [URL(fileURLWithPath: "/tmp/a b")])
        try store.write(urls.map { $0 as NSURL })
        try store.verify()
    }

    @Test func datesAndComponents() throws {
        let store = try Store()
        let dates = many(seed: 7) { random -> Date in
            Date(
                timeIntervalSinceReferenceDate: Double(
                    Int.random(in: -63_000_000_000_000...252_000_000_000_000, using: &random)) / 1000)
        }
        try store.write(dates)
        try store.write(dates.map { $0 as NSDate })
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
        try store.verify()
    }

    @Test func decimalNumbers() throws {
        let store = try Store()
        let numbers = many(seed: 8) { random -> Decimal in
            var digits = String(Int.random(in: 1...9, using: &random))
            for _ in 0..<Int.random(in: 0...36, using: &random) {
                digits += String(Int.random(in: 0...9, using: &random))
            }
            let exponent = Int.random(in: -60...60, using: &random)
            let sign = Bool.random(using: &random) ? "-" : ""
            return Decimal(string: "\(sign)\(digits)e\(exponent)") ?? 0
        }
        try store.write(numbers)
        try store.verify()
    }

    @Test func wrappedValues() throws {
        let store = try Store()
        try store.write([true, false])
        try store.write([1, nil, 3] as [Int?])
        try store.write([
            .null, 1.databaseValue, 1.5.databaseValue, "x".databaseValue, Data([1]).databaseValue,
        ])
        try store.write(many(seed: 9) { Colour(rawValue: $0.next() % 2 == 0 ? "red" : "blue") })
        try store.write(many(seed: 10) { Shape(sides: Int($0.next() % 9), name: "é\"\\") })
        try store.verify()
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
