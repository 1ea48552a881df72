import CipherStore
import Foundation
import SyncWire
import Testing

@testable import SyncEngine

/// New tables and columns that have a name which another one had before, on all replicas.
@Suite struct ReusedNameTests {
    /// How the changes come over.
    enum Way: CaseIterable { case push, pull, file }

    let stores: TestStores

    init() throws { stores = try TestStores() }

    private func pair() throws -> (TestReplica, TestReplica) {
        let a = try stores.create()
        try a.insert(1, "one")
        return (a, try stores.clone(a, as: "b.db"))
    }

    private func bring(_ a: TestReplica, to b: TestReplica, _ way: Way) throws {
        switch way {
        case .push: try a.sync(b)
        case .pull: try b.sync(a)
        case .file:
            let path = stores.path("changes.bundle")
            try a.synchronizer.writeBundle(to: path, since: .nothing, .plaintext)
            try b.synchronizer.applyBundle(at: path, .plaintext)
        }
    }

    private func makeNote(_ replica: TestReplica) throws {
        try replica.execute("CREATE TABLE note (id BLOB PRIMARY KEY, y TEXT)")
        try replica.synchronizer.track(["note"])
    }

    // MARK: Tables

    @Test(arguments: Way.allCases) func aNewTableWithTheFormerNameOfAnotherOneIsNew(way: Way) throws {
        let (a, b) = try pair()
        for replica in [a, b] { try replica.changeUnobserved("ALTER TABLE note RENAME TO memo") }
        try a.sync(b)
        try makeNote(a)
        try a.execute("INSERT INTO note VALUES (?, 'other')", [key(9)])
        try bring(a, to: b, way)
        for _ in 0..<2 { try a.sync(b) }
        for replica in [a, b] {
            #expect(try replica.value("SELECT group_concat(title) FROM memo") == "one")
        }
        #expect(try a.value("SELECT group_concat(y) FROM note") == "other")
        // Its rows waited for the table.
        try makeNote(b)
        #expect(try b.value("SELECT group_concat(y) FROM note") == "other")
        try b.execute("UPDATE note SET y = 'edited'")
        try b.execute("UPDATE memo SET title = 'edited too'")
        try a.sync(b)
        #expect(try a.value("SELECT group_concat(y) FROM note") == "edited")
        #expect(try a.value("SELECT group_concat(title) FROM memo") == "edited too")
        #expect(try a.state(["memo", "note"]) == b.state(["memo", "note"]))
    }

    @Test func newTablesWithAllFormerNamesOfOneAreNew() throws {
        let (a, b) = try pair()
        for name in ["memo", "entry"] {
            let former = name == "memo" ? "note" : "memo"
            for replica in [a, b] {
                try replica.changeUnobserved("ALTER TABLE \(former) RENAME TO \(name)")
            }
            try a.sync(b)
        }
        try makeNote(a)
        try a.execute("CREATE TABLE memo (id BLOB PRIMARY KEY, z TEXT)")
        try a.synchronizer.track(["memo"])
        try a.execute("INSERT INTO note VALUES (?, 'of note')", [key(8)])
        try a.execute("INSERT INTO memo VALUES (?, 'of memo')", [key(9)])
        for _ in 0..<2 { try a.sync(b) }
        for replica in [a, b] {
            #expect(try replica.value("SELECT group_concat(title) FROM entry") == "one")
        }
        try makeNote(b)
        #expect(try b.value("SELECT group_concat(y) FROM note") == "of note")
    }

    /// It made its table anew, where others renamed theirs, and was not told that both are one.
    @Test func aTableThatAReplicaTakesForTwoStaysOneWhereItWasRenamed() throws {
        let (a, b) = try pair()
        try a.migrate("rename") { try $0.rename(table: "note", to: "memo") }
        try b.execute("CREATE TABLE memo (id BLOB PRIMARY KEY, title TEXT)")
        try b.synchronizer.track(["memo"])
        try b.execute("INSERT INTO memo VALUES (?, 'two')", [key(2)])
        try bring(b, to: a, .file)
        #expect(
            try a.value("SELECT group_concat(title) FROM (SELECT title FROM memo ORDER BY id)") == "one,two")
    }

    // MARK: Columns

    @Test(arguments: Way.allCases) func aNewColumnWithTheFormerNameOfAnotherOneIsNew(way: Way) throws {
        let (a, b) = try pair()
        for replica in [a, b] {
            try replica.migrate("rename") { db in
                try db.alter(table: "note") { $0.rename(column: "title", to: "name") }
            }
        }
        try a.sync(b)
        let add: @Sendable (Database) throws -> Void = { db in
            try db.alter(table: "note") { $0.add(column: "title", .text) }
        }
        try a.migrate("add", add)
        try a.execute("UPDATE note SET title = 'other'")
        try bring(a, to: b, way)
        for _ in 0..<2 { try a.sync(b) }
        for replica in [a, b] { #expect(try replica.value("SELECT group_concat(name) FROM note") == "one") }
        #expect(try a.value("SELECT group_concat(title) FROM note") == "other")
        try b.migrate("add", add)
        try a.sync(b)
        #expect(try b.value("SELECT group_concat(title) FROM note") == "other")
        #expect(try a.state(["note"]) == b.state(["note"]))
    }

    // MARK: Devices

    /// It may bring no new table.
    @Test func aDeviceWithBoundsBringsNoTableUnderAFormerNameOfAnotherOne() throws {
        let (hub, other) = try pair()
        for replica in [hub, other] { try replica.changeUnobserved("ALTER TABLE note RENAME TO memo") }
        try hub.sync(other)
        let bounds = try #require(try hub.synchronizer.bounds(of: .tables(["memo"])))
        let (store, sender) = (
            try hub.synchronizer.status().store, try other.synchronizer.status().replica
        )
        func check(_ names: [String], _ columns: [String]) throws {
            let header = BundleHeader(
                store: store, sender: sender, base: VersionVector(), target: VersionVector(), replicas: [],
                tables: names.map { BundleHeader.Table(name: $0, key: "id", columns: columns) })
            try hub.synchronizer.check(header, within: bounds)
        }
        try check(["memo"], ["title"])
        try check(["note"], ["title"])
        let error = #expect(throws: SyncError.self) { try check(["memo", "note"], ["title"]) }
        #expect(error?.code == .outsideScope)
    }
}
