import CipherStore
import Foundation

/// A row of the file: a trip by taxi.
struct Trip: Codable, Sendable, FetchableRecord, PersistableRecord {
    var id: UUID
    var day: String
    var zone: String
    var kilometres: Double

    /// Reads a line such as `2026-11-25,Harlem,3.5`.
    ///
    /// - throws: ``LineError``
    init(line: Substring, number: Int) throws {
        let fields = line.split(separator: ",", omittingEmptySubsequences: false)
        guard fields.count == 3, let kilometres = Double(fields[2]) else {
            throw LineError(number: number, text: String(line.prefix(40)))
        }
        id = UUID.v7()
        day = String(fields[0])
        zone = String(fields[1])
        self.kilometres = kilometres
    }

    static func createTable(_ db: Database) throws {
        try db.create(table: "trip", options: .ifNotExists) { t in
            t.primaryKey("id", .blob)
            t.column("day", .text).notNull()
            t.column("zone", .text).notNull()
            t.column("kilometres", .double).notNull()
        }
    }
}

/// A line that is no trip.
struct LineError: Error, CustomStringConvertible {
    let number: Int
    let text: String

    var description: String { "line \(number) is no trip: \(text)" }
}
