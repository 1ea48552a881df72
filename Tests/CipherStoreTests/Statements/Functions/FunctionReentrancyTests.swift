import Foundation
import Testing

@testable import CipherStore

/// SQL functions that use the connection that is calling them.
@Suite struct FunctionReentrancyTests {
    private func makeQueue() throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE t (a); CREATE TABLE u (b); INSERT INTO u VALUES (1), (2), (3)")
        }
        return queue
    }

    /// Adds a function that inserts a row in a savepoint, which an interruption ends.
    private func addInterruptedFunction(_ queue: DatabaseQueue, _ db: Database) {
        db.add(
            function: DatabaseFunction("interrupted", argumentCount: 0) { _ in
                try queue.unsafeReentrantWrite { db in
                    try db.inSavepoint {
                        try db.execute(sql: "INSERT INTO t VALUES (10)")
                        db.interrupt()
                        // SQLite rolls back by itself for a statement that writes.
                        _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM u")
                        return .commit
                    }
                }
                return 1
            })
    }

    // MARK: Interruptions

    @Test(arguments: [true, false])
    func anInterruptedSavepointOfAFunctionIsUndone(inTransaction: Bool) throws {
        let queue = try makeQueue()
        try queue.inDatabase { db in
            addInterruptedFunction(queue, db)
            let error = #expect(throws: DatabaseError.self) {
                let statement = "SELECT b, interrupted() FROM u ORDER BY b"
                guard inTransaction else { return try db.execute(sql: statement) }
                try db.inTransaction {
                    try db.execute(sql: statement)
                    return .commit
                }
            }
            #expect(error?.resultCode == .SQLITE_INTERRUPT)
            try db.execute(sql: "INSERT INTO t VALUES (1)")
            #expect(!db.isInsideTransaction)
            #expect(try Int.fetchAll(db, sql: "SELECT a FROM t") == [1])
        }
    }

    @Test func nothingOfTheSavepointIsCommittedWithTheTransactionAroundIt() throws {
        let queue = try makeQueue()
        try queue.write { db in
            addInterruptedFunction(queue, db)
            try db.execute(sql: "INSERT INTO t VALUES (1)")
            #expect(throws: DatabaseError.self) {
                try db.execute(sql: "SELECT b, interrupted() FROM u ORDER BY b")
            }
        }
        #expect(try queue.read { try Int.fetchAll($0, sql: "SELECT a FROM t") } == [1])
    }

    @Test func aTransactionThatAFunctionCouldNotEndIsEndedAtTheLatestWithTheAccess() throws {
        let queue = try makeQueue()
        queue.inDatabase { db in
            addInterruptedFunction(queue, db)
            #expect(throws: DatabaseError.self) { try db.execute(sql: "SELECT interrupted() FROM u") }
        }
        #expect(try queue.read { try Int.fetchAll($0, sql: "SELECT a FROM t") } == [])
    }

    @Test func aReadOnlyBlockOfAFunctionThatIsInterruptedEndsNevertheless() throws {
        let queue = try makeQueue()
        try queue.inDatabase { db in
            db.add(
                function: DatabaseFunction("interrupted", argumentCount: 0) { _ in
                    try queue.unsafeReentrantWrite { db in try db.readOnly { db.interrupt() } }
                    return 1
                })
            #expect(throws: DatabaseError.self) { try db.execute(sql: "SELECT interrupted() FROM u") }
            _ = try db.readOnly {
                #expect(throws: DatabaseError.self) { try db.execute(sql: "INSERT INTO t VALUES (1)") }
            }
            try db.execute(sql: "INSERT INTO t VALUES (1)")
        }
    }

    // MARK: The statement that is running

    enum Use: CaseIterable {
        case execute, step, arguments, unchecked, fetch
    }

    private func use(_ statement: Statement, _ use: Use) throws {
        switch use {
        case .execute: try statement.execute()
        case .step: _ = try statement.step()
        case .arguments: try statement.setArguments([100])
        case .unchecked:
            statement.setUncheckedArguments([100])
            try statement.execute()
        case .fetch: _ = try Int.fetchAll(statement, arguments: [100])
        }
    }

    @Test(arguments: Use.allCases) func aFunctionCantUseTheStatementThatCallsIt(_ kind: Use) throws {
        try makeQueue().inDatabase { db in
            // One thread at a time uses the connection, its functions included.
            nonisolated(unsafe) let call = RunningCall()
            db.add(
                function: DatabaseFunction("again", argumentCount: 1) { values in
                    if call.isActive, let running = call.statement, values[0] == 2.databaseValue {
                        try use(running, kind)
                    }
                    return values[0]
                })
            let statement = try db.makeStatement(sql: "SELECT again(b) + ? FROM u ORDER BY b")
            call.statement = statement
            let error = #expect(throws: DatabaseError.self) {
                try Int.fetchAll(statement, arguments: [10])
            }
            #expect(error?.resultCode == .SQLITE_MISUSE)
            call.isActive = false
            #expect(try Int.fetchAll(statement, arguments: [10]) == [11, 12, 13])
        }
    }

    @Test func aFunctionCantResetTheStatementThatCallsIt() throws {
        try makeQueue().inDatabase { db in
            nonisolated(unsafe) var running: Statement?
            db.add(
                function: DatabaseFunction("again", argumentCount: 1) { values in
                    running?.reset()
                    return values[0]
                })
            let statement = try db.makeStatement(sql: "INSERT INTO t SELECT again(b) FROM u ORDER BY b")
            running = statement
            try statement.execute()
            #expect(try Int.fetchAll(db, sql: "SELECT a FROM t") == [1, 2, 3])
        }
    }

    @Test func aFunctionCantMoveTheCursorThatCallsIt() throws {
        try makeQueue().inDatabase { db in
            nonisolated(unsafe) var running: FastDatabaseValueCursor<Int>?
            nonisolated(unsafe) var errors: [any Error] = []
            db.add(
                function: DatabaseFunction("again", argumentCount: 1) { values in
                    do {
                        _ = try running?.next()
                    } catch {
                        errors.append(error)
                    }
                    return values[0]
                })
            let cursor = try Int.fetchCursor(db, sql: "SELECT again(b) FROM u ORDER BY b")
            running = cursor
            #expect(try Array(cursor) == [1, 2, 3])
            #expect(
                errors.compactMap { ($0 as? DatabaseError)?.resultCode } == [
                    .SQLITE_MISUSE, .SQLITE_MISUSE, .SQLITE_MISUSE,
                ])
            running = nil
        }
    }

    @Test func aFunctionMayMoveOtherCursorsAndRunOtherStatements() throws {
        try makeQueue().inDatabase { db in
            nonisolated(unsafe) let connection = db
            nonisolated(unsafe) let other = try Int.fetchCursor(
                db, sql: "SELECT b * 10 FROM u ORDER BY b")
            nonisolated(unsafe) let counting = try db.makeStatement(sql: "SELECT count(*) FROM u")
            db.add(
                function: DatabaseFunction("others", argumentCount: 1) { values in
                    let next = try other.next() ?? 0
                    let count = try Int.fetchOne(counting) ?? 0
                    let nested = try Int.fetchOne(connection, sql: "SELECT max(b) FROM u") ?? 0
                    return next + 100 * count + 1000 * nested
                })
            let sums = try Int.fetchAll(db, sql: "SELECT others(b) FROM u ORDER BY b")
            #expect(sums == [3310, 3320, 3330])
        }
    }

    @Test func functionsThatCallFunctionsMayNotUseAnyStatementAroundThem() throws {
        try makeQueue().inDatabase { db in
            nonisolated(unsafe) let connection = db
            nonisolated(unsafe) var outer: Statement?
            db.add(
                function: DatabaseFunction("innerCall", argumentCount: 0) { _ in
                    try outer?.execute()
                    return 1
                })
            db.add(
                function: DatabaseFunction("outerCall", argumentCount: 0) { _ in
                    try Int.fetchOne(connection, sql: "SELECT innerCall()")
                })
            let statement = try db.makeStatement(sql: "SELECT outerCall() FROM u")
            outer = statement
            let error = #expect(throws: DatabaseError.self) { try statement.execute() }
            #expect(error?.resultCode == .SQLITE_MISUSE)
            outer = nil
            try statement.execute()
        }
    }
}

/// The statement that a function is called by, and whether the function is to use it.
private final class RunningCall {
    var statement: Statement?
    var isActive = true
}
