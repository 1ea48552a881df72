import Foundation
import RawLoops

#if canImport(CipherStore)
    import CipherStore
#else
    import GRDB
#endif

/// A row of mixed types, with dates and optionals, as an app would model it.
struct Visit {
    var id: UUID
    var name: String
    var city: String
    var created: Date
    var updated: Date?
    var rating: Double
    var distance: Double?
    var count: Int
    var flags: Int64?
    var note: String?

    static let createTable = """
        CREATE TABLE visit (
            id BLOB PRIMARY KEY NOT NULL, name TEXT NOT NULL, city TEXT NOT NULL, created TEXT NOT NULL,
            updated TEXT, rating REAL NOT NULL, distance REAL, count INTEGER NOT NULL, flags INTEGER, note TEXT)
        """

    static let select = """
        SELECT id, name, city, created, updated, rating, distance, count, flags, note FROM visit
        """

    static let insert = "INSERT INTO visit VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"

    /// Copies a row of the C side.
    init(_ raw: RawVisit) {
        id = UUID(uuid: raw.id)
        name = String(cString: raw.name)
        city = String(cString: raw.city)
        created = Date(timeIntervalSince1970: raw.created)
        updated = raw.hasUpdated != 0 ? Date(timeIntervalSince1970: raw.updated) : nil
        rating = raw.rating
        distance = raw.hasDistance != 0 ? raw.distance : nil
        count = Int(raw.count)
        flags = raw.hasFlags != 0 ? raw.flags : nil
        note = raw.note.map { String(cString: $0) }
    }
}

/// A record that reads and writes its columns by hand.
struct ManualVisit: FetchableRecord, PersistableRecord {
    static let databaseTableName = "visit"

    var visit: Visit

    init(_ visit: Visit) { self.visit = visit }

    init(row: Row) {
        visit = Visit(positionsOf: row)
    }

    func encode(to container: inout PersistenceContainer) {
        container["id"] = visit.id
        container["name"] = visit.name
        container["city"] = visit.city
        container["created"] = visit.created
        container["updated"] = visit.updated
        container["rating"] = visit.rating
        container["distance"] = visit.distance
        container["count"] = visit.count
        container["flags"] = visit.flags
        container["note"] = visit.note
    }
}

extension Visit {
    /// Reads a row of `select` by position.
    init(positionsOf row: Row) {
        id = row[0]
        name = row[1]
        city = row[2]
        created = row[3]
        updated = row[4]
        rating = row[5]
        distance = row[6]
        count = row[7]
        flags = row[8]
        note = row[9]
    }
}

/// A record that leaves its columns to `Codable`.
struct CodableVisit: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "visit"

    var id: UUID
    var name: String
    var city: String
    var created: Date
    var updated: Date?
    var rating: Double
    var distance: Double?
    var count: Int
    var flags: Int64?
    var note: String?

    init(_ visit: Visit) {
        id = visit.id
        name = visit.name
        city = visit.city
        created = visit.created
        updated = visit.updated
        rating = visit.rating
        distance = visit.distance
        count = visit.count
        flags = visit.flags
        note = visit.note
    }
}

/// The same rows for both sides.
final class VisitSamples {
    private(set) var raw: RawVisits
    let visits: [Visit]

    init(count: Int) {
        raw = raw_visits_make(count, 1)
        visits = UnsafeBufferPointer(start: raw.items, count: raw.count).map { Visit($0) }
    }

    deinit { raw_visits_free(&raw) }
}
