import Foundation
import Testing

@testable import CipherStore

/// Each kind of bad input, by SQL, records and requests, in a queue and a pool,
/// plain and encrypted: the error is typed and says what is wrong, the
/// transaction is rolled back, and the connection goes on.
@Suite struct BadInputTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    struct Player: Codable, Equatable, FetchableRecord, PersistableRecord {
        static let databaseTableName = "player"
        var id: Int64?
        var name: String
        var score: Int
    }

    struct Manual: FetchableRecord, PersistableRecord {
        static let databaseTableName = "player"
        var id: Int64?
        var name: String
        var score: Int

        init(id: Int64?, name: String, score: Int) {
            self.id = id
            self.name = name
            self.score = score
        }

        init(row: Row) throws {
            id = try row.decodeIfPresent(forColumn: "id")
            name = try row.decode(forColumn: "name")
            score = try row.decode(forColumn: "score")
        }

        func encode(to container: inout PersistenceContainer) {
            container["id"] = id
            container["name"] = name
            container["score"] = score
        }
    }

    struct Ghost: Codable, FetchableRecord, PersistableRecord {
        static let databaseTableName = "no such \"table\""
        var id: Int64
    }

    struct ManualGhost: FetchableRecord, PersistableRecord {
        static let databaseTableName = "no such \"table\""
        init() {}
        init(row: Row) {}
        func encode(to container: inout PersistenceContainer) { container["id"] = 1 }
    }

    struct Event: Codable, FetchableRecord {
        var id: Int64
        var score: Date
    }

    struct ManualEvent: FetchableRecord {
        var score: Date
        init(row: Row) throws { score = try row.decode(forColumn: "score") }
    }

    /// A record with a column that the table does not have.
    struct Extra: Codable, FetchableRecord, PersistableRecord {
        static let databaseTableName = "player"
        var id: Int64?
        var name = "x"
        var score = 1
        var nickname = "y"
    }

    private func makeStore(_ kind: StoreKind) throws -> any DatabaseWriter {
        let store = try kind.open(folder.file("a.db"))
        try store.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE player (
                        id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, score INTEGER NOT NULL CHECK (score >= 0));
                    INSERT INTO player VALUES (1, 'Arthur', 10), (2, 'Barbara', 20);
                    CREATE TABLE odd (id INTEGER PRIMARY KEY, name, score);
                    INSERT INTO odd VALUES (1, NULL, 10), (2, 'Barbara', 'twenty'), (3, x'FF', x'00');
                    CREATE TABLE both (a INTEGER, b TEXT, PRIMARY KEY (a, b));
                    """)
        }
        return store
    }

    private struct Attempt {
        let name: String
        let body: (Database) throws -> Void

        init(_ name: String, _ body: @escaping (Database) throws -> Void) {
            self.name = name
            self.body = body
        }
    }

    /// Runs each attempt in a write that has changed something before, and in a
    /// read; expects the error, and that nothing else has happened.
    private func expectErrors(
        _ kind: StoreKind, _ attempts: [Attempt], sourceLocation: SourceLocation = #_sourceLocation,
        _ isExpected: (any Error) -> Bool
    ) throws {
        let store = try makeStore(kind)
        for attempt in attempts {
            let comment: Comment = "\(attempt.name)"
            for isWriting in [true, false] {
                var caught: (any Error)?
                do {
                    if isWriting {
                        try store.write { db in
                            try Player(id: 99, name: "undone", score: 1).insert(db)
                            try attempt.body(db)
                        }
                    } else {
                        try store.read(attempt.body)
                    }
                } catch {
                    caught = error
                }
                // A read refuses what writes, by the same type of error.
                let isRight = caught.map { isExpected($0) || (!isWriting && isRefusal($0)) } ?? false
                #expect(
                    isRight, "\(comment): \(caught.map { "\($0)" } ?? "no error")",
                    sourceLocation: sourceLocation)
            }
            let names = try store.read { try String.fetchAll($0, sql: "SELECT name FROM player ORDER BY id") }
            #expect(names == ["Arthur", "Barbara"], comment, sourceLocation: sourceLocation)
            try store.write { try Player(id: 1, name: "Arthur", score: 10).update($0) }
        }
        try store.close()
    }

    private func isRefusal(_ error: any Error) -> Bool {
        (error as? DatabaseError)?.resultCode == .SQLITE_READONLY
    }

    private func says(_ text: String, _ code: ResultCode = .SQLITE_ERROR) -> (any Error) -> Bool {
        { error in
            guard let error = error as? DatabaseError else { return false }
            return error.resultCode == code && "\(error)".contains(text)
        }
    }

    // MARK: Tables and columns

    @Test(arguments: StoreKind.all) func aMissingTable(_ kind: StoreKind) throws {
        let table = Table("no such \"table\"")
        try expectErrors(
            kind,
            [
                Attempt("execute") { try $0.execute(sql: "DELETE FROM \"no such \"\"table\"\"\"") },
                Attempt("rows") { _ = try Row.fetchAll($0, sql: "SELECT * FROM \"no such \"\"table\"\"\"") },
                Attempt("value") { _ = try Int.fetchOne($0, sql: "SELECT 1 FROM \"no such \"\"table\"\"\"") },
                Attempt("literal") { db in
                    let request: SQLRequest<Int> = "SELECT 1 FROM \(table)"
                    _ = try Int.fetchOne(db, request)
                },
                Attempt("prepare") {
                    _ = try $0.makeStatement(sql: "SELECT * FROM \"no such \"\"table\"\"\"")
                },
                Attempt("insert") { try Ghost(id: 1).insert($0) },
                Attempt("update") { try Ghost(id: 1).update($0) },
                Attempt("save") { try Ghost(id: 1).save($0) },
                Attempt("upsert") { try Ghost(id: 1).upsert($0) },
                Attempt("delete") { try Ghost(id: 1).delete($0) },
                Attempt("exists") { _ = try Ghost(id: 1).exists($0) },
                Attempt("insertAndFetch") { _ = try Ghost(id: 1).insertAndFetch($0) },
                Attempt("manual insert") { try ManualGhost().insert($0) },
                Attempt("manual update") { try ManualGhost().update($0) },
                Attempt("manual upsert") { try ManualGhost().upsert($0) },
                Attempt("manual delete") { try ManualGhost().delete($0) },
                Attempt("manual fetch") { _ = try ManualGhost.fetchAll($0) },
                Attempt("fetchAll") { _ = try Ghost.fetchAll($0) },
                Attempt("fetchOne key") { _ = try Ghost.fetchOne($0, key: 1) },
                Attempt("fetchOne unique") { _ = try Ghost.fetchOne($0, key: ["id": 1]) },
                Attempt("find") { _ = try Ghost.find($0, key: 1) },
                Attempt("count") { _ = try Ghost.fetchCount($0) },
                Attempt("deleteAll") { _ = try Ghost.deleteAll($0) },
                Attempt("updateAll") { _ = try Ghost.updateAll($0, Column("id").set(to: 1)) },
                Attempt("table") { _ = try table.fetchCount($0) },
                Attempt("request") { _ = try table.filter(Column("a") == 1).order(Column("b")).fetchAll($0) },
                Attempt("columns") { _ = try $0.columns(in: "no such \"table\"") },
                Attempt("primary key") { _ = try $0.primaryKey("no such \"table\"") },
                Attempt("drop") { try $0.drop(table: "no such \"table\"") },
                Attempt("dump") { try $0.dumpTables(["no such \"table\""], to: Silence()) },
            ], says("no such table: no such \"table\""))
    }

    @Test(arguments: StoreKind.all) func anUnknownColumn(_ kind: StoreKind) throws {
        let column = Column("no \"such\" ?:%")
        var attempts = [
            Attempt("sql") { _ = try Int.fetchOne($0, sql: "SELECT nickname FROM player") },
            Attempt("update sql") { try $0.execute(sql: "UPDATE player SET nickname = 1") },
            Attempt("updateAll") { _ = try Player.updateAll($0, column.set(to: 1)) },
            Attempt("insert") { try Extra().insert($0) },
            Attempt("update") { try Extra(id: 1).update($0) },
            Attempt("save") { try Extra(id: 1).save($0) },
            Attempt("upsert") { try Extra(id: 1, name: "Arthur").upsert($0) },
        ]
        // Older engines take a name in double quotes that is no column's for a text.
        if EngineFeatures.current.sqliteVersionNumber >= 3_029_000 {
            attempts += [
                Attempt("filter") { _ = try Player.filter(column == 1).fetchAll($0) },
                Attempt("order") { _ = try Player.order(column).fetchOne($0) },
                Attempt("select") { _ = try Player.select(column, as: Int.self).fetchSet($0) },
                Attempt("group") { _ = try Player.all().group(column).fetchCount($0) },
                Attempt("annotate") { _ = try Player.annotated(with: column).fetchAll($0) },
                Attempt("deleteAll") { _ = try Player.filter(column == 1).deleteAll($0) },
            ]
        }
        try expectErrors(kind, attempts) { error in
            guard let error = error as? DatabaseError else { return false }
            let text = error.message ?? ""
            return error.resultCode == .SQLITE_ERROR
                && (text.hasPrefix("no such column") || text.contains("has no column named"))
        }
    }

    @Test(arguments: StoreKind.all) func aKeyThatIsNone(_ kind: StoreKind) throws {
        try expectErrors(
            kind,
            [
                Attempt("unknown") { _ = try Player.fetchOne($0, key: ["nope": 1]) },
                Attempt("not unique") { _ = try Player.fetchOne($0, key: ["score": 10]) },
                Attempt("manual") { _ = try Manual.fetchAll($0, keys: [["score": 10]]) },
                Attempt("filter") { _ = try Player.filter(key: ["name": "x", "nope": 1]).fetchOne($0) },
                Attempt("delete") { _ = try Player.deleteOne($0, key: ["score": 10]) },
                Attempt("exists") { _ = try Player.exists($0, key: ["nope": 1]) },
                Attempt("find") { _ = try Player.find($0, key: ["score": 10]) },
                Attempt("one of two") { _ = try Table("both").filter(key: 1).fetchOne($0) },
                Attempt("one column of two") { _ = try Table("both").filter(key: ["a": 1]).fetchOne($0) },
            ]
        ) {
            let code = ($0 as? DatabaseError)?.resultCode
            return code == .SQLITE_ERROR || code == .SQLITE_MISUSE
        }
    }

    @Test(arguments: StoreKind.all) func aRecordThatIsNotThere(_ kind: StoreKind) throws {
        try expectErrors(
            kind,
            [
                Attempt("find") { _ = try Player.find($0, key: 77) },
                Attempt("find unique") { _ = try Player.find($0, key: ["name": "nobody"]) },
                Attempt("update") { try Player(id: 77, name: "x", score: 1).update($0) },
                Attempt("update without key") { try Manual(id: nil, name: "x", score: 1).update($0) },
                Attempt("updateChanges") { db in
                    var player = Player(id: 77, name: "x", score: 1)
                    try player.updateChanges(db) { $0.score = 2 }
                },
            ]
        ) { $0 is RecordError }
    }

    // MARK: Values

    @Test(arguments: StoreKind.all) func aValueOfAnotherType(_ kind: StoreKind) throws {
        try expectErrors(
            kind,
            [
                // SQLite makes a number of any text, and a text of any number; not so for these.
                Attempt("one") { _ = try UUID.fetchOne($0, sql: "SELECT 'x'") },
                Attempt("all") { _ = try Int8.fetchAll($0, sql: "SELECT 1 UNION ALL SELECT 300") },
                Attempt("set") { _ = try UUID.fetchSet($0, sql: "SELECT x'00'") },
                Attempt("cursor") { db in
                    let cursor = try Date.fetchCursor(db, sql: "SELECT 'not a date'")
                    while try cursor.next() != nil {}
                },
                Attempt("fraction") { _ = try Int.fetchOne($0, sql: "SELECT 1e300") },
                Attempt("enum") { _ = try Choice.fetchAll($0, sql: "SELECT 'two'") },
                Attempt("optional") { _ = try Date?.fetchAll($0, sql: "SELECT NULL UNION ALL SELECT 'x'") },
                Attempt("row by name") { db in
                    let row = try Row.fetchOne(db, sql: "SELECT 'x' AS a")
                    let _: Date? = try row?.decode(forColumn: "a")
                },
                Attempt("row by index") { db in
                    let row = try Row.fetchOne(db, sql: "SELECT x'FF' AS a")
                    let _: UUID? = try row?.decode(atIndex: 0)
                },
                Attempt("record") { _ = try Event.fetchAll($0, sql: "SELECT 2 AS id, 'twenty' AS score") },
                Attempt("record by request") { db in
                    _ = try Table("odd").filter(key: 2).asRequest(of: Event.self).fetchOne(db)
                },
                Attempt("manual record") { db in
                    _ = try ManualEvent.fetchOne(db, sql: "SELECT * FROM odd WHERE id = 2")
                },
                Attempt("record of a number that is too large") { db in
                    _ = try Player.fetchOne(db, sql: "SELECT 1 AS id, 'x' AS name, 1e300 AS score")
                },
                Attempt("missing column") { _ = try Player.fetchOne($0, sql: "SELECT 1 AS id, 'x' AS name") },
                Attempt("manual missing column") { _ = try Manual.fetchOne($0, sql: "SELECT 1 AS id") },
            ]
        ) { $0 is RowDecodingError }
    }

    @Test(arguments: StoreKind.all) func nullWhereAValueMustBe(_ kind: StoreKind) throws {
        try expectErrors(
            kind,
            [
                Attempt("all") { _ = try Int.fetchAll($0, sql: "SELECT 1 UNION ALL SELECT NULL") },
                Attempt("set") { _ = try String.fetchSet($0, sql: "SELECT NULL") },
                Attempt("cursor") { db in
                    let cursor = try Bool.fetchCursor(db, sql: "SELECT NULL")
                    _ = try cursor.next()
                },
                Attempt("slow cursor") { _ = try Choice.fetchAll($0, sql: "SELECT NULL") },
                Attempt("request") { db in
                    _ = try Table("odd").select(Column("name"), as: String.self).fetchAll(db)
                },
                Attempt("row") { db in
                    let row = try Row.fetchOne(db, sql: "SELECT NULL AS a")
                    let _: Date? = try row?.decode(Date.self, forColumn: "a")
                },
                Attempt("record") { _ = try Player.fetchAll($0, sql: "SELECT * FROM odd WHERE id = 1") },
                Attempt("manual record") {
                    _ = try Manual.fetchAll($0, sql: "SELECT * FROM odd WHERE id = 1")
                },
                Attempt("record cursor") { db in
                    let cursor = try Player.fetchCursor(db, sql: "SELECT * FROM odd")
                    while try cursor.next() != nil {}
                },
            ]
        ) { $0 is RowDecodingError }
    }

    enum Choice: String, DatabaseValueConvertible { case one }

    // MARK: Statements

    @Test(arguments: StoreKind.all) func statementsThatMakeNoSense(_ kind: StoreKind) throws {
        try expectErrors(
            kind,
            [
                Attempt("syntax") { try $0.execute(sql: "SELEC 1") },
                Attempt("empty") { _ = try Row.fetchAll($0, sql: " -- nothing") },
                Attempt("two") { _ = try $0.makeStatement(sql: "SELECT 1; SELECT 2") },
                Attempt("too few arguments") { _ = try Int.fetchOne($0, sql: "SELECT ?, ?", arguments: [1]) },
                Attempt("too many") { _ = try Int.fetchOne($0, sql: "SELECT ?", arguments: [1, 2]) },
                Attempt("another name") { _ = try Int.fetchOne($0, sql: "SELECT :a", arguments: ["b": 1]) },
                Attempt("execute with too many") { db in
                    try db.execute(sql: "SELECT ?", arguments: [1, 2])
                },
                Attempt("quote") { _ = try Int.fetchOne($0, sql: "SELECT 'open") },
                Attempt("function") { _ = try Int.fetchOne($0, sql: "SELECT no_such_function(1)") },
                Attempt("collation") { _ = try Int.fetchOne($0, sql: "SELECT 1 ORDER BY 'a' COLLATE none") },
                Attempt("request") { _ = try Player.filter(sql: "(").fetchAll($0) },
                Attempt("alter") { try $0.alter(table: "nobody") { $0.add(column: "a") } },
                Attempt("create twice") { try $0.create(table: "player") { $0.column("a") } },
            ]
        ) {
            let code = ($0 as? DatabaseError)?.resultCode
            return code == .SQLITE_ERROR || code == .SQLITE_MISUSE
        }
    }

    @Test(arguments: StoreKind.all) func rowsThatAConstraintRefuses(_ kind: StoreKind) throws {
        try expectErrors(
            kind,
            [
                Attempt("unique") { try Player(id: 3, name: "Arthur", score: 1).insert($0) },
                Attempt("key") { try Manual(id: 1, name: "x", score: 1).insert($0) },
                Attempt("check") { try Player(id: 1, name: "Arthur", score: -1).update($0) },
                Attempt("check in save") { try Manual(id: 1, name: "Arthur", score: -1).save($0) },
                Attempt("check in upsert") { try Player(id: 1, name: "x", score: -1).upsert($0) },
                Attempt("check in insertAndFetch") { db in
                    _ = try Player(id: 3, name: "x", score: -1).insertAndFetch(db)
                },
                Attempt("not null") { try $0.execute(sql: "INSERT INTO player VALUES (3, NULL, 1)") },
                Attempt("updateAll") { _ = try Player.updateAll($0, Column("name").set(to: "same")) },
                Attempt("set to null") { _ = try Player.updateAll($0, Column("score").set(to: nil)) },
            ]
        ) { ($0 as? DatabaseError)?.resultCode == .SQLITE_CONSTRAINT }
    }

    // MARK: Migrations

    @Test(arguments: StoreKind.all) func aMigrationThatThrowsHalfWay(_ kind: StoreKind) throws {
        struct Stop: Error {}
        let store = try makeStore(kind)
        let endings: [(String, (Database) throws -> Void)] = [
            ("thrown", { _ in throw Stop() }),
            ("sql", { try $0.execute(sql: "INSERT INTO nothing VALUES (1)") }),
            ("constraint", { try Player(id: 1, name: "twice", score: 1).insert($0) }),
            ("rollback", { try $0.execute(sql: "INSERT OR ROLLBACK INTO player VALUES (1, 'x', 1)") }),
            ("decoding", { _ = try UUID.fetchOne($0, sql: "SELECT 'x'") }),
        ]
        for (name, ending) in endings {
            nonisolated(unsafe) let ending = ending
            var migrator = DatabaseMigrator()
            migrator.registerMigration("first-" + name) { db in
                try db.create(table: "kept " + name) { $0.autoIncrementedPrimaryKey("id") }
            }
            migrator.registerMigration("second-" + name) { db in
                try db.create(table: "half") { $0.column("a") }
                try db.alter(table: "player") { $0.add(column: "half", .text) }
                try db.execute(sql: "UPDATE player SET name = name || '!'")
                try ending(db)
            }
            #expect(throws: (any Error).self, "\(name)") { try migrator.migrate(store) }
            try store.read { db in
                #expect(try db.tableExists("kept " + name))
                #expect(try !db.tableExists("half"))
                #expect(try db.columns(in: "player").count == 3)
                #expect(try Player.fetchAll(db).map(\.name) == ["Arthur", "Barbara"])
                #expect(try !migrator.hasCompletedMigrations(db))
                let hasForeignKeys = try store.unsafeReentrantRead {
                    try Bool.fetchOne($0, sql: "PRAGMA foreign_keys")
                }
                #expect(hasForeignKeys == true)
            }
            try store.write { try Player(id: 1, name: "Arthur", score: 10).update($0) }
        }
    }
}

private struct Silence: TextOutputStream {
    mutating func write(_ string: String) {}
}
