import Foundation
import Testing

@testable import CipherStore

/// Properties that are one value or several, or nil: each is coded by itself, whatever came before it.
@Suite struct JSONPropertyTests {
    /// One value, or several.
    private enum Payload: Codable, Equatable {
        enum Word: String, Codable { case red, green }

        case word(Word)
        case counts([String: Int])

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let word = try? container.decode(Word.self) {
                self = .word(word)
            } else {
                self = .counts(try container.decode([String: Int].self))
            }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .word(let word): try container.encode(word)
            case .counts(let counts): try container.encode(counts)
            }
        }
    }

    private struct Note: Codable, Equatable, FetchableRecord, PersistableRecord {
        var id: Int
        var payload: Payload
    }

    private struct Address: Codable, Equatable {
        var city: String
    }

    /// A property that is generic, or coded by hand, is coded as an optional when it is nil.
    private struct Entry<Value: Codable & Equatable>: Codable, Equatable, FetchableRecord, PersistableRecord {
        static var databaseTableName: String { "entry" }

        var id: Int
        var value: Value
    }

    @Test(arguments: [false, true])
    func aPropertyIsStoredAlikeWhateverWasInsertedBefore(jsonComesFirst: Bool) throws {
        let notes = [Note(id: 1, payload: .word(.red)), Note(id: 2, payload: .counts(["a": 1]))]
        try DatabaseQueue().write { db in
            try db.execute(sql: "CREATE TABLE note (id INTEGER PRIMARY KEY, payload TEXT)")
            for note in jsonComesFirst ? notes.reversed() : notes { try note.insert(db) }
            let texts = try String.fetchAll(db, sql: "SELECT payload FROM note ORDER BY id")
            #expect(texts == ["red", #"{"a":1}"#])
        }
    }

    @Test func nilAfterAValueIsNull() throws {
        try DatabaseQueue().write { db in
            try db.execute(sql: "CREATE TABLE entry (id INTEGER PRIMARY KEY, value TEXT)")
            try Entry<Address?>(id: 1, value: Address(city: "Rome")).insert(db)
            try Entry<Address?>(id: 2, value: nil).insert(db)
            try Entry<Address?>(id: 3, value: Address(city: "Oslo")).insert(db)
            let texts = try Optional<String>.fetchAll(db, sql: "SELECT value FROM entry ORDER BY id")
            #expect(texts == [#"{"city":"Rome"}"#, nil, #"{"city":"Oslo"}"#])
        }
    }

    @Test(arguments: ["ASC", "DESC"])
    func aPropertyIsReadAlikeWhateverRowsCameBefore(order: String) throws {
        let notes = [Note(id: 1, payload: .counts(["a": 1])), Note(id: 2, payload: .word(.green))]
        let entries = [
            Entry<Address?>(id: 1, value: Address(city: "Rome")), Entry<Address?>(id: 2, value: nil),
        ]
        try DatabaseQueue().write { db in
            try db.execute(
                sql: """
                    CREATE TABLE note (id INTEGER PRIMARY KEY, payload TEXT);
                    INSERT INTO note VALUES (1, '{"a":1}'), (2, 'green');
                    CREATE TABLE entry (id INTEGER PRIMARY KEY, value TEXT);
                    INSERT INTO entry VALUES (1, '{"city":"Rome"}'), (2, NULL);
                    """)
            let readNotes = try Note.fetchAll(db, sql: "SELECT * FROM note ORDER BY id \(order)")
            #expect(readNotes == (order == "ASC" ? notes : notes.reversed()))
            let readEntries = try Entry<Address?>
                .fetchAll(db, sql: "SELECT * FROM entry ORDER BY id \(order)")
            #expect(readEntries == (order == "ASC" ? entries : entries.reversed()))
            try db.execute(sql: "UPDATE note SET payload = 'blue' WHERE id = 2")
            #expect(throws: (any Error).self) { try Note.fetchAll(db) }
        }
    }

    @Test func aColumnHasItsOwnJSONEncoder() throws {
        struct Visit: Encodable, PersistableRecord {
            enum CodingKeys: CodingKey { case id, seconds, milliseconds }

            static func databaseJSONEncoder(for column: String) -> JSONEncoder {
                let encoder = JSONEncoder()
                encoder.dateEncodingStrategy =
                    column == "seconds" ? .secondsSince1970 : .millisecondsSince1970
                return encoder
            }

            var id: Int
            var key: CodingKeys
            var dates = [Date(timeIntervalSince1970: 1)]

            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encode(id, forKey: .id)
                try container.encode(dates, forKey: key)
            }
        }
        try DatabaseQueue().write { db in
            try db.execute(sql: "CREATE TABLE visit (id INTEGER PRIMARY KEY, seconds, milliseconds)")
            try Visit(id: 1, key: .seconds).insert(db)
            try Visit(id: 2, key: .milliseconds).insert(db)
            let texts = try String.fetchAll(
                db, sql: "SELECT coalesce(seconds, milliseconds) FROM visit ORDER BY id")
            #expect(texts == ["[1]", "[1000]"])
        }
    }
}
