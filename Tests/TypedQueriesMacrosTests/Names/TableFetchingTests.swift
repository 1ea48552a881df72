import Testing
import TypedQueriesMacros

private enum Typed {
    @Table("plants") struct Plant: Equatable {
        static let all = Self.where { !$0.isDead }

        let id: Int
        var name = ""
        var isDead = false
    }
}

private enum Both {
    @Table("plants") struct Plant: Codable, FetchableRecord, PersistableRecord, Equatable {
        static let databaseTableName = "plants"

        let id: Int
        var name = ""
        var isDead = false
    }
}

/// Rows of a table's type, without a statement.
struct TableFetchingTests {
    private func garden() throws -> DatabaseQueue {
        try encryptedDatabase(
            """
            CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, isDead INTEGER NOT NULL);
            INSERT INTO plants VALUES (1, 'fern', 1), (2, 'moss', 0), (3, 'rush', 0);
            """)
    }

    @Test func aTablesTypeFetchesItsDefaultScope() throws {
        try garden().read { db throws in
            let plants = try Typed.Plant.fetchAll(db)
            #expect(plants.map(\.name) == ["moss", "rush"])
            let first = try Typed.Plant.fetchOne(db)
            #expect(first?.name == "moss")
            let count = try Typed.Plant.fetchCount(db)
            #expect(count == 2)
            let cursor = try Typed.Plant.fetchCursor(db)
            let next = try cursor.next()
            #expect(next == first)
        }
    }

    @Test func aTypeThatIsARecordTooFetchesAsARecord() throws {
        try garden().read { db throws in
            let plants = try Both.Plant.fetchAll(db)
            #expect(plants.map(\.name) == ["fern", "moss", "rush"])
            let count = try Both.Plant.fetchCount(db)
            #expect(count == 3)
            let first = try Both.Plant.fetchOne(db)
            #expect(first?.name == "fern")
        }
    }
}
