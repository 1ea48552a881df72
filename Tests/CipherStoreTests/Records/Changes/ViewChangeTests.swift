import CipherStore
import Testing

/// A record of a view that can be written.
private struct Shown: Codable, FetchableRecord, PersistableRecord, Equatable {
    var id: Int64?
    var name: String
}

/// A source that knows the key of that view.
private struct ShownKey: DatabaseSchemaSource {
    func columnsForPrimaryKey(_ db: Database, inView view: DatabaseObjectID) throws -> [String]? { ["id"] }
}

/// Changes of a view, which its triggers make.
@Suite struct ViewChangeTests {
    private func makeQueue(_ source: ShownKey? = ShownKey()) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.schemaSource = source
        let queue = try DatabaseQueue(configuration: configuration)
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE thing (id INTEGER PRIMARY KEY, name TEXT);
                    INSERT INTO thing VALUES (1, 'ONE'), (2, 'TWO'), (3, 'THREE');
                    CREATE VIEW shown AS SELECT id, name FROM thing;
                    CREATE TRIGGER i INSTEAD OF INSERT ON shown BEGIN
                        INSERT INTO thing VALUES (NEW.id, upper(NEW.name));
                    END;
                    CREATE TRIGGER u INSTEAD OF UPDATE ON shown BEGIN
                        UPDATE thing SET name = upper(NEW.name) WHERE id = OLD.id;
                    END;
                    CREATE TRIGGER d INSTEAD OF DELETE ON shown BEGIN
                        DELETE FROM thing WHERE id = OLD.id;
                    END;
                    """)
        }
        return queue
    }

    @Test func theRowsOfAViewAreFetchedAsItsTriggersWroteThem() throws {
        try makeQueue().write { db in
            let inserted = try Shown(id: 4, name: "four").insertAndFetch(db)
            #expect(inserted == Shown(id: 4, name: "FOUR"))
            let saved = try Shown(id: 5, name: "five").saveAndFetch(db)
            #expect(saved == Shown(id: 5, name: "FIVE"))
            let last = Shown.filter(Column("id") > 3).order(Column("id"))
            let updated = try last.updateAndFetchAll(db, [Column("name").set(to: "new")])
            #expect(updated.map(\.name) == ["NEW", "NEW"])
            let cursor = try last.updateAndFetchCursor(db, [Column("name").set(to: "same")])
            let same = try Array(cursor)
            #expect(same.map(\.name) == ["SAME", "SAME"])
        }
    }

    @Test func someRowsOfAViewAreChanged() throws {
        try makeQueue().write { db in
            let last = Shown.order(Column("id").desc)
            let updated = try last.limit(1).updateAll(db, [Column("name").set(to: "new")])
            #expect(updated == 1)
            let deleted = try last.limit(1, offset: 1).deleteAll(db)
            #expect(deleted == 1)
            let rest = try Shown.order(Column("id")).fetchAll(db)
            #expect(rest == [Shown(id: 1, name: "ONE"), Shown(id: 3, name: "NEW")])
        }
    }

    @Test func someRowsOfAViewWithoutAKeyAreDeletedOrItIsAnError() throws {
        try makeQueue(nil).write { db in
            let deleted = try? Table("shown").limit(2).deleteAll(db)
            #expect(deleted != 0)
            let rest = try Int.fetchOne(db, sql: "SELECT count(*) FROM thing")
            #expect(rest == 3 - (deleted ?? 0))
        }
    }
}
