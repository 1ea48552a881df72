import Testing
import TypedQueries

/// Joins by ranges, and differences, by which SQLite 3.15 finds wrong rows in indexes.
@Suite struct RangePlanTests {
    private enum Other: AliasName {}

    private func withIndexes(_ body: (Database) throws -> Void) throws {
        try withStore { db throws in
            try db.execute(
                sql: """
                    DROP TABLE reminders;
                    CREATE TABLE reminders (
                        id INTEGER PRIMARY KEY, title TEXT, isCompleted INTEGER NOT NULL DEFAULT 0, priority INTEGER,
                        list_id INTEGER NOT NULL, tags TEXT NOT NULL DEFAULT '[]', createdAt INTEGER NOT NULL DEFAULT 0,
                        updatedAt INTEGER);
                    INSERT INTO reminders (id, title, priority, list_id)
                    VALUES (1, 'Milk', 3, 1), (2, 'Bread', NULL, 1), (3, 'Report', 1, 2);
                    CREATE INDEX byTitle ON reminders(title);
                    CREATE INDEX ranked ON reminders(list_id) WHERE priority IS NOT NULL;
                    """)
            try body(db)
        }
    }

    @Test func titlesStayBesideThoseBeforeThem() throws {
        try withIndexes { db throws in
            let pairs = Reminder.join(Reminder.as(Other.self).all) { $1.title < $0.title }
                .where { reminder, _ in reminder.id.eq(3) }
                .order { $1.title.desc() }
            let rows = try pairs.select { ($0.title, $1.title) }.fetchAll(db)
            #expect(rows.map(\.0) == ["Report", "Report"])
            #expect(rows.map(\.1) == ["Milk", "Bread"])
            let crossed = Reminder.join(Reminder.as(Other.self).all) { $0.listID.gte($1.id) }
                .where { $0.title > $1.title }
                .where { reminder, _ in reminder.id.eq(3) }
                .order { $1.title.desc() }
            let again = try crossed.select { ($0.title, $1.title) }.fetchAll(db)
            #expect(again.map(\.0) == ["Report", "Report"])
            #expect(sql(pairs).contains(#"ON ("others"."title") < ("reminders"."title")"#))
        }
    }

    @Test func rowsWithoutAValueHaveNotTheSame() throws {
        try withIndexes { db throws in
            let others = Reminder.where { $0.listID.eq(1) && $0.priority.isNot(3) }
            let titles = try others.select { $0.title }.fetchAll(db)
            #expect(titles == ["Bread"])
            let both = try Reminder.where { $0.listID.eq(1) && $0.priority.isNot($0.id) }.order { $0.id }
                .select { $0.title }.fetchAll(db)
            #expect(both == ["Milk", "Bread"])
            #expect(sql(others).contains(#"(("reminders"."priority") IS NOT (3))"#))
        }
    }
}
