import Foundation
import Testing

@testable import CipherStore

/// What the library finds out about a schema, and when it forgets it.
@Suite struct IntrospectionTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func makeQueue(_ sql: String = "") throws -> DatabaseQueue {
        let queue = try DatabaseQueue(path: folder.file("a.db"), configuration: .keyed("secret"))
        try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
        return queue
    }

    @Test(arguments: [
        ("a, b", ["rowid"], true, true), ("a INTEGER PRIMARY KEY", ["a"], true, true),
        ("a INTEGER PRIMARY KEY DESC", ["a"], false, true), ("a INT PRIMARY KEY", ["a"], false, true),
        ("a, b, PRIMARY KEY (b, a)", ["b", "a"], false, true),
    ])
    func theFormOfAPrimaryKeyIsKnown(_ key: (String, [String], Bool, Bool)) throws {
        let queue = try makeQueue("CREATE TABLE t (\(key.0))")
        let info = try queue.read { try $0.primaryKey("T") }
        #expect(info.columns == key.1)
        #expect(info.isRowID == key.2)
        #expect(info.tableHasRowID == key.3)
    }

    /// SQLite compares the bytes of names, and Swift their characters.
    @Test func tablesWhoseNamesLookTheSameAreToldApart() throws {
        let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
        let queue = try makeQueue(
            """
            CREATE TABLE "\(composed)" (a INTEGER PRIMARY KEY);
            CREATE TABLE "\(decomposed)" (b TEXT PRIMARY KEY, c UNIQUE);
            """)
        try queue.read { db in
            #expect(try db.columns(in: composed).map(\.name) == ["a"])
            #expect(try db.columns(in: decomposed).map(\.name) == ["b", "c"])
            #expect(try db.primaryKey(composed).columns == ["a"])
            #expect(try db.primaryKey(decomposed).columns == ["b"])
            let isUnique = try db.table(decomposed, hasUniqueKey: ["c"])
            #expect(isUnique)
        }
    }

    @Test func aTableWithoutRowidsIsToldFromOthers() throws {
        let queue = try makeQueue(
            "CREATE TABLE t (a INTEGER PRIMARY KEY, b UNIQUE) WITHOUT ROWID; CREATE TABLE u (a TEXT PRIMARY KEY)"
        )
        try queue.read { db in
            let t = try db.primaryKey("t")
            #expect(!t.tableHasRowID && !t.isRowID)
            let rowid = try db.table("t", hasUniqueKey: ["rowid"])
            #expect(!rowid)
            let u = try db.primaryKey("u")
            #expect(u.tableHasRowID && !u.isRowID)
        }
    }

    @Test func aPartialIndexIsNoUniqueKey() throws {
        let queue = try makeQueue("CREATE TABLE t (a, b); CREATE UNIQUE INDEX i ON t (a) WHERE b > 0")
        try queue.read { db in
            let isUnique = try db.table("t", hasUniqueKey: ["a"])
            #expect(!isUnique)
            let names = try db.indexes(on: "t").map(\.name)
            #expect(names == ["i"])
        }
    }

    @Test func namesAreLookedUpInTempThenMainThenAttached() throws {
        let queue = try makeQueue("CREATE TABLE t (main)")
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "ATTACH '' AS other; CREATE TABLE other.t (other); CREATE TABLE other.u (u)")
            let column = { try db.columns(in: $0, in: $1).first?.name }
            let inMain = try column("t", nil)
            #expect(inMain == "main")
            let attached = try column("t", "OTHER")
            #expect(attached == "other")
            let onlyThere = try column("u", nil)
            #expect(onlyThere == "u")
            try db.execute(sql: "CREATE TEMP TABLE t (temp)")
            let temporary = try column("t", nil)
            #expect(temporary == "temp")
            try db.execute(sql: "DETACH other")
            let error = #expect(throws: DatabaseError.self) { try db.columns(in: "t", in: "other") }
            #expect(error?.message == "no such schema: other")
        }
    }

    @Test func aRollbackUndoesWhatWasKnown() throws {
        let queue = try makeQueue("CREATE TABLE t (a)")
        try queue.inTransaction { db in
            try db.execute(sql: "SAVEPOINT s; ALTER TABLE t ADD COLUMN b")
            let altered = try db.columns(in: "t").count
            #expect(altered == 2)
            try db.execute(sql: "ROLLBACK TO s; RELEASE s")
            let restored = try db.columns(in: "t").count
            #expect(restored == 1)
            try db.execute(sql: "ALTER TABLE t ADD COLUMN c")
            _ = try db.columns(in: "t")
            return .rollback
        }
        let count = try queue.read { try $0.columns(in: "t").count }
        #expect(count == 1)
    }

    @Test func anAutomaticRollbackIsNoticedToo() throws {
        let queue = try makeQueue("CREATE TABLE u (a UNIQUE); INSERT INTO u VALUES (1)")
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "BEGIN; CREATE TABLE t (a)")
            let exists = try db.tableExists("t")
            #expect(exists)
            #expect(throws: DatabaseError.self) {
                try db.execute(sql: "INSERT OR ROLLBACK INTO u VALUES (1)")
            }
            #expect(!db.isInsideTransaction)
            let stillExists = try db.tableExists("t")
            #expect(!stillExists)
        }
    }

    @Test func theChangesOfAnotherConnectionAreNoticed() throws {
        let queue = try makeQueue("CREATE TABLE t (a)")
        let other = try DatabaseQueue(path: folder.file("a.db"), configuration: .keyed("secret"))
        let count = { try queue.read { try $0.columns(in: "t").count } }
        #expect(try count() == 1)
        try other.write { try $0.execute(sql: "ALTER TABLE t ADD COLUMN b") }
        #expect(try count() == 2)
    }

    @Test func quotedNamesAndMissingParentsAreFine() throws {
        let queue = try makeQueue(
            """
            CREATE TABLE "a ""b" ("c d" INTEGER PRIMARY KEY, "e'f" REFERENCES "a ""b");
            CREATE TABLE lost (p REFERENCES missing);
            """)
        try queue.read { db in
            let keys = try db.foreignKeys(on: "A \"B")
            #expect(keys.first?.originColumns == ["e'f"])
            #expect(keys.first?.destinationColumns == ["c d"])
            let error = #expect(throws: DatabaseError.self) { try db.foreignKeys(on: "lost") }
            #expect(error?.message == "no such table: missing")
        }
    }

    @Test(arguments: ["open", "\"id\"", "[it's]", "TRUE", "NULL", "'id'", "-1", "x'00'", "(1 + 2)"])
    func aDefaultAsAnExpressionIsWhatSQLiteWrites(_ text: String) throws {
        let queue = try makeQueue(
            "CREATE TABLE t (id INTEGER PRIMARY KEY, v DEFAULT \(text)); INSERT INTO t (id) VALUES (7)")
        try queue.read { db throws in
            let column = try #require(try db.columns(in: "t").last)
            let expression = try #require(column.defaultExpressionSQL)
            let isSame = try Bool.fetchOne(
                db, sql: "SELECT v IS (\(expression)) AND typeof(v) = typeof((\(expression))) FROM t")
            #expect(isSame == true)
        }
    }
}
