import Foundation
import Testing

@testable import CipherStore

@Suite struct StatementTests {
    private func makeQueue() throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, score INTEGER);
                    INSERT INTO player VALUES (1, 'Arthur', 100), (2, 'Barbara', NULL);
                    """)
        }
        return queue
    }

    @Test func oneStringCanHoldManyStatementsWithTheirArguments() throws {
        let queue = try makeQueue()
        try queue.write { db in
            try db.execute(
                sql:
                    "INSERT INTO player VALUES (?, ?, ?); -- a comment\n UPDATE player SET score = ? WHERE id = ?;",
                arguments: [3, "Craig", 5, 6, 3])
        }
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT score FROM player WHERE id = 3") } == 6)
    }

    @Test func argumentsMustFitTheParameters() throws {
        let queue = try makeQueue()
        for arguments: StatementArguments in [[], [1, 2], ["other": 1]] {
            let error = #expect(throws: DatabaseError.self) {
                try queue.write {
                    try $0.execute(sql: "DELETE FROM player WHERE id = ?", arguments: arguments)
                }
            }
            #expect(error?.resultCode == .SQLITE_MISUSE)
        }
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM player") } == 2)
    }

    @Test func namedArgumentsAreFoundByName() throws {
        let queue = try makeQueue()
        let name = try queue.read {
            try String.fetchOne(
                $0, sql: "SELECT name FROM player WHERE id = :id AND score = @score",
                arguments: ["id": 1, "score": 100])
        }
        #expect(name == "Arthur")
    }

    @Test func aStatementMustBeOneStatement() throws {
        let queue = try makeQueue()
        try queue.inDatabase { db in
            #expect(throws: DatabaseError.self) { try db.makeStatement(sql: "SELECT 1; SELECT 2") }
            #expect(throws: DatabaseError.self) { try db.makeStatement(sql: " -- nothing") }
            let statement = try db.makeStatement(sql: "SELECT 1; -- the end")
            #expect(statement.columnCount == 1)
        }
    }

    @Test func errorsNameTheStatementAndHideItsArguments() throws {
        let queue = try makeQueue()
        let error = #expect(throws: DatabaseError.self) {
            try queue.write {
                try $0.execute(sql: "INSERT INTO player VALUES (?, ?, ?)", arguments: [9, "Arthur", 1])
            }
        }
        #expect(error?.resultCode == .SQLITE_CONSTRAINT)
        #expect(error?.extendedResultCode == .SQLITE_CONSTRAINT_UNIQUE)
        #expect(
            error?.description
                == "SQLite error 19: UNIQUE constraint failed: player.name - while executing `INSERT INTO player VALUES (?, ?, ?)`"
        )
        #expect(error?.expandedDescription.hasSuffix("with arguments [9, \"Arthur\", 1]") == true)
    }

    @Test func rowsAreReadByPositionAndByNameWithoutCase() throws {
        let queue = try makeQueue()
        try queue.read { db in
            let row = try #require(
                try Row.fetchOne(
                    db, sql: "SELECT id, name AS Name, score, id + 1 AS name FROM player ORDER BY id"))
            #expect(row[0] == 1)
            #expect(row["NAME"] == "Arthur")
            #expect(row["score"] as Int? == 100)
            #expect(row["missing"] as Int? == nil)
            #expect(row.columnNames == ["id", "Name", "score", "name"])
            #expect(row.hasColumn("nAmE"))
            #expect(row.description == "[id:1 Name:\"Arthur\" score:100 name:2]")
        }
    }

    @Test func theThrowingAccessorsSayWhatDoesNotFit() throws {
        let queue = try makeQueue()
        try queue.read { db in
            let row = try #require(try Row.fetchOne(db, sql: "SELECT name, NULL AS empty FROM player"))
            let error = #expect(throws: RowDecodingError.self) { try row.decode(Int.self, atIndex: 0) }
            #expect(
                error?.description == """
                    could not decode Int from database value "Arthur" - column: "name", \
                    column index: 0, row: [name:"Arthur" empty:NULL]
                    """)
            #expect(throws: RowDecodingError.self) { try row.decode(String.self, atIndex: 1) }
            #expect(throws: RowDecodingError.self) { try row.decode(String.self, forColumn: "missing") }
            let nothing = try row.decodeIfPresent(String.self, atIndex: 1)
            #expect(nothing == nil)
        }
    }

    @Test func aCopiedRowOutlivesItsCursor() throws {
        let queue = try makeQueue()
        let rows = try queue.read { try Row.fetchAll($0, sql: "SELECT * FROM player ORDER BY id") }
        #expect(rows.map { $0["name"] as String } == ["Arthur", "Barbara"])
        #expect(rows[1].hasNull(atIndex: 2))
    }

    @Test func theStatementCacheIsBounded() throws {
        let queue = try makeQueue()
        try queue.inDatabase { db in
            for number in 0..<1000 { _ = try db.cachedStatement(sql: "SELECT \(number)") }
            let first = try db.cachedStatement(sql: "SELECT 999")
            let second = try db.cachedStatement(sql: "SELECT 999")
            #expect(first === second)
        }
    }

    @Test func aResultCodeMatchesItsExtendedCodes() {
        #expect(ResultCode.SQLITE_CONSTRAINT ~= ResultCode.SQLITE_CONSTRAINT_UNIQUE)
        #expect(!(ResultCode.SQLITE_CONSTRAINT_UNIQUE ~= ResultCode.SQLITE_CONSTRAINT))
        #expect(ResultCode.SQLITE_CONSTRAINT_UNIQUE.primaryResultCode == .SQLITE_CONSTRAINT)
        #expect(ResultCode.SQLITE_BUSY.description == "5 (database is locked)")
    }
}
