import Testing
import TypedQueries

/// Subqueries of the elements of a column of a joined table, which SQLite 3.15 evaluates too early when only the argument of a
/// table-valued function names the table.
@Suite struct JSONElementsOfJoinsTests {
    private enum Other: AliasName {}

    private let lists = RemindersList.leftJoin(Reminder.all) { $0.id.eq($1.listID) }
        .order { ($0.id, $1.id) }

    @Test func elementsOfALaterTableAreFound() throws {
        try withStore { db throws in
            let outer = lists.where { $1.tags.jsonEach().contains("late") }.select { ($0.title, $1.title) }
            let rows = try outer.fetchAll(db)
            #expect(rows.map(\.0) == ["Work"])
            #expect(rows.map(\.1) == ["Report"])
            let inner = RemindersList.join(Reminder.all) { $0.id.eq($1.listID) }
                .where { $1.tags.jsonEach().contains("food") }.select { $1.title }
            let found = try inner.fetchAll(db)
            #expect(found == ["Milk"])
        }
    }

    @Test func aColumnThatIsNullHasNoElements() throws {
        try withStore { db throws in
            let empty = lists.where { !$1.tags.jsonEach().exists() }.select { ($0.title, $1.title) }
            let rows = try empty.fetchAll(db)
            #expect(rows.map(\.0) == ["Home", "Empty"])
            #expect(rows.map(\.1) == ["Bread", nil])
            let counts = try lists.select { $1.tags.jsonEach().count() }.fetchAll(db)
            #expect(counts == [1, 0, 2, 0])
        }
    }

    @Test func eachConditionIsMetBesideTheArgument() throws {
        try withStore { db throws in
            let either = lists.where { _, reminder in
                reminder.tags.jsonEach().where { $0.value.eq("food") || $0.value.eq("dull") }.exists()
            }
            let titles = try either.select { $1.title }.fetchAll(db)
            #expect(titles == ["Milk", "Report"])
            let second = lists.where { _, reminder in
                reminder.tags.jsonEach().where { $0.key.eq(1) }.where { $0.value.eq("late") }.exists()
            }
            let late = try second.select { $1.title }.fetchAll(db)
            #expect(late == ["Report"])
        }
    }

    @Test func elementsAreFoundInTheConstraintOfAJoin() throws {
        try withStore { db throws in
            let fed = RemindersList.leftJoin(Reminder.all) {
                $0.id.eq($1.listID) && $1.tags.jsonEach().contains("food")
            }
            let titles = try fed.order { list, _ in list.id }.select { $1.title }.fetchAll(db)
            #expect(titles == ["Milk", nil, nil])
        }
    }

    @Test func elementsOfAnExpressionAreFound() throws {
        try withStore { db throws in
            let joined = RemindersList.join(Reminder.all) { $0.id.eq($1.listID) }.order { $1.id }
            let titles =
                try joined
                .where { list, reminder in
                    reminder.tags.jsonAppend(\.self, list.title).jsonEach().contains("Work")
                }
                .select { $1.title }.fetchAll(db)
            #expect(titles == ["Report"])
        }
    }

    @Test func elementsAreFoundInAJoinWithinTheSubquery() throws {
        try withStore { db throws in
            let late = lists.where { _, reminder in
                RemindersList.as(Other.self).join(reminder.tags.jsonEach()) { list, tag in
                    tag.key.eq(1) && list.id.eq(3)
                }.exists()
            }
            let titles = try late.select { $1.title }.fetchAll(db)
            #expect(titles == ["Report"])
        }
    }

    @Test func insertedElementsGoAroundRowsInTheirWay() throws {
        try withStore { db throws in
            let titles = [String].JSONRepresentation(queryOutput: ["Home", "Garden"])
            try RemindersList.insert {
                ($0.title, $0.position)
            } select: {
                titles.jsonEach().select { ($0.value, $0.key) }
            } onConflict: {
                $0.title
            }.execute(db)
            let all = try RemindersList.order { $0.id }.select { ($0.title, $0.position) }.fetchAll(db)
            #expect(all.map(\.0) == ["Home", "Work", "Empty", "Garden"])
            #expect(all.map(\.1) == [1, 2, 3, 1])
        }
    }

    @Test func rowsAreUpdatedFromElements() throws {
        try withStore { db throws in
            let titles = [String].JSONRepresentation(queryOutput: ["none", "one", "two"])
            try RemindersList.where { $0.id < 3 }.update(from: titles.jsonEach()) {
                $0.id.eq($1.key)
            } set: {
                $0.title = $1.value
            }.execute(db)
            let all = try RemindersList.order { $0.id }.select { $0.title }.fetchAll(db)
            #expect(all == ["one", "two", "Empty"])
            try Reminder.all.update(from: Reminder.columns.tags.jsonEach()) { _, tag in
                tag.value.eq("late")
            } set: {
                $0.title = $1.value
            }.execute(db)
            let late = try Reminder.order { $0.id }.select { $0.title }.fetchAll(db)
            #expect(late == ["Milk", "Bread", "late"])
        }
    }

    /// They are of one type, as are the elements of a row that may be absent.
    @Test func elementsOfAConditionAreNotThoseThatAreJoined() {
        let joined = Reminder.leftJoin(Reminder.columns.tags.jsonEach()) { _, _ in true }
            .where { reminder, tag in reminder.tags.jsonEach().where { $0.value.eq(tag.value) }.exists() }
            .select { $1.value }
        let text = joined.query.prepare { "?\($0)" }.sql
        #expect(text.contains("AS \"json_each_2\""), "\(text)")
        #expect(text.contains("(\"json_each_2\".\"value\") = (\"json_each\".\"value\")"), "\(text)")
    }

    @Test func aRightJoinKeepsRowsWithoutElements() throws {
        let titles = [String].JSONRepresentation(queryOutput: ["Work"])
        let joined = titles.jsonEach().rightJoin(RemindersList.all) { $0.value.eq($1.title) }
            .order { $1.id }.select { ($0.key, $1.title) }
        // A condition would be asked of the rows that are kept.
        let text = joined.query.prepare { "?\($0)" }.sql
        #expect(text.contains("FROM json_each(?1)"))
        try withStore { db throws in
            guard EngineFeatures.current.sqliteVersionNumber >= 3_039_000 else { return }
            let rows = try joined.fetchAll(db)
            #expect(rows.map(\.0) == [nil, 0, nil])
            #expect(rows.map(\.1) == ["Home", "Work", "Empty"])
        }
    }

    @Test func theTextOfNewEnginesHasTheArgumentAlone() throws {
        let query = lists.where { _, reminder in
            reminder.tags.jsonEach().where { $0.key > 0 || $0.value.eq("food") }.exists()
        }.select { $1.title }
        let text = sql(query)
        #expect(
            text.contains(
                """
                (SELECT "json_each"."value" FROM json_each("reminders"."tags") \
                WHERE (("json_each"."key") > (0)) OR (("json_each"."value") = ('food')))
                """))
    }
}
