import CipherStore
import Foundation
import SyncWire
import TestSupport
import Testing

@testable import SyncEngine

/// Columns of which the greatest or the smallest value stands.
@Suite struct MaxMinTests {
    private static let schema = "CREATE TABLE item (id BLOB PRIMARY KEY, v, w TEXT)"

    private func replicas(
        _ count: Int, _ policy: ColumnPolicy = .max("item", "v"), schema: String = schema, seed: UInt64 = 1
    ) throws -> [TestReplica] {
        let stores = try TestStores(seed: seed)
        let first = try stores.create("0.db", schema: schema, tables: ["item"])
        try first.synchronizer.setPolicies([policy])
        try first.execute("INSERT INTO item VALUES (?, 0, 'w')", [key(1)])
        return try [first] + (1..<count).map { try stores.clone(first, as: "\($0).db") }
    }

    private func write(_ value: (any DatabaseValueConvertible)?, _ replica: TestReplica) throws {
        try replica.execute("UPDATE item SET v = ?", [value])
    }

    private func shown(_ replica: TestReplica) throws -> DatabaseValue? {
        try replica.queue.read { try DatabaseValue.fetchOne($0, sql: "SELECT v FROM item") }
    }

    private func expect(
        _ replicas: [TestReplica], _ value: (any DatabaseValueConvertible)?,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        for replica in replicas {
            let shown = try shown(replica)
            #expect(shown == (value?.databaseValue ?? .null), sourceLocation: sourceLocation)
        }
        for replica in replicas.dropFirst() {
            #expect(
                try replica.state(["item"]) == replicas[0].state(["item"]), sourceLocation: sourceLocation)
        }
    }

    private func meet(_ replicas: [TestReplica]) throws {
        for _ in 0..<3 {
            for one in replicas.indices {
                for other in replicas.indices where other != one {
                    try replicas[one].sync(replicas[other])
                }
            }
        }
    }

    @Test(arguments: [true, false], [true, false])
    func theGreaterOrTheSmallerValueStandsWhicheverIsLater(isMax: Bool, isGreaterLater: Bool) throws {
        for isFirstAsking in [true, false] {
            let all = try replicas(2, isMax ? .max("item", "v") : .min("item", "v"))
            try write(isGreaterLater ? 3 : 5, all[0])
            try write(isGreaterLater ? 5 : 3, all[1])
            let report = try all[isFirstAsking ? 0 : 1].sync(all[isFirstAsking ? 1 : 0])
            #expect(report.conflictCount == 0)
            try all[0].sync(all[1])
            try expect(all, isMax ? 5 : 3)
            for replica in all { #expect(try replica.synchronizer.conflictCount() == 0) }
        }
    }

    @Test func theValueThatGaveWayIsInTheJournalAsMerged() throws {
        let all = try replicas(2)
        try write(5, all[0])
        try write(3, all[1])
        let writers = try all.map { try $0.synchronizer.status().replica }
        try all[0].sync(all[1])
        let conflicts = try all[0].synchronizer.conflicts(.resolved).sorted { $0.id < $1.id }
        #expect(conflicts.map(\.lost) == [5.databaseValue, 3.databaseValue])
        #expect(conflicts.map(\.resolution) == [.merged, .merged])
        #expect(conflicts.map(\.reason) == [.newer, .newer])
        #expect(conflicts.map(\.origin.replica) == writers)
        #expect(conflicts.map(\.winner.replica) == writers.reversed())
        #expect(try all[0].synchronizer.conflictCount() == 0)
    }

    @Test func aLaterWriteOfWhoKnewBothStandsAndSoDoesOneThatRestoresTheLosingValue() throws {
        let all = try replicas(3)
        try write(5, all[0])
        try write(3, all[1])
        try meet(all)
        try expect(all, 5)
        let merged = try #require(
            try all[0].synchronizer.conflicts(.resolved).first { $0.lost == 3.databaseValue })
        #expect {
            try all[0].synchronizer.resolve([merged.id], by: .restoreLost)
        } throws: { ($0 as? SyncError)?.code == .conflictResolved }
        try write(merged.lost, all[2])
        try meet(all)
        try expect(all, 3)
        try write(1, all[1])
        try meet(all)
        try expect(all, 1)
        for replica in all { #expect(try replica.synchronizer.conflictCount() == 0) }
    }

    /// The conflict was open, since the policy came later.
    @Test func aRestoredConflictFromBeforeThePolicyIsALaterWrite() throws {
        let all = try replicas(2, .lastWriter("item", "v"))
        try write(3, all[0])
        try write(5, all[1])
        try all[0].sync(all[1])
        try all[1].synchronizer.setPolicies([.max("item", "v")])
        try all[0].sync(all[1])
        try expect(all, 5)
        #expect(try all[0].synchronizer.resolve(.open, by: .restoreLost).restoredValueCount == 1)
        try all[1].sync(all[0])
        try all[0].sync(all[1])
        try expect(all, 3)
    }

    @Test func threeReplicasInARingHoldTheGreatestValue() throws {
        for values in [[1, 2, 3], [3, 2, 1], [2, 3, 1], [3, 1, 2]] {
            let all = try replicas(3)
            for (replica, value) in zip(all, values) { try write(value, replica) }
            for step in 0..<6 { try all[step % 3].sync(all[(step + 1) % 3]) }
            try expect(all, 3)
            for replica in all { #expect(try replica.synchronizer.conflictCount() == 0) }
        }
    }

    @Test(arguments: [true, false]) func nullGivesWayUnderBothPolicies(isMax: Bool) throws {
        for isNullLater in [true, false] {
            let all = try replicas(2, isMax ? .max("item", "v") : .min("item", "v"))
            try write(isNullLater ? -7 : nil, all[0])
            try write(isNullLater ? nil : -7, all[1])
            try all[0].sync(all[1])
            try all[1].sync(all[0])
            try expect(all, -7)
        }
    }

    @Test func valuesOfSeveralTypesAreInTheOrderOfTheDatabase() throws {
        let values: [any DatabaseValueConvertible] = [2, 2.5, "10", "9", Data([0])]
        for (greater, smaller) in zip(values.dropFirst(), values) {
            for isGreaterLater in [true, false] {
                let all = try replicas(2)
                try write(isGreaterLater ? smaller : greater, all[0])
                try write(isGreaterLater ? greater : smaller, all[1])
                try all[0].sync(all[1])
                try expect(all, greater)
            }
        }
    }

    @Test func ofEqualValuesTheLaterWriteStandsAndNothingIsWritten() throws {
        let all = try replicas(2)
        try write(1, all[0])
        try write(1.0, all[1])
        try all[0].sync(all[1])
        try expect(all, 1.0)
        #expect(try all[0].value("SELECT typeof(v) FROM item", as: String.self) == "real")
        #expect(try all[0].synchronizer.conflicts(.resolved).map(\.lost) == [1.databaseValue])
        let again = try all[0].sync(all[1])
        #expect(again.pushed?.rowCount ?? 0 == 0 && again.pulled?.rowCount ?? 0 == 0)
    }

    @Test func otherColumnsAreMergedAsBefore() throws {
        let all = try replicas(2)
        try all[0].execute("UPDATE item SET v = 5, w = 'of 0'")
        try all[1].execute("UPDATE item SET v = 3, w = 'of 1'")
        try all[0].sync(all[1])
        try expect(all, 5)
        #expect(try all[0].value("SELECT w FROM item", as: String.self) == "of 1")
        #expect(try all[0].synchronizer.conflicts().map(\.column) == ["w"])
    }

    @Test func rowsThatWereInsertedApartHaveTheGreaterValue() throws {
        let all = try replicas(2)
        try all[0].execute("INSERT INTO item VALUES (?, 5, 'w')", [key(2)])
        try all[1].execute("INSERT INTO item VALUES (?, 3, 'w')", [key(2)])
        try all[0].sync(all[1])
        for replica in all {
            #expect(try replica.value("SELECT max(v) FROM item", as: Int.self) == 5)
        }
    }

    @Test func aValueThatAConstraintRefusesLeavesTheConflictOpen() throws {
        let all = try replicas(2, schema: Self.schema.replacing("v,", with: "v CHECK (v < 5 OR w = 'w'),"))
        try write(7, all[0])
        try all[1].execute("UPDATE item SET v = 3, w = 'other'")
        let report = try all[0].sync(all[1])
        #expect(report.conflictCount == 1)
        try expect(all, 3)
        #expect(try all[0].synchronizer.conflicts().map(\.lost) == [7.databaseValue])
    }

    @Test func columnsOfDifferentTypesAgree() throws {
        for isTextLater in [true, false] {
            let stores = try TestStores()
            let first = try stores.create(
                schema: "CREATE TABLE item (id BLOB PRIMARY KEY, v INTEGER, w TEXT)", tables: ["item"])
            try first.synchronizer.setPolicies([.max("item", "v")])
            let all = [first, try stores.clone(first, as: "1.db")]
            try all[1].changeUnobserved("DROP TABLE item; \(Self.schema)")
            try all[1].synchronizer.track(["item"])
            try all[0].execute("INSERT INTO item VALUES (?, 0, 'w')", [key(1)])
            try all[0].sync(all[1])
            if isTextLater { try write(7, all[0]) }
            try write("9", all[1])
            if !isTextLater { try write(7, all[0]) }
            try meet(all)
            #expect(
                try all.map { try $0.value("SELECT CAST(v AS INTEGER) FROM item", as: Int.self) } == [9, 9])
            #expect(try all[0].sync(all[1]).divergence == nil)
        }
    }

    @Test func aCounterStandsAboveMaxAndMin() throws {
        let all = try replicas(2, .lastWriter("item", "v"))
        try all[0].synchronizer.setPolicies([.counter("item", "v")])
        all[0].stores.clock.advance(milliseconds: 1000)
        try all[1].synchronizer.setPolicies([.max("item", "v")])
        try all[0].execute("UPDATE item SET v = v + 2")
        try all[1].sync(all[0])
        for replica in all { #expect(try replica.synchronizer.policies() == [.counter("item", "v")]) }
        try all[0].execute("UPDATE item SET v = v + 10")
        try all[1].execute("UPDATE item SET v = v + 100")
        try meet(all)
        try expect(all, 112)
        #expect(throws: SyncError.self) { try all[0].synchronizer.setPolicies([.min("item", "v")]) }
    }

    @Test func ofTwoDeclarationsTheLaterOneStands() throws {
        let all = try replicas(2, .lastWriter("item", "v"))
        try all[1].synchronizer.setPolicies([.max("item", "v")])
        all[0].stores.clock.advance(milliseconds: 1000)
        try all[0].synchronizer.setPolicies([.min("item", "v")])
        // A declaration travels with changes.
        try write(5, all[0])
        try write(3, all[1])
        try all[0].sync(all[1])
        for replica in all { #expect(try replica.synchronizer.policies() == [.min("item", "v")]) }
        try expect(all, 3)
        // And it can be taken back.
        try all[0].synchronizer.setPolicies([.lastWriter("item", "v")])
        try write(1, all[0])
        try write(9, all[1])
        try all[0].sync(all[1])
        try expect(all, 9)
        #expect(try all[0].synchronizer.conflicts().map(\.lost) == [1.databaseValue])
    }

    /// What an older program does with the word.
    @Test func aDeclarationOfAnUnknownKindIsIgnored() throws {
        let all = try replicas(2)
        try all[0].queue.write { try $0.execute(sql: "UPDATE _sync_policy SET kind = 'greatest of all'") }
        #expect(try all[0].synchronizer.policies().isEmpty)
        try write(5, all[0])
        try write(3, all[1])
        try all[0].sync(all[1], .push)
        #expect(try all[1].synchronizer.policies() == [.max("item", "v")])
        try expect([all[1]], 5)
    }
}
