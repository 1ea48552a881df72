import CipherStore
import Foundation
import SyncWire
import TestSupport
import Testing

@testable import SyncEngine

/// Random histories on real, encrypted files: whatever happens in whatever
/// order, replicas that have seen the same changes are equal.
@Suite struct ConvergenceTests {
    private static let columns = ["title", "body", "stars"]

    /// - parameters:
    ///     - changeCountMax: How many changes go at once.
    ///     - isCut: Whether the way breaks after the first of them.
    private func exchange(
        _ left: TestReplica, _ right: TestReplica, _ direction: SyncDirection,
        changeCountMax: Int64 = .max, isCut: Bool = false
    ) throws {
        let environment = left.stores.clock.environment
        let remote = FaultyPeer(
            StorePeer(right.queue, environment, closes: false), cut: isCut ? .received : nil,
            changeCountMax: changeCountMax)
        do {
            _ = try SessionDriver(
                local: StorePeer(left.queue, environment, closes: false), remote: remote,
                remoteName: right.name, progress: nil
            ).run(direction)
        } catch is FaultyPeer.Cut {}
    }

    private func act(_ replica: TestReplica, _ random: inout SplitMix64) throws {
        let row = key(UInt8(random.next(below: 6)))
        let number = Int64(random.next(below: 5))
        switch random.next(below: 10) {
        case 0..<3:
            try replica.execute(
                "INSERT OR IGNORE INTO note (id, title, stars) VALUES (?, ?, ?)", [row, "t\(number)", number])
        case 3:
            try replica.execute("INSERT OR REPLACE INTO note (id, body) VALUES (?, ?)", [row, "r\(number)"])
        case 4..<8:
            let column = Self.columns[Int(random.next(below: 3))]
            try replica.execute("UPDATE note SET \(column) = ? WHERE id = ?", [number, row])
        case 8:
            try replica.execute("DELETE FROM note WHERE id = ?", [row])
        default:
            try replica.execute(
                "UPDATE note SET id = ? WHERE id = ? AND NOT EXISTS (SELECT 1 FROM note WHERE id = ?)",
                [key(UInt8(random.next(below: 6)) + 6), row, row])
        }
        // Clocks differ, and step back at times.
        let skew = Int64(random.next(below: 200)) - 100
        try replica.queue.write { db in
            try db.execute(
                sql: "UPDATE _sync_log SET ms = ms + ? WHERE seq > (SELECT folded FROM _sync_state)",
                arguments: [skew])
        }
    }

    /// Rows and versions, with replicas by their ids.
    private func state(_ replica: TestReplica) throws -> [String] {
        let versions = try replica.queue.read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT t.name, hex(r.pk), r.cl, r.hlc, hex(p.rid), r.oseq, -1 AS col
                    FROM _sync_row r JOIN _sync_table t ON t.tbl = r.tbl JOIN _sync_replica p ON p.sid = r.sid
                    UNION ALL
                    SELECT t.name, hex(r.pk), r.cl, c.hlc, hex(p.rid), c.oseq, c.col
                    FROM _sync_cell c JOIN _sync_row r ON r.r = c.r
                    JOIN _sync_table t ON t.tbl = r.tbl JOIN _sync_replica p ON p.sid = c.sid
                    ORDER BY 1, 2, 7
                    """
            ).map(\.description)
        }
        return try replica.dump() + versions
    }

    @Test(arguments: Campaign.seeds(4, nightly: 120)) func replicasConverge(seed: UInt64) throws {
        try converge(seed, inPortions: false)
    }

    @Test(arguments: Campaign.seeds(4, nightly: 120))
    func replicasConvergeThatTakeAFewChangesAtOnce(seed: UInt64) throws {
        try converge(seed, inPortions: true)
    }

    private func converge(_ seed: UInt64, inPortions: Bool) throws {
        var random = SplitMix64(state: seed)
        let stores = try TestStores(seed: seed)
        if inPortions { stores.clock.chainStride.withLock { $0 = 1 } }
        let first = try stores.create("0.db")
        try first.execute("INSERT INTO note (id, title) VALUES (?, 'zero')", [key(0)])
        var replicas = [first]
        for number in 1...3 { replicas.append(try stores.clone(replicas[number - 1], as: "\(number).db")) }
        let directions: [SyncDirection] = [.push, .pull, .both]
        for _ in 0..<120 {
            let one = Int(random.next(below: 4))
            if random.next(below: 3) > 0 {
                try act(replicas[one], &random)
            } else {
                let other = (one + 1 + Int(random.next(below: 3))) % 4
                let direction = directions[Int(random.next(below: 3))]
                guard inPortions else {
                    try exchange(replicas[one], replicas[other], direction)
                    continue
                }
                try exchange(
                    replicas[one], replicas[other], direction,
                    changeCountMax: Int64(1 + random.next(below: 4)), isCut: random.next(below: 3) == 0)
            }
        }
        for _ in 0..<2 {
            for number in 1..<4 { try exchange(replicas[0], replicas[number], .both) }
        }
        let expected = try state(replicas[0])
        for replica in replicas.dropFirst() { #expect(try state(replica) == expected) }
        for replica in replicas {
            #expect(try replica.queue.read { try String.fetchOne($0, sql: "PRAGMA integrity_check") } == "ok")
            #expect(try replica.synchronizer.status().parkedCount == 0)
        }
    }

    @Test func applyingABundleTwiceChangesNothing() throws {
        let stores = try TestStores()
        let a = try stores.create("a.db")
        let b = try stores.clone(a, as: "b.db")
        for number in 0..<50 {
            try a.execute("INSERT INTO note (id, title) VALUES (?, 'x')", [key(UInt8(number))])
        }
        try b.execute("INSERT INTO note (id, title) VALUES (?, 'y')", [key(3)])
        let environment = stores.clock.environment
        let source = StorePeer(a.queue, environment, closes: false)
        let target = StorePeer(b.queue, environment, closes: false)
        _ = try source.greet()
        var bytes: [UInt8] = []
        _ = try source.send(since: VersionVector(), progress: nil) { bytes.append(contentsOf: $0) }
        var states: [[String]] = []
        for _ in 0..<2 {
            _ = try target.receive { sink in
                try bytes.withUnsafeBytes { try Frame.forEach(in: $0, sink) }
            }
            states.append(try state(b))
        }
        #expect(states[0] == states[1])
        #expect(try b.dump().count == 50)
    }

    @Test func aBundleThatIsCutShortAppliesNothing() throws {
        let stores = try TestStores()
        let a = try stores.create("a.db")
        let b = try stores.clone(a, as: "b.db")
        for number in 0..<20 {
            try a.execute("INSERT INTO note (id, title) VALUES (?, 'x')", [key(UInt8(number))])
        }
        let environment = stores.clock.environment
        let source = StorePeer(a.queue, environment, closes: false)
        let target = StorePeer(b.queue, environment, closes: false)
        _ = try source.greet()
        var frames: [[UInt8]] = []
        _ = try source.send(since: VersionVector(), progress: nil) { frames.append(Array($0)) }
        let before = try state(b)
        for count in 0..<frames.count {
            #expect(throws: WireError.self) {
                try target.receive { sink in
                    for frame in frames.prefix(count) { try frame.withUnsafeBytes { try sink($0) } }
                }
            }
        }
        #expect(try state(b) == before)
        #expect(try b.value("SELECT applying FROM _sync_state", as: Int.self) == 0)
    }

    @Test func theFastWayOfANewRowIsWhatTheMergePlans() throws {
        let stores = try TestStores()
        let a = try stores.create("a.db")
        try a.execute("INSERT INTO note (id, title, body) VALUES (?, 'x', 'y')", [key(1)])
        let b = try stores.clone(a, as: "b.db")
        let c = try stores.clone(a, as: "c.db")
        try a.execute("INSERT INTO note (id, title, body) VALUES (?, 'new', 'row')", [key(2)])
        try a.queue.write { _ = try FoldedStore.fold($0, stores.clock.environment) }
        try a.execute("UPDATE note SET body = 'edited' WHERE id = ?", [key(2)])
        // b sees the row for the first time; c has a tombstone of it, so it takes the way of the merge.
        try c.queue.write { db in
            let rid = try StoreMetadata.require(db).selfNumber
            try db.execute(
                sql: "INSERT INTO _sync_row (tbl, pk, cl, hlc, sid, oseq) VALUES (1, ?, 0, 0, ?, 0)",
                arguments: [key(2), rid])
        }
        try exchange(a, b, .push)
        try exchange(a, c, .push)
        #expect(try state(b) == state(c))
        #expect(try b.dump() == a.dump())
    }
}
