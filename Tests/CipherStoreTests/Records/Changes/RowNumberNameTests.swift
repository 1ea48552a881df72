import CipherStore
import Testing

private struct Quota: Codable, FetchableRecord, MutablePersistableRecord, Equatable {
    var key: String
    var rowid: Int
    var used: Int
}

private struct Sticker: Codable, FetchableRecord, MutablePersistableRecord, Equatable {
    var key: String
    var rowid = 1
    var number = 2
    var oid = 3

    enum CodingKeys: String, CodingKey {
        case key, rowid, oid
        case number = "_rowid_"
    }
}

private struct Label: Codable, FetchableRecord, MutablePersistableRecord, Equatable {
    var name: String
    var rowid: Int
}

/// Tables with columns that are called as the number that SQLite gives a row.
@Suite struct RowNumberNameTests {
    private func write(emulated: Bool = true, _ body: (Database) throws -> Void) throws {
        guard emulated || EngineFeatures.current.supportsReturning else { return }
        try DatabaseQueue().write { db throws in
            db.emulatesReturning = emulated
            try db.execute(
                sql: """
                    CREATE TABLE quota (key TEXT PRIMARY KEY NOT NULL, rowid INTEGER NOT NULL, used INTEGER NOT NULL);
                    INSERT INTO quota VALUES ('a', 7, 0), ('b', 7, 0);
                    CREATE TABLE sticker (
                        key TEXT PRIMARY KEY NOT NULL, rowid INTEGER, _rowid_ INTEGER, oid INTEGER);
                    CREATE TABLE loose (rowid INTEGER, _rowid_ INTEGER, oid INTEGER);
                    CREATE TABLE label (name TEXT NOT NULL UNIQUE, rowid INTEGER);
                    INSERT INTO label VALUES ('a', 7), ('b', 7);
                    """)
            try body(db)
        }
    }

    @Test(arguments: [true, false]) func anUpsertUpdatesOneRow(emulated: Bool) throws {
        try write(emulated: emulated) { db throws in
            var quota = Quota(key: "a", rowid: 7, used: 5)
            let fetched = try quota.upsertAndFetch(db)
            #expect(fetched == quota)
            let used = try Quota.order(Column("key")).fetchAll(db).map(\.used)
            #expect(used == [5, 0])
        }
    }

    @Test(arguments: [true, false]) func anUpsertOverwritesAColumnThatIsNoKey(emulated: Bool) throws {
        try write(emulated: emulated) { db throws in
            var label = Label(name: "b", rowid: 8)
            try label.upsert(db)
            label.name = "c"
            let inserted = try label.upsertAndFetch(db)
            #expect(inserted == label)
            label.rowid = 9
            let updated = try label.upsertAndFetch(db, onConflict: ["name"])
            #expect(updated == label)
            let labels = try Label.order(Column("name")).fetchAll(db)
            #expect(labels.map(\.name) == ["a", "b", "c"])
            #expect(labels.map(\.rowid) == [7, 8, 9])
        }
    }

    @Test(arguments: [true, false]) func aColumnOfThatNameIsNoKey(emulated: Bool) throws {
        try write(emulated: emulated) { db throws in
            for table in ["quota", "label", "sticker", "loose"] {
                let isUnique = try db.table(table, hasUniqueKey: ["rowid"])
                #expect(!isUnique, "\(table)")
            }
            var label = Label(name: "c", rowid: 7)
            #expect(throws: DatabaseError.self) { try label.upsertAndFetch(db, onConflict: ["rowid"]) }
            #expect(throws: DatabaseError.self) { try Label.deleteOne(db, key: ["rowid": 7]) }
            #expect(throws: DatabaseError.self) { try Quota.fetchOne(db, key: ["rowid": 7]) }
            let count = try Label.fetchCount(db)
            #expect(count == 2)
        }
    }

    @Test func aUniqueColumnOfThatNameIsAKey() throws {
        try write { db throws in
            try db.execute(
                sql: """
                    CREATE TABLE plain (name TEXT);
                    CREATE TABLE first (name TEXT UNIQUE, rowid INTEGER PRIMARY KEY);
                    CREATE TABLE second (name TEXT, rowid INTEGER UNIQUE);
                    CREATE TABLE third (name TEXT, rowid TEXT PRIMARY KEY);
                    """)
            for table in ["plain", "first", "second", "third"] {
                let isUnique = try db.table(table, hasUniqueKey: ["ROWID"])
                #expect(isUnique, "\(table)")
            }
        }
    }

    @Test(arguments: [true, false]) func theRowThatWasInsertedIsFetched(emulated: Bool) throws {
        try write(emulated: emulated) { db throws in
            var quota = Quota(key: "c", rowid: 1, used: 3)
            let fetched = try quota.insertAndFetch(db)
            #expect(fetched == quota)
        }
    }

    @Test(arguments: [true, false])
    func rowsAreFoundByTheirKeyWhereTheirNumberHasNoName(emulated: Bool) throws {
        try write(emulated: emulated) { db throws in
            var sticker = Sticker(key: "a")
            let inserted = try sticker.insertAndFetch(db)
            #expect(inserted == sticker)
            sticker.oid = 4
            let updated = try sticker.upsertAndFetch(db)
            #expect(updated == sticker)
        }
    }

    @Test func aLimitedDeletionKeepsOtherRowsOfTheSameValue() throws {
        try write { db throws in
            let count = try Quota.order(Column("key")).limit(1).deleteAll(db)
            #expect(count == 1)
            let keys = try Quota.fetchAll(db).map(\.key)
            #expect(keys == ["b"])
        }
    }

    @Test func rowsAreGroupedByTheirNumber() throws {
        try write { db throws in
            let keys = try Quota.select(Column("key"), as: String.self).groupByPrimaryKey().fetchSet(db)
            #expect(keys == ["a", "b"])
            let stickers = try Sticker.all().groupByPrimaryKey().fetchAll(db)
            #expect(stickers.isEmpty)
            let error = #expect(throws: DatabaseError.self) {
                try Table("loose").all().groupByPrimaryKey().fetchAll(db)
            }
            #expect(error?.message?.contains("loose") == true)
        }
    }

    @Test func aFilterByAColumnOfThatNameIsNoFilterByRow() throws {
        try write { db throws in
            let region = try Quota.filter(Column("rowid") == 7).databaseRegion(db)
            #expect(region.isModified(byEventsOfKind: .update(tableName: "quota", columnNames: ["used"])))
            #expect(!region.description.contains("[7]"))
        }
    }
}
