import Foundation
import Testing

@testable import CipherStore

/// Records that code nested containers by hand, which are JSON in the database.
@Suite struct NestedContainerTests {
    private struct Place: Codable, Equatable, FetchableRecord, PersistableRecord {
        static func databaseJSONEncoder(for column: String) -> JSONEncoder {
            let encoder = JSONEncoder()
            encoder.dateEncodingStrategy = .secondsSince1970
            encoder.outputFormatting = .sortedKeys
            return encoder
        }
        static func databaseJSONDecoder(for column: String) -> JSONDecoder {
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = .secondsSince1970
            return decoder
        }

        enum CodingKeys: CodingKey { case id, position, tags, name }
        enum PositionKeys: CodingKey { case latitude, longitude, seen, note, inner }

        var id: Int
        var latitude: Double
        var longitude: Double
        var seen: Date
        var tags: [String]
        var name: String

        init(id: Int, latitude: Double, longitude: Double, seen: Date, tags: [String], name: String) {
            (self.id, self.latitude, self.longitude) = (id, latitude, longitude)
            (self.seen, self.tags, self.name) = (seen, tags, name)
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            id = try container.decode(Int.self, forKey: .id)
            name = try container.decode(String.self, forKey: .name)
            let position = try container.nestedContainer(keyedBy: PositionKeys.self, forKey: .position)
            latitude = try position.decode(Double.self, forKey: .latitude)
            let inner = try position.nestedContainer(keyedBy: PositionKeys.self, forKey: .inner)
            longitude = try inner.decode(Double.self, forKey: .longitude)
            seen = try position.decode(Date.self, forKey: .seen)
            var tags = try container.nestedUnkeyedContainer(forKey: .tags)
            self.tags = []
            while !tags.isAtEnd { self.tags.append(try tags.decode(String.self)) }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(id, forKey: .id)
            var position = container.nestedContainer(keyedBy: PositionKeys.self, forKey: .position)
            var tags = container.nestedUnkeyedContainer(forKey: .tags)
            try container.encode(name, forKey: .name)
            // The containers are filled in after a later column was encoded.
            try position.encode(latitude, forKey: .latitude)
            var inner = position.nestedContainer(keyedBy: PositionKeys.self, forKey: .inner)
            try inner.encode(longitude, forKey: .longitude)
            try position.encode(seen, forKey: .seen)
            try position.encodeNil(forKey: .note)
            for tag in self.tags { try tags.encode(tag) }
        }
    }

    @Test func nestedContainersAreJSON() throws {
        let places = [
            Place(
                id: 1, latitude: 1.5, longitude: 2.5, seen: Date(timeIntervalSince1970: 10),
                tags: ["a", "b"],
                name: "x"),
            Place(
                id: 2, latitude: 0, longitude: -1, seen: Date(timeIntervalSince1970: 0), tags: [], name: "y"),
        ]
        try DatabaseQueue().write { db in
            try db.execute(sql: "CREATE TABLE place (id INTEGER PRIMARY KEY, position, tags, name)")
            for place in places { try place.insert(db) }
            let text = try String.fetchAll(db, sql: "SELECT position || ' ' || tags FROM place")
            #expect(
                text == [
                    #"{"inner":{"longitude":2.5},"latitude":1.5,"note":null,"seen":10} ["a","b"]"#,
                    #"{"inner":{"longitude":-1},"latitude":0,"note":null,"seen":0} []"#,
                ])
            let read = try Place.fetchAll(db)
            #expect(read == places)
            try db.execute(sql: "UPDATE place SET position = '{'")
            #expect(throws: (any Error).self) { try Place.fetchAll(db) }
            try db.execute(sql: "UPDATE place SET position = NULL")
            #expect(throws: (any Error).self) { try Place.fetchAll(db) }
        }
    }

    @Test func aFailedRecordLeavesNothingForTheNextOne() throws {
        struct Failing: Encodable, EncodableRecord {
            enum CodingKeys: CodingKey { case json, value }
            struct Stop: Error {}
            var fails: Bool
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: CodingKeys.self)
                if fails {
                    _ = container.nestedContainer(keyedBy: CodingKeys.self, forKey: .json)
                    throw Stop()
                }
                try container.encode(1, forKey: .value)
            }
        }
        var container = PersistenceContainer()
        #expect(throws: Failing.Stop.self) { try Failing(fails: true).encode(to: &container) }
        container = PersistenceContainer()
        try Failing(fails: false).encode(to: &container)
        #expect(container["value"]?.databaseValue == 1.databaseValue)
        #expect(container.columns == ["value"])
    }

    @Test(.timeLimit(.minutes(1))) func eachOfManyNestedValuesTakesAsLongAsTheOneBefore() throws {
        struct Track: Encodable, EncodableRecord {
            enum CodingKeys: CodingKey { case points, names }
            struct NameKey: CodingKey {
                var stringValue: String
                var intValue: Int? { nil }
                init(stringValue: String) { self.stringValue = stringValue }
                init?(intValue: Int) { return nil }
            }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: CodingKeys.self)
                var points = container.nestedUnkeyedContainer(forKey: .points)
                for point in 0..<100_000 { try points.encode(point) }
                var names = container.nestedContainer(keyedBy: NameKey.self, forKey: .names)
                for name in 0..<100_000 { try names.encode(name, forKey: NameKey(stringValue: "n\(name)")) }
            }
        }
        var container = PersistenceContainer()
        try Track().encode(to: &container)
        let points = String.fromDatabaseValue(container["points"]?.databaseValue ?? .null)
        #expect(points?.hasSuffix(",99998,99999]") == true)
        let names = String.fromDatabaseValue(container["names"]?.databaseValue ?? .null)
        #expect(names?.contains("\"n99999\":99999") == true)
    }
}
