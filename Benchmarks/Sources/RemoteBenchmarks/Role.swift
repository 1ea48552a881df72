import CipherStore
import Foundation
import SyncEngine
import SyncHTTP
import Synchronization

/// What a process does that this program starts.
enum Role: String {
    case serve
    case exchange
    case devices
    case watch
    case commit
    case relay
    case relayExchange = "relay-exchange"
    case relayCommit = "relay-commit"
    case relayWatch = "relay-watch"
    case relayWatches = "relay-watches"
    case removal

    /// What `serve` says first.
    struct Serving: Codable {
        let port: Int
        let fingerprint: [UInt8]
    }

    /// What an exchange took.
    struct Exchanged: Codable {
        let seconds: Double
        let rows: Int64
        let bytes: Int64
        let usage: Usage
    }

    /// What many exchanges at a time took.
    struct ManyExchanged: Codable {
        let seconds: Double
        let each: [Double]
        let rows: Int64
        let usage: Usage
    }

    /// That something is connected.
    struct Connected: Codable {
        var isConnected = true
    }

    /// How long commits took to arrive, in seconds.
    struct Arrived: Codable {
        let latencies: [Double]
    }

    /// Does what the arguments say, if they name a role.
    ///
    /// - returns: The exit code.
    static func run(_ arguments: ArraySlice<String>) -> CInt? {
        guard arguments.first == "--role" else { return nil }
        let words = Array(arguments.dropFirst())
        guard let role = words.first.flatMap(Role.init) else { return 64 }
        do {
            try role.run(Array(words.dropFirst()))
            return 0
        } catch {
            FileHandle.standardError.write(Data("\(role.rawValue): error: \(error)\n".utf8))
            return 1
        }
    }

    private func run(_ words: [String]) throws {
        switch self {
        case .serve: try Self.serve(words[0])
        case .exchange: try Self.exchange(words[0], words[1], words[2])
        case .devices: try Self.exchangeAll(words[0], Array(words[1...]))
        case .watch: try Live.watch(words[0])
        case .commit: try Live.commit(words[0], Int(words[1]) ?? 0)
        case .relay: try RelayRoles.serve(words[0])
        case .relayExchange: try RelayRoles.exchange(words[0], words[1])
        case .relayCommit: try RelayRoles.commit(words[0], Int(words[1]) ?? 0)
        case .relayWatch: try RelayRoles.watch(words[0])
        case .relayWatches: try RelayRoles.watchMany(words[0], Int(words[1]) ?? 0)
        case .removal: try Removal.measure(words[0], Int(words[1]) ?? 0)
        }
    }

    static func say(_ line: some Encodable) throws {
        FileHandle.standardOutput.write(try JSONEncoder().encode(line) + Data("\n".utf8))
    }

    /// Serves a store until the input ends.
    private static func serve(_ path: String) throws {
        let pool = try DatabasePool(path: path, configuration: Stores.configuration)
        let server = try HubServer(
            [Synchronizer(existing: pool)], options: .init(host: "127.0.0.1", port: 0))
        Thread.detachNewThread {
            while !FileHandle.standardInput.availableData.isEmpty {}
            kill(getpid(), SIGTERM)
        }
        try server.runAndWait(endsBySignal: true) { listening in
            guard case .fingerprint(let fingerprint) = listening.trust else { return }
            try? say(Serving(port: listening.port, fingerprint: fingerprint))
        }
        try say(Usage.now)
    }

    static func direction(_ word: String) throws -> SyncDirection {
        guard let direction = SyncDirection(rawValue: word) else {
            throw BenchmarkError(description: "there is no direction \(word)")
        }
        return direction
    }

    /// Synchronizes a store with its server, from before it is opened.
    private static func exchange(_ word: String, _ path: String, _ compression: String) throws {
        let direction = try direction(word)
        let start = monotonicSeconds()
        let (rows, bytes) = try exchangeOne(
            direction, path, HTTPTransport.Compression(rawValue: compression) ?? .automatic)
        try say(Exchanged(seconds: monotonicSeconds() - start, rows: rows, bytes: bytes, usage: .now))
    }

    private static func exchangeOne(
        _ direction: SyncDirection, _ path: String, _ compression: HTTPTransport.Compression = .automatic
    ) throws -> (rows: Int64, bytes: Int64) {
        let queue = try Stores.open(path)
        defer { try? queue.close() }
        let synchronizer = try Synchronizer(existing: queue)
        var options = HTTPTransport.Options()
        options.compression = compression
        let report = try synchronizer.run(direction, RemoteBook(synchronizer).transport(options: options))
        guard report.waitingTables.isEmpty, report.parkedCount == 0, report.divergence == nil else {
            throw BenchmarkError(description: "the exchange was not whole")
        }
        return (
            rows: (report.pushed?.rowCount ?? 0) + (report.pulled?.rowCount ?? 0),
            bytes: report.pulled?.byteCount ?? 0
        )
    }

    /// Synchronizes many stores with their server at the same time.
    private static func exchangeAll(_ word: String, _ paths: [String]) throws {
        let direction = try direction(word)
        let results = Mutex<[Result<(seconds: Double, rows: Int64), any Error>]>([])
        let group = DispatchGroup()
        let start = monotonicSeconds()
        for path in paths {
            group.enter()
            Thread.detachNewThread {
                let result = Result {
                    let rows = try exchangeOne(direction, path).rows
                    return (seconds: monotonicSeconds() - start, rows: rows)
                }
                results.withLock { $0.append(result) }
                group.leave()
            }
        }
        group.wait()
        let all = try results.withLock { try $0.map { try $0.get() } }
        try say(
            ManyExchanged(
                seconds: monotonicSeconds() - start, each: all.map(\.seconds),
                rows: all.map(\.rows).reduce(0, +), usage: .now))
    }
}
