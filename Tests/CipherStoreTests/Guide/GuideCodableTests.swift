import CipherStore
import Foundation
import Testing

/// Codable records and their strategies.
@Suite struct GuideCodableTests {
    private struct Diary: Codable, Equatable, Identifiable, FetchableRecord, PersistableRecord {
        struct Entry: Codable, Equatable {
            var day: Int
            var text: String
        }

        static func databaseUUIDEncodingStrategy(for column: String) -> DatabaseUUIDEncodingStrategy {
            .lowercaseString
        }
        static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
            column == "begunAt" ? .secondsSince1970 : .deferredToDate
        }
        static func databaseDataEncodingStrategy(for column: String) -> DatabaseDataEncodingStrategy { .text }
        static func databaseJSONEncoder(for column: String) -> JSONEncoder {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            return encoder
        }

        var id: UUID
        var begunAt: Date
        var cover: Data
        var entries: [Entry]
    }

    private static let diary = Diary(
        id: UUID(uuid: (0, 0x11, 0xAA, 0xBB, 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 0, 0, 0xF)),
        begunAt: Date(timeIntervalSince1970: 100),
        cover: Data("green".utf8), entries: [Diary.Entry(day: 1, text: "sown")])

    private func makeStore() throws -> GardenStore {
        let store = try GardenStore()
        try store.queue.write { db throws in
            try db.execute(sql: "CREATE TABLE diary (id TEXT PRIMARY KEY, begunAt, cover, entries)")
            try Self.diary.insert(db)
        }
        return store
    }

    @Test func propertiesAreStoredByTheirStrategies() throws {
        let store = try makeStore()
        let row = try store.queue.read { try Row.fetchOne($0, sql: "SELECT * FROM diary") }
        let expected: Row = [
            "id": "0011aabb-0000-4000-8000-00000000000f", "begunAt": 100, "cover": "green",
            "entries": #"[{"day":1,"text":"sown"}]"#,
        ]
        #expect(row == expected)
        #expect(try store.queue.read { try Diary.fetchOne($0) } == Self.diary)
    }

    @Test func keysHaveTheFormThatTheRecordStores() throws {
        let store = try makeStore()
        let id = Self.diary.id
        try store.queue.write { db throws in
            #expect(try Diary.fetchOne(db, id: id) != nil)
            #expect(try Diary.find(db, key: id) == Self.diary)
            #expect(try Diary.filter(ids: [id, UUID()]).fetchCount(db) == 1)
            #expect(try Diary.exists(db, id: id))
            #expect(try Table<Diary>("diary").filter(id: id).fetchCount(db) == 1)
            // An expression is no key.
            #expect(try Diary.filter(Column("id") == id).fetchCount(db) == 0)
            #expect(try Diary.deleteOne(db, id: UUID()) == false)
            #expect(try Diary.deleteAll(db, ids: [id]) == 1)
        }
    }

    @Test func keysThatAreDatesDataOrOptionalsAreEncodedToo() throws {
        struct Dated: Codable, FetchableRecord, PersistableRecord, Identifiable {
            static let databaseTableName = "dated"
            static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
                .secondsSince1970
            }
            var id: Date?
        }
        struct Tagged: Codable, FetchableRecord, PersistableRecord, Identifiable {
            static let databaseTableName = "tagged"
            static func databaseDataEncodingStrategy(for column: String) -> DatabaseDataEncodingStrategy {
                .text
            }
            var id: Data
        }
        let store = try GardenStore()
        try store.queue.write { db throws in
            try db.execute(sql: "CREATE TABLE dated (id PRIMARY KEY); CREATE TABLE tagged (id PRIMARY KEY)")
            let date = Date(timeIntervalSince1970: 7)
            try Dated(id: date).insert(db)
            try Tagged(id: Data("a".utf8)).insert(db)
            #expect(try Dated.fetchOne(db, id: date)?.id == date)
            #expect(try Dated.fetchOne(db, id: nil) == nil)
            #expect(try Tagged.fetchAll(db, keys: [Data("a".utf8), Data("b".utf8)]).count == 1)
            // Bytes that are no text can't be a key of this record.
            #expect(throws: EncodingError.self) { try Tagged.fetchOne(db, key: Data([0xFF])) }
        }
    }

    @Test func columnsCanBeInSnakeCase() throws {
        struct Watering: Codable, FetchableRecord, PersistableRecord {
            static let databaseColumnEncodingStrategy = DatabaseColumnEncodingStrategy.convertToSnakeCase
            static let databaseColumnDecodingStrategy = DatabaseColumnDecodingStrategy.convertFromSnakeCase
            var litreCount: Int
        }
        let store = try GardenStore()
        try store.queue.write { db throws in
            try db.execute(sql: "CREATE TABLE watering (litre_count)")
            try Watering(litreCount: 12).insert(db)
            #expect(try Row.fetchOne(db, sql: "SELECT * FROM watering") == ["litre_count": 12])
            #expect(try Watering.fetchOne(db)?.litreCount == 12)
        }
    }

    @Test func decodersAreToldTheirContext() throws {
        struct Note: Decodable, FetchableRecord {
            static let key = CodingUserInfoKey(rawValue: "source")!
            static var databaseDecodingUserInfo: [CodingUserInfoKey: Any] { [key: "database"] }
            var source: String?

            init(from decoder: any Decoder) throws { source = decoder.userInfo[Self.key] as? String }
        }
        let store = try GardenStore()
        #expect(try store.queue.read { try Note.fetchOne($0, sql: "SELECT 1") }?.source == "database")
        #expect(try JSONDecoder().decode(Note.self, from: Data("{}".utf8)).source == nil)
    }
}
