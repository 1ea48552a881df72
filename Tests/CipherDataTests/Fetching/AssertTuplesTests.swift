import CipherData
import CipherDataTesting
import Testing

/// Expectations of rows with several values.
@Suite(.timeLimit(.minutes(10))) struct AssertTuplesTests {
    private let store: ErrandStore
    private var database: any DatabaseWriter { store.database }

    init() throws { store = try ErrandStore() }

    @Test func chosenExpressionsAreColumns() throws {
        try assertQuery(
            Errand.where { $0.id.lt(3) }.order(by: \.id).select { ($0.title, $0.due) }, database: database
        ) {
            """
            SELECT "errands"."title", "errands"."due"
            FROM "errands"
            WHERE ("errands"."id") < (?)
            ORDER BY "errands"."id"
            """
        } results: {
            """
            ┌─────┬─────┐
            │ "a" │ 3   │
            │ "b" │ nil │
            └─────┴─────┘
            """
        }
        try assertQuery(
            Errand.find(3).select { ($0.id, $0.title, $0.place) }, database: database,
            results: {
                """
                ┌───┬─────┬────────┐
                │ 3 │ "c" │ "Work" │
                └───┴─────┴────────┘
                """
            })
    }

    @Test func joinedRowsAreColumns() throws {
        let statement = Helper.where { $0.id.eq(2) }.join(Errand.all) { $0.errandID.eq($1.id) }
        try assertQuery(
            statement, database: database,
            results: {
                """
                ┌────────────────┬──────────────────┐
                │ Helper(        │ Errand(          │
                │   id: 2,       │   id: 2,         │
                │   name: "Bob", │   title: "b",    │
                │   errandID: 2  │   place: "Home", │
                │ )              │   due: nil       │
                │                │ )                │
                └────────────────┴──────────────────┘
                """
            })
    }
}
