import Testing
import TypedQueriesMacros

@Table("parcels", schema: "main") struct Parcel: Equatable {
    let id: Int
    var title = ""
    var moves = 0
}

/// Triggers of tables with the name of a database, which SQLite does not take in their changes.
@Suite struct SchemaTriggerTests {
    private func withParcels(_ body: (Database) throws -> Void) throws {
        let queue = try encryptedDatabase(
            """
            CREATE TABLE parcels (id INTEGER PRIMARY KEY, title TEXT NOT NULL, moves INTEGER NOT NULL);
            INSERT INTO parcels VALUES (1, 'one', 0), (2, 'two', 0);
            """)
        try queue.write { db throws in try body(db) }
    }

    @Test func aTriggerTouchesItsRow() throws {
        try withParcels { db throws in
            try Parcel.createTrigger("touch", after: .update(touch: { $0.moves += 1 })).execute(db)
            try Parcel.find(1).update { $0.title = "new" }.execute(db)
            let moves = try Parcel.order(by: \.id).select(\.moves).fetchAll(db)
            #expect(moves == [1, 0])
        }
    }

    @Test func aTriggerInsertsReplacesAndDeletes() throws {
        try withParcels { db throws in
            try Parcel.createTemporaryTrigger(
                "follow",
                after: .update { old, new in
                    Parcel.insert(or: .replace) {
                        ($0.id, $0.title, $0.moves)
                    } select: {
                        Parcel.where { $0.id.eq(new.id) }.select { ($0.id + 10, $0.title, $0.moves) }
                    }
                    Parcel.where { $0.id.eq(2) }.delete()
                }
            ).execute(db)
            try Parcel.find(1).update { $0.title = "new" }.execute(db)
            let parcels = try Parcel.order(by: \.id).fetchAll(db)
            #expect(parcels == [Parcel(id: 1, title: "new"), Parcel(id: 11, title: "new")])
        }
    }

    @Test func aTriggerWhoseStatementIsOfNoRowsDoesNothing() throws {
        try withParcels { db throws in
            let trigger = Parcel.createTemporaryTrigger(
                "nothing", after: .update { _, _ in Parcel.none.delete() })
            try trigger.execute(db)
            try Parcel.find(1).update { $0.title = "new" }.execute(db)
            let titles = try Parcel.order(by: \.id).select(\.title).fetchAll(db)
            #expect(titles == ["new", "two"])
        }
    }
}
