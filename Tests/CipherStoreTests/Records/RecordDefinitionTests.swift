import CipherStore
import Foundation
import Testing

private struct Place: TableRecord, EncodableRecord {
    var id: Int64?
    var title: String
    var created: Date
    var owner: UUID?
    var flag = true

    func encode(to container: inout PersistenceContainer) {
        container["id"] = id
        container["title"] = title
        container["created"] = created
        container["owner"] = owner
        container["flag"] = flag
        container["count"] = 1
        container["none"] = nil
        container["Title"] = title.uppercased()
        let boxed: (any DatabaseValueConvertible)? = 1.5
        container["boxed"] = boxed
    }
}
private struct HTTPRequest: TableRecord {}
private struct TOEFL: TableRecord {}
private struct Box<Content>: TableRecord {}

struct RecordDefinitionTests {
    @Test func tableNamesAreDerivedFromTypeNames() {
        #expect(Place.databaseTableName == "place")
        #expect(HTTPRequest.databaseTableName == "httpRequest")
        #expect(TOEFL.databaseTableName == "toefl")
        #expect(Box<Int>.databaseTableName == "box")
    }

    @Test func aContainerKeepsOneValueForNamesThatDifferInCase() throws {
        let place = Place(title: "Paris", created: Date(timeIntervalSince1970: 0))
        let dictionary = try place.databaseDictionary
        #expect(
            dictionary == [
                "id": .null, "title": "PARIS".databaseValue,
                "created": "1970-01-01 00:00:00.000".databaseValue,
                "owner": .null, "flag": true.databaseValue, "count": 1.databaseValue, "none": .null,
                "boxed": 1.5.databaseValue,
            ])
    }

    @Test func aContainerGivesBackWhatWasSet() {
        var container = PersistenceContainer()
        container["a"] = 1
        container["B"] = nil
        container["c"] = "x"
        #expect(container["A"]?.databaseValue == 1.databaseValue)
        #expect(container["b"] == nil)
        #expect(container["missing"]?.databaseValue == nil)
        let text: String? = container["C"]
        #expect(text == "x")
    }

    @Test func theErrorOfAMissingColumnSaysWhatWasLookedFor() throws {
        struct Player: Decodable, FetchableRecord {
            static let databaseColumnDecodingStrategy = DatabaseColumnDecodingStrategy.convertFromSnakeCase
            enum CodingKeys: String, CodingKey { case firstName, playerID }
            var playerID: Int
            var firstName: String?
        }
        struct Prefixed: Decodable, FetchableRecord {
            static let databaseColumnDecodingStrategy = DatabaseColumnDecodingStrategy.custom { name in
                Player.CodingKeys(stringValue: String(name.dropFirst())) ?? Player.CodingKeys.firstName
            }
            var playerID: Int
        }
        // "player_id" is read as "playerId", which is none of the keys.
        let row: Row = ["player_id": 1]
        let snake = #expect(throws: RowDecodingError.self) { try Player(row: row) }
        #expect(
            snake?.description.contains(", with divergent representation playerId, converted to player_id")
                == true)
        let custom = #expect(throws: RowDecodingError.self) { try Prefixed(row: row) }
        #expect(custom?.description.hasPrefix("key not found: ") == true)
        #expect(custom?.description.contains("(\"playerID\")") == true)
    }

    @Test func theContainerOfAnInsertionHasTheNewKey() throws {
        final class Keys { var seen: [DatabaseValue?] = [] }
        struct Item: MutablePersistableRecord {
            var id: Int64?
            let keys = Keys()
            func encode(to container: inout PersistenceContainer) { container["iD"] = id }
            func aroundInsert(_ db: Database, insert: () throws -> InsertionSuccess) throws {
                keys.seen.append(try insert().persistenceContainer["ID"]?.databaseValue)
            }
            mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.persistenceContainer["id"] }
            func didSave(_ saved: PersistenceSuccess) {
                keys.seen.append(saved.persistenceContainer["Id"]?.databaseValue)
            }
        }
        try DatabaseQueue().write { db in
            try db.execute(sql: "CREATE TABLE item (id INTEGER PRIMARY KEY); INSERT INTO item VALUES (6)")
            var item = Item()
            try item.insert(db)
            #expect(item.id == 7)
            #expect(item.keys.seen == [7.databaseValue, 7.databaseValue])
        }
    }
}
