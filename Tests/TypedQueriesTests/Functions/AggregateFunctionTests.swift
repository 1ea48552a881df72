import Foundation
import Testing

@testable import TypedQueries

@Suite struct AggregateFunctionTests {
    let item = Item.columns

    @Test func valuesAreCountedAndSummed() throws {
        expectSQL(item.amount.count(), #"count("items"."amount")"#)
        expectSQL(item.amount.count(distinct: true), #"count(DISTINCT "items"."amount")"#)
        expectSQL(
            item.price.sum(filter: item.isDone), #"sum("items"."price") FILTER (WHERE "items"."isDone")"#)
        try withTables { db throws in
            #expect(try Item.select { $0.amount.count() }.fetchOne(db) == 3)
            #expect(try Item.select { $0.amount.count(distinct: true) }.fetchOne(db) == 2)
            #expect(try Item.select { $0.amount.count(filter: $0.isDone) }.fetchOne(db) == 1)
            #expect(
                try Item.select { $0.amount.count(distinct: true, filter: $0.price > 0) }.fetchOne(db) == 1)
            #expect(try Item.select { $0.price.sum() }.fetchOne(db) == .some(5.25))
            #expect(try Item.select { $0.amount.sum(distinct: true) }.fetchOne(db) == .some(13))
            #expect(try Item.select { $0.price.sum(filter: $0.isDone) }.fetchOne(db) == .some(2.75))
            #expect(try Item.select { $0.price.total(filter: $0.price > 100) }.fetchOne(db) == 0)
            #expect(try Item.select { $0.price.sum(filter: $0.price > 100) }.fetchOne(db) == .some(nil))
            #expect(try Item.select { $0.amount.avg() }.fetchOne(db) == .some(16.0 / 3))
            #expect(try Item.select { $0.price.min() }.fetchOne(db) == .some(-1.25))
            #expect(try Item.select { $0.title.max(filter: $0.isDone) }.fetchOne(db) == .some("Äpfel"))
        }
    }

    @Test func rowsAreCounted() throws {
        expectSQL(item.count(), #"count("items"."id")"#)
        expectSQL(Item?.columns.count(), #"count("items"."id")"#)
        expectSQL(Event.columns.count(), "count(*)")
        try withTables { db throws in
            #expect(try Item.select { $0.count() }.fetchOne(db) == 4)
            #expect(try Item.select { $0.count(filter: $0.isDone) }.fetchOne(db) == 2)
            #expect(
                try Item.group(by: \.title).order { $0.title }.select { ($0.title, $0.count()) }
                    .fetchAll(db).map(\.1) == [1, 2, 1])
            try Event.insert { Event(Date(timeIntervalSince1970: 0)) }.execute(db)
            let joined = Item.leftJoin(Event.all) { $0.id.eq(1).and($1.day.isNot($1.end)) }
            #expect(try joined.select { ($0.count(), $1.count()) }.fetchOne(db)?.1 == 1)
            #expect(try joined.select { ($0.count(), $1.count(filter: $0.id.eq(2))) }.fetchOne(db)?.1 == 0)
        }
    }

    @Test func textsArePutTogether() throws {
        expectSQL(item.title.groupConcat("-"), #"group_concat("items"."title", '-')"#)
        expectSQL(item.title.groupConcat(distinct: true), #"group_concat(DISTINCT "items"."title")"#)
        expectSQL(
            item.title.groupConcat("-", order: item.id.desc(), filter: item.isDone),
            #"group_concat("items"."title", '-' ORDER BY "items"."id" DESC) FILTER (WHERE "items"."isDone")"#)
        try withTables { db throws in
            #expect(try Item.select { $0.title.groupConcat("-") }.fetchOne(db)??.count == 21)
            #expect(try Item.select { $0.title.groupConcat(distinct: true) }.fetchOne(db)??.count == 16)
            #expect(
                try Item.select { $0.title.groupConcat("-", order: $0.id.desc()) }.fetchOne(db)
                    == .some("Milk-Äpfel-Bread-Milk"))
            #expect(
                try Item.select { $0.title.groupConcat(order: $0.title, filter: !$0.isDone) }.fetchOne(db)
                    == .some("Milk,Milk"))
            #expect(
                try Item.select { $0.title.groupConcat("-", filter: $0.isDone) }.fetchOne(db)
                    == .some("Bread-Äpfel"))
            #expect(
                try Item.select { $0.title.groupConcat("", filter: $0.id > 9) }.fetchOne(db) == .some(nil))
        }
    }

    @Test func ordersHaveNULLWhereTheySay() throws {
        func ids(_ db: Database, _ term: (Item.TableColumns) -> OrderingTerm) throws -> String?? {
            try Item.select { $0.id.cast(as: String.self).groupConcat("", order: term($0)) }.fetchOne(db)
        }
        try withTables { db throws in
            #expect(try ids(db) { $0.note.asc() } == "2413")
            #expect(try ids(db) { $0.note.asc(nulls: .last) } == "4132")
            #expect(try ids(db) { $0.note.desc() } == "3142")
            #expect(try ids(db) { $0.note.desc(nulls: .first) } == "2314")
            #expect(try ids(db) { $0.price.asc() } == "2413")
        }
    }

    @Test func anOrderMayBeginWithAChoiceOfTheEngine() throws {
        try withTables { db throws in
            let ids = try Item.select {
                $0.id.jsonGroupArray(order: iif($0.isDone, $0.id, $0.id * -1).desc())
            }.fetchOne(db)
            #expect(ids == [3, 2, 1, 4])
        }
    }

    @Test func anOrderThatCanNotBeEmulatedIsAnError() throws {
        let statement = Item.select { $0.title.groupConcat("-", order: $0.title.collate(.nocase).asc()) }
        try withTables { db throws in
            if EngineFeatures.current.sqliteVersionNumber >= 3_044_000 {
                #expect(try statement.fetchOne(db) == .some("Bread-Milk-Milk-Äpfel"))
            } else {
                let error = #expect(throws: DatabaseError.self) { try statement.fetchOne(db) }
                #expect(error?.message?.contains("3.44.0") == true)
            }
        }
    }

    @Test func valuesBecomeJSON() throws {
        expectSQL(
            item.title.jsonGroupArray(order: item.id, filter: item.isDone),
            #"json_group_array("items"."title" ORDER BY "items"."id") FILTER (WHERE "items"."isDone")"#)
        try withTables { db throws in
            #expect(
                try Item.select { $0.note.jsonGroupArray(order: $0.id) }.fetchOne(db)
                    == [" of oats ", nil, "red", ""])
            #expect(
                try Item.select { $0.note.jsonGroupArray(filter: $0.isDone) }.fetchOne(db) == [nil, "red"])
            #expect(
                try Item.select { $0.isDone.jsonGroupArray(order: $0.id) }.fetchOne(db)
                    == [false, true, true, false])
            #expect(
                try Item.select { $0.title.jsonbGroupArray(order: $0.id.desc()) }.fetchOne(db)?.last
                    == "Milk")
            #expect(
                try Item.select { $0.title.jsonbGroupArray(filter: $0.isDone) }.fetchOne(db)
                    == ["Bread", "Äpfel"])
            #expect(
                try Item.where { $0.id < 4 }.select { $0.title.jsonGroupObject($0.amount) }.fetchOne(db)
                    == ["Milk": 3, "Bread": nil, "Äpfel": 3])
            #expect(
                try Item.select { $0.title.jsonbGroupObject($0.price, filter: $0.isDone) }.fetchOne(db)
                    == ["Bread": -1.25, "Äpfel": 4])
            let rows = try Item.all.order { $0.id }.fetchAll(db)
            #expect(try Item.select { $0.jsonGroupArray(order: $0.id) }.fetchOne(db) == rows)
            #expect(try Item.find(2).select { $0.jsonObject() }.fetchOne(db) == rows[1])
        }
    }
}

@Suite struct WindowFunctionTests {
    let item = Item.columns

    /// Checks the SQL, and the values on engines that have window functions; on others, the error.
    private func expect<Value: QueryRepresentable>(
        _ expression: SQLQueryExpression<Value>, _ sql: String, _ values: [Value.QueryOutput]
    ) throws where Value.QueryOutput: Equatable {
        expectSQL(expression, sql)
        try withTables { db throws in
            let statement = Item.all.order { $0.id }.select { _ in expression }
            if EngineFeatures.current.sqliteVersionNumber >= 3_025_000 {
                #expect(try statement.fetchAll(db) == values)
            } else {
                let error = #expect(throws: DatabaseError.self) { try statement.fetchAll(db) }
                #expect(
                    error?.message?.contains("window functions needs SQLite 3.25.0 or later; this is 3.15")
                        == true)
            }
        }
    }

    @Test func rowsAreNumberedAndRanked() throws {
        let byTitle = QueryWindow().order(by: item.title)
        try expect(
            rowNumber().over(QueryWindow().order(by: item.price.desc())),
            #"row_number() OVER (ORDER BY "items"."price" DESC)"#, [2, 4, 1, 3])
        try expect(rank().over(byTitle), #"rank() OVER (ORDER BY "items"."title")"#, [2, 1, 4, 2])
        try expect(denseRank().over(byTitle), #"dense_rank() OVER (ORDER BY "items"."title")"#, [2, 1, 3, 2])
        try expect(
            percentRank().over(byTitle), #"percent_rank() OVER (ORDER BY "items"."title")"#,
            [1.0 / 3, 0, 1, 1.0 / 3])
        try expect(
            cumeDist().over(byTitle), #"cume_dist() OVER (ORDER BY "items"."title")"#, [0.75, 0.25, 1, 0.75])
        try expect(
            ntile(2).over { $0.order(by: item.id) }, #"ntile(2) OVER (ORDER BY "items"."id")"#, [1, 1, 2, 2])
    }

    @Test func valuesOfOtherRowsAreSeen() throws {
        let byID = QueryWindow().order(by: item.id)
        try expect(
            item.id.lag().over(byID), #"lag("items"."id", 1) OVER (ORDER BY "items"."id")"#, [nil, 1, 2, 3])
        try expect(
            item.id.lag(2, default: 0).over(byID), #"lag("items"."id", 2, 0) OVER (ORDER BY "items"."id")"#,
            [0, 0, 1, 2])
        try expect(
            item.id.lead().over(byID), #"lead("items"."id", 1) OVER (ORDER BY "items"."id")"#, [2, 3, 4, nil])
        try expect(
            item.id.lead(1, default: 9).over(byID), #"lead("items"."id", 1, 9) OVER (ORDER BY "items"."id")"#,
            [2, 3, 4, 9])
        try expect(
            item.title.firstValue().over(byID), #"first_value("items"."title") OVER (ORDER BY "items"."id")"#,
            ["Milk", "Milk", "Milk", "Milk"])
        try expect(
            item.id.lastValue().over(byID.rows(.currentRow, .unboundedFollowing)),
            #"last_value("items"."id") OVER (ORDER BY "items"."id" ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)"#,
            [4, 4, 4, 4])
        try expect(
            item.id.nthValue(2).over(byID), #"nth_value("items"."id", 2) OVER (ORDER BY "items"."id")"#,
            [nil, 2, 2, 2])
    }

    @Test func aggregatesSeeAWindow() throws {
        try expect(
            item.id.sum().over { $0.partition(by: item.title) },
            #"sum("items"."id") OVER (PARTITION BY "items"."title")"#, [5, 2, 3, 5])
        try expect(
            item.id.sum(filter: item.isDone).over(QueryWindow().order(by: item.id)),
            #"sum("items"."id") FILTER (WHERE "items"."isDone") OVER (ORDER BY "items"."id")"#,
            [nil, 2, 5, 5])
        try expect(
            item.id.sum().over(
                QueryWindow().order(by: item.id).rows(.preceding(1), .following(1), exclude: .currentRow)),
            #"sum("items"."id") OVER (ORDER BY "items"."id" "#
                + "ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE CURRENT ROW)", [2, 4, 6, 3])
        try expect(item.id.count().over(), #"count("items"."id") OVER ()"#, [4, 4, 4, 4])
    }
}
