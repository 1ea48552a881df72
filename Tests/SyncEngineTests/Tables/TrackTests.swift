import CipherStore
import Testing

@testable import SyncEngine

/// How tables begin to be tracked.
@Suite struct TrackTests {
    let stores: TestStores

    init() throws { stores = try TestStores() }

    private func tracked(_ replica: TestReplica) throws -> [String] {
        try replica.queue.read { try SyncedTable.loadAll($0).filter(\.isTracked).map(\.name) }
    }

    @Test func outsideOfATransactionEitherAllTablesAreTrackedOrNone() throws {
        let replica = try stores.create(tables: [])
        #expect(throws: (any Error).self) {
            try replica.queue.writeWithoutTransaction { db in
                try replica.synchronizer.track(["note", "missing"], in: db)
            }
        }
        #expect(try tracked(replica).isEmpty)
        try replica.queue.writeWithoutTransaction { try replica.synchronizer.track(["note", "tag"], in: $0) }
        #expect(try tracked(replica).sorted() == ["note", "tag"])
    }

    @Test func aTableIsTrackedInTheTransactionThatMakesIt() throws {
        let replica = try stores.create(tables: [])
        struct Undo: Error {}
        func make(_ db: Database) throws {
            try db.execute(sql: "CREATE TABLE part (id BLOB PRIMARY KEY, name TEXT)")
            try db.execute(sql: "INSERT INTO part VALUES (?, 'one')", arguments: [key(1)])
            try replica.synchronizer.track(["part"], in: db)
        }
        #expect(throws: Undo.self) {
            try replica.queue.write { db in
                try make(db)
                throw Undo()
            }
        }
        #expect(try tracked(replica).isEmpty)
        try replica.queue.write { try make($0) }
        #expect(try tracked(replica) == ["part"])
        #expect(try replica.logCount() == 1)
    }
}
