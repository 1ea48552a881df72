import Testing
import TypedQueriesMacros

@Table("visitors") struct Subscriber: Equatable {
    let id: Int
    var email = ""
    var name = ""
}

/// Rows in the way by indexes that compare otherwise than their columns, on engines that know upserts and on others.
@Suite struct CollationConflictTests {
    private func withVisitor(
        email: String, index: String, _ body: (Database) throws -> Void
    ) throws {
        let queue = try encryptedDatabase(
            """
            CREATE TABLE visitors (id INTEGER PRIMARY KEY, email \(email) NOT NULL, name TEXT NOT NULL);
            CREATE UNIQUE INDEX emails ON visitors \(index);
            INSERT INTO visitors VALUES (1, 'a@x', 'old');
            """)
        try queue.write { db throws in try body(db) }
    }

    private func storedNames(_ db: Database) throws -> [String] {
        try Subscriber.order(by: \.id).select(\.name).fetchAll(db)
    }

    @Test func anotherRowOfTheColumnsCollationIsInNobodysWay() throws {
        try withVisitor(email: "TEXT COLLATE NOCASE", index: "(email COLLATE BINARY)") { db throws in
            try Subscriber.insert {
                Subscriber.Draft(email: "A@x", name: "new")
            } onConflict: {
                $0.email
            } doUpdate: {
                $0.name = $1.name
            }.execute(db)
            let names = try storedNames(db)
            #expect(names == ["old", "new"])
        }
    }

    @Test func aRowIsInTheWayByTheCollationOfTheIndex() throws {
        try withVisitor(email: "TEXT", index: "(email COLLATE NOCASE)") { db throws in
            try Subscriber.insert {
                Subscriber.Draft(email: "A@x", name: "column")
            } onConflict: {
                $0.email
            } doUpdate: {
                $0.name = $1.name
            }.execute(db)
            let first = try storedNames(db)
            #expect(first == ["column"])
            try Subscriber.insert {
                Subscriber.Draft(email: "A@X", name: "collated")
            } onConflict: {
                $0.email.collate(.nocase)
            } doUpdate: {
                $0.name = $1.name
            }.execute(db)
            let second = try storedNames(db)
            #expect(second == ["collated"])
            try Subscriber.insert {
                Subscriber.Draft(email: "a@X", name: "any")
            } onConflictDoUpdate: {
                $0.name = $1.name
            }.execute(db)
            let third = try storedNames(db)
            #expect(third == ["any"])
        }
    }

    @Test func aTargetOfAnotherCollationIsNoKey() throws {
        try withVisitor(email: "TEXT", index: "(email COLLATE NOCASE)") { db throws in
            let insert = Subscriber.insert {
                Subscriber.Draft(email: "b@x", name: "new")
            } onConflict: {
                $0.email.collate(.rtrim)
            } doUpdate: {
                $0.name = $1.name
            }
            let error = #expect(throws: DatabaseError.self) { try insert.execute(db) }
            #expect(error?.message?.contains("does not match") == true)
        }
    }

    @Test func anIndexOfAnExpressionIsAKeyOfItsRows() throws {
        try withVisitor(email: "TEXT", index: "(lower(email)) WHERE visitors.name <> 'gone'") { db throws in
            for (email, name) in [("A@X", "gone"), ("A@x", "new"), ("b@x", "other")] {
                try Subscriber.insert {
                    Subscriber.Draft(email: email, name: name)
                } onConflictDoUpdate: {
                    $0.name = $1.name
                }.execute(db)
            }
            let names = try storedNames(db)
            #expect(names == ["new", "gone", "other"])
        }
    }
}
