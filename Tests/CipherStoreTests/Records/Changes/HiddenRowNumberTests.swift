import CipherStore
import Testing

private struct Label: Codable, Identifiable, FetchableRecord, PersistableRecord, Equatable {
    var name: String
    var rowid: Int

    var id: Int { rowid }
}

/// A record of tables whose rows are found by what is called rowid.
private struct Tag: Codable, FetchableRecord, PersistableRecord, Equatable {
    static var databaseSelection: [any SQLSelectable] { [.allColumns, .rowID] }

    var name: String
    var rowid: Int
}

/// Tables without a primary key, where a column may hide the number that SQLite gives a row.
@Suite struct HiddenRowNumberTests {
    private func write(emulated: Bool = true, _ body: (Database) throws -> Void) throws {
        guard emulated || EngineFeatures.current.supportsReturning else { return }
        try DatabaseQueue().write { db throws in
            db.emulatesReturning = emulated
            try db.execute(
                sql: """
                    CREATE TABLE label (name TEXT NOT NULL, rowid INTEGER);
                    INSERT INTO label VALUES ('a', 7), ('b', 7);
                    """)
            try body(db)
        }
    }

    private func labels(_ db: Database) throws -> [Label] {
        try Label.order(Column("name")).fetchAll(db)
    }

    @Test(arguments: [true, false]) func aRecordIsNotFoundByAColumnThatIsNoKey(emulated: Bool) throws {
        try write(emulated: emulated) { db throws in
            let before = try labels(db)
            let label = Label(name: "c", rowid: 7)
            let isFound = try label.exists(db)
            #expect(!isFound)
            let isDeleted = try label.delete(db)
            #expect(!isDeleted)
            let error = #expect(throws: RecordError.self) { try label.update(db) }
            let message = "Key not found in table label: [rowid:NULL]"
            #expect(error?.description == message)
            #expect("\(label.recordNotFound(db))" == message)
            #expect(throws: RecordError.self) { try label.update(db, columns: ["name"]) }
            #expect(throws: RecordError.self) { try label.updateAndFetch(db) }
            let after = try labels(db)
            #expect(after == before)
        }
    }

    @Test(arguments: [true, false]) func aRecordThatIsSavedOverwritesNoOther(emulated: Bool) throws {
        try write(emulated: emulated) { db throws in
            try Label(name: "c", rowid: 7).save(db)
            let saved = try Label(name: "d", rowid: 7).saveAndFetch(db)
            #expect(saved == Label(name: "d", rowid: 7))
            let all = try labels(db)
            #expect(all.map(\.name) == ["a", "b", "c", "d"])
            #expect(all.map(\.rowid) == [7, 7, 7, 7])
        }
    }

    @Test func oneValueIsNoKey() throws {
        try write { db throws in
            let before = try labels(db)
            let calls: [(Database) throws -> Void] = [
                { _ = try Label.fetchOne($0, key: 7) },
                { _ = try Label.fetchOne($0, id: 7) },
                { _ = try Label.fetchAll($0, keys: [7, 8]) },
                { _ = try Label.exists($0, key: 7) },
                { _ = try Label.deleteOne($0, key: 7) },
                { _ = try Label.deleteAll($0, keys: [7, 8]) },
                { _ = try Label.filter(id: 7).deleteAll($0) },
                { _ = try Label.filter(key: 7).updateAll($0, Column("name").set(to: "c")) },
            ]
            for (index, call) in calls.enumerated() {
                let error = #expect(throws: DatabaseError.self, "\(index)") { try call(db) }
                #expect(error?.message?.contains("table label has no unique key") == true, "\(index)")
            }
            let after = try labels(db)
            #expect(after == before)
        }
    }

    @Test func theIdsOfDeletedRecordsAreTheValuesOfTheColumn() throws {
        try write { db throws in
            let ids = try Label.filter(Column("name") == "a").deleteAndFetchIds(db)
            #expect(ids == [7])
            let left = try labels(db)
            #expect(left.map(\.name) == ["b"])
        }
    }

    @Test func aColumnIsAKeyFromWhenItIsUnique() throws {
        try write { db throws in
            let label = Label(name: "b", rowid: 8)
            let isFoundAtFirst = try label.exists(db)
            #expect(!isFoundAtFirst)
            try db.execute(
                sql: "UPDATE label SET rowid = 8 WHERE name = 'b'; CREATE UNIQUE INDEX one ON label (rowid)")
            let isFound = try label.exists(db)
            #expect(isFound)
            let fetched = try Label.fetchOne(db, key: 8)
            #expect(fetched == label)
        }
    }

    @Test(
        arguments: [
            "(name TEXT)", "(name TEXT, oid INTEGER)", "(name TEXT, rowid INTEGER PRIMARY KEY)",
            "(name TEXT, ROWID INTEGER PRIMARY KEY)", "(name TEXT, rowid INT PRIMARY KEY)",
            "(name TEXT, rowid INTEGER PRIMARY KEY) WITHOUT ROWID", "(name TEXT, rowid INTEGER UNIQUE)",
        ], [true, false])
    func rowsAreFoundByAKeyCalledRowid(definition: String, emulated: Bool) throws {
        try write(emulated: emulated) { db throws in
            try db.execute(sql: "CREATE TABLE tag \(definition)")
            try Tag(name: "a", rowid: 7).insert(db)
            try Tag(name: "b", rowid: 8).save(db)
            try Tag(name: "c", rowid: 7).update(db)
            try Tag(name: "d", rowid: 8).save(db)
            let updated = try Tag(name: "e", rowid: 8).updateAndFetch(db)
            #expect(updated == Tag(name: "e", rowid: 8))
            let tags = try Tag.order(Column("name")).fetchAll(db)
            #expect(tags == [Tag(name: "c", rowid: 7), Tag(name: "e", rowid: 8)])
            let fetched = try Tag.fetchOne(db, key: 7)
            #expect(fetched?.name == "c")
            let isFound = try Tag(name: "", rowid: 7).exists(db)
            #expect(isFound)
            let isDeleted = try Tag.deleteOne(db, key: 7)
            #expect(isDeleted)
            let areDeleted = try Tag(name: "", rowid: 8).delete(db)
            #expect(areDeleted)
            let count = try Tag.fetchCount(db)
            #expect(count == 0)
        }
    }
}
