import Testing
import TypedQueries

/// `UPDATE … FROM` in triggers, where SQLite 3.15 can't assign several columns from one subquery.
@Suite struct UpdateFromInTriggerTests {
    @Test(arguments: [true, false]) func oneRowGivesAllValues(isTemporary: Bool) throws {
        try withStore { db throws in
            // Each index alone has what one of the assignments needs, and the rows of a list in an order of its own.
            try db.execute(
                sql: """
                    CREATE INDEX byTitle ON reminders(list_id, title);
                    CREATE INDEX byTime ON reminders(list_id, createdAt);
                    """)
            let operation = TriggerOperation<Reminder>.update { _, new in
                RemindersList.update(from: Reminder.all) { list, reminder in
                    list.id.eq(reminder.listID) && list.id.eq(new.listID)
                } set: {
                    $0.title = $1.title
                    $0.position = $1.stamps.createdAt
                }
            }
            if isTemporary {
                try Reminder.createTemporaryTrigger("t", after: operation).execute(db)
            } else {
                try Reminder.createTrigger("t", after: operation).execute(db)
            }
            try Reminder.find(1).update { $0.isCompleted = true }.execute(db)
            let list = try RemindersList.find(1).fetchOne(db)
            let rows = [("Milk", 10), ("Bread", 20)]
            let isOneOfThem = rows.contains { $0 == list?.title && $1 == list?.position }
            #expect(isOneOfThem)
            let other = try RemindersList.find(2).fetchOne(db)
            #expect(other == RemindersList(id: 2, title: "Work", position: 2))
        }
    }

    @Test func aGroupOfTheNewRowIsAssigned() throws {
        try withStore { db throws in
            try Reminder.createTemporaryTrigger(
                "t",
                after: .insert { new in
                    Reminder.where { $0.id.neq(new.id) }.update(from: RemindersList.all) {
                        $0.listID.eq($1.id)
                    } set: {
                        $0.title = $1.title
                        $0.stamps = new.stamps
                    }
                }
            ).execute(db)
            let stamps = Stamps(createdAt: 5, updatedAt: 6)
            try Reminder.insert { Reminder(id: 9, title: "New", listID: 1, stamps: stamps) }.execute(db)
            let reminders = try Reminder.order { $0.id }.fetchAll(db)
            #expect(reminders.map(\.title) == ["Home", "Home", "Work", "New"])
            let isOfNewRow = reminders.allSatisfy { $0.stamps == stamps }
            #expect(isOfNewRow)
        }
    }

    /// The trigger does not change the row that it is about, so it reads nothing that it has written.
    @Test func aColumnOfTheNewRowIsReadThatIsAssigned() throws {
        try withStore { db throws in
            try RemindersList.createTemporaryTrigger(
                "t",
                after: .insert { new in
                    RemindersList.where { $0.id.neq(new.id) }.update(from: Reminder.all) {
                        $0.id.eq($1.listID) && $1.id.eq(3)
                    } set: {
                        $0.position = $1.id + new.position
                    }
                }
            ).execute(db)
            try RemindersList.insert { RemindersList(id: 9, title: "New", position: 40) }.execute(db)
            let positions = try RemindersList.order { $0.id }.select { $0.position }.fetchAll(db)
            #expect(positions == [1, 43, 3, 40])
        }
    }
}
