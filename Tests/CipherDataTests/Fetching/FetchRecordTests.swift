import CipherData
import Testing

/// Properties of rows that are known already.
@Suite(.timeLimit(.minutes(10))) struct FetchRecordTests {
    private final class Model: Sendable {
        let errand: FetchOne<Errand>

        init(_ errand: Errand) { self.errand = FetchOne(wrappedValue: errand) }
    }

    private let store: ErrandStore
    private var database: any DatabaseWriter { store.database }

    init() throws { store = try ErrandStore() }

    @Test func aRowIsWhatBecomesOfIt() async throws {
        let errand = FetchOne(wrappedValue: Errand(id: 1, title: "stale"), database: database)
        #expect(errand.wrappedValue.title == "a")
        try await database.write { db in try Errand.find(1).update { $0.title = "new" }.execute(db) }
        #expect(await errand.values.waits(for: Errand(id: 1, title: "new", place: "Work", due: 3)))
        try await database.write { db in try Errand.find(1).delete().execute(db) }
        await #expect(throws: NoRow.self) { try await errand.load() }
        #expect(errand.wrappedValue.title == "new")
    }

    @Test func itIsInTheDefaultDatabase() {
        let model = withDependencies {
            $0.defaultDatabase = database
        } operation: {
            Model(Errand(id: 2, title: "stale"))
        }
        #expect(model.errand.wrappedValue.title == "b")
    }

    @Test func anOptionalRowIsNilWhenItGoes() async throws {
        let known: Errand? = Errand(id: 1, title: "stale")
        let errand = FetchOne(wrappedValue: known, database: database)
        #expect(errand.wrappedValue?.title == "a")
        try await database.write { db in try Errand.find(1).delete().execute(db) }
        #expect(await errand.values.waits(for: nil))
    }

    @Test func withoutARowItIsTheFirstOfTheTable() async throws {
        @FetchOne(database: database) var errand: Errand? = nil
        #expect(errand?.id == 1)
        try await $errand.load(Errand.find(3), database: database)
        #expect(errand?.title == "c")
        try await database.write { db in try Errand.delete().execute(db) }
        #expect(await $errand.values.waits(for: nil))
    }

    @Test func thatIsInTheDefaultDatabaseToo() {
        withDependencies {
            $0.defaultDatabase = database
        } operation: {
            @FetchOne var helper: Helper? = nil
            #expect(helper?.name == "Ann")
        }
    }

    @Test func anOptionalRowIsDeclaredWithoutAValueAndAnotherOneIsSetByAnInitializer() {
        final class Model {
            @FetchOne var first: Errand?
            @FetchOne var known: Errand
            init(_ errand: Errand) { _known = FetchOne(wrappedValue: errand) }
        }
        let model = withDependencies {
            $0.defaultDatabase = database
        } operation: {
            Model(Errand(id: 2, title: "stale"))
        }
        #expect(model.first?.title == "a")
        #expect(model.known.title == "b")
    }

    @Test func aRowThatIsNoOptionalIsThatOfAStatement() async throws {
        @FetchOne(Errand.find(2), database: database) var errand = Errand(id: 0)
        #expect(errand.title == "b")
        try await $errand.load(Errand.where { $0.due.gt(4) }.order(by: \.id), database: database)
        #expect(errand == Errand(id: 3, title: "c", place: "Work", due: 5))
        await #expect(throws: NoRow.self) { try await $errand.load(Errand.find(9), database: database) }
        #expect(errand.title == "c")
    }

    @Test func aRowThatIsNoOptionalIsKeptWhereAStatementHasNone() {
        @FetchOne(Errand.find(9), database: database) var errand = Errand(id: 0, title: "none")
        #expect(errand.title == "none")
        #expect($errand.loadError is NoRow)
    }

    @Test func aKnownRowIsReplacedByAnotherOne() async throws {
        let errand = FetchOne(wrappedValue: Errand(id: 1, title: "stale"), database: database)
        try await errand.load(Errand.find(2), database: database)
        #expect(errand.wrappedValue.title == "b")
        try await database.write { db in try Errand.find(2).update { $0.title = "new" }.execute(db) }
        #expect(await errand.values.waits(for: Errand(id: 2, title: "new", place: "Home")))
    }
}
