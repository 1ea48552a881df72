import Foundation
import Testing

@testable import TypedQueries

/// The rows of a view.
private struct Summary: Table {
    var title: String
    var number: Int

    typealias QueryValue = Self
    typealias QueryOutput = Self
    struct TableColumns: TableDefinition {
        typealias QueryValue = Summary
        var title: TableColumn<Summary, String> { .init("title") }
        var number: TableColumn<Summary, Int> { .init("number") }
        static var columnList: ColumnList { .init(Self().title, Self().number) }
    }
    static var tableName: String { "summaries" }
    static var columnWidth: Int { 2 }
    init(title: String, number: Int) { (self.title, self.number) = (title, number) }
    init(decoder: inout some QueryDecoder) throws {
        title = try decoder.value(String.self)
        number = try decoder.value(Int.self)
    }
    func writeValues(to row: inout RowWriter) {
        row.write(title, as: String.self)
        row.write(number, as: Int.self)
    }
}

@Suite struct TriggerTests {
    @Test func aTriggerRunsAfterAnInsert() throws {
        let trigger = Item.createTemporaryTrigger(
            "t",
            after: .insert { new in
                Item.where { $0.id.eq(new.id) }.update { $0.note = "it's new" }
            } when: { new in
                new.title.eq("Tea")
            })
        expectSQL(
            trigger.query,
            """
            CREATE TEMPORARY TRIGGER
              "t"
            AFTER INSERT ON "items"
            FOR EACH ROW WHEN ("new"."title") = ('Tea') BEGIN
              UPDATE "items"
            SET "note" = 'it''s new'
            WHERE ("items"."id") = ("new"."id");
            END
            """)
        try withTables { db throws in
            try trigger.execute(db)
            try Item.insert { Item(id: 10, title: "Tea") }.execute(db)
            try Item.insert { Item(id: 11, title: "Rum") }.execute(db)
            #expect(try Item.find(10).fetchOne(db)?.note == "it's new")
            #expect(try Item.find(11).fetchOne(db)?.note == nil)
            try trigger.drop().execute(db)
            try Item.insert { Item(id: 12, title: "Tea") }.execute(db)
            #expect(try Item.find(12).fetchOne(db)?.note == nil)
            try trigger.drop(ifExists: true).execute(db)
            #expect(throws: DatabaseError.self) { try trigger.drop().execute(db) }
        }
    }

    @Test func aTriggerKnowsTheOldRow() throws {
        try withTables { db throws in
            try Item.createTrigger(
                "renamed",
                before: .update(of: { ($0.title, $0.note) }) { old, new in
                    Event.insert { Event(Date(timeIntervalSince1970: 0)) }
                } when: { old, new in
                    old.title.neq(new.title)
                }
            ).execute(db)
            try Item.find(1).update { $0.title = "Milk" }.execute(db)
            try Item.find(1).update { $0.price = 9 }.execute(db)
            #expect(try Event.all.fetchCount(db) == 0)
            try Item.find(1).update { $0.title = "Tea" }.execute(db)
            #expect(try Event.all.fetchCount(db) == 1)
            let sql = try String.fetchOne(
                db, sql: "SELECT sql FROM main.sqlite_master WHERE name = 'renamed'")
            #expect(sql?.contains(#"BEFORE UPDATE OF "title", "note" ON "items""#) == true)
            try Item.createTrigger("gone", after: .delete { old in Item.where { $0.id > old.id }.delete() })
                .execute(db)
            try Item.find(2).delete().execute(db)
            #expect(try Item.all.select(\.id).fetchAll(db) == [1])
        }
    }

    @Test func aTriggerTouchesItsRow() throws {
        let trigger = Event.createTemporaryTrigger("touch", after: .update(touch: \.unix))
        #expect(
            trigger.query.debugDescription.contains(
                #"SET "unix" = CAST(strftime('%s', 'now') AS INTEGER)"#))
        try withTables { db throws in
            let past = Date(timeIntervalSince1970: 0)
            try Event.insert { Event(past) }.execute(db)
            try Event.createTemporaryTrigger(after: .insert(touch: { $0.end = past })).execute(db)
            try trigger.execute(db)
            try Event.insert { Event(past) }.execute(db)
            #expect(try Event.where { $0.end.eq(past) }.fetchCount(db) == 1)
            #expect(
                try Event.where { $0.unix > .now(.hours(-1)) }.fetchCount(db) == 1,
                "the first trigger updates too")
            try Event.update { $0.tags = ["a"] }.execute(db)
            #expect(try Event.where { $0.unix > .now(.hours(-1)) }.fetchCount(db) == 2)
        }
    }

    @Test func theNameIsThePlaceUnlessYouGiveOne() {
        let trigger = Item.createTemporaryTrigger(after: .delete { _ in Values(1) })
        #expect(trigger.name.hasPrefix("after_delete_on_items@TypedQueriesTests/TriggerTests.swift:"))
    }

    @Test func binaryJSONInATriggerNeedsNoFunction() throws {
        let tags = ["a", "it's \"ä\""]
        let none = BindQueryExpression([], as: [String].JSONBRepresentation.self)
        try withTables { db throws in
            let day = Date(timeIntervalSince1970: 0)
            try Event.insert { Event(day, tags: tags) }.execute(db)
            try Event.createTrigger(
                "tagged",
                after: .insert { _ in
                    Event.where { $0.tags.eq(none) }.update { $0.tags = tags }
                }
            ).execute(db)
            let text = try String.fetchOne(
                db, sql: "SELECT sql FROM main.sqlite_master WHERE name = 'tagged'")
            #expect(text?.contains("jsonb") == false)
            #expect(text?.contains("X'0B'") == true)
            try Event.insert { Event(day) }.execute(db)
            let different = try Int.fetchOne(
                db, sql: "SELECT count(DISTINCT typeof(tags) || hex(tags)) FROM events")
            #expect(different == 1)
        }
    }

    @Test func otherCallsInASchemaStay() {
        var fragment = QueryFragment()
        fragment.append(schemaText: "my_jsonb(\(bind: "[]")), jsonb(\(bind: "{a:1}")), jsonb(x)")
        #expect(fragment.debugDescription == "my_jsonb('[]'), jsonb('{a:1}'), jsonb(x)")
    }

    @Test func whatHasNoLiteralIsRefused() throws {
        try withTables { db throws in
            let trigger = Item.createTrigger(
                "bad", after: .delete { _ in Item.where { $0.price > Double.infinity }.delete() })
            let error = #expect(throws: QueryBindingError.self) { try trigger.execute(db) }
            #expect(error?.description.contains("infinity") == true)
        }
    }
}

@Suite struct ViewTests {
    @Test func aViewIsReadLikeATable() throws {
        let select = Item.where { $0.title.neq("it's") }.group(by: \.title).select { ($0.title, $0.count()) }
        let view = Summary.createTemporaryView(as: select)
        expectSQL(
            view.query,
            """
            CREATE TEMPORARY VIEW
            "summaries"
            ("title", "number")
            AS
            SELECT "items"."title", count("items"."id")
            FROM "items"
            WHERE ("items"."title") <> ('it''s')
            GROUP BY "items"."title"
            """)
        try withTables { db throws in
            try view.execute(db)
            #expect(try Summary.where { $0.number > 1 }.select(\.title).fetchAll(db) == ["Milk"])
            try view.drop().execute(db)
            #expect(throws: DatabaseError.self) { try Summary.all.fetchAll(db) }
        }
    }

    @Test func binaryJSONInAViewNeedsNoFunction() throws {
        let tags = BindQueryExpression(["a"], as: [String].JSONBRepresentation.self)
        let select = Item.join(Event.all) { _, event in event.tags.eq(tags) }
            .select { item, _ in (item.title, item.id) }
        let view = Summary.createTemporaryView(as: select)
        #expect(view.query.debugDescription.contains(#"("events"."tags") = (X'2B1761')"#))
        try withTables { db throws in
            try view.execute(db)
            let count = try Summary.all.fetchCount(db)
            #expect(count == 0)
            try Event.insert { Event(Date(timeIntervalSince1970: 0), tags: ["a"]) }.execute(db)
            let found = try Summary.all.fetchCount(db)
            let items = try Item.all.fetchCount(db)
            #expect(found == items)
        }
    }

    @Test func aViewTakesChangesByTriggers() throws {
        try withTables { db throws in
            try Summary.createView(as: Item.select { ($0.title, $0.id) }).execute(db)
            try Summary.createTrigger(
                "insertSummary",
                insteadOf: .insert { new in
                    Item.insert {
                        ($0.id, $0.title)
                    } select: {
                        Values(new.number, new.title)
                    }
                }
            ).execute(db)
            try Summary.insert { Summary(title: "Tea", number: 20) }.execute(db)
            #expect(try Item.find(20).fetchOne(db)?.title == "Tea")
            #expect(
                try String.fetchOne(db, sql: "SELECT type FROM main.sqlite_master WHERE name = 'summaries'")
                    == "view")
        }
    }
}

@Suite struct QueryPlanTests {
    @Test func aPlanNamesIndexesAndScans() throws {
        try withTables { db throws in
            let statement = Item.where { $0.title.eq("Milk") }
            #expect(try statement.queryPlan(db).scannedTables == ["items"])
            #expect(try !statement.queryPlan(db).usesIndex())
            let error = #expect(throws: DatabaseError.self) {
                try statement.assertUsesIndex("itemsByTitle", db)
            }
            #expect(error?.message?.contains("itemsByTitle") == true)
            try db.execute(sql: "CREATE INDEX itemsByTitle ON items(title)")
            let plan = try statement.queryPlan(db)
            #expect(plan.usesIndex() && plan.usesIndex("itemsByTitle") && !plan.usesIndex("items"))
            #expect(plan.scannedTables.isEmpty)
            try statement.assertUsesIndex(db)
            #expect(try Item.find(1).queryPlan(db).usesIndex())
            #expect(try Item.all.order { $0.price }.queryPlan(db).usesTemporaryIndex)
        }
    }
}
