import CipherStore
import Foundation
import Testing

/// Connections, transactions, concurrency and memory.
@Suite struct GuideConnectionTests {
    @Test func aQueueAndAPoolWorkOnOneFile() throws {
        let store = try GardenStore.planted()
        let pool = try DatabasePool(path: store.queue.path, configuration: .keyed("compost"))
        try pool.write { try $0.execute(sql: "DELETE FROM plant WHERE name = 'Rose'") }
        let names = try store.queue.read {
            try String.fetchAll($0, sql: "SELECT name FROM plant ORDER BY name")
        }
        #expect(names == ["Basil", "Kale", "Leek"])
    }

    @Test func aReadOnlyConnectionRefusesToWrite() throws {
        let store = try GardenStore.planted()
        try store.queue.close()
        var configuration = Configuration.keyed("compost")
        configuration.readonly = true
        let reader = try DatabaseQueue(path: store.queue.path, configuration: configuration)
        #expect(try reader.read { try Plant.fetchCount($0) } == 4)
        let error = #expect(throws: DatabaseError.self) { try reader.write { try Plant.deleteAll($0) } }
        #expect(error?.resultCode == .SQLITE_READONLY)
    }

    @Test func aFailedWriteIsRolledBackAndASavepointAlone() throws {
        let store = try GardenStore.planted()
        struct Frost: Error {}
        #expect(throws: Frost.self) {
            try store.queue.write { db in
                try Plant.deleteAll(db)
                throw Frost()
            }
        }
        try store.queue.inTransaction { db in
            try Plant.filter(key: 1).deleteAll(db)
            try db.inSavepoint {
                try Plant.deleteAll(db)
                return .rollback
            }
            #expect(db.isInsideTransaction)
            return .commit
        }
        #expect(try store.queue.read { try Plant.fetchCount($0) } == 3)
    }

    @Test func workAfterATransactionWaitsForItsCommit() throws {
        let store = try GardenStore.planted()
        let log = Log()
        try store.queue.write { db throws in
            db.afterNextTransaction { _ in log.append("watered") }
            try Plant.deleteAll(db)
            #expect(log.lines.isEmpty)
        }
        #expect(log.lines == ["watered"])
    }

    @Test func asynchronousAccessesReturnValues() async throws {
        let store = try GardenStore.planted()
        let plant = Plant(name: "Thyme")
        let inserted = try await store.queue.write { db in try plant.inserted(db) }
        #expect(inserted.id == 5)
        let count = try await store.queue.read { try Plant.fetchCount($0) }
        #expect(count == 5)
    }

    @Test func aSnapshotKeepsWhatItSaw() throws {
        let store = try GardenStore.planted()
        let pool = try DatabasePool(path: store.queue.path, configuration: .keyed("compost"))
        let snapshot = try pool.makeSnapshot()
        try pool.write { _ = try Plant.deleteAll($0) }
        #expect(try snapshot.read { try Plant.fetchCount($0) } == 4)
        #expect(try pool.read { try Plant.fetchCount($0) } == 0)
    }

    @Test func memoryIsReleasedOnRequest() throws {
        let store = try GardenStore.planted()
        store.queue.releaseMemory()
        let pool = try DatabasePool(path: store.queue.path, configuration: .keyed("compost"))
        pool.releaseMemory()
        pool.releaseMemoryEventually()
        store.queue.writeWithoutTransaction { $0.releaseMemory() }
        #expect(try pool.read { try Plant.fetchCount($0) } == 4)
    }

    @Test func statementsAreTracedWithTheirDuration() throws {
        let log = Log()
        let store = try GardenStore { db in
            db.trace(options: .profile) { event in
                if case .profile(let statement, let duration) = event, duration >= 0 {
                    log.append(statement.sql)
                }
            }
        }
        _ = try store.queue.read { try Plant.filter(Plant.Columns.height > 5).fetchAll($0) }
        #expect(log.lines.contains("SELECT * FROM \"plant\" WHERE \"height\" > ?"))
    }
}

/// Lines that were logged, in order.
final class Log: @unchecked Sendable {
    // Unchecked: the lock guards the lines.
    private let lock = NSLock()
    private var logged: [String] = []

    var lines: [String] { lock.withLock { logged } }

    func append(_ line: String) { lock.withLock { logged.append(line) } }
}
