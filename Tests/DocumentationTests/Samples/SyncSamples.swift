import CipherStore
import Foundation
import SyncEngine
import Testing

/// The code of "Synchronizing two files" and "Synchronizing through a folder".
@Suite struct SyncSamples {
    let place: SamplePlace

    init() throws { place = try SamplePlace() }

    @Test func twoFilesSynchronize() async throws {
        let notes = try place.notes()
        let path = place.path("phone.db")
        // sample: tracking
        let synchronizer = try Synchronizer(notes, tables: ["note"])
        // end
        try await notes.write { try Note(id: .v7(), title: "Groceries", body: nil, stars: 2).insert($0) }
        // sample: cloning
        try synchronizer.clone(to: path, passphrase: Passphrase("battery staple"))
        // end
        try await notes.write { try Note(id: .v7(), title: "Ideas", body: nil, stars: 4).insert($0) }
        // sample: syncing
        var configuration = Configuration()
        configuration.prepareDatabase { db in try db.usePassphrase("battery staple") }
        let phone = StoreTransport(path: path, configuration: configuration)

        let report = try await synchronizer.sync(with: phone)
        print("came:", report.pulled?.rowCount ?? 0, "went:", report.pushed?.rowCount ?? 0)
        // end
        #expect(report.pulled == nil && report.pushed?.rowCount == 1)
        // sample: status
        let status = try synchronizer.status()
        for peer in status.peers {
            print(peer.name, peer.pendingCount)
        }
        // end
        #expect(status.peers.count == 1)
    }

    @Test func aSynchronizationIsCancelled() async throws {
        let (notes, phone) = try place.replicas()
        try phone.close()
        let transport = StoreTransport(
            path: place.path("phone.db"), configuration: place.configuration("battery staple"))
        let synchronizer = try Synchronizer(notes)
        // sample: cancelling
        let task = Task { try await synchronizer.sync(with: transport) }
        task.cancel()
        do {
            _ = try await task.value
        } catch is CancellationError {
            // What was committed before stays. The next synchronization goes on from there.
        }
        // end
        #expect(try await synchronizer.sync(with: transport).conflictCount == 0)
    }

    @Test func replicasMeetInAFolder() async throws {
        let notes = try place.notes()
        try await notes.write { try Note(id: .v7(), title: "Groceries", body: nil, stars: 2).insert($0) }
        let synchronizer = try Synchronizer(notes, tables: ["note"])
        let folderPath = place.path("shared")
        let cost = ScryptCost.minimum
        // sample: folder
        let folder = FolderTransport(
            path: folderPath, passphrase: try Passphrase("of the folder"), cost: cost)
        let report = try await synchronizer.sync(through: folder)
        for remark in report.remarks { print(remark) }
        // end
        #expect(report.pushed?.rowCount == 1)
        // sample: folder-snapshot
        try synchronizer.publishSnapshot(in: folder)
        // end
        let path = place.path("phone.db")
        // sample: folder-joining
        try Synchronizer.join(folder, at: path, passphrase: Passphrase("battery staple"))
        // end
        let phone = try DatabaseQueue(path: path, configuration: place.configuration("battery staple"))
        #expect(try await phone.read { try Note.fetchCount($0) } == 1)
    }

    @Test func changesTravelInAFile() throws {
        let (notes, phone) = try place.replicas()
        try notes.write { try Note(id: .v7(), title: "Books", body: nil, stars: 0).insert($0) }
        let synchronizer = try Synchronizer(notes)
        let onPhone = try Synchronizer(phone)
        let path = place.path("changes.bundle")
        // sample: bundle
        try synchronizer.writeBundle(
            to: path, since: .nothing, .sealed(ArchiveLock(passphrase: Passphrase("of the file"))))
        // Carried by hand, sent by mail …
        try onPhone.applyBundle(at: path, .sealed(ArchiveSecret(Passphrase("of the file"))))
        // end
        #expect(try phone.read { try Note.fetchCount($0) } == 1)
    }
}
