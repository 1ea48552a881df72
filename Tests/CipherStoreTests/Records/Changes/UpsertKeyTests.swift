import CipherStore
import Foundation
import Testing

private struct Tag: Codable, FetchableRecord, MutablePersistableRecord, Equatable {
    var id: UUID?
    var name: String
    var uses: Int

    mutating func didInsert(_ inserted: InsertionSuccess) {
        id = inserted.persistenceContainer["id"]
    }
}

private struct ShownTag: Decodable, FetchableRecord, TableRecord, Equatable {
    static let databaseTableName = "tag"
    static var databaseSelection: [any SQLSelectable] {
        [
            Column("uses"),
            SQL(sql: "name || :suffix AS shown", arguments: ["suffix": "!"]),
        ]
    }

    var uses: Int
    var shown: String
}

/// The keys that records have after they were upserted.
struct UpsertKeyTests {
    @Test(arguments: [true, false], ["", " WITHOUT ROWID"])
    func anUpsertedRecordGetsTheKeyOfItsRow(emulated: Bool, option: String) throws {
        guard emulated || EngineFeatures.current.supportsReturning else { return }
        try DatabaseQueue().write { db in
            db.emulatesReturning = emulated
            try db.execute(
                sql: """
                    CREATE TABLE tag (
                        id BLOB PRIMARY KEY NOT NULL, name TEXT NOT NULL UNIQUE, uses INTEGER)\(option)
                    """)
            var first = Tag(id: nil, name: "red", uses: 1)
            try first.upsert(db)
            #expect(first.id != nil)
            var second = Tag(id: nil, name: "red", uses: 2)
            try second.upsert(db)
            #expect(second.id == first.id)
            var third = Tag(id: nil, name: "red", uses: 3)
            let fetched = try third.upsertAndFetch(db, onConflict: ["name"])
            #expect(fetched == Tag(id: first.id, name: "red", uses: 3))
            #expect(third.id == first.id)
            let all = try Tag.fetchAll(db)
            #expect(all == [fetched])
        }
    }

    @Test(arguments: [true, false])
    func namedArgumentsOfASelectionAreGiven(emulated: Bool) throws {
        guard emulated || EngineFeatures.current.supportsReturning else { return }
        try DatabaseQueue().write { db throws in
            db.emulatesReturning = emulated
            try db.execute(
                sql: "CREATE TABLE tag (id BLOB PRIMARY KEY, name TEXT NOT NULL UNIQUE, uses INTEGER)")
            for uses in [1, 2] {
                var tag = Tag(id: nil, name: "red", uses: uses)
                let fetched = try tag.upsertAndFetch(db, as: ShownTag.self, onConflict: ["name"])
                #expect(fetched == ShownTag(uses: uses, shown: "red!"))
            }
        }
    }
}
