import CipherStore
import Foundation
import Testing

@testable import SyncEngine

/// Where the key of a parent takes several spellings for the same, orphans find out together whether their parents were deleted:
/// not each of them by reading all that is known of the table.
@Suite struct ParentSpellingTests {
    let stores: TestStores

    init() throws { stores = try TestStores() }

    private func create(_ collation: String) throws -> TestReplica {
        let schema = """
            CREATE TABLE p (id TEXT PRIMARY KEY COLLATE \(collation));
            CREATE TABLE c (id BLOB PRIMARY KEY, p TEXT REFERENCES p);
            """
        return try stores.create(schema: schema, tables: ["p", "c"])
    }

    @Test(arguments: ["NOCASE", "RTRIM"], [OrphanPolicy.delete, .setNull])
    func manyOrphansReadTheTableOfTheirParentsFewTimes(_ collation: String, _ policy: OrphanPolicy) throws {
        let count = 200
        let a = try create(collation)
        try a.execute(
            """
            INSERT INTO p
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
            SELECT printf('0190F5FE-7C00-7A00-8000-%012X', i) FROM n
            """)
        let b = try stores.clone(a, as: "b.db")
        for replica in [a, b] { try replica.synchronizer.setOrphanPolicy(policy, for: "c") }
        try a.execute("DELETE FROM p")
        let spelling = collation == "NOCASE" ? "lower(id)" : "id || '  '"
        try b.execute(
            "INSERT INTO c SELECT CAST(printf('%016d', rowid) AS BLOB), \(spelling) FROM p")
        var statements: [String] = []
        a.queue.inDatabase { db in db.trace { statements.append("\($0)") } }
        try a.sync(b, .pull)
        a.queue.inDatabase { $0.trace(options: []) }
        let readings = statements.count { $0.contains("FROM main._sync_row AS r") && $0.contains("COLLATE") }
        // SQLite may tell of one twice.
        #expect((1...4 * ParentSpellings.readingsMax).contains(readings), "\(readings)")
        #expect(try a.synchronizer.parkedRows().isEmpty)
        let left = try a.value("SELECT count(*) FROM c WHERE p IS NULL", as: Int.self)
        #expect(left == (policy == .delete ? 0 : count))
        let lists = "SELECT count(*) FROM sqlite_temp_master WHERE name LIKE '%parent%'"
        #expect(try a.value(lists, as: Int.self) == 0)
        try a.sync(b)
        #expect(try a.dump(["p", "c"]) == b.dump(["p", "c"]))
        #expect(try a.problems() == [])
    }

    @Test func theListFindsAKeyByItsIndex() throws {
        try create("NOCASE").queue.write { db in
            let references = try ForeignKey.loadAll(db, tables: SyncedTable.loadAll(db))
            let reference = try #require(references.first)
            let parents = ParentSpellings(db)
            defer { parents.finish() }
            let plans = try (0...ParentSpellings.readingsMax + 1).map { _ in
                let sql = try "EXPLAIN QUERY PLAN \(parents.selection(reference))"
                return try Row.fetchAll(db, sql: sql, arguments: [1, "key"]).map { row -> String in
                    row["detail"]
                }
                .joined(separator: "\n")
            }
            let areByKey = plans.map { $0.contains("(tbl=? AND pk=?)") }
            let expected = Array(repeating: false, count: ParentSpellings.readingsMax) + [true, true]
            #expect(areByKey == expected, "\(plans)")
        }
    }
}
