import CipherData
import Testing

/// Properties of statements in SQL that say no type.
@Suite(.timeLimit(.minutes(10))) struct FetchSQLTests {
    private let store: ErrandStore
    private var database: any DatabaseWriter { store.database }

    init() throws { store = try ErrandStore() }

    @Test func rowsAreOfThePropertysType() async throws {
        @FetchAll(#sql("SELECT \(Errand.columns) FROM errands WHERE due > 3"), database: database)
        var late: [Errand]
        #expect(late.map(\.title) == ["c"])
        @FetchAll(#sql("SELECT title FROM errands ORDER BY id DESC"), database: database) var titles: [String]
        #expect(titles == ["d", "c", "b", "a"])
        try await $titles.load(#sql("SELECT title FROM errands WHERE place IS NULL"), database: database)
        #expect(titles == ["d"])
    }

    @Test func aTypeThatIsNamedCountsAsBefore() throws {
        let named = FetchAll(#sql("SELECT id FROM errands ORDER BY id", as: Int.self), database: database)
        #expect(named.wrappedValue == [1, 2, 3, 4])
        @FetchOne(#sql("SELECT count(*) FROM errands", as: Int.self), database: database) var count = 0
        #expect(count == 4)
        @FetchOne(#sql("SELECT max(due) FROM errands", as: Int?.self), database: database) var latest: Int?
        #expect(latest == 5)
    }

    @Test func theFirstRowIsOfThePropertysType() async throws {
        @FetchOne(#sql("SELECT count(*) FROM errands"), database: database) var count = 0
        #expect(count == 4)
        try await $count.load(#sql("SELECT count(*) FROM helpers"), database: database)
        #expect(count == 2)
        @FetchOne(#sql("SELECT \(Errand.columns) FROM errands WHERE id = 3"), database: database)
        var errand: Errand?
        #expect(errand?.title == "c")
    }

    @Test func withoutARowAnOptionalIsNilAndAnotherValueIsKept() async throws {
        @FetchOne(#sql("SELECT due FROM errands WHERE id = 9"), database: database) var due: Int?
        #expect(due == nil && $due.loadError == nil)
        try await $due.load(#sql("SELECT due FROM errands WHERE id = 1"), database: database)
        #expect(due == 3)
        try await $due.load(#sql("SELECT due FROM errands WHERE id = 9"), database: database)
        #expect(due == nil && $due.loadError == nil)
        @FetchOne(#sql("SELECT title FROM errands WHERE id = 9"), database: database) var title = "before"
        #expect(title == "before" && $title.loadError is NoRow)
    }
}
