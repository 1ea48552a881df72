import CipherStore
import Foundation
import Testing

/// What the short cuts of encoding and decoding records must not change.
@Suite struct RecordHotPathTests {
    private let queue: DatabaseQueue

    init() throws { queue = try DatabaseQueue() }

    // MARK: Encoding

    /// A record whose columns depend on its values.
    private struct Sparse: PersistableRecord {
        static let databaseTableName = "sparse"
        var values: [(String, (any DatabaseValueConvertible)?)]

        func encode(to container: inout PersistenceContainer) {
            for (name, value) in values { container[name] = value }
        }
    }

    @Test func recordsOfOneTypeMaySetOtherColumnsEachTime() throws {
        try queue.write { db in
            try db.execute(
                sql: "CREATE TABLE sparse (a, b, c, aColumnWithALongerName, id INTEGER PRIMARY KEY)")
            // Names that are equal, but not the same objects.
            let long = ["aColumnWith", "ALongerName"]
            for turn in 0..<3 {
                try Sparse(values: [("a", 1), ("b", turn)]).insert(db)
                try Sparse(values: [("a", 2), ("b", turn)]).insert(db)
                try Sparse(values: [("b", turn), ("a", 3)]).insert(db)
                try Sparse(values: [("a", 4)]).insert(db)
                try Sparse(values: [("a", 0), ("A", 5), ("b", nil), ("B", "x")]).insert(db)
                try Sparse(values: [(long.joined(), 6), ("a", 6), ("AColumnWithALongerName", 7)]).insert(db)
                try Sparse(values: [(long.joined(), 8), ("a", 8)]).insert(db)
            }
            let rows = try Row.fetchAll(
                db, sql: "SELECT a, b, aColumnWithALongerName FROM sparse ORDER BY id")
            for turn in 0..<3 {
                let expected: [[DatabaseValue]] = [
                    [1.databaseValue, turn.databaseValue, .null],
                    [2.databaseValue, turn.databaseValue, .null],
                    [3.databaseValue, turn.databaseValue, .null],
                    [4.databaseValue, .null, .null],
                    [5.databaseValue, "x".databaseValue, .null],
                    [6.databaseValue, .null, 7.databaseValue],
                    [8.databaseValue, .null, 8.databaseValue],
                ]
                #expect(rows[7 * turn..<7 * turn + 7].map(\.databaseValues) == expected)
            }
        }
    }

    @Test func valuesOfAllLengthsAreWrittenOneAfterTheOther() throws {
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE sparse (id INTEGER PRIMARY KEY, t, b, d)")
            let lengths = [0, 1, 15, 16, 255, 256, 257, 70_000, 0, 3, 200_000, 1]
            for (id, length) in lengths.enumerated() {
                let text = String(repeating: "é", count: length)
                let blob = Data(repeating: 7, count: length)
                try Sparse(values: [("id", id), ("t", text), ("b", blob), ("d", Double(length))]).insert(db)
                let row = try #require(
                    try Row.fetchOne(
                        db, sql: "SELECT t, b, d, typeof(t), typeof(b) FROM sparse WHERE id = ?",
                        arguments: [id]))
                #expect(row[0] == text)
                #expect(row[1] == blob)
                #expect(row[2] == Double(length))
                #expect(row[3] == "text")
                #expect(row[4] == "blob")
            }
        }
    }

    /// A record that keeps what it was told it had written.
    private final class Keeper: PersistableRecord {
        static let databaseTableName = "sparse"
        let value: Int
        private(set) var written: PersistenceContainer?

        init(_ value: Int) { self.value = value }

        func encode(to container: inout PersistenceContainer) {
            container["a"] = value
            container["b"] = "text \(value)"
        }

        func didInsert(_ inserted: InsertionSuccess) { written = inserted.persistenceContainer }
    }

    @Test func aContainerThatIsKeptStaysAsItIs() throws {
        let keepers = (0..<5).map { Keeper($0) }
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE sparse (a, b)")
            for keeper in keepers { try keeper.insert(db) }
        }
        for keeper in keepers {
            #expect(keeper.written?["a"] == keeper.value)
            #expect(keeper.written?["b"] == "text \(keeper.value)")
        }
        var copy = try #require(keepers[0].written)
        copy["b"] = "changed"
        #expect(keepers[0].written?["b"] == "text 0")
        #expect(copy["b"] == "changed")
    }

    // MARK: Codable

    /// Two kinds of keys, the first of each of which is the same byte.
    private class Animal: Codable {
        var name: String
        var legs: Int

        init(name: String, legs: Int) {
            self.name = name
            self.legs = legs
        }
    }

    private final class Dog: Animal, FetchableRecord, PersistableRecord {
        static let databaseTableName = "dog"
        var breed: String?
        var age: Int

        private enum CodingKeys: CodingKey { case breed, age }

        init(name: String, legs: Int, breed: String?, age: Int) {
            self.breed = breed
            self.age = age
            super.init(name: name, legs: legs)
        }

        required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            breed = try container.decodeIfPresent(String.self, forKey: .breed)
            age = try container.decode(Int.self, forKey: .age)
            try super.init(from: container.superDecoder())
        }

        override func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encodeIfPresent(breed, forKey: .breed)
            try container.encode(age, forKey: .age)
            try super.encode(to: container.superEncoder())
        }
    }

    @Test func keysOfTwoTypesAreToldApart() throws {
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE dog (legs INTEGER, age INTEGER, name TEXT, breed TEXT)")
            for index in 0..<5 {
                let breed = index % 2 == 0 ? "breed \(index)" : nil
                try Dog(name: "dog \(index)", legs: 4, breed: breed, age: index).insert(db)
            }
            let dogs = try Dog.fetchAll(db, sql: "SELECT * FROM dog ORDER BY age")
            #expect(dogs.map(\.name) == (0..<5).map { "dog \($0)" })
            #expect(dogs.map(\.breed) == ["breed 0", nil, "breed 2", nil, "breed 4"])
            #expect(dogs.map(\.age) == Array(0..<5))
            #expect(dogs.allSatisfy { $0.legs == 4 })
        }
    }

    /// A record that writes some of its columns, in an order of its own.
    private struct Choosy: Codable, FetchableRecord, PersistableRecord {
        static let databaseTableName = "choosy"
        var id: Int
        var first: String?
        var second: Date?
        var third: UUID?

        init(id: Int, first: String?, second: Date?, third: UUID?) {
            self.id = id
            self.first = first
            self.second = second
            self.third = third
        }

        private enum CodingKeys: CodingKey { case id, first, second, third }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            if id % 2 == 0 { try container.encode(third, forKey: .third) }
            try container.encode(id, forKey: .id)
            if id % 3 == 0 { try container.encode(first, forKey: .first) }
            try container.encode(second, forKey: .second)
            if id % 3 != 0 { try container.encode(first, forKey: .first) }
            if id % 2 != 0 { try container.encode(third, forKey: .third) }
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            let id = try container.decode(Int.self, forKey: .id)
            self.id = id
            if id % 2 == 0 {
                first = try container.decodeIfPresent(String.self, forKey: .first)
                second = try container.decodeIfPresent(Date.self, forKey: .second)
            } else {
                second = try container.decodeIfPresent(Date.self, forKey: .second)
                first = try container.decodeIfPresent(String.self, forKey: .first)
            }
            third = try container.decodeIfPresent(UUID.self, forKey: .third)
        }
    }

    @Test func propertiesComeInAnyOrder() throws {
        var random = SeededGenerator(seed: 7)
        let records = (0..<60).map { id in
            Choosy(
                id: id, first: Bool.random(using: &random) ? "text \(id)" : nil,
                second: Bool.random(using: &random) ? Date(timeIntervalSince1970: Double(id)) : nil,
                third: Bool.random(using: &random) ? UUID() : nil)
        }
        let fetched = try queue.write { db in
            try db.execute(sql: "CREATE TABLE choosy (third BLOB, first TEXT, id INTEGER, second TEXT)")
            for record in records { try record.insert(db) }
            return try Choosy.fetchAll(db, sql: "SELECT * FROM choosy ORDER BY id")
        }
        #expect(fetched.map(\.id) == records.map(\.id))
        #expect(fetched.map(\.first) == records.map(\.first))
        #expect(fetched.map(\.second) == records.map(\.second))
        #expect(fetched.map(\.third) == records.map(\.third))
    }

    // MARK: Dates

    @Test func aDateIsTheSameByWhicheverWayItIsRead() throws {
        var random = SeededGenerator(seed: 5)
        let texts = (0..<2000).flatMap { _ -> [String] in
            let date = Date(
                timeIntervalSince1970: Double.random(in: -62_167_219_200..<253_402_300_800, using: &random))
            let text = Array((String.fromDatabaseValue(date.databaseValue) ?? "").utf8)
            var changed = text
            changed[Int.random(in: 0..<text.count, using: &random)] = UInt8.random(
                in: 32..<127, using: &random)
            return [String(decoding: text, as: UTF8.self), String(decoding: changed, as: UTF8.self)]
        }
        let mismatches = try queue.read { db in
            let statement = try db.makeStatement(sql: "SELECT ?")
            return try texts.filter { text in
                let rows = try Row.fetchCursor(statement, arguments: [text])
                let row = try #require(try rows.next())
                let date = try? row.decode(Date.self, atIndex: 0)
                return date != Date.fromDatabaseValue(text.databaseValue)
            }
        }
        #expect(mismatches.prefix(3).isEmpty)
    }

    @Test func largeResultsAreComplete() throws {
        let numbers = try queue.read { db in
            try Int.fetchAll(
                db,
                sql: """
                    WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 199999)
                    SELECT i FROM n
                    """)
        }
        #expect(numbers == Array(0..<200_000))
    }
}
