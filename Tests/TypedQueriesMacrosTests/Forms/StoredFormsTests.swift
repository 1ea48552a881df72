import Foundation
import Testing
import TypedQueriesMacros

enum Rank: Int {
    case low = 1
    case high
}

@Table struct Song: Codable, Equatable {
    static let all = unscoped.where { !$0.isHidden }.order { $0.id.desc() }

    let id: Int
    @Column("song_name") var songName = ""
    @Column("song_tags", as: [String].JSONBRepresentation.self) var songTags: [String] = []
    @Column("is_hidden") var isHidden = false
    @Column(as: Rank.RawRepresentation.self) var rank = Rank.low
    @Column(as: Rank?.RawRepresentation.self) var best: Rank?

    enum CodingKeys: String, CodingKey {
        case id
        case songName = "title"
        case songTags, isHidden, rank, best
    }
}

extension Rank: Codable {}

@Table struct Album: Equatable {
    let id: Int
    @Column(as: [Cover].JSONRepresentation.self) var covers: [Cover] = []
    @Column(as: [String].JSONRepresentation.self) var tags: [String] = []
}

@Selection struct Cover: Codable, Equatable {
    @Column("file_name") var fileName = ""
    @Column("size_in_pixels") var size = 0

    private enum CodingKeys: String, CodingKey {
        case fileName
        case size = "pixels"
    }
}

/// The columns of another table, as SQLite lists them.
@Table struct TableInfo<Base: Table>: Equatable {
    static var tableAlias: String? { "\(Base.tableName)Info" }
    static var tableFragment: QueryFragment {
        "pragma_table_info(\(quote: Base.tableName, delimiter: .text))"
    }

    let name: String
    @Column("notnull") let isNotNull: Bool
    @Column("pk") let isPrimaryKey: Bool
}

/// A table that is a query.
@Table("constants") struct Constant: Equatable {
    static var tableAlias: String? { "constant" }
    static var tableFragment: QueryFragment { "(SELECT 1 AS id, 'one' AS title)" }

    let id: Int
    var title = ""
}

@DatabaseFunction private func together(first: String, second: String = "") -> String { first + second }

/// Values in forms of their own: renamed columns in JSON, raw values, rows of generic types.
@Suite struct StoredFormsTests {
    private func withSongs(_ body: (Database) throws -> Void) throws {
        let queue = try encryptedDatabase(
            """
            CREATE TABLE songs (
                id INTEGER PRIMARY KEY, song_name TEXT NOT NULL, song_tags BLOB NOT NULL, is_hidden INTEGER NOT NULL,
                rank INTEGER NOT NULL, best INTEGER);
            CREATE TABLE albums (id INTEGER PRIMARY KEY, covers TEXT NOT NULL, tags TEXT NOT NULL);
            """
        ) { $0.add(function: $together) }
        try queue.write { db throws in
            try Song.insert {
                Song(id: 1, songName: "Blue", songTags: ["slow"], rank: .high)
                Song(id: 2, songName: "Red", best: .low)
                Song(id: 3, songName: "Gone", isHidden: true)
            }.execute(db)
            try Album.insert {
                Album(
                    id: 1, covers: [Cover(fileName: "a.png", size: 3), Cover(fileName: "b.png", size: 9)],
                    tags: ["x"])
                Album(id: 2)
            }.execute(db)
            try body(db)
        }
    }

    @Test func renamedColumnsHaveTheNamesOfTheirPropertiesInJSON() throws {
        let query = Song.find(1).select { $0.jsonObject() }
        #expect(
            sql(query).contains(#"json_object('id', "songs"."id", 'title', "songs"."song_name", 'songTags'"#))
        try withSongs { db throws in
            #expect(
                try Song.select { $0.jsonGroupArray() }.fetchOne(db).map { Set($0.map(\.songName)) }
                    == ["Blue", "Red"])
            let largest = Album.find(1).select { $0.covers.jsonEach().select { $0.size.max() } }
            #expect(try largest.fetchOne(db) == 9)
            let sizes = Album.find(1).select { $0.covers.jsonExtract(\.[1].size) }
            #expect(sql(sizes).contains("'$[1].pixels'"))
            #expect(try sizes.fetchOne(db) == .some(9))
            let names = Album.where { $0.covers.jsonEach().where { $0.fileName.eq("b.png") }.exists() }
            #expect(try names.fetchAll(db).map(\.id) == [1])
            enum Other: AliasName {}
            #expect(
                try Song.as(Other.self).find(1).select { $0.jsonObject() }.fetchOne(db)?.songTags == ["slow"])
        }
    }

    @Test func rowsAreAJSONArrayInBinaryForm() throws {
        try withSongs { db throws in
            let songs = Song.select { $0.jsonbGroupArray(order: $0.id) }
            #expect(try songs.fetchOne(db)?.map(\.songName) == ["Blue", "Red"])
            enum Other: AliasName {}
            let others = Song.find(2).leftJoin(Song.as(Other.self).unscoped) { $0.id.lt($1.id) }
                .select { $1.jsonbGroupArray() }
            #expect(try others.fetchOne(db)?.map(\.songName) == ["Gone"])
            let missing = Song.find(2).leftJoin(Song.as(Other.self).unscoped) { _, _ in false }
                .select { $1.jsonbGroupArray() }
            #expect(try missing.fetchOne(db) == [])
        }
    }

    @Test func rawValuesNeedNoConformance() throws {
        try withSongs { db throws in
            #expect(try Song.where { $0.rank.eq(.high) }.fetchAll(db).map(\.id) == [1])
            #expect(try Song.order { $0.id }.select(\.best).fetchAll(db).contains(.low))
            #expect(try #sql("SELECT rank FROM songs WHERE id = 1", as: Int.self).fetchOne(db) == 2)
            try #sql("UPDATE songs SET rank = 9").execute(db)
            #expect(throws: QueryDecodingFailure.self) { try Song.select(\.rank).fetchAll(db) }
        }
    }

    /// Whoever wrote it: this engine, a replica with another one, or SQL.
    @Test func equalDocumentsInBinaryFormAreEqual() throws {
        try withSongs { db throws in
            try db.execute(sql: #"UPDATE songs SET song_tags = jsonb('["slow"]') WHERE id = 2"#)
            let slow = try Song.where { $0.songTags.eq(#bind(["slow"])) }.fetchAll(db).map(\.id)
            #expect(Set(slow) == [1, 2])
            let types = try String.fetchAll(db, sql: "SELECT typeof(song_tags) FROM songs")
            #expect(Set(types) == ["blob"])
        }
    }

    @Test func aBoundValueIsStoredAsWhatItIsComparedWith() throws {
        try withSongs { db throws in
            #expect(try Album.where { $0.tags.eq(#bind(["x"])) }.fetchAll(db).map(\.id) == [1])
            #expect(try Album.where { $0.tags.neq(#bind(["x"])) }.fetchAll(db).map(\.id) == [2])
            #expect(try Song.where { $0.songTags.is(#bind(["slow"])) }.fetchAll(db).map(\.id) == [1])
            #expect(try Album.where { $0.tags.isNot(#bind(["x"])) }.fetchAll(db).map(\.id) == [2])
            #expect(
                try Values(#bind(["a": 1]).jsonPatch(#bind(["b": 2]))).fetchOne(db) == ["a": 1, "b": 2])
        }
    }

    @Test func partsOfTextsAreLookedFor() throws {
        try withSongs { db throws in
            let text = "[lu]"
            let part = text.dropFirst().dropLast()
            #expect(try Song.where { $0.songName.contains(part) }.fetchAll(db).map(\.id) == [1])
            #expect(try Song.where { $0.songName.hasPrefix("Red"[...]) }.fetchAll(db).map(\.id) == [2])
            #expect(try Song.where { $0.songName.hasSuffix("d"[...]) }.fetchAll(db).map(\.id) == [2])
        }
    }

    @Test func theOrderOfATableIsThatOfItsAliasesAndDrafts() throws {
        enum Other: AliasName {}
        #expect(
            sql(Song.as(Other.self).select(\.id)) == """
                SELECT "others"."id"
                FROM "songs" AS "others"
                WHERE NOT ("others"."is_hidden")
                ORDER BY "others"."id" DESC
                """)
        try withSongs { db throws in
            #expect(try Song.as(Other.self).select(\.id).fetchAll(db) == [2, 1])
            #expect(try Song.Draft.where { $0.songName.neq("") }.fetchAll(db).map(\.id) == [2, 1])
            #expect(try Song.as(Other.self).unscoped.select(\.id).fetchAll(db).count == 3)
        }
    }

    @Test func anotherNameOfAChangedTable() throws {
        enum Other: AliasName {}
        try withSongs { db throws in
            let other = Song.as(Other.self)
            try other.where { $0.id.eq(2) }.update { $0.songName += "!" }.execute(db)
            #expect(try Song.find(2).select(\.songName).fetchOne(db) == "Red!")
            let inserted = other.insert {
                ($0.songName, $0.songTags, $0.isHidden, $0.rank)
            } values: {
                ("New", [], false, .low)
            }
            #expect(try inserted.returning(\.id).fetchAll(db) == [4])
            #expect(try other.where { $0.id.eq(4) }.delete().returning(\.songName).fetchAll(db) == ["New"])
            #expect(try Song.unscoped.fetchCount(db) == 3)
        }
    }

    @Test func aTableMayBeGeneric() throws {
        try withSongs { db throws in
            let keys = TableInfo<Song>.where(\.isPrimaryKey)
            #expect(
                sql(keys).hasPrefix(
                    #"SELECT "songsInfo"."name", "songsInfo"."notnull", "songsInfo"."pk""#))
            guard EngineFeatures.current.sqliteVersionNumber >= 3_016_000 else { return }
            #expect(try keys.fetchAll(db) == [TableInfo(name: "id", isNotNull: false, isPrimaryKey: true)])
            #expect(
                try TableInfo<Album>.join(TableInfo<Song>.all) { $0.name.eq($1.name) }.fetchAll(db).map(
                    \.0.name)
                    == ["id"])
        }
    }

    @Test func draftsAreReadFromWhatTheirTableIs() throws {
        let titles = Constant.Draft.select(\.title)
        #expect(
            sql(titles)
                == #"SELECT "constant"."title"\#nFROM (SELECT 1 AS id, 'one' AS title) AS "constant""#)
        try withSongs { db throws in
            let found = try titles.fetchAll(db)
            #expect(found == ["one"])
            let drafts = try Constant.Draft.where { $0.id > 0 }.fetchAll(db)
            #expect(drafts.map(\.id) == [1])
        }
    }

    @Test func aFunctionWithLabelsIsCalledAsInSQL() throws {
        try withSongs { db throws in
            #expect(try Values($together("a", "b")).fetchOne(db) == "ab")
            #expect(try Song.find(1).select { $together(first: $0.songName) }.fetchOne(db) == "Blue")
        }
    }

    @Test func oldEnginesHaveIif() throws {
        try withSongs { db throws in
            let texts = #sql("SELECT iif(id = 1, 'one', NULL) FROM songs ORDER BY id", as: String?.self)
            #expect(try texts.fetchAll(db) == ["one", nil, nil])
            #expect(try #sql("SELECT iif('0.5x', 1, 2) + iif(NULL, 1, 2)", as: Int.self).fetchOne(db) == 3)
        }
    }
}
