import CipherStore
import Foundation
import Testing

@testable import SyncEngine

/// Chains, forks and circles of rows that refer to each other: what a store shows is what the rule says of the rows that exist,
/// whatever happened in whatever order.
@Suite struct ChainPropertyTests {
    /// A schema, and how its keys are written.
    private struct Variant {
        var isText = false
        var action = "CASCADE"
        var suffix = ""
        var indexes = ""

        var schema: String {
            let key = isText ? "TEXT COLLATE NOCASE" : "BLOB"
            let column = isText ? "TEXT" : "BLOB"
            let rest = "ON DELETE \(action) DEFERRABLE INITIALLY DEFERRED"
            return """
                CREATE TABLE t (id \(key) PRIMARY KEY NOT NULL, t \(column) REFERENCES t \(rest), u \(column) REFERENCES u \(rest))
                    \(suffix);
                CREATE TABLE u (id \(key) PRIMARY KEY NOT NULL, t \(column) REFERENCES t \(rest)) \(suffix);
                \(indexes)
                """
        }

        func key(_ number: Int) -> String {
            let digits = String(number + 1000)
            return isText
                ? "'0000\(digits)-abcd-7abc-8abc-abcdefabcdef'" : "CAST('abcdefabcdef\(digits)' AS BLOB)"
        }

        /// The key of a row if it is there, as its children spell it.
        func parent(_ table: String, _ number: Int) -> String {
            "(SELECT \(isText ? "upper(id)" : "id") FROM \(table) WHERE id = \(key(number)))"
        }
    }

    private static let variants = [
        Variant(), Variant(isText: true), Variant(suffix: "WITHOUT ROWID"),
        Variant(
            action: "SET NULL",
            indexes: "CREATE INDEX i ON t (t); CREATE INDEX j ON t (u); CREATE INDEX k ON u (t, id);"),
    ]

    private func edit(_ variant: Variant, _ numbers: inout SplitMix64) -> String {
        let rows = (0..<5).map { _ in Int.random(in: 0..<24, using: &numbers) }
        let other = Int.random(in: 0..<4, using: &numbers)
        switch Int.random(in: 0..<12, using: &numbers) {
        case 0..<3:
            return zip(rows, rows.dropFirst()).map { parent, child in
                "INSERT OR IGNORE INTO t VALUES (\(variant.key(child)), \(variant.parent("t", parent)), NULL)"
            }.joined(separator: "; ")
        case 3...4:
            return rows.dropFirst().map { child in
                "INSERT OR IGNORE INTO t VALUES (\(variant.key(child)), \(variant.parent("t", rows[0])), \(variant.parent("u", other)))"
            }.joined(separator: "; ")
        case 5:
            // Whichever of them are there already, both are there then.
            return """
                INSERT OR IGNORE INTO u VALUES (\(variant.key(other)), \(variant.key(rows[0])));
                INSERT OR IGNORE INTO t VALUES (\(variant.key(rows[0])), NULL, \(variant.key(other)));
                """
        case 6...7:
            // SQLite itself takes no row that refers to itself in another spelling.
            let parent = variant.parent("t", rows[0])
            return
                "UPDATE t SET t = \(parent) WHERE id = \(variant.key(rows[1])) AND id <> \(variant.key(rows[0]))"
        case 8: return "UPDATE t SET u = \(variant.parent("u", other)) WHERE id = \(variant.key(rows[1]))"
        case 9: return "DELETE FROM u WHERE id = \(variant.key(other))"
        default: return "DELETE FROM t WHERE id = \(variant.key(rows[0]))"
        }
    }

    private static func spelt(_ expression: String) -> String {
        "lower(CASE typeof(\(expression)) WHEN 'blob' THEN hex(\(expression)) ELSE \(expression) END)"
    }

    /// The rows that a store shows, and those that the rule has it show: of those that exist, all that are left when rows are taken
    /// away whose parent is not there, until there is none.
    private func shown(_ db: Database) throws -> (found: Set<String>, expected: Set<String>, hiddenCount: Int)
    {
        var found: Set<String> = []
        var parents: [String: [String]] = [:]
        for (table, references) in [("t", ["t", "u"]), ("u", ["t"])] {
            let number = try #require(
                try Int64.fetchOne(
                    db, sql: "SELECT tbl FROM _sync_table WHERE name = ?", arguments: [table]))
            let keys = try String.fetchAll(db, sql: "SELECT \(Self.spelt("id")) FROM \(table)")
            found.formUnion(keys.map { "\(table) \($0)" })
            let alive = try String.fetchAll(
                db, sql: "SELECT \(Self.spelt("pk")) FROM _sync_row WHERE tbl = ? AND cl & 1",
                arguments: [number])
            for key in alive { parents["\(table) \(key)"] = [] }
            for reference in references {
                let pairs = try Row.fetchAll(
                    db,
                    sql: """
                        SELECT \(Self.spelt("id")), \(Self.spelt(reference)) FROM \(table) WHERE \(reference) IS NOT NULL
                        UNION ALL
                        SELECT \(Self.spelt("s.pk")), \(Self.spelt("s.val")) FROM _sync_shadow AS s
                        JOIN _sync_column AS c ON c.tbl = s.tbl AND c.col = s.col
                        WHERE s.tbl = ? AND c.name = ? AND s.val IS NOT NULL
                        """, arguments: [number, reference])
                for pair in pairs {
                    let (child, parent): (String, String) = (pair[0], pair[1])
                    parents["\(table) \(child)"]?.append("\(reference) \(parent)")
                }
            }
        }
        var expected = Set(parents.keys)
        while true {
            let orphans = expected.filter { row in !(parents[row] ?? []).allSatisfy(expected.contains) }
            if orphans.isEmpty { break }
            expected.subtract(orphans)
        }
        return (found, expected, parents.count - expected.count)
    }

    /// Everything that a store shows and hides.
    private func state(_ db: Database) throws -> [String] {
        try String.fetchAll(
            db,
            sql: """
                SELECT 't ' || quote(id) || ' ' || quote(t) || ' ' || quote(u) FROM t
                UNION ALL SELECT 'u ' || quote(id) || ' ' || quote(t) FROM u
                UNION ALL SELECT 'hidden ' || tbl || ' ' || quote(pk) || ' ' || reason FROM _sync_hidden
                ORDER BY 1
                """)
    }

    /// Settles a store, and compares it with the rule, and with what it would be if all rows that wait were tried.
    ///
    /// - returns: What it shows and hides, and how many rows it hides.
    private func settled(_ replica: TestReplica) throws -> (state: [String], hiddenCount: Int) {
        let environment = replica.stores.clock.environment
        try replica.queue.settle(environment, isFull: false)
        let (settled, rows) = try replica.queue.read { (try state($0), try shown($0)) }
        #expect(rows.found == rows.expected)
        var tried: [String] = []
        try replica.queue.writeWithoutTransaction { db in
            try db.withoutForeignKeys {
                try db.inTransaction(.immediate) {
                    let store = try FoldedStore.fold(db, environment)
                    let parking = try Parking(db, now: 0)
                    let muting = try Muting(db)
                    try Settlement(store, parking).run(isFull: true, parking, muting)
                    tried = try state(db)
                    return .rollback
                }
            }
        }
        #expect(settled == tried)
        return (settled, rows.hiddenCount)
    }

    @Test(arguments: variants.indices, 1...3)
    func aStoreShowsWhatTheRuleSaysOfTheRowsThatExist(number: Int, seed: Int) throws {
        let variant = Self.variants[number]
        let stores = try TestStores()
        let first = try stores.create("0.db", schema: variant.schema, tables: ["t", "u"])
        let replicas = try [first, stores.clone(first, as: "1.db"), stores.clone(first, as: "2.db")]
        var numbers = SplitMix64(state: UInt64(1000 * number + seed))
        var hiddenMost = 0
        var roundCount = 0
        // Until a row went with a row that went.
        while roundCount < 20 || hiddenMost < 3 && roundCount < 100 {
            roundCount += 1
            for _ in 0..<6 {
                let replica = replicas[Int.random(in: 0..<3, using: &numbers)]
                try replica.execute(edit(variant, &numbers))
            }
            let place = Int.random(in: 0..<3, using: &numbers)
            let pair = [replicas[place], replicas[(place + 1) % 3]]
            try pair[0].sync(
                pair[1], [SyncDirection.pull, .push, .both][Int.random(in: 0..<3, using: &numbers)])
            for replica in pair { hiddenMost = try max(hiddenMost, settled(replica).hiddenCount) }
        }
        #expect(hiddenMost >= 3)
        for _ in 0..<2 {
            for place in 0..<3 { try replicas[place].sync(replicas[(place + 1) % 3]) }
        }
        let states = try replicas.map { try settled($0).state }
        #expect(states[1] == states[0])
        #expect(states[2] == states[0])
        for replica in replicas { #expect(try replica.problems() == []) }
    }
}
