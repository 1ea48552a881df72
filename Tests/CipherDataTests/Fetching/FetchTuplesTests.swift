import CipherData
import Testing

/// Properties of rows with several values.
@Suite(.timeLimit(.minutes(10))) struct FetchTuplesTests {
    private let store: ErrandStore
    private var database: any DatabaseWriter { store.database }

    init() throws { store = try ErrandStore() }

    @Test func chosenExpressionsAreTuplesThatChange() async throws {
        @FetchAll(Errand.order(by: \.id).select { ($0.title, $0.due) }, database: database) var errands
        #expect(errands.map(\.0) == ["a", "b", "c", "d"])
        #expect(errands.map(\.1) == [3, nil, 5, nil])
        try await database.write { db in try Errand.find(1).delete().execute(db) }
        for await rows in $errands.values where rows.count == 3 { break }
        try await $errands.load(
            Errand.where { $0.due.is(nil) }.order(by: \.id).select { ($0.title, $0.due) }, database: database)
        #expect(errands.map(\.0) == ["b", "d"])
    }

    @Test func aTypeMayBeWritten() {
        @FetchAll(Errand.order(by: \.id).select { ($0.id, $0.title, $0.place) }, database: database)
        var errands: [(Int, String, String?)]
        #expect(errands.map(\.2) == ["Work", "Home", "Work", nil])
    }

    @Test func joinedRowsAreTuples() async throws {
        let joined = Helper.join(Errand.all) { $0.errandID.eq($1.id) }
        @FetchAll(joined, database: database) var pairs
        #expect(pairs.map(\.0.name).sorted() == ["Ann", "Bob"])
        try await $pairs.load(joined.where { helper, _ in helper.id.eq(2) }, database: database)
        #expect(pairs.map(\.1.title) == ["b"])
    }

    @Test func theFirstTupleIsNilWithoutARow() async throws {
        @FetchOne(Errand.find(3).select { ($0.title, $0.due) }, database: database)
        var errand: (String, Int?)?
        #expect(errand?.0 == "c" && errand?.1 == 5)
        try await $errand.load(Errand.find(9).select { ($0.title, $0.due) }, database: database)
        let isGone = errand == nil
        #expect(isGone && $errand.loadError == nil)
    }

    @Test func aTupleThatIsNoOptionalIsKeptWithoutARow() async throws {
        let statement = Errand.find(3).select { ($0.title, $0.id) }
        let errand = FetchOne(wrappedValue: ("", 0), statement, database: database)
        #expect(errand.wrappedValue.0 == "c" && errand.wrappedValue.1 == 3)
        let missing = Errand.find(9).select { ($0.title, $0.id) }
        await #expect(throws: NoRow.self) { try await errand.load(missing, database: database) }
        #expect(errand.wrappedValue.0 == "c")
        try await errand.load(Errand.find(1).select { ($0.title, $0.id) }, database: database)
        #expect(errand.wrappedValue.0 == "a")
    }

    @Test func theFirstJoinedRowIsATuple() async throws {
        let joined = Helper.join(Errand.all) { $0.errandID.eq($1.id) }
        @FetchOne(joined.where { helper, _ in helper.id.eq(1) }, database: database) var pair
        #expect(pair?.0.name == "Ann" && pair?.1.title == "a")
        try await $pair.load(joined.where { helper, _ in helper.id.eq(9) }, database: database)
        let isGone = pair == nil
        #expect(isGone)
    }

    @Test func aJoinedRowThatIsNoOptionalIsKeptWithoutARow() async throws {
        let joined = Helper.join(Errand.all) { $0.errandID.eq($1.id) }
        let none = (Helper(id: 0), Errand(id: 0))
        let first = joined.where { helper, _ in helper.id.eq(1) }
        let pair = FetchOne(wrappedValue: none, first, database: database)
        #expect(pair.wrappedValue.0.name == "Ann" && pair.wrappedValue.1.title == "a")
        await #expect(throws: NoRow.self) {
            try await pair.load(joined.where { helper, _ in helper.id.eq(9) }, database: database)
        }
        #expect(pair.wrappedValue.0.name == "Ann")
        try await pair.load(joined.where { helper, _ in helper.id.eq(2) }, database: database)
        #expect(pair.wrappedValue.1.title == "b")
    }
}
