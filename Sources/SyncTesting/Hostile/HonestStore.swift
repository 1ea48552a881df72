import CipherStore
import Foundation
import SyncEngine
import SyncWire

/// A replica of somebody who does what everybody does, and has no model: what a hostile device brings can't be predicted.
final class HonestStore {
    /// The table in which honest replicas show each other that they are there, beside those of the app.
    static let beacon = "beacon"

    let number: Int
    let name: String
    let queue: DatabaseQueue
    let synchronizer: Synchronizer
    private let factory: StoreFactory
    private let clock: SimulatedClock

    /// Opens a file, and prepares it if it is the first one.
    init(_ factory: StoreFactory, _ clock: SimulatedClock, number: Int, app: SimulatedApp) throws {
        (self.factory, self.clock, self.number, name) = (factory, clock, number, "\(number)")
        queue = try factory.open(name)
        var tables: [String] = []
        if number == 0 {
            try app.migrate(queue, 0)
            try queue.write {
                try $0.execute(sql: "CREATE TABLE \(Self.beacon) (id BLOB PRIMARY KEY, place, said)")
            }
            tables = app.tables + [Self.beacon]
        }
        synchronizer = try Synchronizer(queue, tables: tables, environment: clock.environment(of: number))
        if number == 0 { try synchronizer.setPolicies(app.policies) }
    }

    var now: Int64 { clock.now(number) }

    /// Makes another replica of it.
    func clone(number: Int, app: SimulatedApp) throws -> HonestStore {
        try synchronizer.clone(to: factory.path("\(number)"), passphrase: factory.secret())
        return try HonestStore(factory, clock, number: number, app: app)
    }

    /// Synchronizes with another one.
    func exchange(with other: HonestStore) throws -> SyncReport {
        try synchronizer.run(
            .both,
            StoreTransport(path: factory.path(other.name), configuration: factory.configuration))
    }

    /// Loses a row behind the back of the engine, for tests of the simulator.
    func loseRow() throws {
        try queue.write {
            try $0.execute(
                sql: """
                    UPDATE _sync_state SET applying = 1;
                    DELETE FROM \(Self.beacon) WHERE id = (SELECT max(id) FROM \(Self.beacon));
                    UPDATE _sync_state SET applying = 0
                    """)
        }
    }

    // MARK: Looking

    /// What is wrong with the file.
    func problems() throws -> [StoreProblem] {
        try factory.check(name) { try MetadataCheck.problems(of: $0, isDeep: true) }
    }

    /// The names of the tables that are synchronized here.
    func trackedTables() throws -> [String] {
        try queue.read {
            try String.fetchAll($0, sql: "SELECT name FROM _sync_table WHERE tracked = 1 ORDER BY name")
        }
    }

    /// What the user sees of some tables.
    func rows(of tables: [String]) throws -> [String: [String]] {
        try queue.read { db in
            var rows: [String: [String]] = [:]
            for table in tables {
                rows[table] = try Row.fetchAll(db, sql: "SELECT * FROM \(table.quotedDatabaseIdentifier)")
                    .map(\.description).sorted()
            }
            return rows
        }
    }

    /// All that is in the database.
    func everything() throws -> [String: [String]] {
        var all = try rows(
            of: queue.read {
                try String.fetchAll(
                    $0,
                    sql: """
                        SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name
                        """)
            })
        // A retired replica notes what it would take along to a new identity, and whoever looks at the schema notes that.
        all["_sync_setting"]?.removeAll {
            $0.contains("forks of the retirement") || $0.contains("schema.seen")
        }
        return all
    }

    /// A bundle of all that is here, for somebody who knows nothing.
    func everythingAsBundle() throws -> [[UInt8]] {
        nonisolated(unsafe) var frames: [[UInt8]] = []
        func take(_ frame: UnsafeRawBufferPointer) { frames.append(Array(frame)) }
        let request = TransferRequest(base: VersionVector())
        _ = try synchronizer.sendChanges(request, within: { _ in nil }, to: take)
        return frames
    }
}
