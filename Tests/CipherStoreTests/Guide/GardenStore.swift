import CipherStore
import Foundation

/// The encrypted database of a garden, which the tests of this folder share.
///
/// Each test is a short program over the public API, one chapter of a user's
/// guide after the other.
struct GardenStore {
    let folder: TemporaryFolder
    let queue: DatabaseQueue

    init(_ setUp: @escaping @Sendable (Database) throws -> Void = { _ in }) throws {
        folder = try TemporaryFolder()
        var configuration = Configuration.keyed("compost")
        configuration.prepareDatabase(setUp)
        queue = try DatabaseQueue(path: folder.file("garden.db"), configuration: configuration)
        try queue.write { db in
            try db.create(table: "bed") { t in
                t.primaryKey("code", .text)
                t.column("area", .double).notNull()
            }
            try db.create(table: "plant") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("name", .text).notNull()
                t.column("label", .text).unique()
                t.column("height", .integer).notNull().defaults(to: 10)
                t.column("isEdible", .boolean).notNull().defaults(to: false)
                t.column("bed", .text).references("bed", column: "code")
            }
        }
    }

    /// The store with three beds and four plants.
    static func planted() throws -> GardenStore {
        let store = try GardenStore()
        try store.queue.write { db throws in
            for (code, area) in [("north", 4.5), ("south", 2), ("pots", 0.5)] {
                try Bed(code: code, area: area).insert(db)
            }
            for (name, height, isEdible, bed) in [
                ("Leek", 40, true, "north"), ("Rose", 120, false, "south"),
                ("Basil", 25, true, "pots"), ("Kale", 60, true, "north"),
            ] {
                var plant = Plant(name: name, height: height, isEdible: isEdible, bed: bed)
                try plant.insert(db)
            }
        }
        return store
    }
}

struct Bed: Codable, Hashable, Identifiable, FetchableRecord, PersistableRecord {
    var code: String
    var area: Double

    var id: String { code }
}

struct Plant: Codable, Hashable, FetchableRecord, MutablePersistableRecord {
    var id: Int64?
    var name: String
    var label: String?
    var height = 10
    var isEdible = false
    var bed: String?

    enum Columns {
        static let id = Column(CodingKeys.id)
        static let name = Column(CodingKeys.name)
        static let label = Column(CodingKeys.label)
        static let height = Column(CodingKeys.height)
        static let isEdible = Column(CodingKeys.isEdible)
        static let bed = Column(CodingKeys.bed)
    }

    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}
