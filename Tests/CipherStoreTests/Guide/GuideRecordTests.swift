// Assignments of columns are expressions here.
// swift-format-ignore-file: NoAssignmentInExpressions

import CipherStore
import Foundation
import Testing

/// Records: persistence, callbacks, conflicts, keys, comparison and Codable.
@Suite struct GuideRecordTests {
    @Test func aRecordIsInsertedUpdatedSavedAndDeleted() throws {
        let store = try GardenStore()
        try store.queue.write { db throws in
            var plant = Plant(name: "Sage")
            try plant.insert(db)
            #expect(plant.id == 1)
            plant.height = 55
            try plant.update(db)
            try plant.update(db, columns: [Plant.Columns.height])
            #expect(try Plant.find(db, key: 1) == plant)
            plant.id = nil
            try plant.save(db)
            #expect(plant.id == 2)
            let copy = try plant.saved(db)
            #expect(copy == plant)
            #expect(try plant.exists(db))
            #expect(try plant.delete(db))
            #expect(try plant.delete(db) == false)
            let error = #expect(throws: RecordError.self) { try plant.update(db) }
            #expect(error?.description.contains("plant") == true)
        }
    }

    @Test func onlyChangedColumnsAreUpdated() throws {
        let store = try GardenStore.planted()
        try store.queue.write { db throws in
            let old = try Plant.find(db, key: 1)
            var new = old
            #expect(try new.updateChanges(db) { $0.height = old.height } == false)
            #expect(try new.updateChanges(db) { $0.height = 41 })
            #expect(new.databaseEquals(old) == false)
            #expect(try new.databaseChanges(from: old) == ["height": 40.databaseValue])
            #expect(try old.updateChanges(db, from: new))
            #expect(try Plant.find(db, key: 1) == old)
        }
    }

    @Test func anUpsertOverwritesOrComputes() throws {
        let store = try GardenStore()
        try store.queue.write { db throws in
            var plant = Plant(name: "Dill", label: "D", height: 30)
            try plant.insert(db)
            try Bed(code: "north", area: 1).upsert(db)
            let bed = try Bed(code: "north", area: 2).upsertAndFetch(db)
            #expect(bed.area == 2)
            var other = Plant(name: "Dill weed", label: "D", height: 20)
            let upserted = try other.upsertAndFetch(db, onConflict: ["label"]) { excluded in
                [
                    Plant.Columns.height.set(to: max(Plant.Columns.height, excluded["height"])),
                    Plant.Columns.isEdible.noOverwrite,
                ]
            }
            #expect(upserted.id == 1)
            #expect(upserted.name == "Dill weed")
            #expect(upserted.height == 30)
        }
    }

    @Test func whatTheDatabaseFilledInIsFetched() throws {
        struct Seedling: Encodable, PersistableRecord {
            static let databaseTableName = "plant"
            var name: String
        }
        let store = try GardenStore()
        try store.queue.write { db throws in
            let plant = try Seedling(name: "Chard").insertAndFetch(db, as: Plant.self)
            #expect(plant == Plant(id: 1, name: "Chard"))
            let height = try Seedling(name: "Beet").insertAndFetch(db, selection: [Plant.Columns.height]) {
                try Int.fetchOne($0)
            }
            #expect(height == 10)
            let grown = try Plant.all().updateAndFetchAll(db, [Plant.Columns.height += 5])
            #expect(grown.map(\.height) == [15, 15])
            let gone = try Plant.filter(Plant.Columns.name == "Beet").deleteAndFetchAll(db)
            #expect(gone.map(\.name) == ["Beet"])
        }
    }

    @Test func callbacksSurroundTheStatements() throws {
        struct Tool: Codable, PersistableRecord {
            static let log = Log()
            var id: Int64
            var name: String

            func willSave(_ db: Database) throws {
                if name.isEmpty { throw RuntimeFailure.nameless }
                Self.log.append("willSave")
            }
            func aroundInsert(_ db: Database, insert: () throws -> InsertionSuccess) throws {
                Self.log.append("before")
                _ = try insert()
                Self.log.append("after")
            }
            func didSave(_ saved: PersistenceSuccess) { Self.log.append("didSave") }
            func didDelete(deleted: Bool) { Self.log.append("didDelete \(deleted)") }
        }
        enum RuntimeFailure: Error { case nameless }
        let store = try GardenStore()
        try store.queue.write { db throws in
            try db.create(table: "tool") { t in
                t.primaryKey("id", .integer)
                t.column("name", .text)
            }
            #expect(throws: RuntimeFailure.self) { try Tool(id: 1, name: "").insert(db) }
            try Tool(id: 1, name: "Rake").insert(db)
            try Tool(id: 1, name: "Rake").delete(db)
        }
        #expect(Tool.log.lines == ["willSave", "before", "after", "didSave", "didDelete true"])
    }

    @Test func conflictsAreResolvedByThePolicy() throws {
        struct Replacing: Codable, FetchableRecord, PersistableRecord {
            static let databaseTableName = "bed"
            static let persistenceConflictPolicy = PersistenceConflictPolicy(
                insert: .replace, update: .replace)
            var code: String
            var area: Double
        }
        struct Ignoring: Codable, FetchableRecord, PersistableRecord {
            static let databaseTableName = "bed"
            static let persistenceConflictPolicy = PersistenceConflictPolicy(insert: .ignore, update: .ignore)
            var code: String
            var area: Double
        }
        let store = try GardenStore.planted()
        try store.queue.write { db throws in
            #expect(throws: DatabaseError.self) { try Bed(code: "pots", area: 9).insert(db) }
            try db.execute(sql: "DELETE FROM plant")
            try Replacing(code: "pots", area: 9).insert(db)
            #expect(try Bed.find(db, id: "pots").area == 9)
            #expect(throws: RecordError.self) { try Ignoring(code: "pots", area: 1).insertAndFetch(db) }
            try db.create(table: "tag") { $0.column("text", .text).unique(onConflict: .replace) }
            try db.execute(sql: "INSERT INTO tag VALUES ('a'), ('a')")
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM tag") == 1)
        }
    }

    @Test func rowsAreFoundByIdAndByUniqueKey() throws {
        let store = try GardenStore.planted()
        try store.queue.write { db throws in
            #expect(try Bed.fetchOne(db, id: "east") == nil)
            #expect(try Bed.find(db, id: "pots").area == 0.5)
            #expect(try Bed.fetchSet(db, ids: ["north", "south"]).count == 2)
            #expect(try Bed.exists(db, id: "north"))
            #expect(try Plant.filter(keys: [1, 4]).fetchCount(db) == 2)
            try Plant.filter(key: 2).updateAll(db, Plant.Columns.label.set(to: "R"))
            #expect(try Plant.fetchOne(db, key: ["label": "R"])?.name == "Rose")
            #expect(try Plant.deleteOne(db, key: ["label": "R"]))
            #expect(try Plant.deleteAll(db, keys: [1, 2, 3]) == 2)
            let error = #expect(throws: DatabaseError.self) { try Plant.fetchOne(db, key: ["name": "Kale"]) }
            #expect(error?.message?.contains("no unique key") == true)
        }
    }

    @Test func tableNamesComeFromTypes() {
        struct SoilSample: TableRecord {}
        struct PHValue: TableRecord {}
        #expect(SoilSample.databaseTableName == "soilSample")
        #expect(PHValue.databaseTableName == "phValue")
    }

    @Test func aRecordWithoutCodableCodesItself() throws {
        struct Spot: FetchableRecord, PersistableRecord {
            enum Columns: String, ColumnExpression { case x, y }
            var x: Double
            var y: Double

            init(x: Double, y: Double) { (self.x, self.y) = (x, y) }
            init(row: Row) { self.init(x: row[Columns.x], y: row[Columns.y]) }
            func encode(to container: inout PersistenceContainer) {
                container[Columns.x] = x
                container["y"] = y
            }
        }
        let store = try GardenStore()
        try store.queue.write { db throws in
            try db.execute(sql: "CREATE TABLE spot (x DOUBLE, y DOUBLE)")
            try Spot(x: 1, y: 2).insert(db)
            #expect(try Spot.filter(Spot.Columns.y == 2).fetchOne(db)?.x == 1)
            #expect(try Spot.fetchOne(db, key: 1)?.y == 2)
        }
    }
}
