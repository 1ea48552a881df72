import Foundation
import Testing
import TypedQueriesMacros

@Table struct Ticket: Equatable {
    let id: UUID
    var title = ""
}

/// Keys that the database makes, as the tables of apps have them that were written for Apple's SQLite.
@Suite struct UUIDKeyTests {
    private func withTickets(_ body: (Database) throws -> Void) throws {
        let queue = try encryptedDatabase(
            """
            CREATE TABLE tickets (
                "id" TEXT PRIMARY KEY NOT NULL ON CONFLICT REPLACE DEFAULT (uuid()), "title" TEXT NOT NULL)
            """)
        try queue.write { db throws in try body(db) }
    }

    @Test func aDraftWithoutAKeyGetsOne() throws {
        try withTickets { db throws in
            try Ticket.insert {
                Ticket.Draft(title: "a")
                Ticket.Draft(title: "b")
            }.execute(db)
            let tickets = try Ticket.order(by: \.title).fetchAll(db)
            #expect(tickets.map(\.title) == ["a", "b"])
            #expect(Set(tickets.map(\.id)).count == 2)
            let found = try Ticket.find(tickets[0].id).fetchOne(db)
            #expect(found?.title == "a")
        }
    }

    @Test func theKeyOfADraftIsReturned() throws {
        try withTickets { db throws in
            let inserted = try Ticket.insert { Ticket.Draft(title: "a") }.returning(\.id).fetchOne(db)
            let upserted = try Ticket.upsert { Ticket.Draft(title: "b") }.returning(\.id).fetchOne(db)
            let ids = [try #require(inserted), try #require(upserted)]
            let tickets = try Ticket.order(by: \.title).fetchAll(db)
            #expect(tickets.map(\.id) == ids)
        }
    }

    @Test func aDraftWithAKeyUpdatesItsRow() throws {
        try withTickets { db throws in
            let id = UUID()
            try Ticket.insert { Ticket(id: id, title: "a") }.execute(db)
            try Ticket.upsert { Ticket.Draft(id: id, title: "b") }.execute(db)
            let tickets = try Ticket.all.fetchAll(db)
            #expect(tickets == [Ticket(id: id, title: "b")])
        }
    }

    @Test func otherInsertsGetAKeyInLowerCase() throws {
        try withTickets { db throws in
            try db.execute(sql: "INSERT INTO tickets (title) VALUES ('a')")
            let text = try String.fetchOne(db, sql: "SELECT id FROM tickets")
            #expect(text.flatMap { UUID(uuidString: $0) } != nil)
            #expect(text == text?.lowercased())
            let version = text?.dropFirst(14).first
            #expect(version == "4")
        }
    }
}
