import Foundation
import Observation
import Testing

@testable import CipherData

/// Properties with what was fetched.
@Suite(.timeLimit(.minutes(10))) struct FetchTests {
    private let folder: TestFolder
    private let database: any DatabaseWriter

    init() throws {
        folder = try TestFolder()
        database = try reminders(folder.file("a.db"))
        try database.add("Milk")
    }

    @Test(arguments: [true, false]) func theRowsAreThereAtOnceAndChange(isPool: Bool) async throws {
        let database = try reminders(folder.file("b.db"), isPool: isPool)
        try database.add("Milk")
        @FetchAll(OpenTitles(), database: database) var open: [String]
        #expect(open == ["Milk"])
        try database.add("Tea")
        #expect(await $open.values.waits(for: ["Milk", "Tea"]))
        #expect(open == ["Milk", "Tea"])
        #expect(!$open.isLoading && $open.loadError == nil)
    }

    @Test func theDefaultDatabaseIsUsedWhereNoOtherOneIsGiven() throws {
        withDependencies {
            $0.defaultDatabase = database
        } operation: {
            @Fetch(OpenTitles()) var open = []
            @FetchOne(DoneCount()) var done = 7
            #expect(open == ["Milk"])
            #expect(done == 0)
        }
    }

    @Test func anObservableModelTellsOfChanges() async throws {
        let model = ObservableModel(database)
        let (changes, continuation) = AsyncStream.makeStream(of: Void.self)
        withObservationTracking {
            _ = model.open
        } onChange: {
            continuation.yield()
        }
        try database.add("Tea")
        for await _ in changes { break }
        #expect(await model.$open.values.waits(for: ["Milk", "Tea"]))
    }

    @Test func anActorHasThem() async throws {
        actor Model {
            @FetchAll var open: [String]
            init(_ database: any DatabaseWriter) { _open = FetchAll(OpenTitles(), database: database) }
            var values: AsyncStream<[String]> { $open.values }
        }
        let model = Model(database)
        try database.add("Tea")
        #expect(await model.values.waits(for: ["Milk", "Tea"]))
    }

    @Test func anotherRequestCanBeLoaded() async throws {
        try database.add("Tea")
        @FetchAll(OpenTitles(), database: database) var open: [String]
        try await $open.load(OpenTitles(prefix: "T"), database: database)
        #expect(open == ["Tea"])
        try database.add("Toast")
        #expect(await $open.values.waits(for: ["Tea", "Toast"]))
    }

    /// Somebody pulls to refresh, and chooses another filter before that has come.
    @Test func aReloadOfAFormerRequestChangesNothing() async throws {
        try database.add("Tea")
        let gate = Gate()
        let property = FetchAll(GatedTitles(gate: gate), database: database)
        #expect(property.wrappedValue == ["Milk", "Tea"])
        gate.close()
        let reload = Task { try await property.load() }
        await gate.isReached()
        try await property.load(OpenTitles(prefix: "T"), database: database)
        gate.open()
        try await reload.value
        #expect(property.wrappedValue == ["Tea"])
        #expect(!property.projectedValue.isLoading && property.projectedValue.loadError == nil)
    }

    /// What was read before a commit comes after what the observation has brought of it.
    @Test func aReloadThatIsLateChangesNothing() async throws {
        let gate = Gate()
        let property = FetchAll(GatedTitles(gate: gate), database: database)
        gate.close(after: true)
        let reload = Task { try await property.load() }
        await gate.isReached()
        gate.letOthersPass()
        try database.add("Tea")
        #expect(await property.projectedValue.values.waits(for: ["Milk", "Tea"]))
        gate.open()
        try await reload.value
        #expect(property.wrappedValue == ["Milk", "Tea"])
    }

    @Test func aCancelledSubscriptionKeepsTheLastValue() async throws {
        @FetchAll var open: [String]
        let subscription = try await $open.load(OpenTitles(), database: database)
        #expect(open == ["Milk"])
        subscription.cancel()
        #expect(SharedFetches.count(in: database) == 0)
        try database.add("Tea")
        #expect(open == ["Milk"])
        // What is asked for is fetched.
        try await $open.load()
        #expect(open == ["Milk", "Tea"])
    }

    @Test func aLoadBlocksNoThread() async throws {
        let property = FetchAll<String>()
        try await property.load(FetchingTask(), database: database)
        #expect(property.wrappedValue == ["none"])
    }

    @Test func aLoadEndsWithItsTask() async throws {
        let gate = Gate()
        gate.close()
        let property = FetchAll<String>()
        let load = Task { [database] in
            _ = try await property.load(GatedTitles(gate: gate), database: database)
        }
        await gate.isReached()
        load.cancel()
        await #expect(throws: CancellationError.self) { try await load.value }
        #expect(!property.isLoading && SharedFetches.count(in: database) == 0)
        gate.open()
    }

    /// A view is left while its new filter is still being fetched.
    @Test func afterALoadThatWasCancelledTheFormerRequestIsStillObserved() async throws {
        let gate = Gate()
        gate.close()
        defer { gate.open() }
        let property = FetchAll(OpenTitles(), database: database)
        let load = Task { [database] in
            _ = try await property.load(GatedTitles(gate: gate), database: database)
        }
        await gate.isReached()
        load.cancel()
        await #expect(throws: CancellationError.self) { try await load.value }
        #expect(!property.isLoading && property.loadError == nil)
        try #require(SharedFetches.count(in: database) == 1)
        try database.add("Tea")
        #expect(await property.values.waits(for: ["Milk", "Tea"]))
    }

    @Test func whatALoadThatWasCancelledHasHiddenIsShown() async throws {
        let gate = Gate()
        gate.close()
        defer { gate.open() }
        let property = FetchAll(OpenTitles(), database: database)
        // It is told after the property.
        let other = FetchAll(OpenTitles(), database: database)
        let load = Task { [database] in
            _ = try await property.load(GatedTitles(gate: gate), database: database)
        }
        await gate.isReached()
        try database.add("Tea")
        #expect(await other.values.waits(for: ["Milk", "Tea"]))
        #expect(property.isLoading && property.wrappedValue == ["Milk"])
        load.cancel()
        await #expect(throws: CancellationError.self) { try await load.value }
        #expect(property.wrappedValue == ["Milk", "Tea"])
    }

    /// A view would be computed for each commit meanwhile.
    @Test func nobodyIsToldOfWhatTheFormerRequestBringsWhileALoadIsWaitedFor() async throws {
        let gate = Gate()
        gate.close()
        defer { gate.open() }
        let property = FetchAll(OpenTitles(), database: database)
        // It is told after the property.
        let other = FetchAll(OpenTitles(), database: database)
        let load = Task { [database] in
            _ = try await property.load(GatedTitles(gate: gate), database: database)
        }
        await gate.isReached()
        let (notices, continuation) = AsyncStream.makeStream(of: String.self)
        withObservationTracking {
            _ = (property.wrappedValue, property.isLoading, property.loadError)
        } onChange: {
            continuation.yield("something else")
        }
        try database.add("Tea")
        #expect(await other.values.waits(for: ["Milk", "Tea"]))
        continuation.yield("the commit")
        load.cancel()
        await #expect(throws: CancellationError.self) { try await load.value }
        continuation.finish()
        var told: [String] = []
        for await notice in notices { told.append(notice) }
        #expect(told == ["the commit", "something else"])
        #expect(property.wrappedValue == ["Milk", "Tea"])
    }

    @Test func aLoadGoesOnWhenTheOneThatFollowedWasCancelled() async throws {
        let (gate, other) = (Gate(), Gate())
        gate.close()
        other.close()
        defer { other.open() }
        let property = FetchAll<String>()
        let load = Task { [database] in
            _ = try await property.load(GatedTitles(gate: gate), database: database)
        }
        await gate.isReached()
        let following = Task { [database] in
            _ = try await property.load(GatedTitles(gate: other), database: database)
        }
        await other.isReached()
        following.cancel()
        await #expect(throws: CancellationError.self) { try await following.value }
        gate.open()
        try await load.value
        #expect(property.wrappedValue == ["Milk"])
        #expect(SharedFetches.count(in: database) == 1)
    }

    @Test func aPropertyDoesNotWaitForALoadOfTheSame() async throws {
        let gate = Gate()
        gate.close()
        let loaded = FetchAll<String>()
        let load = Task { [database] in
            _ = try await loaded.load(GatedTitles(gate: gate), database: database)
        }
        await gate.isReached()
        gate.letOthersPass()
        let property = FetchAll(GatedTitles(gate: gate), database: database)
        #expect(property.wrappedValue == ["Milk"])
        try await load.value
        #expect(loaded.wrappedValue == ["Milk"])
        gate.open()
    }

    @Test func aSubscriptionEndsWithTheTaskThatWaitsForIt() async throws {
        let property = FetchAll<String>()
        let subscription = try await property.load(OpenTitles(), database: database)
        let task = Task { try await subscription.task }
        #expect(SharedFetches.count(in: database) == 1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(SharedFetches.count(in: database) == 0)
    }

    @Test func equalRequestsShareOneObservation() throws {
        let properties = (0..<10).map { _ in FetchAll(OpenTitles(), database: database) }
        #expect(SharedFetches.count(in: database) == 1)
        let other = FetchAll(OpenTitles(prefix: "T"), database: database)
        #expect(SharedFetches.count(in: database) == 2)
        let elsewhere = try reminders(folder.file("b.db"))
        let third = FetchAll(OpenTitles(), database: elsewhere)
        #expect(SharedFetches.count(in: database) == 2)
        #expect(SharedFetches.count(in: elsewhere) == 1)
        withExtendedLifetime((properties, other, third)) {}
    }

    @Test func observationsEndWithTheirProperties() throws {
        do {
            let property = FetchAll(OpenTitles(), database: database)
            #expect(property.wrappedValue == ["Milk"])
        }
        #expect(SharedFetches.count(in: database) == 0)
    }

    @Test func anErrorKeepsTheValueAndEndsWithItsCause() async throws {
        @FetchAll(OpenTitles(), database: database) var open: [String]
        try database.execute("ALTER TABLE reminders RENAME TO hidden")
        await #expect(throws: DatabaseError.self) { try await $open.load() }
        #expect($open.loadError is DatabaseError)
        #expect(open == ["Milk"])
        try database.execute("ALTER TABLE hidden RENAME TO reminders")
        try database.add("Tea")
        #expect(await $open.values.waits(for: ["Milk", "Tea"]))
        #expect($open.loadError == nil)
    }

    @Test func aTableThatComesLaterIsFetched() async throws {
        let path = folder.file("c.db")
        let empty = try DatabasePool(path: path, configuration: .encrypted)
        @FetchAll(OpenTitles(), database: empty) var open: [String]
        #expect($open.loadError is DatabaseError)
        try empty.execute(
            "CREATE TABLE reminders (title TEXT, isCompleted INTEGER DEFAULT 0); INSERT INTO reminders (title) VALUES ('Milk')"
        )
        #expect(await $open.values.waits(for: ["Milk"]))
        #expect($open.loadError == nil)
    }

    @Test func aQueryAfterTheDatabaseWasClosedIsAnError() async throws {
        try database.close()
        @FetchAll(OpenTitles(), database: database) var open: [String]
        #expect(open.isEmpty)
        #expect(($open.loadError as? DatabaseError)?.resultCode == .SQLITE_MISUSE)
        await #expect(throws: DatabaseError.self) { try await $open.load() }
        let other = FetchOne(wrappedValue: 3)
        await #expect(throws: DatabaseError.self) { try await other.load(DoneCount(), database: database) }
        #expect(other.wrappedValue == 3)
    }

    @Test func aPropertyThatIsMadeInAnAccessGetsItsValueLater() async throws {
        let property = try await database.write { [database] _ in FetchAll(OpenTitles(), database: database) }
        #expect(await property.values.waits(for: ["Milk"]))
    }

    @Test func commitsOfAnotherConnectionAreSeen() async throws {
        let other = try DatabaseQueue(path: folder.file("a.db"), configuration: .encrypted)
        @FetchAll(OpenTitles(), database: database) var open: [String]
        #expect(open == ["Milk"])
        try other.add("Tea")
        #expect(await $open.values.waits(for: ["Milk", "Tea"]))
    }
}

/// Whether a task runs on the thread that fetches.
private struct FetchingTask: FetchKeyRequest {
    func fetch(_ db: Database) throws -> [String] {
        [withUnsafeCurrentTask { $0 == nil ? "none" : "a task" }]
    }
}

/// A model of an app.
@Observable private final class ObservableModel {
    @ObservationIgnored @FetchAll var open: [String]

    init(_ database: any DatabaseWriter) { _open = FetchAll(OpenTitles(), database: database) }
}

/// Rows in sections.
struct SectionTests {
    @Test func rowsThatFollowEachOtherMakeSections() {
        let sections = ResultsSectionCollection(["ant", "ape", "bee", "asp"]) { $0.prefix(1) }
        #expect(sections.map(\.name) == ["a", "b", "a"])
        #expect(sections.map(Array.init) == [["ant", "ape"], ["bee"], ["asp"]])
        #expect(Set(sections.map(\.id)).count == 3)
        #expect(ResultsSectionCollection([Int]()) { $0 }.isEmpty)
    }

    @Test func aPropertyHasThem() throws {
        let folder = try TestFolder()
        let database = try reminders(folder.file("a.db"))
        for title in ["Milk", "Mint", "Tea"] { try database.add(title) }
        @FetchAll(OpenTitles(), sectionBy: { $0.prefix(1) }, database: database) var open: [String]
        #expect($open.sections.map(\.name) == ["M", "T"])
        #expect($open.sections.map(\.count) == [2, 1])
        #expect($open.sections[0][1] == "Mint")
    }
}
