import Synchronization
import Testing
import TypedQueriesMacros

private let noticed = Mutex<[Int]>([])

@DatabaseFunction
func noticeInsertion(_ id: Int) { noticed.withLock { $0.append(id) } }

private enum Visits {
    @Table("visits") struct Visit {
        let id: Int
    }
}

/// Calls of functions that return nothing.
struct VoidFunctionTests {
    @Test func aTriggerCallsAFunctionThatReturnsNothing() throws {
        let queue = try encryptedDatabase("CREATE TABLE visits (id INTEGER PRIMARY KEY)") { db in
            db.add(function: $noticeInsertion)
        }
        try queue.write { db throws in
            try Visits.Visit.createTemporaryTrigger(
                after: .insert { new in Select($noticeInsertion(new.id)) }
            ).execute(db)
            try Visits.Visit.insert {
                Visits.Visit(id: 3)
                Visits.Visit(id: 5)
            }.execute(db)
            try Select($noticeInsertion(7)).execute(db)
        }
        #expect(noticed.withLock { $0 } == [3, 5, 7])
    }
}
