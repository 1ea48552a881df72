import Testing
import TypedQueriesMacros

private enum Unique {
    @Table("words") struct Word: Equatable {
        let id: Int
        var text = ""
    }
}

/// What becomes of rows that violate constraints.
struct InsertPolicyTests {
    private func words() throws -> DatabaseQueue {
        try encryptedDatabase(
            """
            CREATE TABLE words (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE DEFAULT 'new');
            INSERT INTO words VALUES (1, 'one'), (2, 'two');
            """)
    }

    @Test func anUpsertHasAPolicyForOtherConstraints() throws {
        try words().write { db throws in
            try Unique.Word.upsert(or: .ignore) { Unique.Word(id: 3, text: "two") }.execute(db)
            try Unique.Word.upsert(or: .ignore) { Unique.Word(id: 1, text: "uno") }.execute(db)
            let rows = try Unique.Word.order(by: \.id).fetchAll(db)
            #expect(rows == [Unique.Word(id: 1, text: "uno"), Unique.Word(id: 2, text: "two")])
            #expect(throws: DatabaseError.self) {
                try Unique.Word.upsert { Unique.Word(id: 3, text: "two") }.execute(db)
            }
        }
    }

    @Test func aRowOfDefaultsHasAPolicy() throws {
        try words().write { db throws in
            try Unique.Word.insert().execute(db)
            try Unique.Word.insert(or: .ignore).execute(db)
            let count = try Unique.Word.all.fetchCount(db)
            #expect(count == 3)
            #expect(throws: DatabaseError.self) { try Unique.Word.insert(or: .abort).execute(db) }
        }
    }
}
