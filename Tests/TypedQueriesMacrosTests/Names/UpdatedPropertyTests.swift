import Testing
import TypedQueriesMacros

@Table struct Crate: Equatable {
    let id: Int
    var isEmpty = false
    var set = 0
}

/// Properties that are called as something that the library does in updates.
@Suite struct UpdatedPropertyTests {
    @Test func propertiesOfAnyNameAreAssigned() throws {
        let queue = try encryptedDatabase(
            """
            CREATE TABLE crates (id INTEGER PRIMARY KEY, isEmpty INTEGER NOT NULL, "set" INTEGER NOT NULL);
            INSERT INTO crates VALUES (1, 0, 0), (2, 0, 4);
            """)
        try queue.write { db throws in
            try Crate.find(1).update {
                $0.isEmpty = true
                $0.set = 3
            }.execute(db)
            try Crate.find(2).update { $0.set += 1 }.execute(db)
            let crates = try Crate.order(by: \.id).fetchAll(db)
            #expect(crates == [Crate(id: 1, isEmpty: true, set: 3), Crate(id: 2, set: 5)])
        }
    }
}
