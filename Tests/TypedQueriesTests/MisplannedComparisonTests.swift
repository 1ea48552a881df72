import Testing
import TypedQueries

/// Comparisons by which SQLite 3.15 finds wrong rows when it takes them for its plan.
@Suite struct MisplannedComparisonTests {
    private enum Other: AliasName {}

    @Test func aLeftJoinMakesUpNoRowBesideThoseItFinds() throws {
        try withStore { db throws in
            let pairs = RemindersList.join(Reminder.as(Other.self).all) { $0.id.neq($1.listID) }
                .leftJoin(Reminder.all) { list, _, reminder in list.id.eq(reminder.listID) }
                .order { list, other, _ in (list.id, other.id) }
            let same = pairs.where { $2.priority.is($1.priority) }
            let rows = try same.select { list, other, _ in (list.title, other.title) }.fetchAll(db)
            #expect(rows.map(\.0) == ["Empty"])
            #expect(rows.map(\.1) == ["Bread"])
            let reversed = pairs.where { $1.priority.is($2.priority) }
            let titles = try reversed.select { list, _, _ in list.title }.fetchAll(db)
            #expect(titles == ["Empty"])
            #expect(sql(same).contains(#"WHERE ("reminders"."priority") IS ("others"."priority") ORDER"#))
        }
    }

    @Test func groupsAreGreaterWhoseFirstColumnIsTheNumberOfARow() throws {
        try withStore { db throws in
            try db.execute(
                sql: """
                    CREATE INDEX byTime ON reminders(createdAt);
                    INSERT INTO remindersLists VALUES (10, 'a', 0), (20, 'b', 0), (30, 'c', 0);
                    """)
            let joined = RemindersList.join(Reminder.all) { $0.id.eq($1.stamps.createdAt) }
                .order { list, _ in list.id }
            let later = joined.where { $1.stamps.gt(Stamps(createdAt: 0, updatedAt: 5)) }
            let titles = try later.select { $1.title }.fetchAll(db)
            #expect(titles == ["Milk", "Bread", "Report"])
            let earlier = joined.where { $1.stamps.lt(Stamps(createdAt: 20, updatedAt: 26)) }
            let first = try earlier.select { $1.title }.fetchAll(db)
            #expect(first == ["Milk", "Bread"])
        }
    }
}
