import CipherStore
import Foundation
import SyncEngine

/// Pushes rows of twenty columns into a store that has none of them. The time is that of the
/// whole push: opening the other store with its passphrase, fold, export, merge and commit.
func measureSync(_ folder: StoreFolder, _ options: Options) throws -> SyncResult {
    let rowCount = options.rowCount(.sync)
    let source = try DatabaseQueue(path: folder.newPath("source.db"), configuration: storeConfiguration)
    try source.write { try $0.execute(sql: Trip.createTable) }
    let synchronizer = try Synchronizer(source, tables: ["trip"])
    let path = folder.newPath("target.db")
    try synchronizer.clone(to: path, passphrase: Passphrase(storePassphrase))
    try source.write { try Trip.insert(rowCount, into: $0) }

    let transport = StoreTransport(path: path, configuration: storeConfiguration)
    var report: SyncReport?
    let elapsed = try measure { report = try synchronizer.run(.push, transport) }
    guard report?.pushed?.rowCount == Int64(rowCount), report?.parkedCount == 0 else {
        throw BenchmarkError(description: "the push lost rows")
    }
    let seconds = elapsed.seconds(options)
    let bar = 100_000.0
    return SyncResult(
        rowCount: rowCount, seconds: seconds, rowsPerSecond: Double(rowCount) / seconds, bar: bar,
        isWithinBar: Double(rowCount) >= bar * seconds, peakMegabytes: peakMegabytes())
}

private let storePassphrase = "passphrase of the benchmark"

private var storeConfiguration: Configuration {
    var configuration = Configuration()
    configuration.prepareDatabase { try $0.usePassphrase(storePassphrase) }
    configuration.journalMode = .wal
    return configuration
}

/// The most memory that the process has had at any time.
private func peakMegabytes() -> Double {
    // RUSAGE_SELF is 0 everywhere, but of another type in each C library.
    var usage = rusage()
    getrusage(0, &usage)
    #if os(Linux)
        return Double(usage.ru_maxrss) / 1024
    #else
        return Double(usage.ru_maxrss) / 1_048_576
    #endif
}

/// A synthetic row of twenty columns, in the shape of a flight: a key, twelve integers (some of
/// them NULL), two floating-point numbers and five texts.
private enum Trip {
    static let createTable = """
        CREATE TABLE trip (
            id BLOB PRIMARY KEY NOT NULL, year INTEGER, month INTEGER, day INTEGER, departure INTEGER,
            planned_departure INTEGER, departure_delay INTEGER, arrival INTEGER, planned_arrival INTEGER,
            arrival_delay INTEGER, carrier TEXT, flight INTEGER, tail TEXT, origin TEXT, destination TEXT,
            duration REAL, distance REAL, hour INTEGER, minute INTEGER, planned TEXT)
        """

    private static let places = ["EWR", "LGA", "JFK", "IAH", "MIA", "BQN", "ATL", "ORD", "FLL"]
    private static let carriers = ["UA", "AA", "B6", "DL", "EV", "MQ", "US", "WN"]

    static func insert(_ count: Int, into db: Database) throws {
        // OR FAIL, because a plain INSERT into a tracked table is slow on SQLCipher 3.
        let parameters = Array(repeating: "?", count: 20).joined(separator: ", ")
        let statement = try db.cachedStatement(sql: "INSERT OR FAIL INTO trip VALUES (\(parameters))")
        for index in 0..<count { try statement.execute(arguments: arguments(index)) }
    }

    private static func arguments(_ index: Int) -> StatementArguments {
        // A multiplicative hash spreads the values in the same way each time.
        let mixed = Int(truncatingIfNeeded: UInt64(index + 1) &* 0x9E37_79B9_7F4A_7C15 >> 33)
        let (month, day, hour) = (1 + mixed % 12, 1 + mixed / 12 % 28, 5 + mixed / 336 % 18)
        let minute = mixed / 6048 % 60
        let delay: Int? = mixed % 41 == 0 ? nil : mixed % 97 - 20
        return [
            UUID.v7(), 2013, month, day, delay.map { hour * 100 + minute + $0 }, hour * 100 + minute, delay,
            delay.map { hour * 100 + 200 + $0 }, hour * 100 + 200, delay.map { $0 / 2 },
            carriers[mixed % carriers.count], mixed % 6000, "N\(10_000 + mixed % 4000)", places[mixed % 3],
            places[mixed % places.count], Double(40 + mixed % 300), Double(200 + mixed % 2400), hour, minute,
            "2013-\(month)-\(day)T\(hour):00:00Z",
        ]
    }
}
