import CipherStore
import Testing

@testable import SyncEngine

/// What a folded store says of the transaction that it is made in.
@Suite struct FoldedStoreTests {
    let stores: TestStores
    let replica: TestReplica
    private var environment: SyncEnvironment { stores.clock.environment }

    init() throws {
        stores = try TestStores()
        replica = try stores.create()
    }

    private func insert(_ number: Int, _ db: Database) throws {
        try db.execute(
            sql: "INSERT INTO tag (id, name) VALUES (?, ?)",
            arguments: ["00000000-0000-4000-8000-00000000000\(number)", "tag \(number)"])
    }

    @Test func itsMetadataHaveWhatWasFolded() throws {
        try replica.queue.write { db in
            let before = try FoldedStore.fold(db, environment).metadata
            try insert(1, db)
            let store = try FoldedStore.fold(db, environment)
            #expect(store.summary.entryCount == 1 && !store.hasNewSchema)
            let last = try Int64.fetchOne(db, sql: "SELECT max(seq) FROM _sync_log")
            #expect(store.metadata.folded == last && store.metadata.folded > before.folded)
            #expect(try store.metadata.vector[before.replicaID()] == last)
        }
    }

    @Test func whatIsWrittenAfterwardsTakesAnotherOne() throws {
        try replica.queue.write { db in
            let store = try FoldedStore.fold(db, environment)
            try insert(1, db)
            #expect(try FoldedStore.ifFolded(db, environment) == nil)
            let next = try FoldedStore.fold(db, environment)
            #expect(next.metadata.folded > store.metadata.folded)
            #expect(try store.currentMetadata().folded == next.metadata.folded)
        }
    }

    @Test func aSnapshotIsOneOnlyWhenNothingWaitsForAFold() throws {
        try replica.queue.write { try insert(1, $0) }
        #expect(try replica.queue.read { try FoldedStore.ifFolded($0, environment) == nil })
        try replica.queue.write { _ = try FoldedStore.fold($0, environment) }
        let (found, expected) = try replica.queue.read { db in
            (try FoldedStore.ifFolded(db, environment)?.metadata.folded, try StoreMetadata.require(db).folded)
        }
        #expect(found == expected)
    }

    @Test func aStoreWithoutMetadataIsNone() throws {
        let queue = try DatabaseQueue(
            path: stores.path("plain.db"), configuration: TestStores.configuration("plain.db"))
        let error = try #require(throws: SyncError.self) {
            try queue.read { _ = try FoldedStore.ifFolded($0, environment) }
        }
        #expect(error.code == .notSynchronized)
    }

    @Test func aRefreshFollowsTheSchemaBeforeItFolds() throws {
        try replica.changeUnobserved("ALTER TABLE tag ADD COLUMN color TEXT")
        try replica.queue.write { db in
            try insert(1, db)
            try db.execute(sql: "UPDATE tag SET color = 'red'")
            let store = try FoldedStore.refresh(db, environment)
            #expect(store.hasNewSchema)
            #expect(try FoldedStore.isFolded(db))
            let columns = try SyncedTable.loadAll(db).first { $0.name == "tag" }?.presentColumns.map(\.name)
            #expect(columns?.contains("color") == true)
            #expect(try !FoldedStore.refresh(db, environment).hasNewSchema)
        }
    }
}
