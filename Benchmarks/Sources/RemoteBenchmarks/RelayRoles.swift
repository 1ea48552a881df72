import CipherStore
import Foundation
import SyncEngine
import SyncRelay
import Synchronization

/// A store that knows a relay, and the way through it, as syncctl opens both.
struct RelayDevice: Sendable {
    let queue: DatabaseQueue
    let synchronizer: Synchronizer
    let mailbox: RelayMailbox
    let transport: MailboxTransport
    private let known: KnownRelay

    init(_ path: String) throws {
        queue = try Stores.open(path)
        synchronizer = try Synchronizer(existing: queue)
        known = try RelayBook(synchronizer).relay()
        var options = RelayMailbox.Options()
        options.seen = known.seen
        mailbox = RelayMailbox(known.channel, client: RelayClient(known.address), options: options)
        transport = try known.channel.key.transport(through: mailbox)
    }

    func run(_ direction: SyncDirection) throws -> FolderReport {
        let report = try synchronizer.run(direction, transport)
        try note()
        return report
    }

    /// Remembers what was seen of the channel.
    func note() throws { try RelayBook(synchronizer).note(mailbox.seen, of: known) }
}

/// What processes do beside a relay.
enum RelayRoles {
    /// Runs a relay on a file until the input ends. Each line of it asks what the relay has taken until then.
    static func serve(_ path: String) throws {
        let storage = try SQLiteRelayStorage(path: path)
        // All devices have one address, and all that one may do grows with this.
        let options = RelayServer.Options(
            host: "127.0.0.1", port: 0, limits: .init(requestsPerSecond: 1e9))
        let server = try RelayServer.prepare(storage, options: options)
        Thread.detachNewThread {
            while readLine() != nil { try? Role.say(Usage.now) }
            kill(getpid(), SIGTERM)
        }
        try server.runAndWait(endsBySignal: true) { listening in
            guard case .fingerprint(let fingerprint) = listening.trust else { return }
            try? Role.say(Role.Serving(port: listening.port, fingerprint: fingerprint))
        }
        try storage.close()
        try Role.say(Usage.now)
    }

    /// Synchronizes a store through its relay, from before it is opened.
    static func exchange(_ word: String, _ path: String) throws {
        let direction = try Role.direction(word)
        let start = monotonicSeconds()
        let device = try RelayDevice(path)
        let report = try device.run(direction)
        try device.queue.close()
        let seconds = monotonicSeconds() - start
        guard report.notes.isEmpty, (report.pulled?.parkedCount ?? 0) == 0 else {
            throw BenchmarkError(description: "the exchange was not whole: \(report.notes)")
        }
        try Role.say(
            Role.Exchanged(
                seconds: seconds, rows: (report.pushed?.rowCount ?? 0) + (report.pulled?.rowCount ?? 0),
                bytes: report.pulled?.byteCount ?? 0, usage: .now))
    }

    // MARK: Devices that stay connected

    /// Commits a row now and then, and pushes when the store has changed.
    static func commit(_ path: String, _ count: Int) throws {
        let device = try RelayDevice(path)
        _ = try device.run(.push)
        Thread.detachNewThread {
            ending("relay-commit") {
                var seen: Int64?
                while true {
                    // Commits of other connections count, as a live synchronization looks for them.
                    let version = try device.queue.read {
                        try Int64.fetchOne($0, sql: "PRAGMA data_version")
                    }
                    if version != seen { _ = try device.run(.push) }
                    seen = version
                    Thread.sleep(forTimeInterval: 0.01)
                }
            }
        }
        try Live.insertPings(count, into: path)
        try Role.say(Role.Connected())
        while !FileHandle.standardInput.availableData.isEmpty {}
    }

    /// Pulls when the relay tells of a change, and tells how long the rows of others took to arrive, when the input ends.
    static func watch(_ path: String) throws {
        let device = try RelayDevice(path)
        _ = try device.run(.pull)
        let (connected, news) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let isOver = Atomic(false)
        Thread.detachNewThread {
            while !FileHandle.standardInput.availableData.isEmpty {}
            isOver.store(true, ordering: .releasing)
            news.signal()
        }
        var options = RelayWatch.Options()
        options.onConnection = { connected.signal() }
        let moments = device.mailbox.watch(options)
        // The pull blocks its thread, so it is not made where the moments are awaited.
        Task.detached {
            await endingTask("relay-watch") { for try await _ in moments { news.signal() } }
        }
        connected.wait()
        try Role.say(Role.Connected())
        var arrivals = Arrivals()
        while true {
            news.wait()
            // Several are one.
            while news.wait(timeout: .now()) == .success {}
            if isOver.load(ordering: .acquiring) { break }
            _ = try device.synchronizer.run(.pull, device.transport)
            try arrivals.look(in: device.queue)
            try device.note()
        }
        try Role.say(Role.Arrived(latencies: arrivals.latencies))
    }

    /// How many watches are begun at a time, so that none waits too long for its connection.
    private static let lot = 50

    /// Keeps watches open until the input ends.
    static func watchMany(_ path: String, _ count: Int) throws {
        let queue = try Stores.open(path)
        let relay = try RelayBook(Synchronizer(existing: queue)).relay()
        try queue.close()
        let told = DispatchSemaphore(value: 0)
        var opened = 0
        while opened < count {
            let more = min(lot, count - opened)
            for _ in 0..<more {
                Task.detached {
                    await endingTask("relay-watches") {
                        // Each has a connection of its own, as a device has, and is told the present moment at once.
                        let client = RelayClient(relay.address)
                        for try await _ in RelayWatch(relay.channel, client: client) { told.signal() }
                    }
                }
            }
            for _ in 0..<more { told.wait() }
            opened += more
        }
        try Role.say(Role.Connected())
        while !FileHandle.standardInput.availableData.isEmpty {}
    }

    /// Ends the process with what fails beside its main thread.
    private static func ending(_ role: String, _ body: () throws -> Void) {
        do { try body() } catch { end(role, error) }
    }

    private static func endingTask(_ role: String, _ body: () async throws -> Void) async {
        do { try await body() } catch { end(role, error) }
    }

    private static func end(_ role: String, _ error: any Error) -> Never {
        FileHandle.standardError.write(Data("\(role): error: \(error)\n".utf8))
        exit(1)
    }
}
