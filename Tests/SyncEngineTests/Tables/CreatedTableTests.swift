import CipherStore
import Foundation
import Testing

@testable import SyncEngine

/// Tables that a store makes as a remote has them.
@Suite struct CreatedTableTests {
    let stores: TestStores

    init() throws { stores = try TestStores() }

    @Test func missingTablesAreMadeWithTheirIndexesAndFilled() throws {
        let a = try stores.create(schema: "CREATE TABLE other (id BLOB PRIMARY KEY)", tables: [])
        let b = try stores.clone(a, as: "b.db")
        try a.queue.write { try $0.execute(sql: TestStores.schema + "CREATE INDEX by_title ON note (title)") }
        try a.synchronizer.track(["note", "tag"])
        try a.execute("INSERT INTO note (id, title, stars) VALUES (?, 'one', 5)", [key(1)])
        // Some of it waits already.
        try b.sync(a)
        #expect(try b.synchronizer.status().parkedCount == 1)
        try a.execute("INSERT INTO note (id, title) VALUES (?, 'two')", [key(2)])
        #expect(try b.synchronizer.createTables(from: a.transport).sorted() == ["note", "tag"])
        #expect(try b.synchronizer.status().parkedCount == 0)
        try b.sync(a)
        #expect(try b.dump() == a.dump())
        let index = "SELECT sql FROM sqlite_master WHERE name = 'by_title'"
        #expect(try b.value(index, as: String.self) == a.value(index, as: String.self))
        #expect(try b.synchronizer.createTables(from: a.transport).isEmpty)
        #expect(try b.state(["note"]) == a.state(["note"]))
    }

    @Test func rowsThatWaitedForATableAreCounted() throws {
        let a = try stores.create(schema: "CREATE TABLE other (id BLOB PRIMARY KEY)", tables: [])
        let b = try stores.clone(a, as: "b.db")
        try a.queue.write { try $0.execute(sql: TestStores.schema) }
        try a.synchronizer.track(["note"])
        for number: UInt8 in 1...3 {
            try a.execute("INSERT INTO note (id, title) VALUES (?, 'one')", [key(number)])
        }
        try b.sync(a)
        let made = try b.synchronizer.makeTables(from: a.transport)
        #expect(made.names == ["note"] && made.shownRowCount == 3)
        let again = try b.synchronizer.makeTables(from: a.transport)
        #expect(again.names.isEmpty && again.shownRowCount == 0)
    }

    @Test func theDefinitionsAreThoseOfTrackedTables() throws {
        let a = try stores.create(tables: ["note"])
        let b = try stores.clone(a, as: "b.db")
        let definitions = try b.synchronizer.definitions(from: a.transport)
        #expect(definitions.map(\.name) == ["note"])
        #expect(definitions[0].statements[0].hasPrefix("CREATE TABLE note"))
    }

    @Test func tablesOfAnotherDatabaseAreNotMade() throws {
        let a = try stores.create()
        let c = try stores.create("c.db", schema: "CREATE TABLE other (id BLOB PRIMARY KEY)", tables: [])
        let error = try #require(throws: SyncError.self) {
            try c.synchronizer.createTables(from: a.transport)
        }
        #expect(error.code == .otherStore)
        #expect(try c.value("SELECT count(*) FROM sqlite_master WHERE name = 'note'", as: Int.self) == 0)
    }
}
