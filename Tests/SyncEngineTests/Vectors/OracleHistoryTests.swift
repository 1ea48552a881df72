import CipherStore
import Foundation
import SyncWire
import TestSupport
import Testing

@testable import SyncEngine

/// Random histories, run by real stores and by the proven model, whose outcomes `Scripts/prove --oracle` checks: what
/// each replica knows, its rows with all stamps, and what is in its journal.
@Suite struct OracleHistoryTests {
    private static let replicaCount = 3

    private static func lines(_ name: String) throws -> [String] {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let text = try String(
            contentsOf: root.appendingPathComponent("Proofs/oracle").appendingPathComponent(name),
            encoding: .utf8)
        return text.split(separator: "\n").map(String.init)
    }

    /// A share of the histories, with the steps and what the model shows after them.
    private static func samples(_ share: Int) throws -> [(name: String, steps: [[String]], outcome: [String])]
    {
        let histories = try lines("samples.txt")
        let outcomes = try lines("sample-outcomes.txt").split(separator: "end").map(Array.init)
        try #require(histories.count == outcomes.count && histories.count >= 400)
        return Campaign.every(share, of: histories.indices).map { index in
            let steps = histories[index].split(separator: ";").map {
                $0.split(separator: " ").map(String.init)
            }
            return ("history \(index + 1): \(histories[index])", steps, outcomes[index])
        }
    }

    @Test func storesShowWhatTheProvenModelShows() throws {
        for sample in try Self.samples(16) {
            let stores = try OracleStores(count: Self.replicaCount)
            for step in sample.steps { try stores.run(step) }
            try expect(stores, sample.outcome, sample.name)
        }
    }

    /// The model remembers deletions. A store that forgets them shows the same rows all the same, and has the same values
    /// in its journal; the lives and stamps of what is inserted again begin anew.
    @Test func storesThatForgetDeletionsShowWhatTheProvenModelShows() throws {
        var forgotten = 0
        for (number, sample) in try Self.samples(16).enumerated() {
            var random = SplitMix64(state: UInt64(number))
            let stores = try OracleStores(count: Self.replicaCount)
            try stores.meet()
            for step in sample.steps {
                try stores.run(step)
                forgotten += try stores.compact(Int.random(in: 1...Self.replicaCount, using: &random))
            }
            try expect(stores, sample.outcome, sample.name, Self.withoutVersions)
        }
        #expect(forgotten > 10, "hardly any deletion was forgotten")
    }

    /// What a line says without lives and stamps; nil for a row that does not exist.
    private static func withoutVersions(_ line: String) -> String? {
        guard let life = line.firstMatch(of: #/life (\d+)/#) else { return line }
        if line.hasPrefix("  row "), Int(life.1)?.isMultiple(of: 2) == true { return nil }
        return line.replacing(#/life \d+|base \S+|\[[^\]]*\]/#, with: "")
    }

    private func expect(
        _ stores: OracleStores, _ outcome: [String], _ history: String,
        _ comparable: (String) -> String? = { $0 }
    ) throws {
        for block in outcome.split(whereSeparator: { $0.isEmpty }).flatMap({ Self.blocks($0) }) {
            let number = try #require(
                block.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) })
            let shown = try stores.outcome(of: number)
            // The journal does not keep the number of the change.
            let expected = block.map { line in
                line.contains(" lost ") ? String(line.prefix { $0 != "#" }) + "]" : line
            }
            #expect(
                Set(shown.compactMap(comparable)) == Set(expected.compactMap(comparable)),
                "replica \(number) of \(history)")
        }
    }

    /// The lines of each replica.
    private static func blocks(_ lines: some Collection<String>) -> [[String]] {
        lines.reduce(into: []) { blocks, line in
            if line.hasPrefix("replica ") {
                blocks.append([line])
            } else if !blocks.isEmpty {
                blocks[blocks.count - 1].append(line)
            }
        }
    }
}

/// The stores of a history. Their numbers are in the order of their identifiers, as those of the model are.
private final class OracleStores {
    private let stores: TestStores
    private let replicas: [TestReplica]
    private let numbers: [ReplicaID: Int]
    private var bundles: [String: [[UInt8]]] = [:]

    init(count: Int) throws {
        let stores = try TestStores()
        self.stores = stores
        let first = try stores.create(
            schema: "CREATE TABLE pair (id BLOB PRIMARY KEY, c1, c2)", tables: ["pair"])
        let all = try [first] + (1..<count).map { try stores.clone(first, as: "r\($0).db") }
        let sorted = try all.map { (try $0.replica(), $0) }.sorted { $0.0 < $1.0 }
        replicas = sorted.map(\.1)
        numbers = Dictionary(uniqueKeysWithValues: sorted.enumerated().map { ($1.0, $0 + 1) })
    }

    private struct UnknownStep: Error {
        let words: [String]
    }

    private func replica(_ word: String) throws -> TestReplica {
        guard let number = Int(word), replicas.indices.contains(number - 1) else {
            throw UnknownStep(words: [word])
        }
        return replicas[number - 1]
    }

    func run(_ words: [String]) throws {
        switch (words.first, words.dropFirst().first) {
        case ("sync", _):
            let (sender, receiver) = (try replica(words[1]), try replica(words[2]))
            try receiver.apply(sender.bundle(since: receiver.vector()))
        case (let sender?, "export"):
            let base = try words.count > 3 ? replica(words[4]).vector() : VersionVector()
            bundles[words[2]] = try replica(sender).bundle(since: base)
        case (let receiver?, "apply"):
            guard let bundle = bundles[words[2]] else { throw UnknownStep(words: words) }
            try replica(receiver).apply(bundle)
        case (let writer?, let kind?):
            try write(replica(writer), kind, words)
        default: throw UnknownStep(words: words)
        }
    }

    /// Lets each hear of each, so that nobody forgets what others have never been told.
    func meet() throws {
        for _ in 1...2 {
            for (first, second) in [(0, 1), (1, 2), (0, 2)] { try replicas[first].sync(replicas[second]) }
        }
    }

    /// Forgets the deletions that all know, and tells how many.
    func compact(_ number: Int) throws -> Int {
        Int(try replicas[number - 1].synchronizer.compact().forgottenDeletionCount)
    }

    /// A write of one row at a time, and its fold.
    private func write(_ replica: TestReplica, _ kind: String, _ words: [String]) throws {
        guard let row = UInt8(words[2]), let time = Int64(words[3]) else { throw UnknownStep(words: words) }
        let values = words.dropFirst(4).map { $0.split(separator: "=").map(String.init) }
        let key = Data(repeating: row, count: 16)
        try replica.queue.write { db in
            switch kind {
            case "insert":
                try db.execute(
                    sql: "INSERT INTO pair (id, c1, c2) VALUES (?, \(values[0][1]), \(values[1][1]))",
                    arguments: [key])
            case "update":
                try db.execute(
                    sql: "UPDATE pair SET c\(values[0][0]) = \(values[0][1]) WHERE id = ?", arguments: [key])
            case "delete": try db.execute(sql: "DELETE FROM pair WHERE id = ?", arguments: [key])
            default: throw UnknownStep(words: words)
            }
            try db.execute(
                sql: "UPDATE _sync_log SET ms = ? WHERE seq = (SELECT max(seq) FROM _sync_log)",
                arguments: [time >> 16])
        }
        _ = try replica.peer.greet()
    }

    // MARK: What they show

    /// What the oracle prints of a replica.
    func outcome(of number: Int) throws -> [String] {
        let replica = replicas[number - 1]
        let known = try replica.vector().sequences.filter { $0.value > 0 }
            .compactMap { id, sequence in numbers[id].map { ($0, sequence) } }.sorted { $0.0 < $1.0 }
            .map { "\($0)#\($1)" }
        return try replica.queue.read { db in
            try ["replica \(number) knows " + known.joined(separator: " ")] + rows(db) + lost(db)
        }
    }

    private func number(_ id: Data) throws -> Int {
        guard let id = id.withUnsafeBytes({ ReplicaID(bytes: $0) }), let number = numbers[id] else {
            throw UnknownStep(words: ["a replica that is none of the history"])
        }
        return number
    }

    private func rows(_ db: Database) throws -> [String] {
        let sql = """
            SELECT hex(substr(r.pk, 1, 1)), r.cl, r.hlc, p.rid, r.oseq, r.r, t.c1, t.c2 FROM _sync_row AS r
            JOIN _sync_replica AS p ON p.sid = r.sid LEFT JOIN pair AS t ON t.id = r.pk
            """
        return try Row.fetchAll(db, sql: sql).map { row in
            let stamp = try "\(row[2] as Int64)@\(number(row[3]))#\(row[4] as Int64)"
            let life: Int64 = row[1]
            var line = "  row \(Int(row[0] as String, radix: 16) ?? 0) life \(life) base \(stamp)"
            for column in 1...2 where life & 1 == 1 {
                let cell = try Row.fetchOne(
                    db,
                    sql: """
                        SELECT c.hlc, p.rid, c.oseq FROM _sync_cell AS c JOIN _sync_replica AS p ON p.sid = c.sid
                        WHERE c.r = ? AND c.col = (SELECT col FROM _sync_column WHERE name = ?)
                        """, arguments: [row[5] as Int64, "c\(column)"])
                let written =
                    try cell.map { try "\($0[0] as Int64)@\(number($0[1]))#\($0[2] as Int64)" } ?? stamp
                line += " \(column)=\((row[5 + column] as Int64?).map(String.init) ?? "null")[\(written)]"
            }
            return line
        }
    }

    private func lost(_ db: Database) throws -> [String] {
        let sql = """
            SELECT hex(substr(c.pk, 1, 1)), n.name, c.life, c.val, c.hlc, p.rid FROM _sync_conflict AS c
            JOIN _sync_column AS n ON n.tbl = c.tbl AND n.col = c.col JOIN _sync_replica AS p ON p.sid = c.sid
            WHERE c.why <> 'row'
            """
        return try Row.fetchAll(db, sql: sql).map { row in
            let value = (row[3] as Int64?).map(String.init) ?? "null"
            let key = Int(row[0] as String, radix: 16) ?? 0
            return try "  lost \(key).\((row[1] as String).dropFirst()) life \(row[2] as Int64) "
                + "\(value)[\(row[4] as Int64)@\(number(row[5]))]"
        }
    }
}
