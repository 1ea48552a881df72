import Foundation
import RawLoops
import SyncRelay
import SyncRelayPostgres

/// Appends of small pieces to a relay's storages, each beside what it can be at most.
enum RelayProgram {
    static let help = """
        usage: Scripts/bench --relay [--seconds N] [--runs N] [--bytes N]

        Appends of 300-byte pieces by 32 writers, each of which waits for its answer, to the two storages of a relay. Beside
        PostgreSQL there is pgbench with the same statements on the same server; beside the SQLite file a C loop that makes the
        same statements in as many commits: while one is under way those wait who come meanwhile, so 32 writers make 16 appends by one
        commit on average. Medians of runs that take turns.

          --seconds N   how long each run lasts (default: 5)
          --runs N      how many runs each figure has (default: 3)
          --bytes N     how long a piece is (default: 300)
        """

    struct Options {
        var seconds: Double = 5
        var runCount = 3
        var byteCount = 300
        var server = ""
    }

    static func run(_ arguments: [String]) async -> Int32 {
        var options = Options()
        var rest = arguments[...]
        while let word = rest.popFirst() {
            if word == "--help" || word == "-h" {
                print(help)
                return 0
            }
            guard let value = rest.popFirst() else { return wrong("\(word) needs a value") }
            switch (word, Double(value)) {
            case ("--seconds", let number?) where number >= 1: options.seconds = number
            case ("--runs", let number?) where number >= 1: options.runCount = Int(number)
            case ("--bytes", let number?) where number >= 1: options.byteCount = Int(number)
            case ("--server", _): options.server = value
            default: return wrong("'\(word) \(value)' is not known")
            }
        }
        do {
            try await measureSQLite(options)
            try await measurePostgres(options)
            return 0
        } catch {
            FileHandle.standardError.write(Data("bench: error: \(error)\n".utf8))
            return 1
        }
    }

    private static func wrong(_ text: String) -> Int32 {
        FileHandle.standardError.write(Data("bench: error: \(text); hint: --help\n".utf8))
        return 64
    }

    private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

    private static func show(_ name: String, _ ours: [Double], _ limit: (name: String, values: [Double])?) {
        let figure = String(format: "%9.0f pieces/s", median(ours))
        let name = name.padding(toLength: 58, withPad: " ", startingAt: 0)
        guard let limit else { return print("\(name)\(figure)") }
        let ratio = median(ours) / median(limit.values)
        print(
            "\(name)\(figure)   \(limit.name): "
                + String(format: "%.0f, ratio %.2f", median(limit.values), ratio))
    }

    // MARK: SQLite

    private static func measureSQLite(_ options: Options) async throws {
        let folder = NSTemporaryDirectory() + "relay-bench-\(getpid())"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for pieceCount in [1, 10] {
            let writers = Writers(pieceByteCount: options.byteCount, pieceCount: pieceCount)
            var (ours, raw): ([Double], [Double]) = ([], [])
            for round in 0..<options.runCount {
                let path = "\(folder)/relay-\(pieceCount)-\(round).db"
                var bounds = SQLiteRelayStorage.Options()
                bounds.channelFileCountMax = .max
                let storage = try SQLiteRelayStorage(path: path, options: bounds)
                try await writers.makeChannels(in: storage)
                try storage.close()
                try FileManager.default.copyItem(atPath: path, toPath: path + "-raw")
                let again = try SQLiteRelayStorage(path: path, options: bounds)
                ours.append(try await writers.run(again, seconds: options.seconds, round: round))
                try again.close()
                raw.append(
                    try loop(
                        path + "-raw", Int64(ours[round] * options.seconds), 16 * Int64(pieceCount), options))
            }
            show(
                "SQLite file, 32 writers, \(pieceCount) at a time", ours,
                ("C loop, \(16 * pieceCount) a commit", raw))
        }
    }

    private static func loop(_ path: String, _ count: Int64, _ groupCount: Int64, _ options: Options) throws
        -> Double
    {
        var connection: OpaquePointer?
        guard raw_open_relay(path, &connection) == 0, let connection else {
            throw BenchmarkError("\(path) can't be opened")
        }
        defer { raw_close(connection) }
        let start = ContinuousClock.now
        let code = raw_append_pieces(connection, count, groupCount, 32, options.byteCount)
        guard code == 0 else {
            throw BenchmarkError("the loop failed: \(code) \(String(cString: raw_message(connection)))")
        }
        return Double(count) / ((ContinuousClock.now - start) / .seconds(1))
    }

    // MARK: PostgreSQL

    private static func measurePostgres(_ options: Options) async throws {
        let server = try MeasuredServer(options.server)
        for connectionCount in [8, 32] {
            let (ours, theirs) = ("ours\(connectionCount)", "pgbench\(connectionCount)")
            let storage = try open(server.makeDatabase(ours), connectionCount)
            let other = try open(server.makeDatabase(theirs), 1)
            let writers = Writers(pieceByteCount: options.byteCount)
            try await writers.makeChannels(in: storage)
            try await writers.makeChannels(in: other)
            var (own, limit): ([Double], [Double]) = ([], [])
            for round in 0..<options.runCount {
                own.append(try await writers.run(storage, seconds: options.seconds, round: round))
                limit.append(
                    try PGBench.run(
                        server, theirs, clientCount: connectionCount,
                        count: Int(own[round] * options.seconds), pieceByteCount: options.byteCount))
            }
            show(
                "PostgreSQL, 32 writers, 32 channels, \(connectionCount) connections", own,
                ("pgbench -c \(connectionCount)", limit))
            if connectionCount == 8 { try await measureGroups(storage, options) }
            storage.close()
            other.close()
        }
    }

    /// What pgbench has nothing beside: writers of one channel, whose changes share commits, and many pieces at a time.
    private static func measureGroups(_ storage: PostgresRelayStorage, _ options: Options) async throws {
        for (channelCount, pieceCount) in [(1, 1), (32, 10)] {
            let writers = Writers(
                channelCount: channelCount, pieceByteCount: options.byteCount, pieceCount: pieceCount)
            var own: [Double] = []
            for round in 0..<options.runCount {
                own.append(
                    try await writers.run(
                        storage, seconds: options.seconds, round: 100 * pieceCount + 10 + round))
            }
            show("PostgreSQL, 32 writers, \(channelCount) channels, \(pieceCount) at a time", own, nil)
        }
    }

    private static func open(_ address: PostgresAddress, _ connectionCount: Int) throws
        -> PostgresRelayStorage
    {
        var bounds = PostgresRelayStorage.Options()
        bounds.channelFileCountMax = .max
        bounds.connectionCountMax = connectionCount
        return try PostgresRelayStorage(address, options: bounds)
    }
}
