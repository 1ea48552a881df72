import Testing
import TypedQueriesMacros

private enum Places {
    @Table("places") struct Place {
        let id: Int
    }
}

/// Limits that replace each other.
struct LimitTests {
    @Test func theLastLimitCountsWithItsOffset() throws {
        let queue = try encryptedDatabase(
            "CREATE TABLE places (id INTEGER PRIMARY KEY); INSERT INTO places VALUES (1), (2), (3), (4)")
        let ordered = Places.Place.order(by: \.id).select(\.id)
        try queue.read { db throws in
            let both = try ordered.limit(2, offset: 1).fetchAll(db)
            #expect(both == [2, 3])
            let last = try ordered.limit(2, offset: 1).limit(3).fetchAll(db)
            #expect(last == [1, 2, 3])
            let other = try ordered.limit(3).limit(1, offset: 3).fetchAll(db)
            #expect(other == [4])
            let count = #sql("2", as: Int.self)
            let expression = try ordered.limit(2, offset: 1).limit(count).fetchAll(db)
            #expect(expression == [1, 2])
            let beginning = try ordered.limit(count, offset: count).fetchAll(db)
            #expect(beginning == [3, 4])
        }
    }
}
