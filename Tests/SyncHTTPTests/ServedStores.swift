import CipherStore
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import SyncEngine
@testable import SyncHTTP

/// A clock that tests move.
final class TestClock: Sendable {
    private let now = Mutex<Int64>(1_700_000_000_000)

    func advance(milliseconds: Int64) { now.withLock { $0 += milliseconds } }

    var environment: SyncEnvironment {
        SyncEnvironment(
            milliseconds: { self.now.withLock { $0 } }, random: { UInt64.random(in: .min ... .max) })
    }
}

/// A folder with encrypted stores, removed when the test ends.
final class ServedStores: Sendable {
    let folder: String
    let clock = TestClock()

    init() throws {
        DerivedKeys.remember()
        folder = NSTemporaryDirectory() + "synchttp-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    func path(_ name: String) -> String { folder + "/" + name }

    static func configuration(_ name: String) -> Configuration {
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.usePassphrase("passphrase of \(name)") }
        configuration.journalMode = .wal
        configuration.busyMode = .timeout(10)
        return configuration
    }

    /// Makes a store with a table and some rows.
    func create(_ name: String, rows: Int = 0) throws -> Synchronizer {
        let queue = try DatabaseQueue(path: path(name), configuration: Self.configuration(name))
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE note (id BLOB PRIMARY KEY, title TEXT)")
        }
        let synchronizer = try Synchronizer(queue, tables: ["note"], environment: clock.environment)
        try synchronizer.insert(rows, "from \(name)")
        return synchronizer
    }

    func open(_ name: String) throws -> Synchronizer {
        let queue = try DatabaseQueue(path: path(name), configuration: Self.configuration(name))
        return try Synchronizer(queue, environment: clock.environment)
    }

    /// Makes a replica by an invitation.
    func join(_ link: InviteLink, _ name: String, options: HTTPTransport.Options = .hasty) async throws
        -> Synchronizer
    {
        let (path, environment) = (path(name), clock.environment)
        try await blocking {
            try Synchronizer.join(
                link, at: path, passphrase: Passphrase("passphrase of \(name)"), options: options,
                environment: environment)
        }
        return try open(name)
    }

    /// How a device reaches a server through a proxy. What comes is applied while it comes, however slow that is.
    func transport(
        of device: Synchronizer, to server: RunningServer, through proxy: CuttingProxy,
        _ change: (inout HTTPTransport.Options) -> Void = { _ in }
    ) throws -> HTTPTransport {
        let book = try RemoteBook(device)
        var options = HTTPTransport.Options.hasty
        options.flow.bytesPerSecond = 0
        change(&options)
        return HTTPTransport(
            remote: Remote(
                name: "proxy",
                address: try ServerAddress(host: "127.0.0.1", port: proxy.port, trust: server.trust),
                certificate: try book.remote().certificate),
            store: try server.hub.identity().store, key: try book.deviceKey(), folder: folder,
            options: options)
    }

    /// What no file in the folder may be left with.
    func leftovers() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder)
            .filter { $0.contains("snapshot") || $0.contains("spool") }
    }
}

extension Synchronizer {
    func insert(_ count: Int, _ title: String) throws {
        try database.write { db in
            for _ in 0..<count {
                let id = withUnsafeBytes(of: UUID().uuid) { Data($0) }
                try db.execute(sql: "INSERT INTO note (id, title) VALUES (?, ?)", arguments: [id, title])
            }
        }
    }

    /// Adds rows of random content, which are larger than any buffer on the way together.
    func insertLarge(_ count: Int, byteCount: Int) throws {
        try database.write { db in
            for _ in 0..<count {
                let id = withUnsafeBytes(of: UUID().uuid) { Data($0) }
                let text = String(repeating: UUID().uuidString, count: byteCount / 36)
                try db.execute(sql: "INSERT INTO note (id, title) VALUES (?, ?)", arguments: [id, text])
            }
        }
    }

    /// Changes the file behind the back of the triggers, and of the digests.
    func damage(_ sql: String) throws {
        try database.write { db in
            try db.execute(sql: "UPDATE _sync_state SET applying = 1")
            try db.execute(sql: sql)
            try db.execute(sql: "UPDATE _sync_state SET applying = 0")
            try DigestLedger.invalidate(db)
        }
    }

    /// How often each title is there, of those that are texts: a device may write what it likes.
    func titles() throws -> [String: Int] {
        try database.read { db in
            var result: [String: Int] = [:]
            let sql = "SELECT title, count(*) FROM note WHERE typeof(title) = 'text' GROUP BY title"
            for row in try Row.fetchAll(db, sql: sql) {
                result[try row.decode(String.self, atIndex: 0)] = try row.decode(Int.self, atIndex: 1)
            }
            return result
        }
    }

    func rows() throws -> [String] {
        try database.read {
            try String.fetchAll($0, sql: "SELECT hex(id) || quote(title) FROM note ORDER BY id")
        }
    }
}

/// A server that runs while a closure does.
struct RunningServer: Sendable {
    let port: Int
    let trust: ServerAddress.Trust
    let hub: Synchronizer
    /// The server itself, where a test has no other way to it.
    var server: HubServer?

    var address: ServerAddress {
        get throws { try ServerAddress(host: "127.0.0.1", port: port, trust: trust) }
    }

    var register: DeviceRegister { get throws { try DeviceRegister(hub) } }

    func invite(
        _ label: String = "phone", isReadOnly: Bool = false, milliseconds: Int64 = 900_000,
        tables: [String]? = nil, scope: SyncScope? = nil
    ) throws -> InviteLink {
        try register.invite(
            label: label, expiresAfter: milliseconds, isReadOnly: isReadOnly,
            scope: scope ?? tables.map { .tables($0) } ?? .everything, address: address)
    }

    /// Runs a server for as long as the body runs.
    ///
    /// - parameter proxy: What stands before the server, and is its address, so that another one can follow it there.
    static func serving(
        _ hub: Synchronizer, tls: HubServer.TLS = .selfSigned, limits: HubServer.Limits = .patient,
        behind proxy: CuttingProxy? = nil, _ body: @Sendable (RunningServer) async throws -> Void
    ) async throws {
        let server = try HubServer(
            [hub], options: .init(host: "127.0.0.1", port: 0, tls: tls, limits: limits))
        let (ports, continuation) = AsyncStream.makeStream(of: HubServer.Listening.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { continuation.finish() }
                try await server.run { continuation.yield($0) }
            }
            var iterator = ports.makeAsyncIterator()
            guard let listening = await iterator.next() else {
                try await group.next()
                throw RemoteError(.cannotServe, "the server ended")
            }
            proxy?.lead(to: listening.port)
            defer { proxy?.lead(to: nil) }
            let running = RunningServer(
                port: proxy?.port ?? listening.port, trust: listening.trust, hub: hub, server: server)
            do {
                try await body(running)
            } catch {
                group.cancelAll()
                throw error
            }
            group.cancelAll()
        }
    }
}

extension HubStore {
    /// Puts what a device does not know where it waits to be fetched.
    func prepareChanges(_ request: TransferRequest, for device: Device) throws -> Message.Download {
        let making = try beginChanges(request, for: device)
        return try offer(making, try making.spool.reach(beyond: Self.wholeByteCountMax), to: device)
    }
}

/// Runs what blocks on a thread of its own.
func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
    }
}

extension HTTPTransport.Options {
    /// Short pauses.
    static var hasty: HTTPTransport.Options {
        var options = HTTPTransport.Options()
        options.pauseSeconds = 0.01
        options.pauseSecondsMax = 0.05
        return options
    }
}

/// The code of the engine's error that something throws; nil when it throws none.
func code(_ body: () async throws -> Void) async -> SyncError.Code? {
    do {
        try await body()
        return nil
    } catch {
        return (error as? SyncError)?.code
    }
}

extension HubServer.Limits {
    /// A server that gives each bundle all the time of a slow machine: how long one takes says nothing about the tests
    /// that are not about it.
    static var patient: HubServer.Limits {
        var limits = HubServer.Limits()
        limits.applicationSeconds = 600
        return limits
    }
}
