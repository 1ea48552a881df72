import CipherStore
import Foundation
import Testing

@testable import SyncEngine

/// Tables that have another name here than at the remote, when missing tables are made.
@Suite struct RenamedDefinitionTests {
    /// Who gives the other name.
    enum Way: CaseIterable { case app, otherProgram }

    let stores: TestStores

    init() throws { stores = try TestStores() }

    private func pair() throws -> (TestReplica, TestReplica) {
        let a = try stores.create()
        try a.execute("INSERT INTO note (id, title) VALUES (?, 'one')", [key(1)])
        return (a, try stores.clone(a, as: "b.db"))
    }

    private func rename(_ replica: TestReplica, _ way: Way, to name: String = "memo") throws {
        let sql = "ALTER TABLE note RENAME TO \(name)"
        switch way {
        case .app: try replica.queue.write { try $0.execute(sql: sql) }
        case .otherProgram: try replica.changeUnobserved(sql)
        }
    }

    private func tables(_ replica: TestReplica) throws -> [String] {
        try replica.queue.read { db in
            try String.fetchAll(
                db,
                sql: """
                    SELECT name FROM sqlite_master WHERE type = 'table'
                    AND name NOT LIKE '\\_sync\\_%' ESCAPE '\\' AND name NOT LIKE 'sqlite%' ORDER BY name
                    """)
        }
    }

    @Test(arguments: Way.allCases) func aTableThatTheRemoteRenamedIsNotMadeAgain(way: Way) throws {
        let (a, b) = try pair()
        try rename(a, way)
        let made = try b.synchronizer.createTables(from: a.transport)
        #expect(made.isEmpty)
        #expect(try tables(b) == ["note", "tag"])
        try a.execute("INSERT INTO memo (id, title) VALUES (?, 'two')", [key(2)])
        try b.sync(a)
        #expect(try b.value("SELECT count(*) FROM note", as: Int.self) == 2)
    }

    @Test(arguments: Way.allCases) func aTableThatWasRenamedHereIsNotMadeAgain(way: Way) throws {
        let (a, b) = try pair()
        try rename(b, way)
        let made = try b.synchronizer.createTables(from: a.transport)
        #expect(made.isEmpty)
        #expect(try tables(b) == ["memo", "tag"])
    }

    @Test func aTableThatBothRenamedIsNotMadeAgain() throws {
        let (a, b) = try pair()
        try rename(a, .app, to: "memo")
        try rename(b, .app, to: "jotting")
        let made = try b.synchronizer.createTables(from: a.transport)
        #expect(made.isEmpty)
        #expect(try tables(b) == ["jotting", "tag"])
    }

    @Test func theOtherNamesAreTold() throws {
        let (a, b) = try pair()
        try rename(a, .app)
        let definitions = try b.synchronizer.definitions(from: a.transport)
        let memo = try #require(definitions.first { $0.name == "memo" })
        #expect(memo.otherNames == ["note"])
        let found = try b.synchronizer.find([memo])
        #expect(found.map(\.name) == ["note"])
        let own = try b.synchronizer.definitions(ofTables: nil)
        #expect(own.first { $0.name == "note" }?.otherNames == nil)
    }

    /// Its rows wait under the name that the table had when they came.
    @Test func rowsThatWaitUnderTheOldNameAreShownInTheTableThatIsMade() throws {
        let a = try stores.create(schema: "CREATE TABLE other (id BLOB PRIMARY KEY)", tables: [])
        let b = try stores.clone(a, as: "b.db")
        let c = try stores.clone(a, as: "c.db")
        for replica in [a, c] {
            try replica.queue.write { try $0.execute(sql: TestStores.schema) }
            try replica.synchronizer.track(["note"])
        }
        try a.execute("INSERT INTO note (id, title) VALUES (?, 'one')", [key(1)])
        try b.sync(a)
        try rename(a, .app)
        let made = try b.synchronizer.makeTables(from: a.transport)
        #expect(made.names == ["memo"] && made.shownRowCount == 1)
        // A replica that has not heard of the new name means the same table.
        try c.execute("INSERT INTO note (id, title) VALUES (?, 'two')", [key(2)])
        try b.sync(c)
        #expect(try b.value("SELECT count(*) FROM memo", as: Int.self) == 2)
        #expect(try b.value("SELECT count(*) FROM _sync_table", as: Int.self) == 1)
    }

    @Test func aTableThatIsMadeRefersToARenamedOneByItsNameHere() throws {
        let (a, b) = try pair()
        try a.queue.write { db throws in
            try db.execute(sql: "ALTER TABLE note RENAME TO memo")
            try db.execute(sql: "CREATE TABLE line (id BLOB PRIMARY KEY, note BLOB REFERENCES memo (id))")
        }
        try a.synchronizer.track(["line"])
        let made = try b.synchronizer.createTables(from: a.transport)
        #expect(made == ["line"])
        let sql = try b.value("SELECT sql FROM sqlite_master WHERE name = 'line'", as: String.self)
        #expect(sql?.contains("REFERENCES \"note\"") == true)
    }

    @Test func namesThatNoStoreTakesInMakeNoTable() throws {
        let b = try stores.create()
        for other in ["_sync_row", String(repeating: "n", count: AdmissionLimits.nameByteCountMax + 1)] {
            let table = SharedTable(
                name: "new", statements: ["CREATE TABLE new(id TEXT PRIMARY KEY)"], otherNames: [other])
            let error = #expect(throws: SyncError.self) { try b.synchronizer.make([table]) }
            #expect(error?.code == .invalidBundle)
        }
        #expect(try tables(b) == ["note", "tag"])
    }
}
