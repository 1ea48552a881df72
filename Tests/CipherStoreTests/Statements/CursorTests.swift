import Foundation
import Testing

@testable import CipherStore

/// How cursors share statements, and what the fetching functions promise.
@Suite struct CursorTests {
    private let queue: DatabaseQueue

    init() throws {
        queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT)")
            try db.execute(sql: "INSERT INTO item VALUES (1, 'a'), (2, NULL), (3, 'c')")
        }
    }

    @Test func aCachedStatementThatIsInUseIsNotHandedOutTwice() throws {
        try queue.read { db in
            let sql = "SELECT id FROM item WHERE id >= ? ORDER BY id"
            let first = try Int.fetchCursor(db.cachedStatement(sql: sql), arguments: [1])
            #expect(try first.next() == 1)
            let second = try Int.fetchCursor(db.cachedStatement(sql: sql), arguments: [3])
            #expect(try second.next() == 3)
            #expect(try first.next() == 2)
            #expect(try Array(first) == [3])
            #expect(try second.next() == nil)
        }
    }

    @Test func aCachedStatementIsUsedAgainWithoutItsOldArguments() throws {
        try queue.read { db in
            let sql = "SELECT id FROM item WHERE id = ?"
            let statement = try db.cachedStatement(sql: sql)
            #expect(try Int.fetchOne(statement, arguments: [2]) == 2)
            let again = try db.cachedStatement(sql: sql)
            #expect(again === statement)
            let error = #expect(throws: DatabaseError.self) { try Int.fetchOne(again) }
            #expect(error?.resultCode == .SQLITE_MISUSE)
        }
    }

    @Test func aCursorFailsWhenItsStatementIsUsedForSomethingElse() throws {
        try queue.read { db in
            let statement = try db.makeStatement(sql: "SELECT id FROM item ORDER BY id")
            let first = try Int.fetchCursor(statement)
            #expect(try first.next() == 1)
            let second = try Int.fetchCursor(statement)
            #expect(throws: DatabaseError.self) { try first.next() }
            #expect(throws: DatabaseError.self) { try first.next() }
            #expect(try Array(second) == [1, 2, 3])
            // A cursor that is done stays done.
            #expect(try Int.fetchOne(statement) == 1)
            #expect(try second.next() == nil)
        }
    }

    @Test func aRowKeepsItsCursorFromEnding() throws {
        try queue.read { db in
            let statement = try db.makeStatement(sql: "SELECT id, name FROM item ORDER BY id")
            var row: Row? = try Row.fetchCursor(statement).next()
            #expect(row?["name"] == "a")
            #expect(statement.isInUse)
            row = nil
            #expect(!statement.isInUse)
        }
    }

    @Test func aStatementThatIsOverHoldsNoLock() throws {
        try queue.writeWithoutTransaction { db in
            let cursor = try Int.fetchCursor(db, sql: "SELECT id FROM item")
            while try cursor.next() != nil {}
            // It would fail as long as a statement reads the table.
            try db.execute(sql: "DROP TABLE item")
            #expect(try cursor.next() == nil)
        }
    }

    @Test func aCursorThatFailedFailsAgain() throws {
        try queue.read { db in
            // abs() fails for the smallest integer, in the second row.
            let cursor = try Int.fetchCursor(
                db, sql: "SELECT abs(x) FROM (SELECT -1 AS x UNION ALL SELECT -9223372036854775807 - 1)")
            #expect(try cursor.next() == 1)
            for _ in 0..<2 {
                let error = #expect(throws: DatabaseError.self) { try cursor.next() }
                #expect(error?.message == "integer overflow")
            }
        }
    }

    @Test func aStatementSeesTheColumnsOfAChangedTable() throws {
        try queue.writeWithoutTransaction { db in
            let statement = try db.makeStatement(sql: "SELECT * FROM item WHERE id = 1")
            #expect(try Row.fetchOne(statement)?.columnNames == ["id", "name"])
            try db.execute(
                sql: """
                    ALTER TABLE item RENAME TO old;
                    CREATE TABLE item (name TEXT, id INTEGER, more);
                    INSERT INTO item SELECT name, id, 5 FROM old;
                    """)
            let row = try Row.fetchOne(statement)
            #expect(row == ["name": "a", "id": 1, "more": 5])
            #expect(statement.columnCount == 3)
            #expect(statement.index(ofColumn: "more") == 2)
        }
    }

    @Test func nullAndNoRowDifferForOptionals() throws {
        try queue.read { db in
            let null: String?? = try String?.fetchOne(db, sql: "SELECT name FROM item WHERE id = 2")
            let none: String?? = try String?.fetchOne(db, sql: "SELECT name FROM item WHERE id = 9")
            #expect(null == .some(nil))
            #expect(none == .none)
            #expect(try String.fetchOne(db, sql: "SELECT name FROM item WHERE id = 2") == nil)
            #expect(try String?.fetchAll(db, sql: "SELECT name FROM item ORDER BY id") == ["a", nil, "c"])
            #expect(try String?.fetchSet(db, sql: "SELECT name FROM item") == ["a", nil, "c"])
            #expect(throws: RowDecodingError.self) { try String.fetchAll(db, sql: "SELECT name FROM item") }
        }
    }

    @Test func aDecodingErrorNamesTheColumnOfTheStatement() throws {
        try queue.read { db in
            let error = #expect(throws: RowDecodingError.self) {
                try Int.fetchAll(
                    db, sql: "SELECT ? AS x, name FROM item WHERE id = 2", arguments: [8],
                    adapter: SuffixRowAdapter(fromIndex: 1))
            }
            #expect(
                error?.description == """
                    could not decode Int from database value NULL - column: "name", column index: 1, \
                    row: [x:8 name:NULL], sql: `SELECT ? AS x, name FROM item WHERE id = 2`, arguments: [8]
                    """)
            #expect(error?.context == "column: \"name\", column index: 1")
        }
    }

    @Test func theArgumentsOfOneRunAreNotKeptInTheStatement() throws {
        try queue.write { db in
            let statement = try db.makeStatement(sql: "UPDATE item SET name = ? WHERE id = 1")
            try statement.execute(arguments: ["x"])
            // It is bound again when it runs again.
            try db.execute(sql: "UPDATE item SET name = NULL")
            try statement.execute()
            #expect(try String.fetchOne(db, sql: "SELECT name FROM item WHERE id = 1") == "x")
            #expect(statement.arguments == ["x"])
        }
    }

    @Test func aReadAccessRefusesAStatementThatWrites() throws {
        let error = #expect(throws: DatabaseError.self) {
            try queue.read { db in
                let statement = try db.makeStatement(sql: "DELETE FROM item")
                #expect(!statement.isReadonly)
                try statement.execute()
            }
        }
        #expect(error?.resultCode == .SQLITE_READONLY)
    }

    @Test func statementsAreTakenOneByOne() throws {
        try queue.write { db in
            let statements = try db.allStatements(
                sql:
                    "INSERT INTO item (name) VALUES (?); ; SELECT max(id) FROM item WHERE name = :name -- end",
                arguments: ["d"] + ["name": "d"])
            let insert = try #require(try statements.next())
            try insert.execute()
            let select = try #require(try statements.next())
            #expect(select.sql == "SELECT max(id) FROM item WHERE name = :name -- end")
            #expect(try Int.fetchOne(select) == 4)
            #expect(try statements.next() == nil)
        }
    }

    @Test func aCollectionIsMadeOfOneIteration() throws {
        try queue.read { db in
            let names = try String?.fetchCursor(db, sql: "SELECT name FROM item ORDER BY id")
                .enumerated().filter { $0.1 != nil }.compactMap { $0.1 }
            #expect(try names.joined(separator: ",") == "a,c")
            let ids = try Int.fetchCursor(db, sql: "SELECT id FROM item ORDER BY id")
            #expect(try ids.dropFirst().prefix { $0 < 3 }.suffix(5) == [2])
        }
    }

    @Test func aSuffixHasAnyLength() throws {
        let sql = """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) SELECT i FROM n
            """
        try queue.read { db in
            for length in [0, 1, 63, 64, 100, 499, 500, 501, Int.max / 2, Int.max] {
                let last = try Int.fetchCursor(db, sql: sql).suffix(length)
                #expect(last == Array((1...500).suffix(length)))
            }
        }
    }
}
