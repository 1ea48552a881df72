import CipherStore
import Foundation
import Testing

extension Bed {
    fileprivate static let plants = hasMany(Plant.self, using: ForeignKey(["bed"]))
}

/// A bed with its plants, as one request fetches them.
private struct PlantedBed: Decodable, Equatable, FetchableRecord {
    var bed: Bed
    var plants: [Plant]
}

/// Observing what is in the database.
@Suite(.timeLimit(.minutes(20))) struct GuideObservationTests {
    @Test func aLoopGetsFreshValues() async throws {
        let store = try GardenStore.planted()
        let queue = store.queue
        let observation = ValueObservation.tracking { db in
            try Plant.filter(Plant.Columns.isEdible).order(Plant.Columns.name).fetchAll(db)
        }
        var names: [[String]] = []
        for try await plants in observation.values(in: queue) {
            names.append(plants.map(\.name))
            switch names.count {
            case 1:
                try await queue.write { db in
                    var plant = Plant(name: "Chard", isEdible: true)
                    try plant.insert(db)
                }
            case 2: _ = try await queue.write { try Plant.filter(Column("name") == "Leek").deleteAll($0) }
            default: break
            }
            if names.count == 3 { break }
        }
        #expect(
            names == [
                ["Basil", "Kale", "Leek"], ["Basil", "Chard", "Kale", "Leek"], ["Basil", "Chard", "Kale"],
            ])
    }

    @Test func prefetchedRowsAreObservedBeforeThereAreAny() async throws {
        let store = try GardenStore()
        let queue = store.queue
        let observation = ValueObservation.trackingConstantRegion { db in
            try Bed.including(all: Bed.plants.forKey("plants")).orderByPrimaryKey()
                .asRequest(of: PlantedBed.self).fetchAll(db)
        }
        let values = observation.map { beds in beds.map { "\($0.bed.code) \($0.plants.count)" } }
        var iterator = values.values(in: queue).makeAsyncIterator()
        #expect(try await iterator.next() == [])
        try await queue.write { try Bed(code: "north", area: 1).insert($0) }
        #expect(try await iterator.next() == ["north 0"])
        try await queue.write { db in
            var plant = Plant(name: "Leek", bed: "north")
            try plant.insert(db)
        }
        #expect(try await iterator.next() == ["north 1"])
    }

    @Test func tablesOfACommonTableExpressionAreObserved() async throws {
        let store = try GardenStore.planted()
        let queue = store.queue
        let tall = CommonTableExpression<Plant>(
            named: "tall", request: Plant.filter(Plant.Columns.height > 50))
        let observation = ValueObservation.tracking { db in try tall.all().with(tall).fetchCount(db) }
        let taller = Plant.Columns.height.set(to: Plant.Columns.height + 20)
        var iterator = observation.removeDuplicates().values(in: queue).makeAsyncIterator()
        #expect(try await iterator.next() == 2)
        _ = try await queue.write { try Plant.updateAll($0, taller) }
        _ = try await queue.write { try Plant.updateAll($0, taller) }
        #expect(try await iterator.next() == 3)
    }

    @Test @MainActor func aViewGetsItsFirstValueAtOnce() throws {
        let store = try GardenStore.planted()
        var heights: [Int] = []
        let observation = ValueObservation.tracking { db in
            try Plant.select(max(Plant.Columns.height), as: Int.self).fetchOne(db) ?? 0
        }
        let cancellable = observation.start(in: store.queue, scheduling: .immediate) { error in
            Issue.record("\(error)")
        } onChange: { height in
            heights.append(height)
        }
        #expect(heights == [120])
        cancellable.cancel()
    }

    @Test func whatHappensIsPrinted() async throws {
        let store = try GardenStore.planted()
        let queue = store.queue
        let log = Lines()
        let observation = ValueObservation.tracking(region: Plant.all(), fetch: Plant.fetchCount).print(
            "plants", to: log)
        for try await count in observation.values(in: queue) {
            if count == 0 { break }
            _ = try await queue.write { try Plant.deleteAll($0) }
        }
        #expect(
            log.lines.prefix(7) == [
                "plants: start", "plants: fetch",
                "plants: tracked region: plant(bed,height,id,isEdible,label,name)",
                "plants: value: 4", "plants: database did change", "plants: fetch", "plants: value: 0",
            ])
    }

    @Test func aSharedObservationFetchesOnceForAll() async throws {
        let store = try GardenStore.planted()
        let fetches = Lines()
        let shared = ValueObservation.tracking { db in
            fetches.write("fetch")
            return try Plant.fetchCount(db)
        }.shared(in: store.queue, scheduling: .task, extent: .whileObserved)
        var first = shared.values().makeAsyncIterator()
        var second = shared.values().makeAsyncIterator()
        #expect(try await first.next() == 4)
        #expect(try await second.next() == 4)
        #expect(fetches.lines.count == 1)
    }

    @Test func changesOfAnotherConnectionAreTold() async throws {
        let store = try GardenStore.planted()
        let queue = store.queue
        var iterator = ValueObservation.tracking(Plant.fetchCount).values(in: queue).makeAsyncIterator()
        #expect(try await iterator.next() == 4)
        let other = try DatabaseQueue(path: queue.path, configuration: .keyed("compost"))
        _ = try await other.write { try Plant.deleteAll($0) }
        try await queue.write { try $0.notifyChanges(in: Plant.all()) }
        #expect(try await iterator.next() == 0)
    }
}

/// Lines that several threads write.
private final class Lines: TextOutputStream, @unchecked Sendable {
    // Sendable, because every access takes the lock.
    private let lock = NSLock()
    private var storage: [String] = []

    var lines: [String] { lock.withLock { storage } }

    func write(_ string: String) { lock.withLock { storage.append(string) } }
}
