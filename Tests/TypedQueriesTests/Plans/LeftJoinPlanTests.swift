import Testing
import TypedQueries

/// Rows that a left join does not find, in whose columns SQLite 3.15 leaves values of others when it looks for alternatives by indexes.
@Suite struct LeftJoinPlanTests {
    private func withIndexes(_ body: (Database) throws -> Void) throws {
        try withStore { db throws in
            try db.execute(
                sql: """
                    CREATE INDEX byList ON reminders(list_id, priority);
                    CREATE INDEX byPriority ON reminders(priority, list_id);
                    INSERT INTO remindersLists VALUES (10, 'a', 0), (20, 'b', 0), (30, 'c', 0);
                    """)
            try body(db)
        }
    }

    @Test func aRowThatIsAbsentHasNoValues() throws {
        try withIndexes { db throws in
            let lists = RemindersList.leftJoin(Reminder.all) {
                $1.priority.eq($0.position) || $1.listID.eq($0.id)
            }
            let rows = try lists.order { ($0.id, $1.id) }.select { ($0.id, $1.priority) }.fetchAll(db)
            #expect(rows.map(\.0) == [1, 1, 1, 2, 3, 10, 20, 30])
            #expect(rows.map(\.1) == [3, nil, 1, 1, 3, nil, nil, nil])
            let without = try lists.where { $1.priority.is(nil) }.order { list, _ in list.id }
                .select { list, _ in list.id }.fetchAll(db)
            #expect(without == [1, 10, 20, 30])
        }
    }

    @Test func alternativesBesideOtherConditionsAreMet() throws {
        try withIndexes { db throws in
            let lists = RemindersList.leftJoin(Reminder.all) { list, reminder in
                let either = reminder.priority.eq(list.position) || reminder.listID.eq(list.id)
                return list.id.gt(0) && either && reminder.id.gt(0)
            }
            let rows = try lists.order { ($0.id, $1.id) }.select { ($0.id, $1.priority) }.fetchAll(db)
            #expect(rows.map(\.1) == [3, nil, 1, 1, 3, nil, nil, nil])
        }
    }

    @Test func conditionsAreNotMetByRowsThatAreAbsent() throws {
        try withIndexes { db throws in
            let lists = RemindersList.leftJoin(Reminder.all) { $1.listID >= $0.id }
                .order { ($0.id, $1.priority) }
            let either = lists.where { $1.priority.eq(1) || $1.listID.eq(1) }
            let found = try either.select { list, _ in list.id }.fetchAll(db)
            #expect(found == [1, 1, 1, 2])
            let both = lists.where { list, _ in list.id > 0 }.where { $1.priority.eq(1) || $1.listID.eq(1) }
            let again = try both.select { list, _ in list.id }.fetchAll(db)
            #expect(again == [1, 1, 1, 2])
        }
    }

    @Test func rowsThatAnIndexLeavesOutAreNotAbsent() throws {
        try withIndexes { db throws in
            try db.execute(sql: "CREATE INDEX ranked ON reminders(list_id) WHERE priority IS NULL")
            let lists = RemindersList.leftJoin(Reminder.all) { $0.id.eq($1.listID) }.order { list, _ in
                list.id
            }
            let found = try lists.where { $1.priority.is(nil) }.select { list, _ in list.id }.fetchAll(db)
            #expect(found == [1, 3, 10, 20, 30])
            let both = lists.where { list, _ in list.id > 0 }.where { $1.id > 0 && $1.priority.is(nil) }
            let there = try both.select { list, _ in list.id }.fetchAll(db)
            #expect(there == [1])
        }
    }

    @Test func theTextOfNewEnginesHasTheConditionAsItIs() {
        let lists = RemindersList.leftJoin(Reminder.all) {
            $0.id.eq($1.listID) && ($1.priority.eq(1) || $1.priority.eq(2))
        }.select { list, _ in list.id }
        let text = sql(lists)
        let condition = """
            ON (("remindersLists"."id") = ("reminders"."list_id")) AND \
            ((("reminders"."priority") = (1)) OR (("reminders"."priority") = (2)))
            """
        #expect(text.hasSuffix(condition), "\(text)")
    }

    @Test func theLeastValueIsFoundBesideNull() throws {
        try withIndexes { db throws in
            try db.execute(
                sql: """
                    DROP INDEX byPriority;
                    CREATE INDEX byPriority ON reminders(priority, updatedAt);
                    """)
            let least = try Reminder.where { $0.priority.in([1, 3]) }.select { $0.priority.min() }
                .fetchOne(db)
            #expect(least == .some(1))
            let one = try Reminder.where { $0.priority.eq(3) }.select { $0.priority.min() }.fetchOne(db)
            #expect(one == .some(3))
        }
    }

    @Test func theLeastValueOfAViewIsFoundBesideNull() throws {
        try withIndexes { db throws in
            try db.execute(
                sql: """
                    DROP INDEX byPriority;
                    CREATE INDEX byPriority ON reminders(priority, updatedAt);
                    ALTER TABLE reminders RENAME TO allReminders;
                    CREATE VIEW reminders AS SELECT * FROM allReminders WHERE priority = 3;
                    """)
            let least = try Reminder.select { $0.priority.min() }.fetchOne(db)
            #expect(least == .some(3))
        }
    }
}
