import CipherStore
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import SyncEngine

/// A clock and a generator that tests control.
final class TestEnvironment: Sendable {
    private struct State {
        var milliseconds: Int64 = 1_700_000_000_000
        var random: UInt64
    }

    private let state: Mutex<State>
    private let places: (any StorePlaces)?

    init(seed: UInt64 = 1, places: (any StorePlaces)? = nil) {
        state = Mutex(State(random: seed))
        self.places = places
    }

    func advance(milliseconds: Int64) { state.withLock { $0.milliseconds += milliseconds } }

    /// How many numbers lie between points of a chain that one fold adds.
    let chainStride = Mutex<Int64>(256)

    var environment: SyncEnvironment {
        var environment = SyncEnvironment(
            milliseconds: { self.state.withLock { $0.milliseconds } },
            random: {
                self.state.withLock { state in
                    // SplitMix64.
                    state.random &+= 0x9E37_79B9_7F4A_7C15
                    var z = state.random
                    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
                    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
                    return z ^ (z >> 31)
                }
            }, places: places)
        environment.chainStride = chainStride.withLock { $0 }
        return environment
    }
}

/// A folder with stores, removed when the test ends.
final class TestStores {
    let folder: String
    let clock: TestEnvironment

    static let schema = """
        CREATE TABLE note (id BLOB PRIMARY KEY, title TEXT COLLATE NOCASE, body TEXT, stars INTEGER DEFAULT 0);
        CREATE TABLE tag (id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE);
        """

    init(seed: UInt64 = 1, places: (any StorePlaces)? = nil) throws {
        DerivedKeys.remember()
        folder = NSTemporaryDirectory() + "syncengine-" + UUID().uuidString
        clock = TestEnvironment(seed: seed, places: places)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    func path(_ name: String) -> String { folder + "/" + name }

    static func configuration(_ name: String) -> Configuration {
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.usePassphrase("passphrase of \(name)") }
        configuration.journalMode = .wal
        return configuration
    }

    /// Makes the first replica.
    func create(
        _ name: String = "a.db", schema: String = TestStores.schema, tables: [String] = ["note", "tag"]
    ) throws -> TestReplica {
        let queue = try DatabaseQueue(path: path(name), configuration: Self.configuration(name))
        try queue.write { try $0.execute(sql: schema) }
        return try TestReplica(self, name, queue, tables: tables)
    }

    func open(_ name: String) throws -> TestReplica {
        let queue = try DatabaseQueue(path: path(name), configuration: Self.configuration(name))
        return try TestReplica(self, name, queue, tables: [])
    }

    /// Makes another replica of a store.
    func clone(_ replica: TestReplica, as name: String) throws -> TestReplica {
        try replica.synchronizer.clone(to: path(name), passphrase: Passphrase("passphrase of \(name)"))
        return try open(name)
    }
}

/// A store that is open.
final class TestReplica {
    let name: String
    let queue: DatabaseQueue
    let synchronizer: Synchronizer
    let stores: TestStores

    init(_ stores: TestStores, _ name: String, _ queue: DatabaseQueue, tables: [String]) throws {
        self.stores = stores
        self.name = name
        self.queue = queue
        synchronizer = try Synchronizer(queue, tables: tables, environment: stores.clock.environment)
    }

    var transport: StoreTransport {
        StoreTransport(path: stores.path(name), configuration: TestStores.configuration(name))
    }

    func execute(_ sql: String, _ arguments: StatementArguments = []) throws {
        stores.clock.advance(milliseconds: 10)
        try queue.write { db in
            let last = try Int64.fetchOne(db, sql: "SELECT max(seq) FROM _sync_log") ?? 0
            try db.execute(sql: sql, arguments: arguments)
            // The triggers read the system's clock; tests have one of their own.
            try db.execute(
                sql: "UPDATE _sync_log SET ms = ? WHERE seq > ?",
                arguments: [stores.clock.environment.milliseconds(), last])
        }
    }

    @discardableResult
    func sync(_ other: TestReplica, _ direction: SyncDirection = .both) throws -> SyncReport {
        try synchronizer.run(direction, other.transport)
    }

    /// Everything in the user's tables, as text that shows types.
    func dump(_ tables: [String] = ["note", "tag"]) throws -> [String] {
        try queue.read { db in
            try tables.flatMap { table in
                try Row.fetchAll(db, sql: "SELECT * FROM \(table) ORDER BY 1").map { row in
                    table + " "
                        + row.databaseValues.map { value -> String in
                            if case .blob(let data) = value.storage {
                                return "x" + data.map { String($0, radix: 16) }.joined()
                            }
                            return value.description
                        }.joined(separator: " ")
                }
            }
        }
    }

    func value<T: DatabaseValueConvertible & StatementColumnConvertible>(
        _ sql: String, as type: T.Type = T.self
    ) throws -> T? {
        try queue.read { try T.fetchOne($0, sql: sql) }
    }

    /// Runs a migration, as an app does.
    func migrate(
        _ identifier: String, _ body: @escaping @Sendable (Database) throws -> Void
    ) throws {
        stores.clock.advance(milliseconds: 10)
        var migrator = DatabaseMigrator()
        migrator.registerMigration(identifier, migrate: body)
        try migrator.migrate(queue)
    }

    /// Changes the file as a program does that has no SyncEngine.
    func changeUnobserved(_ sql: String) throws {
        stores.clock.advance(milliseconds: 10)
        try queue.write { db in try db.withoutReportingSchemaChanges { try db.execute(sql: sql) } }
    }

    /// The rows of tables and their versions, with columns by name and replicas by id.
    func state(_ tables: [String]) throws -> [String] {
        let versions = try queue.read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT lower(t.name), hex(r.pk), r.cl, r.hlc, hex(p.rid), r.oseq, '' AS name
                    FROM _sync_row r JOIN _sync_table t ON t.tbl = r.tbl JOIN _sync_replica p ON p.sid = r.sid
                    WHERE t.tracked = 1
                    UNION ALL
                    SELECT lower(t.name), hex(r.pk), r.cl, c.hlc, hex(p.rid), c.oseq, n.name
                    FROM _sync_cell c JOIN _sync_row r ON r.r = c.r
                    JOIN _sync_column n ON n.tbl = r.tbl AND n.col = c.col
                    JOIN _sync_table t ON t.tbl = r.tbl JOIN _sync_replica p ON p.sid = c.sid
                    WHERE t.tracked = 1 AND n.present = 1
                    ORDER BY 1, 2, 7
                    """
            ).map { $0.databaseValues.map(\.description).joined(separator: " ") }
        }
        return try dump(tables) + versions
    }

    /// Everything in the file: the schema and the rows of all tables.
    func everything() throws -> [String] {
        try queue.read { db in
            let schema = try Row.fetchAll(
                db, sql: "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name")
            let tables = schema.filter { $0["type"] == "table" }.map { $0["name"] as String }
            return try schema.map(\.description)
                + tables.flatMap { table in
                    try Row.fetchAll(db, sql: "SELECT * FROM \(table.quotedDatabaseIdentifier)").map {
                        "\(table) \($0.databaseValues)"
                    }.sorted()
                }
        }
    }

    /// How many entries the log has.
    func logCount() throws -> Int? { try value("SELECT count(*) FROM _sync_log", as: Int.self) }

    func conflicts() throws -> [String] {
        try queue.read { db in
            try Row.fetchAll(
                db, sql: "SELECT col, val, why FROM _sync_conflict WHERE why <> 'row' ORDER BY id"
            ).map {
                $0.databaseValues.map(\.description).joined(separator: " ")
            }
        }
    }
}

/// A key that tests can read.
func key(_ number: UInt8) -> Data { Data(repeating: number, count: 16) }
