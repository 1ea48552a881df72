import Foundation

/// A library, and what it runs on.
struct Engine: Codable {
    let library: String
    /// The version of SQLCipher, or nil when files are not encrypted.
    let cipherVersion: String?
    let sqliteVersion: String
    let pageSize: String

    var description: String {
        let cipher = cipherVersion.map { "SQLCipher \($0), " } ?? ""
        return "\(library) on \(cipher)SQLite \(sqliteVersion), pages of \(pageSize) bytes"
            + (cipherVersion == nil ? ", not encrypted" : "")
    }
}

/// A figure of synchronization, which has no C loop beside it but a bar of its own.
struct SyncResult: Codable {
    let name: String
    /// How many rows or entries it was.
    let count: Int
    let seconds: Double
    /// What is compared with the bar.
    let value: Double
    let unit: String
    let bar: Double
    /// Whether the bar is the least that there should be, or the most.
    let isLeast: Bool
    let isWithinBar: Bool
    /// The most memory that the process had by then, which is that of both ends.
    let peakMegabytes: Double

    init(
        _ name: String, count: Int, seconds: Double, value: Double, _ unit: String, atLeast bar: Double,
        peakMegabytes: Double
    ) {
        self.init(name, count, seconds, value, unit, bar, isLeast: true, peakMegabytes)
    }

    init(
        _ name: String, count: Int, seconds: Double, value: Double, _ unit: String, atMost bar: Double,
        peakMegabytes: Double
    ) {
        self.init(name, count, seconds, value, unit, bar, isLeast: false, peakMegabytes)
    }

    private init(
        _ name: String, _ count: Int, _ seconds: Double, _ value: Double, _ unit: String, _ bar: Double,
        isLeast: Bool, _ peakMegabytes: Double
    ) {
        self.name = name
        self.count = count
        self.seconds = seconds
        self.value = value
        self.unit = unit
        self.bar = bar
        self.isLeast = isLeast
        isWithinBar = isLeast ? value >= bar : value <= bar
        self.peakMegabytes = peakMegabytes
    }
}

/// What was measured, and on what.
struct Report: Codable {
    let engine: Engine
    let runCount: Int
    let usesProcessorTime: Bool
    let comparisons: [Comparison]
    let sync: [SyncResult]
    /// The reports of other libraries, to be shown beside this one.
    let peers: [Report]
}

extension Report {
    /// Reads what `json` wrote.
    init(contentsOf path: String) throws {
        do {
            self = try JSONDecoder().decode(Report.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
        } catch {
            throw BenchmarkError(description: "\(path) is not a report as --json prints it: \(error)")
        }
    }

    /// The report as JSON.
    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
}
