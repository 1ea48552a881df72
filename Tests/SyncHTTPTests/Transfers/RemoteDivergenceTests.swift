import CipherStore
import SyncEngine
import Testing

@testable import SyncHTTP

/// Two replicas with a network between them that know the same and don't hold the same.
@Suite(.serialized) struct RemoteDivergenceTests {
    /// Makes one row be gone, with its versions.
    private static let loss = """
        DELETE FROM _sync_cell WHERE r = (SELECT min(r) FROM _sync_row);
        DELETE FROM note WHERE id = (SELECT pk FROM _sync_row ORDER BY r LIMIT 1);
        DELETE FROM _sync_row WHERE r = (SELECT min(r) FROM _sync_row)
        """
    private static let shift = "UPDATE _sync_row SET hlc = hlc + 1"

    private func serving(
        isReadOnly: Bool = false,
        _ body: @Sendable (Synchronizer, Synchronizer, HTTPTransport) async throws -> Void
    ) async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db", rows: 30)
        try hub.insertLarge(60, byteCount: 50_000)
        try await RunningServer.serving(hub) { server in
            let phone = try await stores.join(try server.invite(isReadOnly: isReadOnly), "phone.db")
            try await body(hub, phone, RemoteBook(phone).transport(options: .hasty))
        }
        #expect(try stores.leftovers().isEmpty)
    }

    @Test func rowsThatDifferAreFoundAndMerged() async throws {
        try await serving { hub, phone, transport in
            try phone.insert(3, "phone")
            #expect(try await phone.sync(with: transport).divergence == nil)
            let rows = try hub.rows()
            // Twice on one side: both repairs know the same, and are two nevertheless. All rows together are
            // larger than a request.
            for (side, sql, count) in [
                (hub, Self.loss, 1), (hub, Self.loss, 1), (phone, Self.loss, 1), (hub, Self.shift, 93),
                (phone, Self.shift, 93), (phone, Self.shift, 93),
            ] {
                try side.damage(sql)
                let found = try await phone.sync(with: transport).divergence
                let divergence = try #require(found)
                #expect(divergence.isRepaired && divergence.failure == nil, "\(divergence)")
                #expect(divergence.rowCount == count)
                #expect(try hub.rows() == rows && phone.rows() == rows)
                let next = try await phone.sync(with: transport)
                #expect(next.divergence == nil && next.pulled == nil && next.pushed == nil, "\(next)")
            }
        }
    }

    @Test func valuesThatDifferAreFoundByAComparison() async throws {
        try await serving { hub, phone, transport in
            try hub.damage("UPDATE note SET title = 'zzz' WHERE title = 'from hub.db'")
            #expect(try await phone.sync(with: transport).divergence == nil)
            let found = try await blocking { try phone.compare(with: transport) }
            #expect(found?.rowCount == 30 && found?.isRepaired == false)
            let repaired = try await blocking { try phone.compare(with: transport, repairing: true) }
            #expect(repaired?.isRepaired == true)
            #expect(try phone.titles()["zzz"] == 30)
            #expect(try hub.rows() == phone.rows())
            #expect(try await blocking { try phone.compare(with: transport) } == nil)
        }
    }

    @Test func aReadOnlyDeviceRepairsItselfAndNotTheServer() async throws {
        try await serving(isReadOnly: true) { hub, phone, transport in
            let rows = try hub.rows()
            try phone.damage(Self.loss)
            // What it greets with has a digest, which is compared as every device's.
            let repaired = try await phone.pull(from: transport).divergence
            #expect(repaired?.isRepaired == true && repaired?.rowCount == 1)
            #expect(try phone.rows() == rows)
            #expect(try await phone.pull(from: transport).divergence == nil)
            try hub.damage(Self.loss)
            let found = try await phone.pull(from: transport).divergence
            #expect(found?.rowCount == 1 && found?.isRepaired == false)
            #expect(found?.failure?.code == .diverged)
            #expect(try hub.rows().count == rows.count - 1)
            await #expect(throws: RemoteError.self) {
                _ = try await blocking { try phone.compare(with: transport, repairing: true) }
            }
            #expect(try hub.rows().count == rows.count - 1)
        }
    }
}
