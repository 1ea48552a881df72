import CipherData
import Testing

/// Properties of columns that may be NULL.
@Suite(.timeLimit(.minutes(10))) struct OptionalColumnTests {
    private let store: ErrandStore
    private var database: any DatabaseWriter { store.database }

    init() throws { store = try ErrandStore() }

    @Test func aValueThatMayBeNullGoesWithItsRow() async throws {
        @FetchOne(Errand.find(1).select(\.due), database: database) var due: Int? = nil
        #expect(due == 3)
        try await database.write { db in try Errand.find(1).delete().execute(db) }
        #expect(await $due.values.waits(for: nil))
        #expect($due.loadError == nil)
    }

    @Test func anAggregateThatMayBeNullNeedsNoValue() async throws {
        @FetchOne(Errand.select { $0.due.max() }, database: database) var latest: Int?
        #expect(latest == 5)
        try await database.write { db in try db.execute(sql: "UPDATE errands SET due = NULL") }
        #expect(await $latest.values.waits(for: nil))
    }

    @Test func aValueThatMayBeNullIsNilWhenTheLoadedStatementHasNoRow() async throws {
        let due = FetchOne<Int?>(wrappedValue: 9)
        try await due.load(Errand.find(7).select(\.due), database: database)
        #expect(due.wrappedValue == nil && due.loadError == nil)
        try await due.load(Errand.find(3).select(\.due), database: database)
        #expect(due.wrappedValue == 5)
    }

    @Test func aValueThatIsNeverNullIsKept() async throws {
        @FetchOne(Errand.find(7).select(\.title), database: database) var title = "before"
        #expect(title == "before" && $title.loadError is NoRow)
        @FetchOne(Errand.find(1).select(\.title), database: database) var found: String?
        #expect(found == "a")
    }
}
