import Foundation
import Testing

@testable import CipherStore

/// Texts that are run again and again, which are prepared once.
@Suite struct RecurringStatementTests {
    private func makeQueue() throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write {
            try $0.execute(
                sql: "CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT UNIQUE, score INTEGER)")
        }
        return queue
    }

    private static let insertion = "INSERT INTO player (name, score) VALUES (?, ?)"

    @Test func aTextIsKeptFromTheSecondRunOn() throws {
        let queue = try makeQueue()
        try queue.inDatabase { db in
            let query = "SELECT score FROM player WHERE name = ?"
            _ = try Int.fetchOne(db, sql: query, arguments: ["Arthur"])
            #expect(db.recurringStatements[query] == nil)
            _ = try Int.fetchOne(db, sql: query, arguments: ["Arthur"])
            let statement = try #require(db.recurringStatements[query])
            _ = try Row.fetchAll(db, sql: query, arguments: ["Barbara"])
            #expect(db.recurringStatements[query] === statement)
            for number in 0..<3 {
                try db.execute(sql: Self.insertion, arguments: ["\(number)", number])
            }
            #expect(db.recurringStatements[Self.insertion] != nil)
            #expect(try Int.fetchOne(db, sql: query, arguments: ["2"]) == 2)
            #expect(try Int.fetchOne(db, sql: query, arguments: ["9"]) == nil)
        }
    }

    @Test func whatIsKeptIsBoundedAndHasNoTextsWithValuesInThem() throws {
        let queue = try makeQueue()
        try queue.inDatabase { db in
            for number in 0..<1000 { try db.execute(sql: "INSERT INTO player VALUES (\(number), NULL, 1)") }
            #expect(SQLiteHandle.firstStatement(db.handle) == nil)
            for number in 0..<1000 {
                for _ in 0..<2 { _ = try Int.fetchOne(db, sql: "SELECT \(number)") }
            }
            let long = "SELECT '" + String(repeating: "x", count: 5000) + "'"
            for _ in 0..<3 { _ = try String.fetchOne(db, sql: long) }
            #expect(db.recurringStatements[long] == nil)
            let kept = (0..<1000).count { db.recurringStatements["SELECT \($0)"] != nil }
            #expect(kept > 0)
            #expect(kept <= 128)
            db.releaseMemory()
            #expect(SQLiteHandle.firstStatement(db.handle) == nil)
        }
    }

    @Test func textsOfOneLengthHaveStatementsOfTheirOwn() throws {
        let queue = try makeQueue()
        // They look the same, and are other texts.
        let composed = "SELECT '\u{e9}'"
        let decomposed = "SELECT 'e\u{301}'"
        try queue.inDatabase { db throws in
            for _ in 0..<3 {
                for number in 1...9 {
                    #expect(try Int.fetchOne(db.cachedStatement(sql: "SELECT \(number)")) == number)
                }
                #expect(try String.fetchOne(db.cachedStatement(sql: composed))?.utf8.count == 2)
                #expect(try String.fetchOne(db.cachedStatement(sql: decomposed))?.utf8.count == 3)
            }
            // Those that were not used for long go.
            for number in 0..<1000 { _ = try db.cachedStatement(sql: "SELECT 'text \(number)'") }
            #expect(try Int.fetchOne(db.cachedStatement(sql: "SELECT 1")) == 1)
        }
        let isKept = try queue.inDatabase { db in
            try db.cachedStatement(sql: "SELECT 2") === db.cachedStatement(sql: "SELECT 2")
        }
        #expect(isKept)
        queue.releaseMemory()
        let left = queue.inDatabase { SQLiteHandle.firstStatement($0.handle) }
        #expect(left == nil)
    }

    @Test func argumentsAreForgottenAfterTheRun() throws {
        let queue = try makeQueue()
        try queue.inDatabase { db in
            for name in ["Arthur", "Barbara", "Craig"] {
                try db.execute(sql: Self.insertion, arguments: [name, 1])
            }
            let statement = try #require(db.recurringStatements[Self.insertion])
            #expect(statement.arguments.isEmpty)
            _ = try statement.step()
            let empty = try Row.fetchOne(db, sql: "SELECT * FROM player WHERE name IS NULL AND score IS NULL")
            #expect(empty != nil)
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM player") == 4)
        }
    }

    @Test func textsThatActWhenTheyArePreparedOrMayHoldKeysAreNotKept() throws {
        let queue = try makeQueue()
        try queue.inDatabase { db in
            let texts = [
                "ATTACH DATABASE ':memory:' AS other KEY 'a secret'", "DETACH DATABASE other",
                "PRAGMA user_version = 3", "CREATE TABLE made (a)", "DROP TABLE made",
            ]
            for _ in 0..<3 {
                for text in texts { try db.execute(sql: text) }
                _ = try Int.fetchOne(db, sql: "PRAGMA user_version")
            }
            #expect((texts + ["PRAGMA user_version"]).allSatisfy { db.recurringStatements[$0] == nil })
        }
    }

    @Test func aChangeOfTheSchemaIsSeen() throws {
        let queue = try makeQueue()
        try queue.inDatabase { db in
            let query = "SELECT * FROM player"
            try db.execute(sql: Self.insertion, arguments: ["Arthur", 1])
            for _ in 0..<3 {
                let row = try Row.fetchOne(db, sql: query)
                #expect(row?.columnNames.count == 3)
            }
            try db.execute(sql: "ALTER TABLE player ADD COLUMN team TEXT DEFAULT 'Reds'")
            let row = try Row.fetchOne(db, sql: query)
            #expect(row?["team"] == "Reds")
            try db.execute(sql: "DROP TABLE player")
            #expect(throws: DatabaseError.self) { try Row.fetchOne(db, sql: query) }
        }
    }

    @Test func anotherConnectionsChangeOfTheSchemaIsSeen() throws {
        let folder = try TemporaryFolder()
        let one = try DatabaseQueue(path: folder.file("shared.db"))
        let other = try DatabaseQueue(path: folder.file("shared.db"))
        try one.write { try $0.execute(sql: "CREATE TABLE player (id); INSERT INTO player VALUES (1)") }
        let query = "SELECT * FROM player"
        for _ in 0..<3 {
            let row = try one.read { try Row.fetchOne($0, sql: query) }
            #expect(row?.columnNames == ["id"])
        }
        try other.write { try $0.execute(sql: "ALTER TABLE player ADD COLUMN name DEFAULT 'Arthur'") }
        let row = try one.read { try Row.fetchOne($0, sql: query) }
        #expect(row?.columnNames == ["id", "name"])
        #expect(row?["name"] == "Arthur")
    }

    @Test func aTextThatRunsWithinItselfHasAStatementOfItsOwn() throws {
        let queue = try makeQueue()
        try queue.inDatabase { db in
            let query = "SELECT nested(?)"
            let nested = DatabaseFunction("nested", argumentCount: 1) { values in
                let depth = Int.fromDatabaseValue(values[0]) ?? 0
                guard depth > 0 else { return 0 }
                let value = try queue.unsafeReentrantRead {
                    try Int.fetchOne($0, sql: query, arguments: [depth - 1])
                }
                return value.map { $0 + 1 }
            }
            db.add(function: nested)
            for _ in 0..<3 {
                let value = try Int.fetchOne(db, sql: query, arguments: [5])
                #expect(value == 5)
            }
        }
    }

    @Test func anErrorLeavesTheStatementUsable() throws {
        let queue = try makeQueue()
        try queue.inDatabase { db in
            for name in ["Arthur", "Barbara"] { try db.execute(sql: Self.insertion, arguments: [name, 1]) }
            let error = #expect(throws: DatabaseError.self) {
                try db.execute(sql: Self.insertion, arguments: ["Arthur", 1])
            }
            #expect(error?.extendedResultCode == .SQLITE_CONSTRAINT_UNIQUE)
            #expect(error?.sql == Self.insertion)
            try db.execute(sql: Self.insertion, arguments: ["Craig", 1])
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM player") == 3)
        }
    }

    @Test func theCountOfArgumentsIsCheckedAsInTheFirstRun() throws {
        let queue = try makeQueue()
        try queue.inDatabase { db in
            let query = "SELECT ? + :more"
            for _ in 0..<3 {
                #expect(try Int.fetchOne(db, sql: query, arguments: [1] + ["more": 2]) == 3)
                #expect(throws: DatabaseError.self) { try Int.fetchOne(db, sql: query, arguments: [1]) }
                for arguments: StatementArguments in [["x"], ["x", 1, 2], []] {
                    #expect(throws: DatabaseError.self) {
                        try db.inSavepoint {
                            try db.execute(sql: Self.insertion, arguments: arguments)
                            return .commit
                        }
                    }
                }
                try db.execute(sql: Self.insertion, arguments: [nil, 1])
            }
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM player") == 3)
        }
    }

    @Test func whoObservesLaterIsTold() throws {
        final class Observer: TransactionObserver {
            var events = 0
            func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
            func databaseDidChange(with event: DatabaseEvent) { events += 1 }
            func databaseDidCommit(_ db: Database) {}
            func databaseDidRollback(_ db: Database) {}
        }
        let queue = try makeQueue()
        let observer = Observer()
        let deletion = "DELETE FROM player"
        try queue.inDatabase { db in
            for _ in 0..<3 {
                try db.execute(sql: Self.insertion, arguments: ["Arthur", 1])
                try db.execute(sql: deletion)
            }
            db.add(transactionObserver: observer)
            try db.execute(sql: Self.insertion, arguments: ["Arthur", 1])
            try db.execute(sql: deletion)
        }
        #expect(observer.events == 2)
    }

    @Test func whatMayNotWriteIsRefusedAsBefore() throws {
        let queue = try makeQueue()
        try queue.write { db in
            for _ in 0..<3 { try db.execute(sql: Self.insertion, arguments: [nil, 1]) }
        }
        let error = #expect(throws: DatabaseError.self) {
            try queue.read { try $0.execute(sql: Self.insertion, arguments: [nil, 1]) }
        }
        #expect(error?.resultCode == .SQLITE_READONLY)
        try queue.close()
    }

    @Test func whileSQLIsNotTrustedNothingIsKeptOrUsed() throws {
        let queue = try makeQueue()
        try queue.inDatabase { db in
            for _ in 0..<3 { try db.execute(sql: Self.insertion, arguments: [nil, 1]) }
            let query = "SELECT count(*) FROM player"
            try db.restrictedToUntrustedSQL {
                let error = #expect(throws: DatabaseError.self) {
                    try db.execute(sql: Self.insertion, arguments: [nil, 1])
                }
                #expect(error?.resultCode == .SQLITE_AUTH)
                for _ in 0..<3 {
                    let count = try Int.fetchOne(db, sql: query)
                    #expect(count == 3)
                }
            }
            #expect(db.recurringStatements[query] == nil)
            try db.execute(sql: Self.insertion, arguments: [nil, 1])
            #expect(try Int.fetchOne(db, sql: query) == 4)
        }
    }
}
