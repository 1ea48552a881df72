import Testing
import TypedQueries

/// Whether the engine can do everything that has no emulation.
let isNewEngine = EngineFeatures.current.sqliteVersionNumber >= 3_039_000

func sql(_ statement: some TypedQueries.Statement) -> String {
    statement.query.debugDescription.replacingOccurrences(of: "\n", with: " ")
}

let reminderColumns = ["id", "title", "isCompleted", "priority", "list_id", "tags", "createdAt", "updatedAt"]
    .map { "\"reminders\".\"\($0)\"" }.joined(separator: ", ")
let listColumns = #""remindersLists"."id", "remindersLists"."title", "remindersLists"."position""#

@Suite struct SelectTests {
    @Test func allRowsAreFetched() throws {
        #expect(sql(Reminder.all) == "SELECT \(reminderColumns) FROM \"reminders\"")
        try withStore { (db) throws in
            let rows = try Reminder.all.fetchAll(db)
            #expect(rows.count == 3)
            #expect(
                rows[0]
                    == Reminder(
                        id: 1, title: "Milk", priority: 3, listID: 1, tags: ["food"],
                        stamps: Stamps(createdAt: 10)))
            #expect(rows[1].stamps == Stamps(createdAt: 20, updatedAt: 25))
        }
    }

    @Test func conditionsCompose() throws {
        let query = Reminder.where { !$0.isCompleted }.where { $0.priority.gt(1) || $0.title.eq("Report") }
        #expect(
            sql(query).hasSuffix(
                #"WHERE (NOT ("reminders"."isCompleted")) AND ((("reminders"."priority") > (1)) OR (("reminders"."title") = ('Report')))"#
            ))
        try withStore { (db) throws in
            let keys = try query.select(\.id).order(by: \.id).fetchAll(db)
            #expect(keys == [1, 3])
        }
    }

    @Test func conditionsMayDependOnValues() throws {
        func query(_ text: String?, completed: Bool) -> Where<Reminder> {
            Reminder.where {
                if let text { $0.title.contains(text) }
                if completed { $0.isCompleted } else { !$0.isCompleted }
            }
        }
        try withStore { (db) throws in
            #expect(try query(nil, completed: true).fetchAll(db).map(\.id) == [2])
            #expect(try query("il", completed: false).fetchAll(db).map(\.id) == [1])
        }
    }

    @Test func rowsAreFoundByKey() throws {
        #expect(sql(Reminder.find(2)).hasSuffix(#"WHERE ("reminders"."id") = (2)"#))
        #expect(sql(Reminder.find([2, 3])).hasSuffix(#"WHERE ("reminders"."id") IN (2, 3)"#))
        try withStore { (db) throws in
            #expect(try Reminder.find(2).fetchOne(db)?.title == "Bread")
            #expect(try Reminder.find([1, 3]).fetchAll(db).map(\.title) == ["Milk", "Report"])
            #expect(try Reminder.find([Int]()).fetchAll(db).isEmpty)
            #expect(try Reminder.find(db, key: 3).title == "Report")
            #expect(throws: NotFound.self) { try Reminder.find(db, key: 4) }
        }
    }

    @Test func columnsAreSelectedAsTuples() throws {
        let query = Reminder.select { ($0.title, $0.priority) }.order { $0.id.desc() }
        #expect(
            sql(query)
                == #"SELECT "reminders"."title", "reminders"."priority" FROM "reminders" ORDER BY "reminders"."id" DESC"#
        )
        try withStore { (db) throws in
            let rows = try query.fetchAll(db)
            #expect(rows.map(\.0) == ["Report", "Bread", "Milk"])
            #expect(rows.map(\.1) == [1, nil, 3])
            #expect(try query.fetchOne(db)?.0 == "Report")
        }
    }

    @Test func groupsOfColumnsAreComparedAsRows() throws {
        let query = Reminder.where { $0.stamps.lte(Stamps(createdAt: 20, updatedAt: 25)) }
        #expect(
            sql(query).hasSuffix(
                #"WHERE ("reminders"."createdAt", "reminders"."updatedAt") <= (20, 25)"#))
        try withStore { (db) throws in
            #expect(try query.fetchAll(db).map(\.id) == [1, 2])
            #expect(try Reminder.select { $0.stamps }.fetchAll(db).count == 3)
            #expect(try Reminder.where { $0.stamps.createdAt.eq(30) }.fetchAll(db).map(\.id) == [3])
        }
    }

    @Test func joinsHaveTheRowsOfBoth() throws {
        let query = RemindersList.join(Reminder.all) { $0.id.eq($1.listID) }.order { $1.id }
        #expect(
            sql(query)
                == "SELECT \(listColumns), \(reminderColumns) FROM \"remindersLists\" JOIN \"reminders\" "
                + #"ON ("remindersLists"."id") = ("reminders"."list_id") ORDER BY "reminders"."id""#)
        try withStore { (db) throws in
            let rows = try query.fetchAll(db)
            #expect(rows.map(\.0.title) == ["Home", "Home", "Work"])
            #expect(rows.map(\.1.title) == ["Milk", "Bread", "Report"])
        }
    }

    @Test func outerJoinsHaveOptionals() throws {
        let query = RemindersList.leftJoin(Reminder.all) { $0.id.eq($1.listID) }
            .where { $1.id.is(nil) }
        try withStore { (db) throws in
            let rows = try query.fetchAll(db)
            #expect(rows.count == 1)
            #expect(rows.first?.0.title == "Empty")
            #expect(rows.first?.1 == nil)
            let right = Reminder.rightJoin(RemindersList.all) { $0.listID.eq($1.id) }
            if isNewEngine {
                #expect(try right.fetchAll(db).count == 4)
            } else {
                #expect { try right.fetchAll(db) } throws: { "\($0)".contains("needs SQLite 3.39.0") }
            }
        }
    }

    @Test func selfJoinsHaveAliases() throws {
        enum Other: AliasName {}
        let other = Reminder.as(Other.self)
        let query = Reminder.join(other.all) { $0.listID.eq($1.listID) && $0.id.lt($1.id) }
            .select { ($0.title, $1.title) }
        #expect(
            sql(query).contains(
                #"JOIN "reminders" AS "others" ON (("reminders"."list_id") = ("others"."list_id"))"#))
        try withStore { (db) throws in
            let rows = try query.fetchAll(db)
            #expect(rows.count == 1)
            #expect(rows[0] == ("Milk", "Bread"))
        }
    }

    @Test func groupsAreCounted() throws {
        let query = Reminder.group(by: \.listID).having { $0.listID.gt(0) }.order(by: \.listID)
            .select { ($0.listID, SQLQueryExpression<Int>("count(*)")) }
        try withStore { (db) throws in
            let rows = try query.fetchAll(db)
            #expect(rows.map(\.0) == [1, 2])
            #expect(rows.map(\.1) == [2, 1])
            #expect(try Reminder.where(\.isCompleted).count().fetchOne(db) == 1)
            #expect(try Reminder.where(\.isCompleted).fetchCount(db) == 1)
            #expect(try Reminder.count(filter: { $0.priority.isNot(nil) }).fetchOne(db) == 2)
        }
    }

    @Test func nullsStandWhereTheyShould() throws {
        let query = Reminder.order { $0.priority.desc(nulls: .first) }.select(\.id)
        #expect(sql(query).hasSuffix(#"ORDER BY "reminders"."priority" DESC NULLS FIRST"#))
        try withStore { (db) throws in
            #expect(try query.fetchAll(db) == [2, 1, 3])
            #expect(
                try Reminder.order { $0.priority.asc(nulls: .last) }.select(\.id).fetchAll(db) == [3, 1, 2])
        }
    }

    @Test func groupsAreOrderedByEachOfTheirColumns() throws {
        let newest = Reminder.order { $0.stamps.desc() }.select(\.id)
        #expect(
            sql(newest).hasSuffix(
                #"ORDER BY "reminders"."createdAt" DESC, "reminders"."updatedAt" DESC"#))
        try withStore { (db) throws in
            #expect(try newest.fetchAll(db) == [3, 2, 1])
            try db.execute(sql: "UPDATE reminders SET createdAt = 10, updatedAt = nullif(id, 1)")
            #expect(try newest.fetchAll(db) == [3, 2, 1])
            let isFirst = Reminder.order { $0.stamps.desc(nulls: .first) }.select(\.id)
            #expect(try isFirst.fetchAll(db) == [1, 3, 2])
            let isLast = Reminder.order { $0.stamps.asc(nulls: .last) }.select(\.id)
            #expect(try isLast.fetchAll(db) == [2, 3, 1])
            let titles = Reminder.select { $0.title.groupConcat("-", order: $0.stamps.desc()) }
            #expect(try titles.fetchOne(db) == .some("Report-Bread-Milk"))
            let oldest = Reminder.select { $0.title.groupConcat("-", order: $0.stamps) }
            #expect(try oldest.fetchOne(db) == .some("Milk-Bread-Report"))
        }
    }

    @Test func limitsAndCompoundsWork() throws {
        try withStore { (db) throws in
            #expect(try Reminder.order(by: \.id).limit(1, offset: 1).select(\.id).fetchAll(db) == [2])
            let union = Reminder.select(\.title).union(RemindersList.select(\.title))
            #expect(try union.fetchAll(db).count == 6)
            #expect(
                try Reminder.select(\.id).except(RemindersList.where { $0.id.eq(1) }.select(\.id)).fetchAll(
                    db) == [2, 3])
            #expect(try Reminder.distinct().select(\.listID).fetchAll(db) == [1, 2])
        }
    }

    @Test func noneIsNotRun() throws {
        #expect(Reminder.none.query.isEmpty)
        try withStore { (db) throws in
            #expect(try Reminder.none.fetchAll(db).isEmpty)
            #expect(try Reminder.where { $0.id.eq(1) }.and(Reminder.none).fetchAll(db).isEmpty)
        }
    }

    @Test func noneGivesNoRowsToExpressions() throws {
        let none = Reminder.none
        #expect(sql(Values(none.exists())) == "SELECT EXISTS (SELECT NULL WHERE 0)")
        try withStore { (db) throws in
            #expect(try Values(none.exists()).fetchOne(db) == false)
            #expect(try Reminder.where { _ in !none.exists() }.fetchCount(db) == 3)
            #expect(try Reminder.where { $0.id.in(none.select(\.id)) }.fetchCount(db) == 0)
            #expect(try Reminder.where { $0.id.eq(none.select(\.id)) }.fetchCount(db) == 0)
            #expect(try Reminder.where { $0.stamps.eq(none.select(\.stamps)) }.fetchCount(db) == 0)
        }
    }

    @Test func sqlIsWrittenByHand() throws {
        let least = 2
        let query = SQLQueryExpression(
            "SELECT \(Reminder.columns) FROM \(Reminder.self) WHERE \(Reminder.columns.priority) > \(bind: least)",
            as: Reminder.self)
        #expect(
            sql(query) == "SELECT \(reminderColumns) FROM \"reminders\" WHERE \"reminders\".\"priority\" > 2")
        try withStore { (db) throws in
            #expect(try query.fetchAll(db).map(\.title) == ["Milk"])
            let cursor = try query.fetchCursor(db)
            #expect(try cursor.next()?.id == 1)
            #expect(try cursor.next() == nil)
        }
    }

    @Test func membershipAndTexts() throws {
        try withStore { (db) throws in
            #expect(try Reminder.where { $0.id.in([1, 3]) }.fetchAll(db).count == 2)
            #expect(try Reminder.where { $0.id.notIn([1, 3]) }.fetchAll(db).map(\.id) == [2])
            #expect(
                try Reminder.where { $0.id.in(RemindersList.select(\.id).limit(2)) }.fetchAll(db).count == 2)
            #expect(try Reminder.where { $0.id.between(2, and: 3) }.fetchAll(db).count == 2)
            #expect(try Reminder.where { $0.title.like("%e%") }.fetchAll(db).map(\.id) == [2, 3])
            #expect(try Reminder.where { $0.title.hasPrefix("Re") }.fetchAll(db).map(\.id) == [3])
            #expect(try Reminder.where { $0.title.contains("100%") }.fetchAll(db).isEmpty)
            #expect(try Reminder.where { $0.title.collate(.nocase).eq("MILK") }.fetchAll(db).count == 1)
            #expect(try Reminder.where { ($0.id + 1).eq(3) }.fetchAll(db).map(\.id) == [2])
            #expect(try Reminder.select { $0.title + "!" }.fetchOne(db) == "Milk!")
            #expect(try Reminder.select { $0.priority ?? -1 }.fetchAll(db) == [3, -1, 1])
            #expect(try Values(1, "a").fetchOne(db)! == (1, "a"))
            #expect(
                try Reminder.where { _ in RemindersList.where { $0.id.eq(9) }.exists() }.fetchAll(db).isEmpty)
        }
    }

    /// Swift takes a sign and a mark that combines with it for one character.
    @Test func signsOfPatternsStandForThemselvesBeforeMarksToo() throws {
        try withStore { (db) throws in
            for sign in ["%", "_", "\\"] {
                let text = "\(sign)\u{301}"
                try db.execute(
                    sql: """
                        UPDATE reminders SET title = ? WHERE id = 1;
                        UPDATE reminders SET title = ? WHERE id = 2
                        """, arguments: ["x\u{301}", text])
                #expect(try Reminder.where { $0.title.contains(text) }.fetchAll(db).map(\.id) == [2])
                #expect(try Reminder.where { $0.title.hasPrefix(text) }.fetchAll(db).map(\.id) == [2])
                #expect(try Reminder.where { $0.title.hasSuffix(text) }.fetchAll(db).map(\.id) == [2])
            }
        }
    }

    @Test func recursiveTablesCount() throws {
        let query = With {
            Values(1).asCounter().union(
                all: true, Counter.where { $0.value.lt(5) }.select { Counter.Columns(value: $0.value + 1) })
        } query: {
            Counter.select(\.value)
        }
        try withStore { (db) throws in
            let numbers = try query.fetchAll(db)
            #expect(numbers == [1, 2, 3, 4, 5])
        }
    }

    @Test func commonTablesOfAStatementWithCommonTablesAreAllThere() throws {
        func inner<Base: Statement>(_ query: () -> Base) -> With<With<Base>> {
            With {
                Reminder.where { $0.id.gt(1) }.select { Counter.Columns(value: $0.id) }
            } query: {
                With {
                    Counter.where { $0.value.lt(100) }.select { Step.Columns(value: $0.value + 10) }
                } query: {
                    query()
                }
            }
        }
        try withStore { (db) throws in
            let steps = inner { Step.select(\.value) }
            let values = try steps.fetchAll(db)
            #expect(values.sorted() == [12, 13])
            let rows = inner { Step.all }
            let all = try rows.fetchAll(db)
            #expect(all.map(\.value).sorted() == [12, 13])
            let select = rows.asSelect().where { $0.value.gt(12) }
            let selected = try select.fetchAll(db)
            #expect(selected.map(\.value) == [13])
            let count = try rows.fetchCount(db)
            #expect(count == 2)
            let ofSelect = With {
                Values(7).asCounter()
            } query: {
                With {
                    Counter.select { Step.Columns(value: $0.value) }
                } query: {
                    Step.all
                }.asSelect().where { $0.value.gt(6) }
            }
            let sevens = try ofSelect.fetchAll(db)
            #expect(sevens.map(\.value) == [7])
            let deletion = inner {
                Reminder.where { $0.id.in(Step.select { $0.value - 10 }) }.delete().returning(\.id)
            }
            let deleted = try deletion.fetchAll(db)
            #expect(deleted.sorted() == [2, 3])
        }
    }
}

/// Another selection.
struct Step: TypedQueries.Table, Equatable {
    var value: Int
    struct TableColumns: TableDefinition {
        typealias QueryValue = Step
        var value: TableColumn<Step, Int> { .init("value") }
        static var columnList: ColumnList { .init(Self().value) }
    }
    struct Columns: SelectedColumns {
        typealias QueryValue = Step
        let queryFragment: QueryFragment
        init(value: some QueryExpression<Int>) {
            var row = SelectionWriter()
            row.write(value, as: Int.self, named: "value")
            queryFragment = row.fragment
        }
    }
    static var tableName: String { "steps" }
    static var columnWidth: Int { 1 }
    init(decoder: inout some QueryDecoder) throws { value = try decoder.value(Int.self) }
    func writeValues(to row: inout RowWriter) { row.write(value, as: Int.self) }
}

/// A selection, as its macro writes it.
struct Counter: TypedQueries.Table, Equatable {
    var value: Int
    struct TableColumns: TableDefinition {
        typealias QueryValue = Counter
        var value: TableColumn<Counter, Int> { .init("value") }
        static var columnList: ColumnList { .init(Self().value) }
    }
    struct Columns: SelectedColumns {
        typealias QueryValue = Counter
        let queryFragment: QueryFragment
        init(value: some QueryExpression<Int>) {
            var row = SelectionWriter()
            row.write(value, as: Int.self, named: "value")
            queryFragment = row.fragment
        }
    }
    static var tableName: String { "counters" }
    static var columnWidth: Int { 1 }
    init(decoder: inout some QueryDecoder) throws { value = try decoder.value(Int.self) }
    func writeValues(to row: inout RowWriter) { row.write(value, as: Int.self) }
}

extension Values<Int> {
    func asCounter() -> SQLQueryExpression<Counter> {
        SQLQueryExpression("\(query) AS \"value\"")
    }
}
