import CipherStore
import Foundation
import SyncWire
import TestSupport
import Testing

@testable import SyncEngine

/// Random histories of columns of which the greatest or the smallest value stands.
@Suite struct MaxMinPropertyTests {
    private static let rowCount: UInt8 = 3

    private func exchange(_ left: TestReplica, _ right: TestReplica) throws {
        let environment = left.stores.clock.environment
        _ = try SessionDriver(
            local: StorePeer(left.queue, environment, closes: false),
            remote: StorePeer(right.queue, environment, closes: false), remoteName: right.name,
            progress: nil
        ).run(.both)
    }

    private func replicas(seed: UInt64) throws -> [TestReplica] {
        let stores = try TestStores(seed: seed)
        let first = try stores.create(
            "0.db", schema: "CREATE TABLE item (id BLOB PRIMARY KEY, hi, lo)", tables: ["item"])
        try first.synchronizer.setPolicies([.max("item", "hi"), .min("item", "lo")])
        for row in 1...Self.rowCount {
            try first.execute("INSERT INTO item VALUES (?, NULL, NULL)", [key(row)])
        }
        return try [first] + (1..<3).map { try stores.clone(first, as: "\($0).db") }
    }

    private func value(_ random: inout SplitMix64) -> DatabaseValue {
        switch random.next(below: 8) {
        case 0: .null
        case 1: "t\(random.next(below: 5))".databaseValue
        case 2: Data([UInt8(random.next(below: 3))]).databaseValue
        case 3: (Double(random.next(below: 40)) / 4).databaseValue
        default: Int64(random.next(below: 10)).databaseValue
        }
    }

    /// Synchronizes all pairs until a round brings nothing new.
    private func settle(_ all: [TestReplica]) throws {
        for _ in 0..<8 {
            for (one, other) in [(0, 1), (1, 2), (2, 0)] { try exchange(all[one], all[other]) }
            let states = try all.map { try $0.state(["item"]) }
            if states.allSatisfy({ $0 == states[0] }) { return }
        }
        Issue.record("the replicas go on writing")
    }

    /// Each row and column is written at most once by each replica before it hears of the others.
    @Test(arguments: Campaign.seeds(3, nightly: 300))
    func whateverTheOrderTheGreatestOfConcurrentWritesStands(seed: UInt64) throws {
        var random = SplitMix64(state: seed)
        let all = try replicas(seed: seed)
        var written: [String: [DatabaseValue]] = [:]
        for replica in all {
            for row in 1...Self.rowCount {
                for column in ["hi", "lo"] where random.next(below: 4) > 0 {
                    let value = value(&random)
                    written["\(row) \(column)", default: []].append(value)
                    try replica.execute("UPDATE item SET \(column) = ? WHERE id = ?", [value, key(row)])
                }
            }
        }
        for _ in 0..<random.next(below: 6) {
            let one = Int(random.next(below: 3))
            try exchange(all[one], all[(one + 1 + Int(random.next(below: 2))) % 3])
        }
        try settle(all)
        for row in 1...Self.rowCount {
            for column in ["hi", "lo"] {
                let values = written["\(row) \(column)"] ?? []
                let expected = try all[0].queue.read { db in
                    try values.filter { !$0.isNull }.reduce(DatabaseValue.null) { best, value in
                        let isBetter = try Bool.fetchOne(
                            db, sql: column == "hi" ? "SELECT ?1 > ?2" : "SELECT ?1 < ?2",
                            arguments: [value, best])
                        return best.isNull || isBetter == true ? value : best
                    }
                }
                for replica in all {
                    let isEqual = try replica.queue.read { db in
                        try Bool.fetchOne(
                            db, sql: "SELECT \(column) IS ? FROM item WHERE id = ?",
                            arguments: [expected, key(row)])
                    }
                    #expect(isEqual == true, "\(values) of \(column)")
                }
            }
        }
        for replica in all { #expect(try replica.synchronizer.conflictCount() == 0) }
    }

    @Test(arguments: Campaign.seeds(3, nightly: 300))
    func replicasThatWriteAndMeetInAnyOrderAreEqualInTheEnd(seed: UInt64) throws {
        var random = SplitMix64(state: seed)
        let all = try replicas(seed: seed)
        for _ in 0..<30 {
            let one = Int(random.next(below: 3))
            if random.next(below: 3) > 0 {
                let column = random.next(below: 2) == 0 ? "hi" : "lo"
                let value = value(&random)
                try all[one].execute(
                    "UPDATE item SET \(column) = ? WHERE id = ?",
                    [value, key(1 + UInt8(random.next(below: UInt64(Self.rowCount))))])
            } else {
                try exchange(all[one], all[(one + 1 + Int(random.next(below: 2))) % 3])
            }
        }
        try settle(all)
        for replica in all { #expect(try replica.synchronizer.conflictCount() == 0) }
    }
}
