import CipherStore
import Foundation
import Logging
import SyncWire
import Testing

@testable import SyncEngine
@testable import SyncHTTP

/// What a device gets whose rights changed, or that was forgotten, after its request was let in.
@Suite struct ChangedRightsTests {
    private let stores: ServedStores
    private let hub: Synchronizer
    private let store: HubStore

    init() throws {
        stores = try ServedStores()
        hub = try stores.create("hub.db", rows: 3)
        try hub.database.write {
            try $0.execute(sql: "CREATE TABLE label (id BLOB PRIMARY KEY, text TEXT)")
            try $0.execute(sql: "INSERT INTO label VALUES (x'00000000000040008000000000000001', 'red')")
        }
        try hub.track(["label"])
        store = try HubStore(
            hub, limits: .init(), logger: Logger(label: "test"), metrics: ServerMetrics())
    }

    @Test func aDeviceThatTookItsEnrolmentBackLeavesNothingToTheNextOne() throws {
        let address = try ServerAddress(host: "127.0.0.1", port: 1, trust: .loopback)
        let link = try store.register.invite(label: "phone", address: address)
        let first = try store.register.enrol(key: DeviceKey().publicKey, secret: link.secret)
        try hub.insertLarge(1, byteCount: 300_000)
        let request = TransferRequest(base: VersionVector())
        let download = try store.prepareChanges(request, for: first)
        #expect(store.downloads.byteCount > 0)
        try store.release(first)
        #expect(store.state.withLock { $0.downloads.isEmpty })
        let second = try store.register.enrol(key: DeviceKey().publicKey, secret: link.secret)
        #expect(second.id > first.id)
        #expect(throws: RemoteError.self) { try store.download(download.download, of: second) }
        // What was let in before is done for nobody.
        let error = #expect(throws: RemoteError.self) { try store.prepareChanges(request, for: first) }
        #expect(error?.code == .revokedDevice)
        // Nor where another process gave the number away.
        try hub.writer.write {
            try $0.execute(
                sql: "UPDATE _sync_device SET id = ? WHERE id = ?", arguments: [first.id, second.id])
        }
        #expect(throws: RemoteError.self) { try store.prepareChanges(request, for: first) }
        #expect(throws: RemoteError.self) { try store.requireUnchanged(first) }
    }

    @Test func aDeviceThatMadeRoomIsForgottenAsOneThatTookItsEnrolmentBack() throws {
        let address = try ServerAddress(host: "127.0.0.1", port: 1, trust: .loopback)
        let link = try store.register.invite(label: "phone", address: address)
        let key = DeviceKey().publicKey
        let first = try store.enrol(key: key, secret: link.secret)
        try hub.insertLarge(1, byteCount: 300_000)
        let request = TransferRequest(base: VersionVector())
        let download = try store.prepareChanges(request, for: first)
        try store.countRequest(of: first)
        // The same key may repeat its request, and keeps what waits for it.
        #expect(try store.enrol(key: key, secret: link.secret) == first)
        _ = try store.download(download.download, of: first)
        stores.clock.advance(milliseconds: DeviceRegister.holdMilliseconds)
        let second = try store.enrol(key: DeviceKey().publicKey, secret: link.secret)
        #expect(second.id > first.id)
        #expect(store.state.withLock { $0.downloads.isEmpty && $0.rates.isEmpty })
        #expect(throws: RemoteError.self) { try store.download(download.download, of: first) }
    }

    /// As while the request waited for others to write.
    @Test func whatAnswersARequestIsWhatItsDeviceMayHaveByThen() throws {
        let register = try DeviceRegister(hub)
        let address = try ServerAddress(host: "127.0.0.1", port: 1, trust: .loopback)
        let link = try register.invite(label: "phone", address: address)
        let device = try register.enrol(key: DeviceKey().publicKey, secret: link.secret)
        let peer = HubDevice(hub: store, device: device)
        let rows = [StateRows(table: ["label"], keys: [])]
        let question = StateQuestion(table: ["label"], columns: [])
        _ = try peer.greet()
        _ = try store.prepareRows(rows, codec: nil, for: device)
        _ = try peer.answer(question)
        #expect(try peer.state(.recomputed)?.digest.tables.count == 2)
        try register.change("phone", scope: .tables(["note"]))
        #expect(throws: SyncError.self) { try store.prepareRows(rows, codec: nil, for: device) }
        #expect(throws: SyncError.self) { try peer.answer(question) }
        #expect(try peer.state(.recomputed)?.digest.tables.map(\.names) == [["note"]])
        let recipient = try ArchiveIdentity.random().recipient.description
        // What is made for all tables, or of none that it lost, is not what it may have now, either.
        let other = [StateRows(table: ["note"], keys: [])]
        for makes in [
            { _ = try peer.greet() }, { _ = try store.prepareRows(other, codec: nil, for: device) },
            { _ = try store.prepareSnapshot(for: recipient, device) },
        ] as [() throws -> Void] {
            let error = #expect(throws: RemoteError.self) { try makes() }
            #expect(error?.code == .busy)
        }
        try register.revoke("phone")
        for makes in [
            { _ = try store.prepareRows(rows, codec: nil, for: device) }, { _ = try peer.answer(question) },
            { _ = try peer.state(.kept) }, { _ = try peer.greet() }, { _ = try peer.definitions() },
        ] as [() throws -> Void] {
            let error = #expect(throws: RemoteError.self) { try makes() }
            #expect(error?.code == .revokedDevice)
        }
    }
}
