import Foundation
import Testing

@testable import CipherStore

/// Columns that are renamed and dropped by the library instead of SQLite.
@Suite struct ColumnAlterationTests {
    private func open(_ sql: String) throws -> DatabaseQueue {
        let queue = try DatabaseQueue(configuration: .keyed("secret"))
        try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
        return queue
    }

    private static let schema = """
        CREATE TABLE parent (id INTEGER PRIMARY KEY, name TEXT UNIQUE, note TEXT, extra REAL DEFAULT 1.5);
        CREATE TABLE child (
            a TEXT, -- a comment, with a comma
            "b c" INTEGER REFERENCES parent ON DELETE CASCADE,
            d TEXT CHECK (length(d) < 10), e DECIMAL(10, 2), UNIQUE (a, d) ON CONFLICT IGNORE);
        CREATE INDEX byD ON child (d COLLATE NOCASE) WHERE d > '';
        CREATE TABLE log (what);
        CREATE TRIGGER t AFTER UPDATE OF d ON child BEGIN INSERT INTO log VALUES (OLD.d || NEW.d); END;
        CREATE VIEW v AS SELECT parent.name, child.d FROM parent JOIN child ON child."b c" = parent.id;
        INSERT INTO parent VALUES (1, 'x', 'n', 2), (2, 'y', NULL, 3);
        INSERT INTO child (rowid, a, "b c", d, e) VALUES (7, 'a', 1, 'one', 1), (3, 'b', 2, 'two', '2.5'), (9, 'c', NULL, 'six', NULL);
        """

    /// The rows with their rowids, as SQL.
    private func rows(_ db: Database, _ table: String) throws -> [String] {
        try Row.fetchAll(db, sql: "SELECT rowid, * FROM \(table) ORDER BY rowid").map(\.description)
    }

    private func checkIntegrity(_ db: Database) throws {
        let problems = try String.fetchAll(db, sql: "PRAGMA integrity_check")
        #expect(problems == ["ok"])
        let violations = try Array(db.foreignKeyViolations())
        #expect(violations.isEmpty)
    }

    @Test(arguments: [true, false])
    func aColumnIsDroppedAndNothingElseChanges(_ isInTransaction: Bool) throws {
        let queue = try open(Self.schema)
        try queue.writeWithoutTransaction { db in
            let drop = {
                try ColumnDropping(db: db, table: "child", column: "E").emulate()
                try ColumnDropping(db: db, table: "parent", column: "extra").emulate()
            }
            if isInTransaction {
                try db.inTransaction {
                    try drop()
                    return .commit
                }
            } else {
                try drop()
            }
            let child = try rows(db, "child")
            #expect(
                child == [
                    "[rowid:3 a:\"b\" b c:2 d:\"two\"]", "[rowid:7 a:\"a\" b c:1 d:\"one\"]",
                    "[rowid:9 a:\"c\" b c:NULL d:\"six\"]",
                ])
            let parent = try rows(db, "parent")
            #expect(parent.count == 2)
            try checkIntegrity(db)
            let tables = try String.fetchAll(
                db, sql: "SELECT name FROM sqlite_master WHERE name LIKE '%cipherstore%'")
            #expect(tables.isEmpty)
            // The triggers, indexes, views and foreign keys still work.
            try db.execute(sql: "UPDATE child SET d = 'uno' WHERE d = 'one'; DELETE FROM parent WHERE id = 2")
            let log = try String.fetchAll(db, sql: "SELECT what FROM log")
            #expect(log == ["oneuno"])
            let view = try String.fetchAll(db, sql: "SELECT d FROM v")
            #expect(view == ["uno"])
            let indexed = try Int.fetchOne(
                db, sql: "SELECT count(*) FROM child INDEXED BY byD WHERE d COLLATE NOCASE = 'UNO' AND d > ''"
            )
            #expect(indexed == 1)
            try checkIntegrity(db)
        }
    }

    @Test(arguments: ["id", "name", "missing"])
    func keysAreNotDropped(_ column: String) throws {
        let queue = try open(Self.schema)
        let error = #expect(throws: DatabaseError.self) {
            try queue.write { try ColumnDropping(db: $0, table: "parent", column: column).emulate() }
        }
        #expect(error?.resultCode == .SQLITE_ERROR)
    }

    @Test(arguments: ["a", "d"])
    func aColumnInUseIsNotDropped(_ column: String) throws {
        let queue = try open(Self.schema)
        #expect(throws: DatabaseError.self) {
            try queue.write { try ColumnDropping(db: $0, table: "child", column: column).emulate() }
        }
        try queue.read { db in
            let count = try db.columns(in: "child").count
            #expect(count == 4)
            try checkIntegrity(db)
        }
    }

    @Test func aViewThatBreaksForbidsTheDrop() throws {
        let queue = try open(
            "CREATE TABLE t (a, b); CREATE VIEW v AS SELECT b FROM t; INSERT INTO t VALUES (1, 2)")
        let error = #expect(throws: DatabaseError.self) {
            try queue.write { try ColumnDropping(db: $0, table: "t", column: "b").emulate() }
        }
        #expect(error?.message == "error in view v after drop column: no such column: b")
        let value = try queue.read { try Int.fetchOne($0, sql: "SELECT b FROM v") }
        #expect(value == 2)
    }

    /// A database in which SQLite takes for text what is in double quotes and no name.
    private func openWithTexts(_ sql: String) throws -> DatabaseQueue {
        var configuration = Configuration.keyed("secret")
        configuration.acceptsDoubleQuotedStringLiterals = true
        let queue = try DatabaseQueue(configuration: configuration)
        try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
        return queue
    }

    private func schema(_ queue: DatabaseQueue) throws -> [String] {
        try queue.read { db in
            try String.fetchAll(
                db,
                sql: """
                    SELECT name || ': ' || sql FROM sqlite_master UNION ALL
                    SELECT name || ': ' || sql FROM sqlite_temp_master
                    """)
        }
    }

    @Test(arguments: [
        "VIEW v AS SELECT \"b\" FROM t", "VIEW v AS SELECT a FROM t WHERE \"B\" > 1",
        "TEMP VIEW v AS SELECT a, 'x' AS \"b\", \"b\" || 1 FROM main.t",
        "TRIGGER v AFTER INSERT ON t BEGIN UPDATE t SET a = \"b\"; END",
        "TEMP TRIGGER v AFTER INSERT ON t BEGIN UPDATE t SET a = \"b\"; END",
    ])
    func aColumnInDoubleQuotesForbidsTheDrop(_ object: String) throws {
        let queue = try openWithTexts("CREATE TABLE t (a, b); CREATE \(object)")
        let before = try schema(queue)
        let error = #expect(throws: DatabaseError.self) {
            try queue.write { try ColumnDropping(db: $0, table: "t", column: "b").emulate() }
        }
        #expect(error?.message?.contains(" v after drop column: no such column: ") == true)
        #expect(try schema(queue) == before)
    }

    @Test func aViewOfTheLibraryForbidsTheDrop() throws {
        let queue = try openWithTexts("CREATE TABLE t (a, b)")
        try queue.write { try $0.create(view: "v", as: Table("t").filter(Column("b") > 1)) }
        let before = try schema(queue)
        #expect(throws: DatabaseError.self) {
            try queue.write { try ColumnDropping(db: $0, table: "t", column: "b").emulate() }
        }
        #expect(try schema(queue) == before)
    }

    @Test func aTextInDoubleQuotesIsNoColumn() throws {
        let queue = try openWithTexts(
            """
            CREATE TABLE t (a, b); CREATE TABLE u (c); INSERT INTO u VALUES (1);
            CREATE VIEW v AS SELECT "b" AS kind FROM u WHERE NOT EXISTS (SELECT a FROM t);
            """)
        try queue.write { try ColumnDropping(db: $0, table: "t", column: "b").emulate() }
        #expect(try queue.read { try String.fetchOne($0, sql: "SELECT kind FROM v") } == "b")
        #expect(try queue.read { try $0.columns(in: "t").map(\.name) } == ["a"])
    }

    @Test(arguments: ["note", "\"note\""], ["drop", "rename"])
    func aViewOnAViewForbidsTheChange(_ name: String, _ change: String) throws {
        let queue = try openWithTexts(
            """
            CREATE TABLE t (a, note); CREATE VIEW one AS SELECT * FROM t;
            CREATE VIEW two AS SELECT a, \(name) FROM one; CREATE VIEW three AS SELECT a FROM two;
            """)
        let before = try schema(queue)
        let error = #expect(throws: DatabaseError.self) {
            try queue.write { db in
                if change == "drop" {
                    try ColumnDropping(db: db, table: "t", column: "note").emulate()
                } else {
                    try ColumnRenaming(db: db, table: "t", column: "note", newName: "memo").emulate()
                }
            }
        }
        #expect(error?.message == "error in view two after \(change) column: no such column: note")
        #expect(try schema(queue) == before)
    }

    @Test func aColumnIsRenamedWhereverItIsUsed() throws {
        let queue = try open(Self.schema)
        try queue.write { db in
            try ColumnRenaming(db: db, table: "child", column: "d", newName: "new \"d").emulate()
            try ColumnRenaming(db: db, table: "parent", column: "id", newName: "key").emulate()
            try db.execute(
                sql: "UPDATE child SET \"new \"\"d\" = 'uno' WHERE a = 'a'; DELETE FROM parent WHERE key = 2")
            let log = try String.fetchAll(db, sql: "SELECT what FROM log")
            #expect(log == ["oneuno"])
            let view = try Row.fetchAll(db, sql: "SELECT * FROM v").map(\.description)
            #expect(view == ["[name:\"x\" new \"d:\"uno\"]"])
            let keys = try db.foreignKeys(on: "child").map(\.destinationColumns)
            #expect(keys == [["key"]])
            #expect(throws: DatabaseError.self) {
                try db.execute(sql: "INSERT INTO child (\"new \"\"d\") VALUES ('longer than ten')")
            }
            try checkIntegrity(db)
        }
    }

    @Test func aNameThatCanMeanTwoThingsIsNotRenamed() throws {
        let queue = try open(
            "CREATE TABLE t (a, b); CREATE TABLE u (a, c); CREATE VIEW v AS SELECT t.b FROM t JOIN (SELECT a FROM u) ON b"
        )
        let error = #expect(throws: DatabaseError.self) {
            try queue.write { try ColumnRenaming(db: $0, table: "t", column: "a", newName: "z").emulate() }
        }
        #expect(error?.message?.contains("view v") == true)
    }

    @Test func aRenamedTableIsFollowed() throws {
        for isOn in ["ON", "OFF"] {
            let queue = try open("PRAGMA foreign_keys = \(isOn);" + Self.schema)
            try queue.write { db in
                try db.rename(table: "child", to: "kid")
                try db.rename(table: "parent", to: "elder")
                try db.execute(sql: "UPDATE kid SET d = 'uno' WHERE a = 'a'")
                let view = try String.fetchAll(db, sql: "SELECT d FROM v ORDER BY d")
                #expect(view == ["two", "uno"])
                let parents = try db.foreignKeys(on: "kid").map(\.destinationTable)
                #expect(parents == ["elder"])
                try checkIntegrity(db)
            }
        }
    }

    @Test func otherConnectionsSeeTheNewNames() throws {
        let folder = try TemporaryFolder()
        let one = try DatabaseQueue(path: folder.file("a.db"), configuration: .keyed("secret"))
        let two = try DatabaseQueue(path: folder.file("a.db"), configuration: .keyed("secret"))
        try one.writeWithoutTransaction { try $0.execute(sql: Self.schema) }
        let names = { try two.read { try $0.columns(in: "parent").map(\.name) } }
        #expect(try names() == ["id", "name", "note", "extra"])
        try one.write {
            try ColumnRenaming(db: $0, table: "parent", column: "note", newName: "memo").emulate()
        }
        #expect(try names() == ["id", "name", "memo", "extra"])
        try one.write { try ColumnDropping(db: $0, table: "parent", column: "memo").emulate() }
        #expect(try names() == ["id", "name", "extra"])
        let values = try two.read { try Double.fetchAll($0, sql: "SELECT extra FROM parent ORDER BY id") }
        #expect(values == [2, 3])
    }

    @Test func captureTriggersGoOnWithoutTheColumn() throws {
        let text = """
            CREATE TRIGGER _sync_u0_1 AFTER UPDATE OF "a", "b" ON "t" WHEN (OLD."a" IS NOT NEW."a" OR OLD."b" IS NOT NEW."b")
            BEGIN INSERT INTO l VALUES (((OLD."a" IS NOT NEW."a") << 0) | ((OLD."b" IS NOT NEW."b") << 1)); END
            """
        for isEmulated in [true, EngineFeatures.current.supportsDropColumn == false] {
            let queue = try open(
                "CREATE TABLE t (k PRIMARY KEY, a, b); CREATE TABLE l (m); \(text); INSERT INTO t VALUES (1, 2, 3)"
            )
            try queue.write { db in
                let dropping = ColumnDropping(db: db, table: "t", column: "b")
                if isEmulated { try dropping.emulate() } else { try dropping.runNatively() }
                try db.execute(sql: "UPDATE t SET a = 5")
                let masks = try Int.fetchAll(db, sql: "SELECT m FROM l")
                #expect(masks == [1])
            }
        }
    }

    /// Any program can give a trigger the name of one that tracks a table.
    @Test func aCaptureTriggerOfAnyTextGoesOnWithoutTheColumn() throws {
        let queue = try open(
            """
            CREATE TABLE t (k PRIMARY KEY, a, b); CREATE TABLE l (m);
            CREATE TRIGGER _sync_i_1 AFTER INSERT ON t BEGIN
                INSERT INTO l SELECT 1 AS of WHERE NEW.b IS NULL AND NEW.a IN (SELECT x.m FROM l AS x JOIN l AS y ON 1);
            END;
            """)
        try queue.write { db in
            try ColumnDropping(db: db, table: "t", column: "b").emulate()
            try db.execute(sql: "INSERT INTO l VALUES (2); INSERT INTO t VALUES (1, 2)")
            let written = try Int.fetchAll(db, sql: "SELECT m FROM l ORDER BY m")
            #expect(written == [1, 2])
        }
    }
}
