import CipherStore
import Foundation
import SyncWire
import Testing

@testable import SyncEngine

/// Replicas whose files a program opens for reading only.
@Suite struct ReadOnlyReplicaTests {
    let stores: TestStores
    let path: String

    init() throws {
        stores = try TestStores()
        path = stores.path("changes.bundle")
        let a = try stores.create()
        try a.execute("INSERT INTO note (id, title) VALUES (?, 'one'), (?, 'two')", [key(1), key(2)])
        try fold(a)
    }

    private func fold(_ replica: TestReplica) throws {
        try replica.queue.write { _ = try FoldedStore.fold($0, stores.clock.environment) }
    }

    private func openReadOnly() throws -> Synchronizer {
        var configuration = TestStores.configuration("a.db")
        configuration.readonly = true
        configuration.journalMode = .default
        return try Synchronizer(
            existing: DatabaseQueue(path: stores.path("a.db"), configuration: configuration),
            environment: stores.clock.environment)
    }

    @Test func whatHasVersionsIsSentAndTheFileStaysAsItIs() throws {
        let before = try stores.open("a.db").everything()
        let synchronizer = try openReadOnly()
        #expect(try synchronizer.writeBundle(to: path, since: .nothing, .plaintext).rowCount == 2)
        try synchronizer.writeRequest(to: stores.path("request"), .plaintext)
        #expect(try BundleFile.inspect(stores.path("request"), .plaintext).isRequest)
        try synchronizer.clone(to: stores.path("b.db"), passphrase: Passphrase("passphrase of b.db"))
        #expect(try stores.open("b.db").value("SELECT count(*) FROM note", as: Int.self) == 2)
        #expect(try stores.open("a.db").everything() == before)
    }

    @Test(arguments: [
        "UPDATE note SET title = 'edited'", "ALTER TABLE note ADD COLUMN colour TEXT",
        "DROP TRIGGER _sync_i_1",
        "ALTER TABLE note RENAME TO memo",
    ])
    func whatWouldHaveToBeWrittenFirstIsRefused(sql: String) throws {
        let a = try stores.open("a.db")
        try a.changeUnobserved(sql)
        let synchronizer = try openReadOnly()
        let error = #expect(throws: StoreError.self) {
            try synchronizer.writeBundle(to: path, since: .nothing, .plaintext)
        }
        #expect(error?.code == .cannotWrite)
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(throws: Never.self) { try synchronizer.status() }
        try synchronizer.writeRequest(to: stores.path("request"), .plaintext)
    }

    @Test func anExportInPlainTextNeedsNoVersions() throws {
        try stores.open("a.db").execute("UPDATE note SET title = 'edited'")
        let synchronizer = try openReadOnly()
        try synchronizer.exportPlaintext(to: stores.path("plain.sqlite"))
        let plain = try DatabaseQueue(path: stores.path("plain.sqlite"))
        #expect(
            try plain.read { try String.fetchAll($0, sql: "SELECT title FROM note") } == ["edited", "edited"])
        #expect(throws: StoreError.self) {
            try synchronizer.clone(to: stores.path("b.db"), passphrase: Passphrase("b"))
        }
    }
}
