import CipherStore
import SyncWire
import Testing

@testable import SyncEngine
@testable import SyncHTTP

/// Devices with bounds that know a former name of their table, which another table of the server has by now.
@Suite(.serialized) struct FormerNameTests {
    /// Runs the body when both have renamed `note` to `memo`, and the server has a new table `note`, of which the device
    /// does not hear.
    private func serving(
        _ scope: SyncScope, isReadOnly: Bool = false,
        _ body: @Sendable (Synchronizer, Synchronizer, HTTPTransport) async throws -> Void
    ) async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db", rows: 3)
        try await RunningServer.serving(hub) { server in
            let till = try await stores.join(
                try server.invite(isReadOnly: isReadOnly, scope: scope), "till.db")
            let transport = try RemoteBook(till).transport(options: .hasty)
            _ = try await till.pull(from: transport)
            for replica in [hub, till] { try replica.run("ALTER TABLE note RENAME TO memo") }
            _ = try await till.pull(from: transport)
            try hub.run("CREATE TABLE note (id BLOB PRIMARY KEY, title TEXT)")
            try hub.track(["note"])
            try hub.insert(2, "of another table")
            stores.clock.advance(milliseconds: 10)
            try await body(hub, till, transport)
            let names = try await till.database.read {
                try String.fetchAll($0, sql: "SELECT name FROM _sync_table")
            }
            #expect(names == ["memo"])
        }
    }

    @Test func aDeviceWithSomeTablesGoesOnPullingAndComparing() async throws {
        try await serving(.tables(["note"])) { hub, till, transport in
            try hub.addMemo("new")
            let report = try await till.sync(with: transport)
            #expect(report.pulled?.rowCount == 1 && report.divergence == nil)
            #expect(try till.memos() == ["from hub.db", "from hub.db", "from hub.db", "new"])
            #expect(try await blocking { try till.compare(with: transport) } == nil)
            // Now the server is asked for the rows, by all names that the device knows.
            try hub.damage("UPDATE memo SET title = 'zzz' WHERE title = 'new'")
            let found = try await blocking { try till.compare(with: transport) }
            #expect(found?.rowCount == 1)
        }
    }

    @Test(arguments: [false, true]) func aDeviceWithSomeRowsGoesOnPulling(isReadOnly: Bool) async throws {
        let scope = SyncScope.tables(["note"]).rows(
            of: "note", where: "title", in: ["from hub.db", "red"])
        try await serving(scope, isReadOnly: isReadOnly) { hub, till, transport in
            try hub.addMemo("red")
            try hub.addMemo("blue")
            let report = try await till.pull(from: transport)
            #expect(report.waitingTables.isEmpty && report.divergence == nil)
            #expect(try till.memos() == ["from hub.db", "from hub.db", "from hub.db", "red"])
        }
    }
}

extension Synchronizer {
    fileprivate func run(_ sql: String) throws { try database.write { try $0.execute(sql: sql) } }

    fileprivate func addMemo(_ title: String) throws {
        try database.write {
            try $0.execute(
                sql: "INSERT INTO memo (id, title) VALUES (randomblob(16), ?)", arguments: [title])
        }
    }

    fileprivate func memos() throws -> [String] {
        try database.read { try String.fetchAll($0, sql: "SELECT title FROM memo ORDER BY title") }
    }
}
