import CipherStore
import SyncWire
import Testing

@testable import SyncEngine
@testable import SyncHTTP

/// Rows that are not there though what they began with counts as known.
@Suite(.serialized) struct MissingRowTests {
    /// Takes a row and its versions out of a file.
    private func remove(_ title: String, from replica: Synchronizer) throws {
        let row = "(SELECT r FROM _sync_row WHERE pk = (SELECT id FROM note WHERE title = '\(title)'))"
        try replica.damage(
            """
            DELETE FROM _sync_cell WHERE r = \(row);
            DELETE FROM _sync_row WHERE r = \(row);
            DELETE FROM note WHERE title = '\(title)';
            """)
    }

    @Test(arguments: [SyncDirection.push, .pull]) func theyAreAskedForAsAWhole(direction: SyncDirection)
        async throws
    {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db", rows: 3)
        try hub.insert(1, "one")
        try await RunningServer.serving(hub) { server in
            let phone = try await stores.join(try server.invite(), "phone.db")
            let transport = try RemoteBook(phone).transport(options: .hasty)
            let (sender, receiver) = direction == .push ? (phone, hub) : (hub, phone)
            try remove("one", from: receiver)
            try await sender.database.write { db in
                try db.execute(sql: "UPDATE note SET title = 'two' WHERE title = 'one'")
            }
            let report = try await phone.sync(with: transport)
            #expect(report.divergence == nil)
            #expect(try phone.rows() == hub.rows() && phone.titles()["two"] == 1)
            #expect(try await phone.sync(with: transport).divergence == nil)
        }
    }
}
