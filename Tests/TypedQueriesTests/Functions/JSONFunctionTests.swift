import Foundation
import Testing

@testable import TypedQueries

@Suite struct JSONFunctionTests {
    let event = Event.columns
    let profile = Event.Profile(
        name: "Blob", links: [.init(url: "a.org"), .init(url: "b.org", isSafe: false)], scores: [3])

    private func withEvent(_ body: (Database) throws -> Void) throws {
        try withTables { db throws in
            let date = Date(timeIntervalSince1970: 0)
            try Event.insert { Event(date, profile: profile, tags: ["red", "it's", "red"]) }.execute(db)
            try body(db)
        }
    }

    @Test func pathsAreKeyPaths() {
        expectSQL(event.profile.jsonExtract(\.name), #"json_extract("events"."profile", '$.name')"#)
        expectSQL(
            event.profile.jsonExtract(\.links[0].url), #"json_extract("events"."profile", '$.links[0].url')"#)
        expectSQL(
            event.profile.jsonExtract(\.links[-1].url),
            #"json_extract("events"."profile", '$.links[#-1].url')"#)
        expectSQL(event.profile.jsonbExtract(\.links), #"jsonb_extract("events"."profile", '$.links')"#)
        expectSQL(event.tags.jsonArrayLength(), #"json_array_length("events"."tags")"#)
        expectSQL(event.profile.jsonSet(\.name, "x"), #"json_set("events"."profile", '$.name', 'x')"#)
        expectSQL(event.tags.jsonbAppend(\.self, "x"), #"jsonb_insert("events"."tags", '$[#]', 'x')"#)
        #expect(JSONPath<[String: Int]>()[key: "a \"b"].pathText == #"$."a \"b""#)
        let combined = JSONPath<[String: Int]>()[key: "a\"\u{301}"].pathText
        #expect(Array(combined.unicodeScalars) == Array("$.\"a\\\"\u{301}\"".unicodeScalars))
    }

    @Test func valuesAreRead() throws {
        try withEvent { db throws in
            #expect(try Event.select { $0.profile.jsonExtract(\.name) }.fetchOne(db) == .some("Blob"))
            #expect(
                try Event.select { $0.profile.jsonExtract(\.links[0].isSafe) }.fetchOne(db) == .some(true))
            #expect(
                try Event.select { $0.profile.jsonExtract(\.links[-1].url) }.fetchOne(db) == .some("b.org"))
            #expect(try Event.select { $0.profile.jsonExtract(\.links[7].url) }.fetchOne(db) == .some(nil))
            #expect(try Event.select { $0.profile.jsonExtract(\.nick) }.fetchOne(db) == .some(nil))
            #expect(try Event.select { $0.profile.jsonExtract(\.links) }.fetchOne(db) == .some(profile.links))
            #expect(
                try Event.select { $0.profile.jsonbExtract(\.links) }.fetchOne(db) == .some(profile.links))
            #expect(
                try Event.select { $0.profile.jsonExtract("$.scores[0]", as: Int.self) }.fetchOne(db)
                    == .some(3))
            #expect(try Event.select { $0.profile.jsonArrayLength(\.links) }.fetchOne(db) == .some(2))
            #expect(try Event.select { $0.profile.jsonType(\.scores) }.fetchOne(db) == .some("array"))
            #expect(try Event.select { $0.profile.jsonType() }.fetchOne(db) == .some("object"))
            #expect(try Event.select { $0.tags.jsonArrayLength() }.fetchOne(db) == 3)
            #expect(
                try Event.select { $0.tags.jsonExtract("$[1]", as: String.self) }.fetchOne(db)
                    == .some("it's"))
            #expect(try Event.select { $0.profile.jsonValid() }.fetchOne(db) == true)
            #expect(try Event.select { _ in "{".jsonValid() }.fetchOne(db) == false)
        }
    }

    @Test func valuesAreChanged() throws {
        func changed(
            _ db: Database,
            _ change: (Event.TableColumns) -> SQLQueryExpression<Event.Profile.JSONRepresentation>
        ) throws -> Event.Profile? {
            try Event.select(change).fetchOne(db)
        }
        try withEvent { db throws in
            #expect(try changed(db) { $0.profile.jsonSet(\.name, "x") }?.name == "x")
            #expect(
                try changed(db) { $0.profile.jsonSet(\.links[0].isSafe, false) }?.links[0].isSafe == false)
            #expect(try changed(db) { $0.profile.jsonSet(\.links, []) }?.links == [])
            #expect(try changed(db) { $0.profile.jsonInsert(\.name, "x") }?.name == "Blob")
            #expect(try changed(db) { $0.profile.jsonReplace(\.scores[0], 5) }?.scores == [5])
            #expect(try changed(db) { $0.profile.jsonAppend(\.scores, 4) }?.scores == [3, 4])
            #expect(try changed(db) { $0.profile.jsonArrayInsert(\.scores[0], 4) }?.scores == [4, 3])
            #expect(try changed(db) { $0.profile.jsonRemove(\.links[0], \.scores[0]) }?.links.count == 1)
            let patch = BindQueryExpression(["name": "y"], as: [String: String].JSONRepresentation.self)
            #expect(try changed(db) { $0.profile.jsonPatch(patch) }?.name == "y")
            try Event.update { $0.profile = $0.profile.jsonSet(\.name, "z") }.execute(db)
            try Event.update { $0.tags = $0.tags.jsonbAppend(\.self, "new") }.execute(db)
            let event = try #require(try Event.all.fetchOne(db))
            #expect(event.profile.name == "z")
            #expect(event.tags == ["red", "it's", "red", "new"])
            #expect(try String.fetchOne(db, sql: "SELECT typeof(tags) FROM events") == "blob")
        }
    }

    @Test func elementsAreRows() throws {
        expectSQL(
            event.tags.jsonEach().query, "SELECT \"json_each\".\"value\"\nFROM json_each(\"events\".\"tags\")"
        )
        try withEvent { db throws in
            #expect(try Event.where { $0.tags.jsonEach().contains("it's") }.fetchCount(db) == 1)
            #expect(try Event.where { $0.tags.jsonEach().contains("blue") }.fetchCount(db) == 0)
            #expect(try Event.where { $0.profile.jsonEach(\.scores).contains(3) }.fetchCount(db) == 1)
            let list = BindQueryExpression([4, 5], as: [Int].JSONRepresentation.self)
            #expect(try list.jsonEach().fetchAll(db) == [4, 5])
            #expect(
                try BindQueryExpression([], as: [Int].JSONRepresentation.self).jsonEach().fetchAll(db) == [])
        }
    }

    @Test func aPathWithoutANameIsAnError() throws {
        try withEvent { db throws in
            #expect(throws: QueryBindingError.self) {
                try Event.select { $0.profile.jsonExtract(\.name.count) }.fetchOne(db)
            }
        }
    }

    /// The bytes are those that SQLite 3.46 makes, so that files travel between engines.
    @Test func binaryJSONIsThatOfSQLite() throws {
        let cases: [(String, String)] = [
            ("null", "00"), ("true", "01"), ("false", "02"), ("17", "233137"), ("-1.5", "452D312E35"),
            (#""abc""#, "37616263"), (#""a\n""#, "38615C6E"), ("[]", "0B"), ("{}", "0C"),
            ("[1,[2]]", "5B13312B1332"),
            (#"{"a":1}"#, "4C17611331"), (#""abcdefghijkl""#, "C70C6162636465666768696A6B6C"),
        ]
        try withTables { db throws in
            for (json, blob) in cases {
                #expect(
                    try String.fetchOne(db, sql: "SELECT hex(jsonb(?))", arguments: [json]) == blob, "\(json)"
                )
                #expect(try String.fetchOne(db, sql: "SELECT json(jsonb(?))", arguments: [json]) == json)
            }
            let long = "[" + (0..<500).map { "\"item \($0)\"" }.joined(separator: ",") + "]"
            #expect(try String.fetchOne(db, sql: "SELECT json(jsonb(?))", arguments: [long]) == long)
            #expect(try Int.fetchOne(db, sql: "SELECT json_array_length(jsonb(?))", arguments: [long]) == 500)
            // A hexadecimal number, a number that ends with a point, and a text of JSON5.
            for (blob, json) in [
                ("4430783146", "31"), ("26352E", "5.0"), ("395C7841", nil), ("1B", nil), ("FF", nil),
            ] {
                let sql = "SELECT json(X'\(blob)')"
                if let json {
                    #expect(try String.fetchOne(db, sql: sql) == json)
                } else {
                    #expect(throws: DatabaseError.self) { try String.fetchOne(db, sql: sql) }
                }
            }
        }
    }
}
