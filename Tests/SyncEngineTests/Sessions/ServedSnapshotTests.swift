import CipherStore
import Foundation
import Testing

@testable import SyncEngine

/// Snapshots that a server makes for devices that join.
@Suite struct ServedSnapshotTests {
    /// A trace shows when to write: the copy is begun, and the log was folded when the server was asked.
    @Test func whatAnotherConnectionAddsToACounterMeanwhileCountsOnce() throws {
        let stores = try TestStores()
        let hub = try stores.create("hub.db")
        try hub.synchronizer.setPolicies([.counter("note", "stars")])
        try hub.execute("INSERT INTO note (id, title, stars) VALUES (?, 'n', 10)", [key(1)])
        let app = try stores.open("hub.db")
        var isWritten = false
        hub.queue.inDatabase { db in
            db.trace { event in
                guard !isWritten, "\(event)".hasPrefix("BEGIN DEFERRED") else { return }
                isWritten = true
                do {
                    try app.execute("UPDATE note SET stars = stars + 5")
                } catch {
                    Issue.record(error)
                }
            }
        }
        let identity = try ArchiveIdentity.random()
        let archive = stores.path("snapshot.csa")
        var bytes = Data()
        try hub.synchronizer.writeSnapshot(lock: ArchiveLock(recipient: identity.recipient)) {
            bytes.append($0)
        }
        try bytes.write(to: URL(fileURLWithPath: archive))
        hub.queue.inDatabase { $0.trace(options: []) }
        #expect(isWritten)
        try Synchronizer.restore(
            archive: archive, to: stores.path("phone.db"), opening: ArchiveSecret(identity),
            passphrase: Passphrase("passphrase of phone.db"), environment: stores.clock.environment)
        let phone = try stores.open("phone.db")
        for _ in 0..<2 { try phone.sync(hub) }
        for replica in [hub, phone] {
            let stars = try replica.value("SELECT stars FROM note", as: Int64.self)
            #expect(stars == 15, "\(replica.name)")
        }
    }

    /// A process can be killed at any moment, and nobody looks for files that are not named after the store.
    @Test func whatIsOnTheDiskMeanwhileIsKnownForALeftoverOfTheStore() throws {
        let stores = try TestStores()
        let hub = try stores.create("hub.db")
        let path = stores.path("hub.db")
        func contents() throws -> Set<String> {
            Set(try FileManager.default.contentsOfDirectory(atPath: stores.folder))
        }
        let own: Set = ["hub.db", "hub.db-wal", "hub.db-shm"]
        var (known, others) = (Set<String>(), Set<String>())
        func look() throws {
            let found = StoreLeftovers.find(beside: path).map { URL(fileURLWithPath: $0).lastPathComponent }
            known.formUnion(found)
            others.formUnion(try contents().subtracting(found).subtracting(own))
        }
        let identity = try ArchiveIdentity.random()
        try hub.synchronizer.writeSnapshot(
            lock: ArchiveLock(recipient: identity.recipient), progress: { _ in try look() },
            to: { _ in try look() })
        #expect(!known.isEmpty)
        #expect(others.isEmpty, "\(others)")
        #expect(StoreLeftovers.find(beside: path) == [])
        #expect(try contents().isSubset(of: own))
    }
}
