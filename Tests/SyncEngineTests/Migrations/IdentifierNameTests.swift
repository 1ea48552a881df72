import CipherStore
import Foundation
import Testing

@testable import SyncEngine
@testable import SyncWire

/// SQLite folds the case of ASCII letters and nothing else, so that is what makes two names one.
@Suite struct IdentifierNameTests {
    static let pairs = [("Ärzte", "ärzte"), ("caf\u{E9}", "cafe\u{301}"), ("ſ", "s"), ("K", "\u{212A}")]

    @Test(arguments: pairs) func rowsOfTablesWithSimilarNamesStayApart(first: String, second: String) throws {
        let stores = try TestStores()
        let schema = [first, second].map {
            "CREATE TABLE \($0.quotedDatabaseIdentifier) (id BLOB PRIMARY KEY, v TEXT);"
        }.joined()
        let hub = try stores.create(schema: schema, tables: [first, second])
        let other = try stores.clone(hub, as: "b.db")
        try hub.execute("INSERT INTO \(first.quotedDatabaseIdentifier) VALUES (?, 'first')", [itemKey(1)])
        try hub.execute("INSERT INTO \(second.quotedDatabaseIdentifier) VALUES (?, 'second')", [itemKey(2)])
        try hub.sync(other)
        for (name, value) in [(first, "first"), (second, "second")] {
            let found = try other.value(
                "SELECT group_concat(v) FROM \(name.quotedDatabaseIdentifier)", as: String.self)
            #expect(found == value)
        }
        try expectHealthy([hub, other])
    }

    @Test(arguments: pairs) func columnsWithSimilarNamesStayApart(first: String, second: String) throws {
        let stores = try TestStores()
        let names = [first, second].map(\.quotedDatabaseIdentifier)
        let hub = try stores.create(
            schema: "CREATE TABLE t (id BLOB PRIMARY KEY, \(names[0]) TEXT, \(names[1]) TEXT)", tables: ["t"])
        let other = try stores.clone(hub, as: "b.db")
        try hub.execute("INSERT INTO t VALUES (?, 'a', 'b')", [itemKey(1)])
        try hub.sync(other)
        try other.execute("UPDATE t SET \(names[1]) = 'c'")
        try hub.sync(other)
        #expect(try hub.dump(["t"]) == other.dump(["t"]))
        #expect(try hub.value("SELECT \(names[0]) || \(names[1]) FROM t", as: String.self) == "ac")
        try expectHealthy([hub, other])
    }

    @Test(arguments: pairs) func aColumnWithANameLikeTheKeysIsSynchronized(key: String, column: String) throws
    {
        let stores = try TestStores()
        let names = [key, column].map(\.quotedDatabaseIdentifier)
        let hub = try stores.create(
            schema: "CREATE TABLE t (\(names[0]) BLOB PRIMARY KEY, \(names[1]) TEXT)", tables: ["t"])
        let other = try stores.clone(hub, as: "b.db")
        try hub.execute("INSERT INTO t VALUES (?, 'a')", [itemKey(1)])
        try hub.sync(other)
        try other.execute("UPDATE t SET \(names[1]) = 'b'")
        try hub.sync(other)
        #expect(try hub.value("SELECT \(names[1]) FROM t", as: String.self) == "b")
        try expectHealthy([hub, other])
    }

    @Test(arguments: pairs) func keysOfTablesWithSimilarNamesAreConvertedEach(first: String, second: String)
        throws
    {
        let stores = try TestStores()
        let names = [first, second].map(\.quotedDatabaseIdentifier)
        let hub = try stores.create(
            schema: """
                CREATE TABLE \(names[0]) (id INTEGER PRIMARY KEY, v TEXT);
                CREATE TABLE \(names[1]) (
                    id INTEGER PRIMARY KEY, \(names[0]) INTEGER REFERENCES \(names[0]), \(names[1]) INTEGER);
                INSERT INTO \(names[0]) VALUES (1, 'a'), (2, 'b');
                INSERT INTO \(names[1]) VALUES (1, 2, 7), (5, NULL, 8);
                """, tables: [])
        let plan = try hub.synchronizer.convertKeys(UUIDKeyMigration(tables: [first, second]))
        #expect(plan.tables.map { Array($0.name.utf8) } == [Array(first.utf8), Array(second.utf8)])
        let references = plan.tables.map { table in table.references.map { Array($0.utf8) } }
        #expect(references == [[], [Array(first.utf8)]])
        let pair = """
            SELECT count(*) FROM \(names[0]) AS a JOIN \(names[1]) AS b ON b.\(names[0]) = a.id
            WHERE a.v = 'b' AND b.\(names[1]) = 7 AND typeof(a.id) = 'blob'
            """
        #expect(try hub.value(pair, as: Int.self) == 1)
        let keys = "SELECT id FROM \(names[0]) UNION SELECT id FROM \(names[1])"
        #expect(
            try hub.value("SELECT count(*) FROM (\(keys)) WHERE typeof(id) = 'blob'", as: Int.self) == 4)
    }

    @Test(arguments: pairs) func aNewNameLikeTheFormerOneIsFollowed(former: String, name: String) throws {
        let stores = try TestStores()
        let hub = try stores.create(
            schema: "CREATE TABLE t (id BLOB PRIMARY KEY, \(former.quotedDatabaseIdentifier) TEXT)",
            tables: ["t"])
        let other = try stores.clone(hub, as: "b.db")
        try hub.execute("INSERT INTO t VALUES (?, 'a')", [itemKey(1)])
        try hub.sync(other)
        try hub.migrate("rename") { db in
            try db.alter(table: "t") { $0.rename(column: former, to: name) }
        }
        try hub.execute("UPDATE t SET \(name.quotedDatabaseIdentifier) = 'b'")
        try hub.sync(other)
        let found = try other.value("SELECT \(former.quotedDatabaseIdentifier) FROM t", as: String.self)
        #expect(found == "b")
    }

    @Test func bothModulesAgreeOnWhichNamesAreOne() {
        let names =
            [
                "", "a", "A", "Z", "[", "\u{1}", "\u{1}c3", "é", "É", "e\u{301}", "note", "NOTE", "ß",
                "\u{10FFFF}",
            ]
            + (0...127).map { String(UnicodeScalar(UInt8($0))) }
        for name in names {
            #expect(name.nameKey == name.identifierKey)
            for other in names {
                let isSame = name.identifierKey == other.identifierKey
                #expect(isSame == name.isSameIdentifier(as: other), "\(name) \(other)")
            }
        }
    }
}
