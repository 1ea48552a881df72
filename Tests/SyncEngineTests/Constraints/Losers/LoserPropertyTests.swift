import CipherStore
import Foundation
import Testing

@testable import SyncEngine

/// Whatever happens in whatever order, what a store shows after it tried the rows that may have been freed is what it shows
/// after it tried all that wait.
@Suite struct LoserPropertyTests {
    private static let columns = [
        "name TEXT COLLATE NOCASE UNIQUE, code INTEGER UNIQUE);",
        "name, code, UNIQUE (code, name)); CREATE UNIQUE INDEX i ON t (name);",
        "name UNIQUE, code UNIQUE, CHECK (name IS NOT 'd' OR code IS NOT 3)) WITHOUT ROWID;",
        "name, code); CREATE UNIQUE INDEX i ON t (lower(name)); CREATE UNIQUE INDEX j ON t (code);",
        "name, code UNIQUE); CREATE UNIQUE INDEX i ON t (name) WHERE name <> 'a';",
    ]
    private static let names: [DatabaseValue] = [
        .null, "a".databaseValue, "A".databaseValue, "b".databaseValue, "c".databaseValue, "d".databaseValue,
    ]

    private struct Numbers: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var z = state
            z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
            return z ^ (z >> 31)
        }

        mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &self) }
    }

    private func edit(_ replica: TestReplica, _ numbers: inout Numbers) throws {
        let row = itemKey(numbers.below(16))
        let parent = itemKey(100 + numbers.below(3))
        let name = Self.names[numbers.below(Self.names.count)]
        let code = numbers.below(6)
        switch numbers.below(14) {
        case 0..<4:
            // Half of the rows have a parent, if it is there.
            let mayHaveParent = numbers.below(2) == 0
            try replica.execute(
                "INSERT OR IGNORE INTO t VALUES (?, (SELECT id FROM p WHERE id = ? AND ?), ?, ?)",
                [row, parent, mayHaveParent, name, code])
        case 4...5: try replica.execute("UPDATE OR IGNORE t SET name = ? WHERE id = ?", [name, row])
        case 6...7: try replica.execute("UPDATE OR IGNORE t SET code = ? WHERE id = ?", [code, row])
        case 8:
            try replica.execute(
                "UPDATE OR IGNORE t SET name = ?, code = ? WHERE id = ?", [name, code, row])
        case 9: try replica.execute("DELETE FROM t WHERE id = ?", [row])
        case 10...11:
            try replica.execute(
                "INSERT OR IGNORE INTO c VALUES (?, (SELECT id FROM t WHERE id = ?))",
                [itemKey(200 + numbers.below(20)), row])
        case 12: try replica.execute("INSERT OR IGNORE INTO p VALUES (?)", [parent])
        default: try replica.execute("DELETE FROM p WHERE id = ?", [parent])
        }
    }

    /// What a store shows and hides.
    private func state(_ db: Database) throws -> [String] {
        try String.fetchAll(
            db,
            sql: """
                SELECT 'p ' || hex(id) FROM p
                UNION ALL SELECT 't ' || hex(id) || ' ' || quote(parent) || ' ' || quote(name) || ' ' || quote(code) FROM t
                UNION ALL SELECT 'c ' || hex(id) || ' ' || quote(t) FROM c
                UNION ALL SELECT 'hidden ' || tbl || ' ' || hex(pk) || ' ' || reason FROM _sync_hidden
                ORDER BY 1
                """)
    }

    /// Settles a store, and compares it with what it would be if all rows that wait were tried.
    private func settled(_ replica: TestReplica) throws -> [String] {
        let environment = replica.stores.clock.environment
        try replica.queue.settle(environment, isFull: false)
        let (shown, wrong) = try replica.queue.read { (try state($0), try wrongCount($0)) }
        #expect(wrong == 0)
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
        #expect(shown == tried)
        return shown
    }

    /// How many rows gave way to one that does not stand.
    private func wrongCount(_ db: Database) throws -> Int? {
        try Int.fetchOne(
            db,
            sql: """
                SELECT count(*) FROM _sync_hidden AS h
                WHERE h.reason = 'unique' AND NOT EXISTS (SELECT 1 FROM t WHERE t.id = h.other_pk)
                  AND NOT EXISTS (
                    SELECT 1 FROM _sync_hidden AS o
                    WHERE o.tbl = h.tbl AND o.pk = h.other_pk AND o.reason = 'missingParent')
                """)
    }

    @Test(arguments: columns.indices, 1...3)
    func aStoreShowsWhatItWouldShowIfAllThatWaitWereTried(number: Int, seed: Int) throws {
        let stores = try TestStores()
        let first = try stores.create(
            "0.db",
            schema: """
                CREATE TABLE c (id BLOB PRIMARY KEY, t BLOB REFERENCES t ON DELETE CASCADE);
                CREATE TABLE p (id BLOB PRIMARY KEY);
                CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, parent BLOB REFERENCES p ON DELETE CASCADE, \(Self.columns[number])
                """, tables: ["c", "p", "t"])
        let replicas = try [first, stores.clone(first, as: "1.db"), stores.clone(first, as: "2.db")]
        var numbers = Numbers(state: UInt64(1000 * number + seed))
        var losers: Set<String> = []
        var roundCount = 0
        // Until some row has given way.
        while roundCount < 20 || losers.isEmpty && roundCount < 100 {
            roundCount += 1
            for _ in 0..<4 { try edit(replicas[numbers.below(3)], &numbers) }
            let place = numbers.below(3)
            let pair = [replicas[place], replicas[(place + 1) % 3]]
            try pair[0].sync(pair[1], [SyncDirection.pull, .push, .both][numbers.below(3)])
            for replica in pair {
                let state = try settled(replica)
                losers.formUnion(state.filter { $0.hasSuffix(" unique") })
            }
        }
        #expect(!losers.isEmpty)
        for _ in 0..<2 {
            for place in 0..<3 { try replicas[place].sync(replicas[(place + 1) % 3]) }
        }
        let states = try replicas.map { try settled($0) }
        #expect(states[1] == states[0])
        #expect(states[2] == states[0])
        for replica in replicas { #expect(try replica.problems() == []) }
    }
}
