import Foundation
import Testing
import TypedQueriesMacros

@Selection enum Clue: Codable, Equatable {
    case link(String)
    case frame(Frame)
    @Column("note_text") case note(text: String)
    case seal(Data)

    private enum CodingKeys: String, CodingKey {
        case link = "address"
        case frame, note, seal
    }

    private enum NoteCodingKeys: String, CodingKey {
        case text = "body"
    }
}

@Selection struct Frame: Codable, Equatable {
    let width: Int
    var isWide = false
}

@Table struct Exhibit: Codable, Equatable {
    let id: Int
    var clue: Clue
    var digest: Data?
    var numbers: [UInt8] = []
}

@Table struct Remark: Codable, Equatable {
    var exhibitID: Int?
    var text: String?
}

/// Rows as JSON, which the conformance to `Codable` reads that Swift makes.
@Suite struct JSONRowsTests {
    private let exhibits = [
        Exhibit(id: 1, clue: .link("a"), digest: Data([0, 255, 62]), numbers: [1, 255]),
        Exhibit(id: 2, clue: .frame(Frame(width: 3, isWide: true)), digest: Data()),
        Exhibit(id: 3, clue: .note(text: "n"), numbers: [7]),
        Exhibit(id: 4, clue: .seal(Data([7, 8]))),
    ]

    private func withExhibits(_ body: (Database) throws -> Void) throws {
        let queue = try encryptedDatabase(
            """
            CREATE TABLE exhibits (
                id INTEGER PRIMARY KEY, link TEXT, width INTEGER, isWide INTEGER, note_text TEXT, seal BLOB, digest BLOB,
                numbers BLOB NOT NULL);
            CREATE TABLE remarks (exhibitID INTEGER, text TEXT);
            INSERT INTO remarks VALUES (2, 'wide'), (9, NULL);
            """)
        try queue.write { db throws in
            try Exhibit.insert { exhibits }.execute(db)
            try body(db)
        }
    }

    @Test func enumsAndBytesAreReadFromTheJSONOfRows() throws {
        try withExhibits { db throws in
            let rows = try Exhibit.order(by: \.id).select { $0.jsonObject() }.fetchAll(db)
            #expect(rows == exhibits)
            let array = try Exhibit.select { $0.jsonGroupArray(order: $0.id) }.fetchOne(db)
            #expect(array == exhibits)
            let binary = try Exhibit.select { $0.jsonbGroupArray(order: $0.id) }.fetchOne(db)
            #expect(binary == exhibits)
        }
    }

    @Test func aRowThatAnOuterJoinMakesUpIsNil() throws {
        try withExhibits { db throws in
            let rows = try Remark.leftJoin(Exhibit.all) { $0.exhibitID.eq($1.id) }
                .order { ($0.exhibitID, $1.id) }.select { ($0.exhibitID, $1.jsonObject()) }.fetchAll(db)
            #expect(rows.map(\.1) == [exhibits[1], nil])
            let binary = try Remark.leftJoin(Exhibit.all) { $0.exhibitID.eq($1.id) }
                .order { ($0.exhibitID, $1.id) }.select { ($0.exhibitID, $1.jsonbObject()) }.fetchAll(db)
            #expect(binary.map(\.1) == [exhibits[1], nil])
            let remarks = try Exhibit.leftJoin(Remark.all) { $0.id.eq($1.exhibitID) }
                .order { ($0.id, $1.text) }.select { ($0.id, $1.jsonObject()) }.fetchAll(db)
            #expect(remarks.map(\.1) == [nil, Remark(exhibitID: 2, text: "wide"), nil, nil])
        }
    }

    @Test func bytesAreReadFromJSONArrays() throws {
        try withExhibits { db throws in
            let digests = try Exhibit.select { $0.digest.jsonGroupArray(order: $0.id) }.fetchOne(db)
            #expect(digests == exhibits.map(\.digest))
            let numbers = try Exhibit.select { $0.numbers.jsonGroupArray(order: $0.id) }.fetchOne(db)
            #expect(numbers == exhibits.map(\.numbers))
        }
    }

    @Test func anEnumIsTheObjectOfItsCase() throws {
        try withExhibits { db throws in
            let json = try #sql(
                "SELECT json_extract(\(Exhibit.columns.jsonObject()), '$.clue') FROM \(Exhibit.self) WHERE id = 3",
                as: String.self
            ).fetchOne(db)
            #expect(json == #"{"note":{"body":"n"}}"#)
        }
    }

    /// The text is that of SQLite's own functions, where the library's stand for them too.
    @Test func theTextOfEnumsAndBytesIsTheSameOnEachEngine() throws {
        try withExhibits { db throws in
            try Exhibit.insert { Exhibit(id: 5, clue: .link("\"\\/\u{1}\u{1F}'é\n")) }.execute(db)
            let texts = try #sql(
                "SELECT \(Exhibit.columns.jsonObject()) FROM \(Exhibit.self) ORDER BY id", as: String.self
            ).fetchAll(db)
            let expected = [
                #"{"id":1,"clue":{"address":{"_0":"a"}},"digest":"AP8+","numbers":[1,255]}"#,
                #"{"id":2,"clue":{"frame":{"_0":{"width":3,"isWide":true}}},"digest":"","numbers":[]}"#,
                #"{"id":3,"clue":{"note":{"body":"n"}},"digest":null,"numbers":[7]}"#,
                #"{"id":4,"clue":{"seal":{"_0":"Bwg="}},"digest":null,"numbers":[]}"#,
                #"{"id":5,"clue":{"address":{"_0":"\"\\/\u0001\u001f'é\n"}},"digest":null,"numbers":[]}"#,
            ]
            #expect(texts == expected)
        }
    }
}
