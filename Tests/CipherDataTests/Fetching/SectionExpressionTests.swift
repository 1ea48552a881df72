import CipherData
import Testing

/// Sections that SQLite makes.
@Suite(.timeLimit(.minutes(10))) struct SectionExpressionTests {
    private let store: ErrandStore
    private var database: any DatabaseWriter { store.database }

    init() throws { store = try ErrandStore() }

    @Test func eachValueHasOneSectionInItsOrder() async throws {
        @FetchAll(Errand.order(by: \.title), sectionBy: \.place, database: database) var errands
        #expect($errands.sections.map(\.name) == [nil, "Home", "Work"])
        #expect($errands.sections.map { $0.map(\.title) } == [["d"], ["b"], ["a", "c"]])
        #expect(errands.map(\.title) == ["d", "b", "a", "c"])
        try await database.write { db throws in
            try Errand.insert { Errand(id: 5, title: "e", place: "Home") }.execute(db)
        }
        for await rows in $errands.values where rows.count == 5 { break }
        #expect($errands.sections.map { $0.map(\.title) } == [["d"], ["b", "e"], ["a", "c"]])
    }

    @Test func aTermOfAnOrderSaysTheDirection() {
        @FetchAll(
            Errand.order { $0.title.desc() }, sectionBy: { $0.place.desc(nulls: .first) }, database: database)
        var errands
        #expect($errands.sections.map(\.name) == [nil, "Work", "Home"])
        #expect($errands.sections.map { $0.map(\.title) } == [["d"], ["c", "a"], ["b"]])
    }

    @Test func valuesThatACollationTakesForOneHaveASectionEach() throws {
        try database.write { db throws in
            try Errand.insert { Errand(id: 5, title: "b2", place: "work") }.execute(db)
        }
        @FetchAll(
            Errand.order(by: \.title), sectionBy: { $0.place.collate(.nocase) }, database: database)
        var errands
        #expect($errands.sections.map(\.name) == [nil, "Home", "Work", "work"])
        #expect($errands.sections.map { $0.map(\.title) } == [["d"], ["b"], ["a", "c"], ["b2"]])
    }

    @Test func anExpressionWithValuesIsEvaluated() {
        let statement = Errand.where { $0.id.lt(4) }.order(by: \.id)
        @FetchAll(
            statement, sectionBy: { Case().when($0.due.is(nil), then: "none").else("some") },
            database: database)
        var errands
        #expect($errands.sections.map(\.name) == ["none", "some"])
        #expect($errands.sections.map { $0.map(\.id) } == [[2], [1, 3]])
    }

    @Test func aLimitTakesTheRowsOfTheQuerysOwnOrder() {
        @FetchAll(Errand.order(by: \.title).limit(2), sectionBy: \.place, database: database) var errands
        #expect($errands.sections.map(\.name) == ["Work", "Home"])
        #expect(errands.map(\.title) == ["a", "b"])
    }

    @Test func rowsOfOneValueHaveOneSectionWithALimitToo() throws {
        @FetchAll(Errand.order(by: \.title).limit(3), sectionBy: \.place, database: database) var errands
        #expect($errands.sections.map(\.name) == ["Work", "Home"])
        #expect($errands.sections.map { $0.map(\.title) } == [["a", "c"], ["b"]])
        #expect(errands.map(\.title) == ["a", "c", "b"])
        let fetched = try database.read { db throws in
            try Errand.order(by: \.title).limit(3).fetchAll(db, sectionBy: \.place)
        }
        #expect(fetched.map { $0.map(\.title) } == [["a", "c"], ["b"]])
    }

    @Test func valuesOfSeveralTypesWithOneNameHaveOneSection() {
        @FetchAll(
            Errand.order(by: \.id),
            sectionBy: { #sql("CASE \($0.id) WHEN 1 THEN 1 WHEN 2 THEN 2 ELSE '1' END", as: String.self) },
            database: database)
        var errands
        #expect($errands.sections.map(\.name) == ["1", "2"])
        #expect($errands.sections.map { $0.map(\.id) } == [[1, 3, 4], [2]])
    }

    @Test func chosenColumnsHaveSectionsToo() {
        @FetchAll(Errand.order(by: \.id).select(\.title), sectionBy: \.place, database: database) var titles
        #expect($titles.sections.map { Array($0) } == [["d"], ["b"], ["a", "c"]])
    }

    @Test func whatIsNoExpressionIsAFunctionOfTheRows() {
        @FetchAll(
            Errand.order(by: \.title), sectionBy: { $0.place?.count },
            database: database)
        var errands
        #expect($errands.sections.map(\.name) == ["4", nil])
    }

    @Test func aStatementIsLoadedInSections() async throws {
        let errands = FetchAll<Errand>(wrappedValue: [], database: database)
        #expect(errands.sections.map(\.name) == [""])
        try await errands.load(Errand.order(by: \.title), sectionBy: \.place, database: database)
        #expect(errands.sections.map(\.name) == [nil, "Home", "Work"])
        let titles = FetchAll<String>()
        try await titles.load(Errand.select(\.title), sectionBy: \.due, database: database)
        #expect(titles.sections.map(\.name) == [nil, "3", "5"])
    }

    @Test func aStatementIsFetchedInSections() throws {
        try database.read { db throws in
            let whole = try Errand.order(by: \.title).fetchAll(db, sectionBy: \.place)
            #expect(whole.map(\.name) == [nil, "Home", "Work"])
            let titles = try Errand.order(by: \.id).select(\.title)
                .fetchAll(db, sectionBy: { $0.place.desc() })
            #expect(titles.map { Array($0) } == [["a", "c"], ["b"], ["d"]])
        }
    }
}
