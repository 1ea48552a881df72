import CipherStore
import Testing

private struct Account: Codable, FetchableRecord, MutablePersistableRecord, Equatable {
    var id: Int64?
    var name: String
    var isActive: Bool
    var email: String?

    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}

/// Upserts into tables with unique indexes that are no plain lists of columns.
@Suite struct UpsertIndexTests {
    private func upsert(
        _ account: Account, index: String, emulated: Bool
    ) throws -> [Account] {
        try DatabaseQueue().write { db in
            db.emulatesReturning = emulated
            try db.execute(
                sql: """
                    CREATE TABLE account (id INTEGER PRIMARY KEY, name TEXT, isActive BOOLEAN, email TEXT);
                    INSERT INTO account VALUES (1, 'Arthur', 0, NULL), (2, 'Arthur', 1, NULL),
                        (3, 'arthur', 0, NULL), (4, 'Barbara', 1, NULL);
                    \(index)
                    """)
            var account = account
            try account.upsert(db)
            return try Account.orderByPrimaryKey().fetchAll(db)
        }
    }

    @Test(arguments: [true, false]) func rowsThatAnIndexLeavesOutStay(emulated: Bool) throws {
        guard emulated || EngineFeatures.current.supportsReturning else { return }
        let index = "CREATE UNIQUE INDEX one ON account (name) WHERE isActive -- only"
        let account = Account(id: nil, name: "Arthur", isActive: true, email: "a@example.com")
        let rows = try upsert(account, index: index, emulated: emulated)
        #expect(rows.map(\.email) == [nil, "a@example.com", nil, nil])
        let inactive = Account(id: nil, name: "Arthur", isActive: false, email: "b@example.com")
        let more = try upsert(inactive, index: index, emulated: emulated)
        #expect(more.map(\.email) == [nil, nil, nil, nil, "b@example.com"])
    }

    @Test(arguments: [true, false]) func theRowOfAnIndexedExpressionIsUpdated(emulated: Bool) throws {
        guard emulated || EngineFeatures.current.supportsReturning else { return }
        let index = """
            CREATE UNIQUE INDEX "it's" ON account (substr(name, 1, 1), length(name) DESC) WHERE isActive
            """
        // The first letters and the lengths are the same.
        let account = Account(id: nil, name: "BARBARA", isActive: true, email: "b@example.com")
        let rows = try upsert(account, index: index, emulated: emulated)
        #expect(rows.map(\.email) == [nil, nil, nil, "b@example.com"])
        #expect(rows.last?.name == "BARBARA")
    }

    @Test(arguments: [true, false]) func anIndexComparesByItsCollation(emulated: Bool) throws {
        guard emulated || EngineFeatures.current.supportsReturning else { return }
        let index = """
            DELETE FROM account WHERE id < 3;
            CREATE UNIQUE INDEX one ON account (name COLLATE NOCASE)
            """
        let account = Account(id: nil, name: "ARTHUR", isActive: true, email: "a@example.com")
        let rows = try upsert(account, index: index, emulated: emulated)
        #expect(rows.map(\.email) == ["a@example.com", nil])
    }
}
