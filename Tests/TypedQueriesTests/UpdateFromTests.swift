import Testing
import TypedQueries

/// The rows of a view.
private struct Place: Table {
    var id: Int
    var position: Int

    struct TableColumns: TableDefinition {
        typealias QueryValue = Place
        var id: TableColumn<Place, Int> { .init("id") }
        var position: TableColumn<Place, Int> { .init("position") }
        static var columnList: ColumnList { .init(Self().id, Self().position) }
    }
    static var tableName: String { "places" }
    static var columnWidth: Int { 2 }
    init(decoder: inout some QueryDecoder) throws {
        id = try decoder.value(Int.self)
        position = try decoder.value(Int.self)
    }
    func writeValues(to row: inout RowWriter) {
        row.write(id, as: Int.self)
        row.write(position, as: Int.self)
    }
}

/// `UPDATE … FROM`, and the subqueries that SQLite before 3.33 gets in its place.
@Suite struct UpdateFromTests {
    private enum Other: AliasName {}

    private func positions(_ db: Database) throws -> [Int] {
        try RemindersList.order { $0.id }.select { $0.position }.fetchAll(db)
    }

    @Test func oneRowGivesAllValues() throws {
        try withStore { db throws in
            // Each index alone has what one of the assignments needs, and the rows of a list in an order of its own.
            try db.execute(
                sql: """
                    CREATE INDEX byTitle ON reminders(list_id, title);
                    CREATE INDEX byTime ON reminders(list_id, createdAt);
                    """)
            try RemindersList.update(from: Reminder.all) {
                $0.id.eq($1.listID)
            } set: {
                $0.title = $1.title
                $0.position = $1.stamps.createdAt
            }.execute(db)
            let list = try RemindersList.find(1).fetchOne(db)
            let rows = [("Milk", 10), ("Bread", 20)]
            let isOneOfThem = rows.contains { $0 == list?.title && $1 == list?.position }
            #expect(isOneOfThem)
        }
    }

    @Test func theLastAssignmentToAColumnCounts() throws {
        try withStore { db throws in
            try RemindersList.find([2, 3]).update(from: Reminder.all) {
                $0.id.eq($1.listID)
            } set: {
                $0.title = $1.title
                $0.position = 7
                $0.title = "constant"
                $0.position = $1.id
            }.execute(db)
            let list = try RemindersList.find(2).fetchOne(db)
            #expect(list == RemindersList(id: 2, title: "constant", position: 3))
        }
    }

    /// The emulation of SQLite before 3.33 has the values of the condition once for each column.
    @Test func rowsAreOfMoreValuesThanTwoBytesCount() throws {
        try withStore { db throws in
            // Counted by two bytes, the value behind 66,000 others would be the one behind 464.
            try db.execute(
                sql: """
                    INSERT INTO remindersLists VALUES (465, 'Other', 4);
                    INSERT INTO reminders (id, title, list_id) VALUES (4, 'Tea', 465);
                    """)
            let ids = Array(1...33_000)
            try RemindersList.find(2).update(from: Reminder.where { $0.id.in(ids) }) {
                $0.id.eq($1.listID)
            } set: {
                $0.title = $1.title
                $0.position = $1.stamps.createdAt
            }.execute(db)
            let lists = try RemindersList.order { $0.id }.fetchAll(db)
            #expect(lists.map(\.title) == ["Home", "Report", "Empty", "Other"])
            #expect(lists.map(\.position) == [1, 30, 3, 4])
        }
    }

    @Test func rowsOfTheSameTableGiveColumnsThatStay() throws {
        try withStore { db throws in
            try RemindersList.update(from: RemindersList.as(Other.self).all) {
                $0.id.eq($1.id + 1)
            } set: {
                $0.position = $0.position * 10 + $1.id
            }.execute(db)
            let found = try positions(db)
            #expect(found == [1, 21, 32])
        }
    }

    /// The emulation would read values that it has just written.
    @Test func rowsOfTheSameTableGiveWhatTheyHadBefore() throws {
        try withStore { db throws in
            let shift = RemindersList.update(from: RemindersList.as(Other.self).all) {
                $0.id.eq($1.id + 1)
            } set: {
                $0.position = $1.position
            }
            if EngineFeatures.current.sqliteVersionNumber < 3_033_000 {
                #expect(throws: DatabaseError.self) { try shift.execute(db) }
                let kept = try positions(db)
                #expect(kept == [1, 2, 3])
            } else {
                try shift.execute(db)
                let shifted = try positions(db)
                #expect(shifted == [1, 1, 2])
            }
        }
    }

    /// The emulation would read values that it has just written, through the view.
    @Test func viewsOfTheSameTableGiveWhatTheyHadBefore() throws {
        try withStore { db throws in
            try db.execute(sql: "CREATE VIEW places AS SELECT id, position FROM remindersLists")
            let shift = RemindersList.update(from: Place.all) {
                $0.id.eq($1.id + 1)
            } set: {
                $0.position = $1.position
            }
            if EngineFeatures.current.sqliteVersionNumber < 3_033_000 {
                #expect(throws: DatabaseError.self) { try shift.execute(db) }
                #expect(throws: DatabaseError.self) {
                    try shift.returning { $0.position }.fetchAll(db)
                }
                let kept = try positions(db)
                #expect(kept == [1, 2, 3])
            } else {
                try shift.execute(db)
                let shifted = try positions(db)
                #expect(shifted == [1, 1, 2])
            }
        }
    }

    @Test func viewsOfOtherTablesGiveValues() throws {
        try withStore { db throws in
            try db.execute(sql: "CREATE VIEW places AS SELECT id, createdAt AS position FROM reminders")
            try RemindersList.update(from: Place.all) {
                $0.id.eq($1.id)
            } set: {
                $0.position = $1.position
            }.execute(db)
            let found = try positions(db)
            #expect(found == [10, 20, 30])
        }
    }

    @Test func aColumnThatIsAssignedAgainLeavesTheOthersOfOneRow() throws {
        try withStore { db throws in
            // Each index alone has what some of the assignments need, and the rows of a list in an order of its own.
            try db.execute(
                sql: """
                    CREATE INDEX byTitle ON reminders(list_id, title, createdAt);
                    CREATE INDEX byTime ON reminders(list_id, isCompleted DESC);
                    """)
            try RemindersList.find(3).update(from: Reminder.all) {
                $1.listID.eq(1) && $0.id.eq(3)
            } set: {
                $0.position = $1.stamps.createdAt
                $0.title = $1.title
                $0.title = "constant"
                $0.id = $1.id + 100
            }.execute(db)
            let list = try RemindersList.order { $0.id }.fetchAll(db).last
            let rows = [(101, 10), (102, 20)]
            let isOneOfThem = rows.contains { $0 == list?.id && $1 == list?.position }
            #expect(isOneOfThem)
            #expect(list?.title == "constant")
        }
    }
}
