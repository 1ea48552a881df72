import Testing
import TypedQueries

/// `UPDATE … FROM`, and the subqueries that SQLite before 3.33 gets in its place.
@Suite struct UpdateFromTests {
    private enum Other: AliasName {}

    private func positions(_ db: Database) throws -> [Int] {
        try RemindersList.order { $0.id }.select { $0.position }.fetchAll(db)
    }

    @Test func oneRowGivesAllValues() throws {
        try withStore { db throws in
            // Each index alone has what one of the assignments needs, and the rows of a list in an order of its own.
            try db.execute(
                sql: """
                    CREATE INDEX byTitle ON reminders(list_id, title);
                    CREATE INDEX byTime ON reminders(list_id, createdAt);
                    """)
            try RemindersList.update(from: Reminder.all) {
                $0.id.eq($1.listID)
            } set: {
                $0.title = $1.title
                $0.position = $1.stamps.createdAt
            }.execute(db)
            let list = try RemindersList.find(1).fetchOne(db)
            let rows = [("Milk", 10), ("Bread", 20)]
            let isOneOfThem = rows.contains { $0 == list?.title && $1 == list?.position }
            #expect(isOneOfThem)
        }
    }

    @Test func theLastAssignmentToAColumnCounts() throws {
        try withStore { db throws in
            try RemindersList.find([2, 3]).update(from: Reminder.all) {
                $0.id.eq($1.listID)
            } set: {
                $0.title = $1.title
                $0.position = 7
                $0.title = "constant"
                $0.position = $1.id
            }.execute(db)
            let list = try RemindersList.find(2).fetchOne(db)
            #expect(list == RemindersList(id: 2, title: "constant", position: 3))
        }
    }

    @Test func rowsOfTheSameTableGiveColumnsThatStay() throws {
        try withStore { db throws in
            try RemindersList.update(from: RemindersList.as(Other.self).all) {
                $0.id.eq($1.id + 1)
            } set: {
                $0.position = $0.position * 10 + $1.id
            }.execute(db)
            let found = try positions(db)
            #expect(found == [1, 21, 32])
        }
    }

    /// The emulation would read values that it has just written.
    @Test func rowsOfTheSameTableGiveWhatTheyHadBefore() throws {
        try withStore { db throws in
            let shift = RemindersList.update(from: RemindersList.as(Other.self).all) {
                $0.id.eq($1.id + 1)
            } set: {
                $0.position = $1.position
            }
            if EngineFeatures.current.sqliteVersionNumber < 3_033_000 {
                #expect(throws: DatabaseError.self) { try shift.execute(db) }
                let kept = try positions(db)
                #expect(kept == [1, 2, 3])
            } else {
                try shift.execute(db)
                let shifted = try positions(db)
                #expect(shifted == [1, 1, 2])
            }
        }
    }
}
