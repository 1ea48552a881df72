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

    @Test func aLeftJoinMakesUpNoRowForAValueThatIsNull() throws {
        try withStore { db throws in
            let none: Int? = nil
            let before = RemindersList.leftJoin(Reminder.where { $0.priority.is(none) }) {
                $0.id.eq($1.listID)
            }
            let found = try before.order { ($0.id, $1.id) }.select { ($0.title, $1.title) }.fetchAll(db)
            #expect(found.map(\.0) == ["Home", "Empty"])
            #expect(found.map(\.1) == ["Bread", nil])
            let lists = RemindersList.leftJoin(Reminder.all) { $0.id.eq($1.listID) }
                .order { ($0.id, $1.id) }
            let text: String? = nil
            let collated = lists.where { $1.title.collate(.nocase).is(text) }
            let titles = try collated.select { list, _ in list.title }.fetchAll(db)
            #expect(titles == ["Empty"])
            let property = lists.where {
                SQLQueryExpression($1.hasNoPriority.queryFragment, as: Bool.self)
            }
            let lacking = try property.select { list, _ in list.title }.fetchAll(db)
            #expect(lacking == ["Home", "Empty"])
        }
    }

    @Test func aLeftJoinMakesUpNoRowForColumnsThatAreNull() throws {
        try withStore { db throws in
            let lists = RemindersList.leftJoin(Reminder.all) { $0.id.eq($1.listID) }
                .order { ($0.id, $1.id) }
            let withoutRow = try lists.where { $1.is(nil) }.select { list, _ in list.title }.fetchAll(db)
            #expect(withoutRow == ["Empty"])
            let withoutGroup = lists.where { $1.stamps.is(nil) }
            let titles = try withoutGroup.select { list, _ in list.title }.fetchAll(db)
            #expect(titles == ["Empty"])
            let withGroup = lists.where { $1.stamps.isNot(nil) }
            let others = try withGroup.select { list, _ in list.title }.fetchAll(db)
            #expect(others == ["Home", "Home", "Work"])
            let text = #"WHERE ("reminders"."createdAt", "reminders"."updatedAt") IS (NULL, NULL) ORDER"#
            #expect(sql(withoutGroup).contains(text))
        }
    }

    @Test func aLeftJoinMakesUpNoRowForAnExpressionThatIsNull() throws {
        try withStore { db throws in
            let before = RemindersList.leftJoin(Reminder.where { $0.priority.is($0.stamps.updatedAt) }) {
                $0.id.eq($1.listID)
            }
            let titles = try before.order { list, _ in list.id }.select { list, _ in list.title }
                .fetchAll(db)
            #expect(titles == ["Empty"])
        }
    }

    @Test func rowsAreFoundByAnIndexWhereAValueIsAsked() throws {
        try withStore { db throws in
            try db.execute(sql: "CREATE INDEX byPriority ON reminders(priority)")
            for value in [3, nil] {
                let plan = try Reminder.where { $0.priority.is(value) }.queryPlan(db)
                #expect(plan.description.contains("byPriority"))
            }
            let joined = RemindersList.leftJoin(Reminder.all) { $0.position.is($1.priority) }
            let plan = try joined.queryPlan(db)
            #expect(plan.description.contains("byPriority"))
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

extension Reminder.TableColumns {
    fileprivate var hasNoPriority: some QueryExpression<Bool> { priority.is(Int?.none) }
}
