import Testing
import TypedQueries

/// Ranges in indexes whose limits are of another row, and are asked for a second time, which SQLite 3.15 takes for NULL then.
@Suite struct RangeLimitTests {
    private enum Other: AliasName {}

    private let indexes = [
        "title", "title DESC", "priority", "priority DESC", "createdAt", "createdAt DESC, updatedAt",
    ]

    private func withReminders(_ body: (Database) throws -> Void) throws {
        try withStore { db throws in
            try db.execute(
                sql: """
                    DROP TABLE reminders;
                    CREATE TABLE reminders (
                        id INTEGER PRIMARY KEY, title TEXT, isCompleted INTEGER NOT NULL DEFAULT 0, priority INTEGER,
                        list_id INTEGER, tags TEXT NOT NULL DEFAULT '[]', createdAt, updatedAt);
                    INSERT INTO reminders (id, title, priority, list_id, createdAt, updatedAt)
                    VALUES (1, 'Milk', 3, 1, 10, 15), (2, 'Bread', NULL, 1, 20, 25), (3, 'Report', 1, 2, 30, 35);
                    """)
            try body(db)
        }
    }

    /// Checks that the same is found with each index as without one.
    private func expect<Found>(
        _ expected: [String], in table: String = "reminders", _ db: Database, _ find: () throws -> [Found]
    ) throws {
        let found = try find().map { "\($0)" }
        #expect(found == expected)
        for index in indexes {
            try db.execute(sql: "CREATE INDEX byValue ON \(table) (\(index))")
            let again = try find().map { "\($0)" }
            #expect(again == expected, "\(index)")
            try db.execute(sql: "DROP INDEX byValue")
        }
    }

    @Test func leftJoinsFindTheRowsBefore() throws {
        try withReminders { db throws in
            let pairs = Reminder.leftJoin(Reminder.as(Other.self).all) {
                $1.title < $0.title && $1.title.neq($0.title)
            }
            .order { ($0.id, $1.title.desc()) }
            .select { ($0.id, $1.title) }
            let expected = [
                #"(1, Optional("Bread"))"#, "(2, nil)", #"(3, Optional("Milk"))"#,
                #"(3, Optional("Bread"))"#,
            ]
            try expect(expected, db) { try pairs.fetchAll(db) }
        }
    }

    @Test func numbersOfRowsStayBesideSmallerOnes() throws {
        try withReminders { db throws in
            let pairs = Reminder.join(Reminder.as(Other.self).all) { $1.priority < $0.id }
                .order { ($0.id, $1.priority.desc()) }
                .select { ($0.id, $1.id) }
            try expect(["(2, 3)", "(3, 3)"], db) { try pairs.fetchAll(db) }
        }
    }

    @Test func numbersOfRowsStayInAView() throws {
        try withReminders { db throws in
            try db.execute(
                sql: """
                    ALTER TABLE reminders RENAME TO allReminders;
                    CREATE VIEW reminders AS
                    SELECT b.id, b.title, b.isCompleted, b.priority, a.id AS list_id, b.tags, b.createdAt, b.updatedAt
                    FROM remindersLists AS a, allReminders AS b;
                    """)
            let pairs = Reminder.where { $0.priority < $0.listID }.order { ($0.listID, $0.id) }
                .select { ($0.listID, $0.id) }
            try expect(["(2, 3)", "(3, 3)"], in: "allReminders", db) { try pairs.fetchAll(db) }
        }
    }

    @Test func valuesAreFoundBetweenColumns() throws {
        try withReminders { db throws in
            let pairs = Reminder.join(Reminder.as(Other.self).all) {
                $0.id.between($1.priority, and: $1.listID)
            }
            .order { ($0.id, $1.priority.desc()) }
            .select { ($0.id, $1.id) }
            try expect(["(1, 3)", "(2, 3)"], db) { try pairs.fetchAll(db) }
            #expect(sql(pairs).contains(#"ON ("reminders"."id") BETWEEN ("others"."priority") AND ("#))
        }
    }

    @Test func groupsAreFoundThatAreNotGreater() throws {
        try withReminders { db throws in
            let pairs = Reminder.join(Reminder.as(Other.self).all) { $1.stamps.lte($0.stamps) }
                .where { reminder, _ in reminder.id > 1 }
                .order { ($0.id, $1.id.desc()) }
                .select { ($0.id, $1.id) }
            try expect(["(2, 2)", "(2, 1)", "(3, 3)", "(3, 2)", "(3, 1)"], db) { try pairs.fetchAll(db) }
        }
    }

    @Test func subqueriesFindTheRowsBefore() throws {
        try withReminders { db throws in
            let earlier = Reminder.as(Other.self)
                .where { $0.title < Reminder.columns.title && $0.title.neq(Reminder.columns.title) }
                .select { $0.id }
            let first = Reminder.where { _ in !earlier.exists() }
            try expect(["Bread"], db) { try first.select { $0.title }.fetchAll(db) }
            try db.execute(sql: "CREATE INDEX byTitle ON reminders (title DESC)")
            try first.delete().execute(db)
            let rest = try Reminder.order { $0.id }.select { $0.title }.fetchAll(db)
            #expect(rest == ["Milk", "Report"])
        }
    }

    @Test func valuesAreLookedForInIndexes() throws {
        try withReminders { db throws in
            try db.execute(sql: "CREATE INDEX byTitle ON reminders (title)")
            let plan = try Reminder.where { $0.title < "Milk" }.select { $0.id }.queryPlan(db)
            #expect("\(plan)".contains("byTitle"))
            let between = try Reminder.where { $0.title.between("A", and: "Milk") }.select { $0.id }
                .queryPlan(db)
            #expect("\(between)".contains("byTitle"))
            let least = Reminder.as(Other.self).where { $0.id > 1 }.select { $0.title }.limit(1)
            let query = try Reminder.where { $0.title < least }.select { $0.id }.queryPlan(db)
            #expect("\(query)".contains("byTitle"))
        }
    }
}
