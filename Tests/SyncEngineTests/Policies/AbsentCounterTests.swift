import CipherStore
import Foundation
import Testing

@testable import SyncEngine

/// Counters of which a replica's table has no column.
@Suite struct AbsentCounterTests {
    let stores: TestStores

    init() throws { stores = try TestStores() }

    private func stars(_ replica: TestReplica) throws -> Int? {
        try replica.value("SELECT stars FROM note", as: Int.self)
    }

    /// Adds a counter that stands at 12, of which 7 are a share, to a row that both replicas have.
    private func countToTwelve(_ replica: TestReplica, _ other: TestReplica) throws {
        try replica.synchronizer.setPolicies([.counter("note", "stars")])
        try replica.execute("INSERT INTO note (id, title, stars) VALUES (?, 'one', 5)", [key(1)])
        try replica.sync(other)
        try replica.execute("UPDATE note SET stars = stars + 7")
        try replica.sync(other)
    }

    private func replace(_ replica: TestReplica) throws {
        try replica.execute("INSERT OR REPLACE INTO note (id, title) VALUES (?, 'ONE')", [key(1)])
    }

    @Test func replacingARowKeepsACounterThatWasDroppedHere() throws {
        let a = try stores.create()
        let b = try stores.clone(a, as: "b.db")
        try countToTwelve(b, a)
        try a.migrate("drop") { try $0.alter(table: "note") { $0.drop(column: "stars") } }
        try replace(a)
        try a.sync(b)
        #expect(try b.value("SELECT title FROM note") == "ONE")
        #expect(try stars(b) == 12)
        #expect(try b.synchronizer.conflictCount(.all) == 0)
        try a.migrate("again") { try $0.alter(table: "note") { $0.add(column: "stars", .integer) } }
        #expect(try stars(a) == 12)
        for replica in [a, b] { try replica.execute("UPDATE note SET stars = stars + 1") }
        try a.sync(b)
        #expect(try stars(a) == 14)
        #expect(try a.state(["note"]) == b.state(["note"]))
    }

    @Test func replacingARowKeepsACounterThatWasNeverHere() throws {
        let a = try stores.create(
            schema: "CREATE TABLE note (id BLOB PRIMARY KEY, title TEXT)", tables: ["note"])
        let b = try stores.clone(a, as: "b.db")
        try b.migrate("stars") { db in
            try db.alter(table: "note") { $0.add(column: "stars", .integer).defaults(to: 0) }
        }
        try countToTwelve(b, a)
        try replace(a)
        try a.sync(b)
        #expect(try b.value("SELECT title FROM note") == "ONE")
        #expect(try stars(b) == 12)
        // What the row began with, and was added, goes on from there.
        try b.execute("UPDATE note SET stars = stars + 1")
        try a.sync(b)
        let parked = try a.value("SELECT val FROM _sync_shadow WHERE why = 'no such column'", as: Int.self)
        #expect(parked == 13)
    }

    @Test func aRowThatIsDeletedTakesItsCounterAlong() throws {
        let a = try stores.create()
        let b = try stores.clone(a, as: "b.db")
        try countToTwelve(b, a)
        try a.migrate("drop") { try $0.alter(table: "note") { $0.drop(column: "stars") } }
        try a.execute("DELETE FROM note")
        try a.sync(b)
        // Nothing is parked of the life that ended.
        try replace(a)
        try a.sync(b)
        #expect(try stars(b) == 0)
        #expect(try a.value("SELECT count(*) FROM _sync_part", as: Int.self) == 0)
    }
}
