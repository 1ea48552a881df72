import Foundation
import Testing

@testable import CipherStore

/// Statements that do without a statement journal on tables that are tracked for synchronization.
@Suite struct JournalFreeStatementTests {
    /// A table with triggers that append to a log, as tracked ones have them.
    private static let schema = """
        CREATE TABLE _sync_state (applying INTEGER);
        INSERT INTO _sync_state VALUES (0);
        CREATE TABLE _sync_log (seq INTEGER PRIMARY KEY, op INTEGER NOT NULL, pk NOT NULL CHECK (pk <> 'bad'));
        CREATE TABLE list (id TEXT PRIMARY KEY);
        INSERT INTO list VALUES ('list');
        CREATE TABLE note (
            id TEXT PRIMARY KEY NOT NULL, title TEXT UNIQUE, size INTEGER CHECK (size < 10), list TEXT REFERENCES list);
        CREATE TRIGGER _sync_i_1 AFTER INSERT ON note WHEN (SELECT applying FROM _sync_state) = 0 BEGIN
            INSERT INTO _sync_log (op, pk) VALUES (1, NEW.id);
        END;
        CREATE TRIGGER _sync_u0_1 AFTER UPDATE ON note WHEN (SELECT applying FROM _sync_state) = 0 BEGIN
            INSERT INTO _sync_log (op, pk) VALUES (2, NEW.id);
        END;
        """

    private static let insertion = "INSERT INTO note (id, title, size, list) VALUES (?, ?, ?, ?)"
    private static let update = "UPDATE note SET title = ?, size = ?, list = ? WHERE id = ?"

    private func makeQueue(_ sql: String = "") throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write { try $0.execute(sql: Self.schema + sql) }
        return queue
    }

    private func isExpected() -> Bool { EngineFeatures.current.encryptsStatementJournals }

    /// Runs a statement twice, and tells whether it would do without a journal from then on.
    private func isUsed(_ db: Database, _ sql: String, _ arguments: [StatementArguments]) throws -> Bool {
        let statement = try db.makeStatement(sql: sql)
        for arguments in arguments { try statement.execute(arguments: arguments) }
        return statement.journalFree?.isUsed == true
    }

    @Test func statementsThatRunAgainInATransactionDoWithoutAJournal() throws {
        let queue = try makeQueue()
        try queue.write { db in
            let statement = try db.makeStatement(sql: Self.insertion)
            for number in 0..<3 {
                try statement.execute(arguments: ["\(number)", "t\(number)", number, "list"])
                #expect((statement.journalFree?.isUsed == true) == (isExpected() && number > 0))
                #expect(db.changesCount == 1)
                #expect(db.lastInsertedRowID == Int64(number + 1))
            }
            #expect(
                try isUsed(
                    db, Self.update, [["a", 1, nil, "0"], ["b", 2, "list", "1"], ["c", 3, nil, "none"]])
                    == isExpected())
            #expect(db.changesCount == 0)
            #expect(try Int.fetchAll(db, sql: "SELECT op FROM _sync_log ORDER BY seq") == [1, 1, 1, 2, 2])
            #expect(try String.fetchAll(db, sql: "SELECT title FROM note ORDER BY id") == ["a", "b", "t2"])
        }
    }

    @Test func theArgumentsThatWereSetStay() throws {
        let queue = try makeQueue()
        try queue.write { db in
            let statement = try db.makeStatement(sql: "UPDATE note SET size = size + 1 WHERE id = ?")
            try db.execute(sql: Self.insertion, arguments: ["0", nil, 0, nil])
            statement.setUncheckedArguments(["0"])
            for _ in 0..<4 { try statement.execute() }
            #expect(try Int.fetchOne(db, sql: "SELECT size FROM note") == 4)
            #expect(statement.arguments == ["0"])
        }
    }

    /// A failure leaves what a statement of SQLite alone leaves: nothing, and a transaction that goes on.
    @Test(arguments: 0..<20) func resultsAreThoseOfTheStatementAsItIs(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let queues = try [makeQueue(), makeQueue()]
        let runs: [(sql: String, arguments: [DatabaseValue])] = (0..<150).map { _ in
            let values: [DatabaseValue] = [
                ["a", "b", nil].randomElement(using: &random).flatMap { $0 }.map { $0.databaseValue }
                    ?? .null,
                Int.random(in: 7...10, using: &random).databaseValue,
                ["list", "list", "none", nil].randomElement(using: &random).flatMap { $0 }.map {
                    $0.databaseValue
                } ?? .null,
            ]
            let key: DatabaseValue =
                Int.random(in: 0..<8, using: &random) == 0
                ? .null : "\(Int.random(in: 0..<6, using: &random))".databaseValue
            return Bool.random(using: &random)
                ? (Self.insertion, [key] + values) : (Self.update, values + [key])
        }
        var outcomes: [[String]] = []
        for (index, queue) in queues.enumerated() {
            var outcome: [String] = []
            try queue.write { db in
                let kept = try Dictionary(
                    uniqueKeysWithValues: [Self.insertion, Self.update].map {
                        ($0, try db.makeStatement(sql: $0))
                    })
                for (sql, arguments) in runs {
                    // A statement that runs once runs as it is.
                    let statement = try index == 0 ? kept[sql] : db.makeStatement(sql: sql)
                    do {
                        try #require(statement).execute(arguments: StatementArguments(arguments))
                        outcome.append("\(db.changesCount) \(db.lastInsertedRowID)")
                    } catch let error as DatabaseError {
                        outcome.append(
                            "\(error.extendedResultCode) \(error.message ?? "") \(error.sql ?? "")")
                    }
                    #expect(db.isInsideTransaction)
                }
                #expect((kept[Self.insertion]?.journalFree?.isUsed == true) == (isExpected() && index == 0))
                for table in ["note", "_sync_log"] {
                    outcome += try Row.fetchAll(db, sql: "SELECT * FROM \(table) ORDER BY rowid").map(
                        \.description)
                }
            }
            outcomes.append(outcome)
        }
        #expect(outcomes[0] == outcomes[1])
        #expect(
            outcomes[0].contains { $0.contains("UNIQUE") }
                && outcomes[0].contains { $0.contains("FOREIGN KEY") })
    }

    @Test(arguments: [
        "CREATE TRIGGER mine AFTER INSERT ON note BEGIN SELECT 1; END",
        "CREATE TEMP TRIGGER mine AFTER INSERT ON note BEGIN SELECT 1; END",
    ])
    func otherTriggersThatComeAreNoticed(change: String) throws {
        let queue = try makeQueue()
        let update = "UPDATE note SET title = ? WHERE id = ?"
        try queue.write { db in
            let insertion = try db.makeStatement(sql: Self.insertion)
            for number in 0..<2 { try insertion.execute(arguments: ["\(number)", nil, 1, nil]) }
            #expect((insertion.journalFree?.isUsed == true) == isExpected())
            #expect(try isUsed(db, update, [["x", "1"], ["y", "1"]]) == isExpected())
            try db.execute(sql: change)
            try insertion.execute(arguments: ["2", nil, 1, nil])
            #expect(insertion.journalFree?.isUsed != true)
            #expect(try !isUsed(db, update, [["x", "1"], ["y", "1"]]))
        }
    }

    @Test(arguments: [
        // What the table says for its conflicts.
        "CREATE TABLE other (id TEXT PRIMARY KEY, title TEXT UNIQUE ON CONFLICT REPLACE)",
        // One value may be equal to several keys.
        "CREATE TABLE other (id TEXT COLLATE NOCASE, title TEXT, PRIMARY KEY (id COLLATE BINARY))",
        // Changes of a row may change others.
        "CREATE TABLE other (id TEXT PRIMARY KEY, title TEXT UNIQUE); CREATE TABLE child (x REFERENCES other (title) ON UPDATE CASCADE)",
        "CREATE TABLE other (id TEXT, title TEXT, PRIMARY KEY (id, title))",
    ])
    func tablesForWhichItMayMeanSomethingElseAreLeftAlone(schema: String) throws {
        let queue = try makeQueue(
            "\(schema); CREATE TRIGGER _sync_u0_2 AFTER UPDATE ON other BEGIN SELECT 1; END;")
        try queue.write { db in
            let update = "UPDATE other SET title = ? WHERE id = ?"
            #expect(try !isUsed(db, update, [["x", "1"], ["y", "1"], ["z", "1"]]))
            #expect(try !isUsed(db, "UPDATE note SET id = ? WHERE id = ?", [["x", "1"], ["y", "1"]]))
            #expect(try !isUsed(db, "UPDATE note SET title = ? WHERE title = ?", [["x", "1"], ["y", "1"]]))
            try db.execute(sql: "CREATE TEMP TABLE note AS SELECT * FROM main.note")
            #expect(try !isUsed(db, Self.update, [["a", 1, nil, "0"], ["b", 2, "list", "1"]]))
        }
    }

    @Test func anUpdateByTheKeyDoesWithoutAJournalWhereThereAreNoTriggers() throws {
        let queue = try makeQueue(
            "CREATE TABLE plain (id INTEGER PRIMARY KEY, size INTEGER NOT NULL UNIQUE);")
        try queue.write { db in
            #expect(try !isUsed(db, "INSERT INTO plain VALUES (?, ?)", [[1, 1], [2, 2], [3, 3]]))
            let update = try db.makeStatement(
                sql: "UPDATE plain SET size = :size WHERE id = :id AND size <> 7")
            for size in 10..<13 { try update.execute(arguments: ["size": size, "id": 2]) }
            #expect((update.journalFree?.isUsed == true) == isExpected())
            #expect(throws: DatabaseError.self) { try update.execute(arguments: ["size": 3, "id": 2]) }
            #expect(try Int.fetchAll(db, sql: "SELECT size FROM plain ORDER BY id") == [1, 12, 3])
            try db.execute(sql: "CREATE TRIGGER mine AFTER UPDATE ON plain BEGIN SELECT 1; END")
            try update.execute(arguments: ["size": 4, "id": 2])
            #expect(update.journalFree?.isUsed != true)
        }
    }

    @Test func outsideOfATransactionTheStatementRunsAsItIs() throws {
        let queue = try makeQueue()
        try queue.inDatabase { db in
            let isUsed = try isUsed(
                db, Self.insertion, [["0", nil, 0, nil], ["1", nil, 0, nil], ["2", nil, 0, nil]])
            #expect(!isUsed)
        }
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM _sync_log") } == 3)
    }

    /// Somebody has tampered with the log: a change that was not logged must not be committed.
    @Test func aFailureOfTheLogLeavesNoChangeThatIsNotLogged() throws {
        let queue = try makeQueue()
        try queue.inDatabase { db in
            let insertion = try db.makeStatement(sql: Self.insertion)
            try db.beginTransaction()
            for number in 0..<3 { try insertion.execute(arguments: ["\(number)", nil, 1, nil]) }
            #expect(throws: DatabaseError.self) { try insertion.execute(arguments: ["bad", nil, 1, nil]) }
            #expect(db.isInsideTransaction != isExpected())
            try db.rollback()
            // It is no fault of the next transaction.
            try db.beginTransaction()
            for number in 0..<3 { try insertion.execute(arguments: ["\(number)", nil, 1, nil]) }
            insertion.arguments = ["0", nil, 1, nil]
            #expect(throws: DatabaseError.self) { try insertion.step() }
            #expect(db.isInsideTransaction)
            try db.commit()
            #expect(try String.fetchAll(db, sql: "SELECT id FROM note") == ["0", "1", "2"])
            #expect(try String.fetchAll(db, sql: "SELECT pk FROM _sync_log") == ["0", "1", "2"])
        }
    }

    @Test(arguments: [
        "CREATE INDEX tampered ON _sync_log (fails(pk))", "CREATE INDEX computed ON note (fails(size))",
        "CREATE INDEX partial ON note (size) WHERE title <> 'x'",
    ])
    func whatCanFailWhileARowIsWrittenRunsAsItIs(index: String) throws {
        let queue = try makeQueue()
        try queue.write { db in
            db.add(
                function: DatabaseFunction("fails", argumentCount: 1, pure: true) { values in
                    guard values[0] != "bad".databaseValue, values[0] != 7.databaseValue else {
                        throw DatabaseError(message: "it fails")
                    }
                    return values[0]
                })
            try db.execute(sql: index)
            #expect(
                try !isUsed(
                    db, Self.insertion, [["0", "a", 1, nil], ["1", "b", 1, nil], ["2", "c", 1, nil]]))
            #expect(
                try !isUsed(db, Self.update, [["x", 1, nil, "0"], ["y", 2, nil, "1"], ["z", 3, nil, "2"]]))
        }
    }

    /// SQLite does not set the number of changes for a statement that has to wait.
    @Test func aBusyDatabaseRollsNothingBack() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/busy.db"
        let queue = try DatabaseQueue(path: path)
        let other = try DatabaseQueue(path: path)
        try queue.write { try $0.execute(sql: Self.schema) }
        try queue.inDatabase { db in
            let insertion = try db.makeStatement(sql: Self.insertion)
            try db.inTransaction {
                for number in 0..<3 { try insertion.execute(arguments: ["\(number)", nil, 1, nil]) }
                return .commit
            }
            try db.beginTransaction(.deferred)
            _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM note")
            try other.inDatabase { writer in
                try writer.beginTransaction(.immediate)
                let error = #expect(throws: DatabaseError.self) {
                    try insertion.execute(arguments: ["3", nil, 1, nil])
                }
                #expect(error?.resultCode == .SQLITE_BUSY)
                #expect(db.isInsideTransaction)
                try writer.rollback()
            }
            try insertion.execute(arguments: ["3", nil, 1, nil])
            try db.commit()
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM note") == 4)
        }
    }

    @Test func whoTracesSeesTheStatementsOfTheApp() throws {
        let queue = try makeQueue()
        try queue.write { db in
            nonisolated(unsafe) var texts: [String] = []
            let update = try db.makeStatement(sql: "UPDATE note SET size = 2 WHERE id = '1'")
            try update.execute()
            db.trace { texts.append("\($0)") }
            for _ in 0..<3 { try update.execute() }
            db.trace(options: [])
            #expect(texts == Array(repeating: update.sql, count: 3))
        }
    }

    /// The C API changes the schema, of which nobody hears, and the statement can't be prepared again.
    @Test func aRunThatNeverBeganRollsNothingBack() throws {
        let queue = try makeQueue()
        try queue.write { db in
            let insertion = try db.makeStatement(sql: Self.insertion)
            for number in 0..<3 { try insertion.execute(arguments: ["\(number)", nil, 1, nil]) }
            #expect(SQLiteHandle.execute(db.handle, "ALTER TABLE note RENAME TO other") == 0)
            #expect(throws: DatabaseError.self) { try insertion.execute(arguments: ["3", nil, 1, nil]) }
            #expect(db.isInsideTransaction)
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM other") == 3)
        }
    }

    @Test func aFunctionThatItCallsCannotUseTheStatement() throws {
        let queue = try makeQueue()
        try queue.write { db in
            // The function runs on the connection's thread, within this block.
            nonisolated(unsafe) var caught: (any Error)?
            nonisolated(unsafe) var statement: Statement?
            db.add(
                function: DatabaseFunction("again", argumentCount: 0) { _ in
                    do { try statement?.execute(arguments: ["x"]) } catch { caught = error }
                    return 1
                })
            statement = try db.makeStatement(sql: "INSERT INTO note (id, size) VALUES (?, again())")
            for number in 0..<3 {
                caught = nil
                try statement?.execute(arguments: ["\(number)"])
                #expect(caught is DatabaseError)
            }
            #expect(try String.fetchAll(db, sql: "SELECT id FROM note ORDER BY id") == ["0", "1", "2"])
        }
    }

    /// An observation that begins after the first run of a statement, and of the columns that it changes.
    @Test func observersSeeTheChanges() throws {
        final class Recorder: TransactionObserver {
            var events: [String] = []
            func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool {
                if case .update("note", let columns) = eventKind { return columns.contains("size") }
                return eventKind.tableName == "note"
            }
            func databaseDidChange(with event: DatabaseEvent) {
                events.append("\(event.kind == .insert ? "insert" : "update") \(event.rowID)")
            }
            func databaseDidCommit(_ db: Database) { events.append("commit") }
            func databaseDidRollback(_ db: Database) {}
        }
        let queue = try makeQueue()
        let recorder = Recorder()
        try queue.inDatabase { db in
            let insertion = try db.makeStatement(sql: Self.insertion)
            let update = try db.makeStatement(sql: Self.update)
            try db.inTransaction {
                try insertion.execute(arguments: ["0", nil, 0, nil])
                try update.execute(arguments: ["x", 1, nil, "0"])
                return .commit
            }
            db.add(transactionObserver: recorder)
            try db.inTransaction {
                for number in 1...2 {
                    try insertion.execute(arguments: ["\(number)", nil, 0, nil])
                    try update.execute(arguments: ["of \(number)", 1, nil, "\(number)"])
                }
                return .commit
            }
            #expect((update.journalFree?.isUsed == true) == isExpected())
        }
        #expect(recorder.events == ["insert 2", "update 2", "insert 3", "update 3", "commit"])
    }
}
