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

/// A push of rows from one store to another.
struct SyncResult: Codable {
    let rowCount: Int
    let seconds: Double
    let rowsPerSecond: Double
    /// The fewest rows a second that there should be.
    let bar: Double
    let isWithinBar: Bool
    /// The most memory that the process had, which is both ends of the push.
    let peakMegabytes: Double
}

/// What was measured, and on what.
struct Report: Codable {
    let engine: Engine
    let runCount: Int
    let usesProcessorTime: Bool
    let comparisons: [Comparison]
    let sync: SyncResult?
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
