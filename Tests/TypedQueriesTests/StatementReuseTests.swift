import Dispatch
import Synchronization
import Testing
import TypedQueries

/// What statements of one shape share, and what they must not.
@Suite struct StatementReuseTests {
    @Test func statementsOfOneShapeHaveTheirOwnValues() throws {
        try withStore { (db) throws in
            for position in 10..<20 {
                try RemindersList.insert {
                    RemindersList(id: position, title: "L\(position)", position: position)
                }
                .execute(db)
            }
            for position in [19, 10, 15] {
                #expect(try RemindersList.find(position).fetchOne(db)?.title == "L\(position)")
                let lists = try RemindersList.where { $0.position.eq(position) }.fetchAll(db)
                #expect(lists.map(\.id) == [position])
            }
            #expect(try RemindersList.find(99).fetchOne(db) == nil)
        }
    }

    @Test func otherColumnsAreAnotherStatement() throws {
        try withStore { (db) throws in
            let rows = [(11, "A", 7), (12, "B", 11)].map {
                RemindersList(id: $0.0, title: $0.1, position: $0.2)
            }
            for row in rows { try RemindersList.insert { row }.execute(db) }
            for _ in 0..<2 {
                #expect(try RemindersList.where { $0.id.eq(11) }.fetchAll(db).map(\.title) == ["A"])
                #expect(try RemindersList.where { $0.position.eq(11) }.fetchAll(db).map(\.title) == ["B"])
                #expect(try RemindersList.where { $0.id.neq(11) && $0.id.gt(10) }.fetchAll(db) == [rows[1]])
            }
        }
    }

    /// Old engines take 999 parameters.
    @Test func moreValuesThanAStatementHasParametersAreTaken() throws {
        try withStore { (db) throws in
            let lists = (10..<410).map { RemindersList(id: $0, title: "it's \($0)", position: -$0) }
            try RemindersList.insert { lists }.execute(db)
            let inserted = RemindersList.where { $0.id.gte(10) }.order(by: \.id)
            #expect(try inserted.fetchAll(db) == lists)
            // The same statement has other values in its second run.
            for first in [10, 210] {
                let numbers = Array(first..<first + 1_200)
                let titles = numbers.map { "it's \($0)" }
                #expect(try RemindersList.find(numbers).fetchCount(db) == 410 - first)
                #expect(try RemindersList.where { $0.title.in(titles) }.fetchCount(db) == 410 - first)
                let negative: [Int] = numbers.map { 0 - $0 }
                let others = RemindersList.where { $0.position.notIn(negative) }.select(\.id)
                #expect(try others.fetchAll(db).count == first - 7)
                let cursor = try others.fetchCursor(db)
                #expect(try cursor.next() == 1)
            }
            let error = #expect(throws: DatabaseError.self) {
                try RemindersList.insert { lists }.execute(db)
            }
            #expect(error?.sql?.contains("409") == false)
        }
    }

    @Test func moreNumbersThanAStatementHasParametersAreTaken() throws {
        try withTables { db throws in
            let prices: [Double] = (0..<1200).map { Double($0) / 7 - 50 }
            let items = prices.indices.map { Item(id: $0 + 10, price: prices[$0]) }
            try Item.insert { items }.execute(db)
            let added = Item.where { $0.id.gte(10) }
            let read = try added.order(by: \.id).select(\.price).fetchAll(db)
            #expect(read == prices)
            let count = try added.where { $0.price.in(prices) }.fetchCount(db)
            #expect(count == 1200)
        }
    }

    @Test func aStatementOfManyValuesHasAPlan() throws {
        try withTables { db throws in
            let statement = Item.find(Array(1...1200))
            let plan = try statement.queryPlan(db)
            #expect(plan.usesIndex())
            #expect(!plan.sql.contains("1200"))
            let error = #expect(throws: DatabaseError.self) { try statement.assertUsesIndex("missing", db) }
            #expect(error?.sql?.contains("1200") == false)
        }
    }

    @Test func nullsDoNotStayInAStatement() throws {
        try withStore { (db) throws in
            let priorities: [Int?] = [1, nil, 3, nil]
            for (index, priority) in priorities.enumerated() {
                let row = Reminder(
                    id: 100 + index, title: "R", priority: priority, listID: 1, tags: ["a", "\(index)"],
                    stamps: Stamps(createdAt: index, updatedAt: priority))
                try Reminder.insert { row }.execute(db)
                #expect(try Reminder.find(row.id).fetchOne(db) == row)
            }
            let found = try Reminder.where { $0.id.gte(100) }.order(by: \.id).fetchAll(db)
            #expect(found.map(\.priority) == priorities)
            #expect(found.map(\.stamps.updatedAt) == priorities)
        }
    }

    @Test func aChangeOfTheSchemaIsSeen() throws {
        try withStore { (db) throws in
            try db.execute(sql: "CREATE TABLE wide (\(Wide.names.joined(separator: ", ")))")
            try Wide.insert { Wide(first: 1) }.execute(db)
            #expect(try Wide.all.fetchAll(db) == [Wide(first: 1)])
            try db.execute(sql: "DROP TABLE wide")
            #expect(throws: DatabaseError.self) { try Wide.all.fetchAll(db) }
            #expect(throws: DatabaseError.self) { try Wide.insert { Wide(first: 2) }.execute(db) }
            let reversed = Wide.names.reversed().joined(separator: ", ")
            try db.execute(sql: "CREATE TABLE wide (\(reversed))")
            try Wide.insert { Wide(first: 3) }.execute(db)
            #expect(try Wide.all.fetchAll(db) == [Wide(first: 3)])
        }
    }

    @Test func eachFormOfAChoiceMayHaveManyValues() {
        var fragment = QueryFragment()
        let writeMany = { (fragment: inout QueryFragment) in
            for number in 0..<65_540 { fragment.append(binding: .int(Int64(number))) }
        }
        fragment.appendChoice(.iif, native: writeMany, emulated: writeMany)
        fragment.append(binding: .text("behind"))
        let bindings = fragment.prepare { "?\($0)" }.bindings
        #expect(bindings.count == 65_541)
        #expect(bindings.last == .text("behind"))
        // It shows the native form.
        #expect(fragment.debugDescription.hasSuffix("65539'behind'"))
    }

    @Test func rowsMayHaveManyColumns() throws {
        let values = (0..<Wide.columnWidth).map { "\($0 + 5)" }.joined(separator: ", ")
        let columns = Wide.names.map { "\"\($0)\"" }.joined(separator: ", ")
        #expect(
            sql(Wide.insert { Wide(first: 5) }) == "INSERT INTO \"wide\" (\(columns)) VALUES (\(values))")
    }

    @Test func aStatementThatFailedRunsAgain() throws {
        try withStore { (db) throws in
            let row = RemindersList(id: 50, title: "A")
            try RemindersList.insert { row }.execute(db)
            #expect(throws: DatabaseError.self) { try RemindersList.insert { row }.execute(db) }
            try RemindersList.insert { RemindersList(id: 51, title: "B") }.execute(db)
            #expect(try RemindersList.where { $0.id.gte(50) }.fetchAll(db).map(\.title) == ["A", "B"])
        }
    }

    @Test func connectionsOfTwoThreadsHaveTheirOwnStatements() {
        let results = Mutex<[Int: [Int]]>([:])
        DispatchQueue.concurrentPerform(iterations: 2) { thread in
            let found = try? withStore { (db) throws in
                try (0..<200).map { index in
                    let id = 1000 + 2 * index + thread
                    try RemindersList.insert { RemindersList(id: id, title: "\(id)", position: thread) }
                        .execute(db)
                    return try RemindersList.where { $0.id.eq(id) }.fetchAll(db).first?.id ?? 0
                }
            }
            results.withLock { $0[thread] = found }
        }
        for thread in 0..<2 {
            #expect(results.withLock { $0[thread] } == (0..<200).map { 1000 + 2 * $0 + thread })
        }
    }
}

/// A row of more columns than are written at once.
private struct Wide: Table, Equatable {
    static let names = (0..<40).map { "c\($0)" }
    var values: [Int]

    init(first: Int) { values = Self.names.indices.map { first + $0 } }

    struct TableColumns: TableDefinition {
        typealias QueryValue = Wide
        static var columnList: ColumnList { ColumnList(Wide.names.map { TableColumn<Wide, Int>($0) }) }
    }
    static var tableName: String { "wide" }
    static var columnWidth: Int { names.count }
    init(decoder: inout some QueryDecoder) throws {
        values = []
        for _ in Self.names { values.append(try decoder.value(Int.self)) }
    }
    func writeValues(to row: inout RowWriter) {
        for value in values { row.write(value, as: Int.self) }
    }
}
