import Testing
import TypedQueries

/// Deletions whose condition reads the table that they delete from: SQLite 3.15 deletes a row before it asks about the next one.
@Suite struct DeletionPlanTests {
    /// Lists whose position is the number of the list before them.
    private func deleted(_ deletion: Delete<RemindersList, ()>) throws -> [Int] {
        var rest: [Int] = []
        try withStore { db throws in
            try db.execute(
                sql: """
                    DROP TABLE reminders;
                    DELETE FROM remindersLists;
                    INSERT INTO remindersLists VALUES (1, 'old', 0), (2, 'b', 1), (3, 'c', 2), (4, 'd', 3);
                    """)
            try deletion.execute(db)
            rest = try RemindersList.order { $0.id }.select { $0.id }.fetchAll(db)
        }
        return [1, 2, 3, 4].filter { !rest.contains($0) }
    }

    @Test func rowsThatWereThereBeforeCount() throws {
        let first = RemindersList.where { !$0.position.in(RemindersList.select { $0.id }) }
        let found = try deleted(first.delete())
        #expect(found == [1])
        let some = RemindersList.where { !$0.position.in(RemindersList.where { $0.id > 0 }.select { $0.id }) }
        let again = try deleted(some.delete())
        #expect(again == [1])
    }

    @Test func queriesThatAreAskedLateCountThemToo() throws {
        let either = RemindersList.where {
            $0.title.eq("old") || !$0.position.in(RemindersList.select { $0.id })
        }
        let found = try deleted(either.delete())
        #expect(found == [1])
        let both = RemindersList.where { $0.id > 0 }.where {
            $0.title.eq("old") || $0.position.notIn(RemindersList.where { $0.id > 0 }.select { $0.id })
        }
        let again = try deleted(both.delete())
        #expect(again == [1])
    }

    @Test func conditionsThatEndInACommentAreEndedByTheLine() throws {
        let positions = SQLQueryExpression(
            "\(RemindersList.columns.position) NOT IN (SELECT id FROM remindersLists) -- orphans",
            as: Bool.self)
        let found = try deleted(RemindersList.where { _ in positions }.delete())
        #expect(found == [1])
        let both = try deleted(RemindersList.where { _ in positions }.where { $0.id > 1 }.delete())
        #expect(both.isEmpty)
    }

    @Test func theTextOfNewEnginesHasTheConditionAsItIs() {
        let lists = RemindersList.where { $0.position.in(RemindersList.select { $0.id }) }.delete()
        let text = sql(lists)
        #expect(text.hasSuffix(#"IN (SELECT "remindersLists"."id" FROM "remindersLists")"#), "\(text)")
    }
}
