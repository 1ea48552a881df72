import CipherStore
import Foundation
import Testing

@testable import SyncEngine

/// Keys as blobs and as text, in all cases, and keys that change or are no UUIDs.
@Suite struct KeyFormTests {
    let stores: TestStores

    init() throws { stores = try TestStores() }

    private static let lower = "0190f5fe-7c00-7a00-8000-0000000000ab"
    private static let upper = "0190F5FE-7C00-7A00-8000-0000000000AB"
    private static let mixed = "0190f5FE-7c00-7a00-8000-0000000000aB"

    private func pair(_ schema: String, _ tables: [String]) throws -> (TestReplica, TestReplica) {
        let a = try stores.create(schema: schema, tables: tables)
        return (a, try stores.clone(a, as: "b.db"))
    }

    @Test func textKeysTravelInTheCaseTheyHave() throws {
        let (a, b) = try pair("CREATE TABLE t (id TEXT PRIMARY KEY, v)", ["t"])
        for id in [Self.lower, Self.upper, Self.mixed] {
            try a.execute("INSERT INTO t VALUES (?, ?)", [id, id])
        }
        try a.sync(b)
        #expect(try a.state(["t"]) == b.state(["t"]))
        #expect(try b.value("SELECT count(*) FROM t WHERE id = v", as: Int.self) == 3)
        // Each is a row of its own.
        try b.execute("UPDATE t SET v = 'edited' WHERE id = ?", [Self.upper])
        try a.execute("DELETE FROM t WHERE id = ?", [Self.mixed])
        try a.sync(b)
        #expect(try a.state(["t"]) == b.state(["t"]))
        #expect(try a.value("SELECT v FROM t WHERE id = '\(Self.lower)'") == Self.lower)
        #expect(try a.value("SELECT v FROM t WHERE id = '\(Self.upper)'") == "edited")
        #expect(try a.value("SELECT count(*) FROM t", as: Int.self) == 2)
    }

    @Test func keysOfOneTableMayBeBlobsAndText() throws {
        let (a, b) = try pair("CREATE TABLE t (id PRIMARY KEY, v)", ["t"])
        try a.execute("INSERT INTO t VALUES (?, 'text'), (?, 'blob')", [Self.lower, key(1)])
        try a.sync(b)
        try b.execute("UPDATE t SET v = v || '!'")
        try a.sync(b)
        #expect(try a.state(["t"]) == b.state(["t"]))
        #expect(try a.value("SELECT group_concat(v) FROM (SELECT v FROM t ORDER BY v)") == "blob!,text!")
    }

    /// The same letters in another case are one key to the table, and two to replicas that wrote them.
    @Test func oneKeyInTwoCasesOfANoCaseColumnLosesNothing() throws {
        let (a, b) = try pair("CREATE TABLE t (id TEXT PRIMARY KEY COLLATE NOCASE, v)", ["t"])
        try a.execute("INSERT INTO t VALUES (?, 'of a')", [Self.lower])
        try b.execute("INSERT INTO t VALUES (?, 'of b')", [Self.upper])
        try a.sync(b)
        try a.sync(b)
        // One is shown, the other waits; neither is gone.
        for replica in [a, b] {
            #expect(try replica.value("SELECT count(*) FROM t", as: Int.self) == 1)
            #expect(try replica.synchronizer.status().parkedCount == 1)
            #expect(try replica.value("SELECT count(*) FROM _sync_row WHERE cl & 1", as: Int.self) == 2)
        }
        // A change of case alone is a change of key.
        let (c, d) = try {
            let c = try stores.create(
                "c.db", schema: "CREATE TABLE t (id TEXT PRIMARY KEY COLLATE NOCASE, v)", tables: ["t"])
            return (c, try stores.clone(c, as: "d.db"))
        }()
        try c.execute("INSERT INTO t VALUES (?, 'v')", [Self.lower])
        try c.sync(d)
        try c.execute("UPDATE t SET id = upper(id)")
        try c.sync(d)
        #expect(try d.value("SELECT id FROM t") == Self.upper)
        #expect(try c.state(["t"]) == d.state(["t"]))
    }

    @Test func aForeignKeyOfAnotherFormNeverMatches() throws {
        let schema = """
            CREATE TABLE p (id BLOB PRIMARY KEY);
            CREATE TABLE c (id BLOB PRIMARY KEY, p TEXT REFERENCES p);
            """
        let (a, b) = try pair(schema, ["p", "c"])
        try a.execute("INSERT INTO p VALUES (?)", [key(1)])
        // The type of the column does not matter, that of the value does.
        try a.execute("INSERT INTO c VALUES (?, ?)", [key(2), key(1)])
        let text = UUID(uuid: key(1).withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) }).uuidString
        #expect(throws: DatabaseError.self) { try a.execute("INSERT INTO c VALUES (?, ?)", [key(3), text]) }
        try a.sync(b)
        #expect(try a.state(["p", "c"]) == b.state(["p", "c"]))
        #expect(try b.value("SELECT count(*) FROM c JOIN p ON p.id = c.p", as: Int.self) == 1)
    }

    @Test func aChangedKeyIsADeletedAndAnInsertedRow() throws {
        let (a, b) = try pair("CREATE TABLE t (id BLOB PRIMARY KEY, v, w)", ["t"])
        try a.execute("INSERT INTO t VALUES (?, 'v', 'w')", [key(1)])
        try a.sync(b)
        try a.execute("UPDATE t SET id = ?, v = 'moved'", [key(2)])
        try b.execute("UPDATE t SET w = 'edited'")
        try a.sync(b)
        try a.sync(b)
        for replica in [a, b] {
            #expect(
                try replica.value("SELECT hex(id) || v || w FROM t")
                    == "02020202020202020202020202020202movedw")
        }
        #expect(try a.state(["t"]) == b.state(["t"]))
        // The edit of the row that is gone is in the journal.
        #expect(try !(a.conflicts() + b.conflicts()).isEmpty)
        // Two rows that exchange their keys.
        try a.execute("INSERT INTO t VALUES (?, 'other', 'x')", [key(1)])
        try a.sync(b)
        try a.execute("UPDATE t SET id = ? WHERE id = ?", [key(9), key(1)])
        try a.execute("UPDATE t SET id = ? WHERE id = ?", [key(1), key(2)])
        try a.execute("UPDATE t SET id = ? WHERE id = ?", [key(2), key(9)])
        try a.sync(b)
        #expect(try a.state(["t"]) == b.state(["t"]))
        #expect(try b.value("SELECT v FROM t WHERE id = x'01010101010101010101010101010101'") == "moved")
    }

    @Test(arguments: [
        "'12'", "7", "x'00'", "'0190f5fe-7c00-7a00-8000-0000000000ag'", "'0190f5fe7c007a0080000000000000ab'",
        "1.5",
    ])
    func aRowWithAnotherKeyStaysHereAndIsReported(_ other: String) throws {
        let (a, b) = try pair("CREATE TABLE t (id PRIMARY KEY, v)", ["t"])
        try a.execute("INSERT INTO t VALUES (\(other), 'v'); UPDATE t SET v = 'w'")
        try a.execute("INSERT INTO t VALUES (?, 'good')", [key(1)])
        try a.sync(b)
        #expect(try b.value("SELECT group_concat(v) FROM t") == "good")
        #expect(try a.synchronizer.status().tables.map(\.unsuitableKeyCount) == [1])
        #expect(try b.synchronizer.status().tables.map(\.unsuitableKeyCount) == [0])
        // With a UUID it is synchronized, and without one it is gone for others.
        try a.execute("UPDATE t SET id = ? WHERE v = 'w'", [key(2)])
        try a.sync(b)
        #expect(try b.value("SELECT count(*) FROM t", as: Int.self) == 2)
        try a.execute("UPDATE t SET id = \(other) WHERE v = 'w'")
        try a.sync(b)
        #expect(try b.value("SELECT group_concat(v) FROM t") == "good")
        #expect(try a.value("SELECT count(*) FROM t", as: Int.self) == 2)
        #expect(try a.queue.read { try MetadataCheck.problems(of: $0, isDeep: true) }.isEmpty)
    }
}
