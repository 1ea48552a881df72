import CipherData
import Testing

/// Properties of a table of which no statement is given.
@Suite(.timeLimit(.minutes(10))) struct WholeTableTests {
    private let store: ErrandStore
    private var database: any DatabaseWriter { store.database }

    init() throws { store = try ErrandStore() }

    @Test func aPropertyOfRowsHasAllOfTheTable() async throws {
        @FetchAll(database: database) var errands: [Errand]
        #expect(errands.map(\.id) == [1, 2, 3, 4])
        try await database.write { db in try Errand.where { $0.id.gt(1) }.delete().execute(db) }
        #expect(await $errands.values.waits(for: [Errand(id: 1, title: "a", place: "Work", due: 3)]))
    }

    @Test func withoutADatabaseItIsTheDefaultOne() {
        withDependencies {
            $0.defaultDatabase = database
        } operation: {
            @FetchAll var errands: [Errand]
            #expect(errands.count == 4)
            @FetchAll var helpers: [Helper] = []
            #expect(helpers.map(\.name) == ["Ann", "Bob"])
            #expect(FetchAll<Errand>().wrappedValue.count == 4)
        }
    }

    @Test func aPropertyOfOtherRowsWaitsForItsStatement() {
        @FetchAll var titles: [String]
        #expect(titles.isEmpty && !$titles.isLoading)
    }
}
