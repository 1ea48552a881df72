import CipherStore
import Foundation
import Testing

@testable import SyncEngine

/// Three replicas that are edited apart from each other and then meet, in each order
/// of their pairs. What they show, hide and know has to be the same at the end: on all
/// of them, and for all orders.
struct ConstraintScenario {
    /// One statement at one replica: 0, 1 or 2.
    typealias Edit = (replica: Int, sql: String)

    let schema: String
    let tables: [String]
    /// What all replicas begin with.
    var start: [String] = []
    /// Edits, after each group of which the replicas meet.
    var phases: [[Edit]]
    /// Run on each replica before the first edit, in no transaction.
    var prepare: (TestReplica) throws -> Void = { _ in }

    /// What a replica shows and hides.
    struct Outcome: Equatable {
        var shown: [String]
        var hidden: [String]
        var versions: [String]
    }

    private static let orders: [[(Int, Int)]] = {
        let pairs = [(0, 1), (1, 2), (0, 2)]
        let permutations = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]
        return permutations.map { $0.map { pairs[$0] } }
    }()

    /// Plays the scenario in all orders.
    ///
    /// - returns: What all replicas show in the end.
    @discardableResult
    func play(
        orders count: Int = 2, sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> Outcome {
        var first: Outcome?
        for (order, outcomes) in zip(Self.orders, try playEach(orders: count)) {
            for (number, outcome) in outcomes.enumerated() {
                guard let expected = first else {
                    first = outcome
                    continue
                }
                #expect(
                    outcome.shown == expected.shown, "\(order), \(number)", sourceLocation: sourceLocation)
                #expect(
                    outcome.hidden == expected.hidden, "\(order), \(number)", sourceLocation: sourceLocation)
                #expect(
                    outcome.versions == expected.versions, "\(order), \(number)",
                    sourceLocation: sourceLocation)
            }
        }
        return try #require(first)
    }

    /// Plays the scenario in all orders.
    ///
    /// - returns: For each order, what each replica shows in the end.
    func playEach(orders count: Int) throws -> [[Outcome]] { try Self.orders.prefix(count).map(play) }

    private func play(_ order: [(Int, Int)]) throws -> [Outcome] {
        let stores = try TestStores()
        let first = try stores.create("0.db", schema: schema, tables: tables)
        for sql in start { try first.execute(sql) }
        var replicas = [first]
        for number in 1...2 { replicas.append(try stores.clone(first, as: "\(number).db")) }
        for replica in replicas { try prepare(replica) }
        for phase in phases {
            for edit in phase { try replicas[edit.replica].execute(edit.sql) }
            // What the last pairs learnt has to reach the others.
            for (left, right) in order + order { try meet(replicas[left], replicas[right]) }
        }
        return try replicas.map { try outcome($0) }
    }

    /// Synchronizes two replicas whose files are open.
    private func meet(_ left: TestReplica, _ right: TestReplica) throws {
        let environment = left.stores.clock.environment
        _ = try SessionDriver(
            local: StorePeer(left.queue, environment, closes: false),
            remote: StorePeer(right.queue, environment, closes: false), remoteName: right.name, progress: nil
        ).run(.both)
    }

    /// What a replica shows and hides now.
    func outcome(_ replica: TestReplica) throws -> Outcome {
        try replica.queue.read { db in
            let violations = try Row.fetchAll(db, sql: "PRAGMA foreign_key_check")
            #expect(violations.isEmpty, "\(violations)")
            #expect(try String.fetchOne(db, sql: "PRAGMA integrity_check") == "ok")
            #expect(try Int.fetchOne(db, sql: "SELECT applying FROM _sync_state") == 0)
            // Of the rows that keep one out of its place each replica names the one that it found.
            let hidden = try Row.fetchAll(
                db,
                sql: """
                    SELECT t.name, hex(h.pk), h.reason,
                        CASE h.reason WHEN 'unique' THEN '' ELSE hex(h.other_pk) END, h.tbl, h.pk
                    FROM _sync_hidden h JOIN _sync_table t ON t.tbl = h.tbl ORDER BY 1, 2
                    """
            ).map { row in
                let values = try String.fetchAll(
                    db,
                    sql: """
                        SELECT c.name || '=' || quote(s.val) FROM _sync_shadow s
                        JOIN _sync_column c ON c.tbl = s.tbl AND c.col = s.col
                        WHERE s.tbl = ? AND s.pk = ? ORDER BY s.col
                        """, arguments: [row[4] as Int64, row[5] as DatabaseValue])
                return row.databaseValues.prefix(4).map(\.description).joined(separator: " ") + " "
                    + values.joined(separator: ",")
            }
            let shown = try tables.flatMap { table in
                try Row.fetchAll(db, sql: "SELECT * FROM \(table) ORDER BY 1").map { row in
                    "\(table) " + row.databaseValues.map(text).joined(separator: " ")
                }
            }
            let problems = try MetadataCheck.problems(of: db, isDeep: true)
            #expect(problems.isEmpty, "\(problems)")
            return Outcome(shown: shown, hidden: hidden, versions: try versions(db))
        }
    }

    private func text(_ value: DatabaseValue) -> String {
        guard case .blob(let data) = value.storage else { return value.description }
        return data.count == 16 ? "#\(data[0])" : "x" + data.map { String($0, radix: 16) }.joined()
    }

    private func versions(_ db: Database) throws -> [String] {
        try Row.fetchAll(
            db,
            sql: """
                SELECT t.name, hex(r.pk), r.cl, r.hlc, hex(p.rid), r.oseq, '' AS name
                FROM _sync_row r JOIN _sync_table t ON t.tbl = r.tbl JOIN _sync_replica p ON p.sid = r.sid
                UNION ALL
                SELECT t.name, hex(r.pk), r.cl, c.hlc, hex(p.rid), c.oseq, n.name
                FROM _sync_cell c JOIN _sync_row r ON r.r = c.r
                JOIN _sync_column n ON n.tbl = r.tbl AND n.col = c.col
                JOIN _sync_table t ON t.tbl = r.tbl JOIN _sync_replica p ON p.sid = c.sid
                ORDER BY 1, 2, 7
                """
        ).map { $0.databaseValues.map(\.description).joined(separator: " ") }
    }
}

/// The SQL of a key that tests can read.
func k(_ number: UInt8) -> String {
    let digits = String(number, radix: 16)
    return "x'" + String(repeating: digits.count == 1 ? "0" + digits : digits, count: 16) + "'"
}
