import Testing
import TypedQueriesMacros

private enum Typed {
    @Table("badges") struct Badge: Equatable {
        @Column(primaryKey: true) let code: String
        var owner = ""
        var uses = 0
    }

    @Table("seats") struct Seat: Equatable {
        let id: Int
        var name = ""
        var uses = 0
    }
}

/// Which of several rows in the way an upsert without a target updates, on engines that know upserts and on others.
struct ConflictOrderTests {
    @Test func theKeyThatWasDeclaredLastComesFirst() throws {
        let queue = try encryptedDatabase(
            """
            CREATE TABLE badges (code TEXT PRIMARY KEY, owner TEXT NOT NULL UNIQUE, uses INTEGER NOT NULL);
            INSERT INTO badges VALUES ('a', 'Ann', 0), ('b', 'Bob', 0);
            """)
        try queue.write { db throws in
            try Typed.Badge.insert {
                Typed.Badge(code: "a", owner: "Bob")
            } onConflictDoUpdate: {
                $0.uses += 1
            }.execute(db)
            let uses = try Typed.Badge.order(by: \.code).select(\.uses).fetchAll(db)
            #expect(uses == [0, 1])
        }
    }

    @Test func theNumberOfTheRowComesBeforeOtherKeys() throws {
        let queue = try encryptedDatabase(
            """
            CREATE TABLE seats (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, uses INTEGER NOT NULL);
            INSERT INTO seats VALUES (1, 'Ann', 0), (2, 'Bob', 0);
            """)
        try queue.write { db throws in
            try Typed.Seat.insert {
                Typed.Seat(id: 1, name: "Bob")
            } onConflictDoUpdate: {
                $0.uses += 1
            }.execute(db)
            let uses = try Typed.Seat.order(by: \.id).select(\.uses).fetchAll(db)
            #expect(uses == [1, 0])
        }
    }
}
