import CipherStore
import Foundation
import SyncWire
import Testing

@testable import SyncEngine

/// The merge over all kinds of values, with lives, bases, cells, columns that a side
/// does not have, and stamps that copies of one file gave twice.
@Suite struct MergePropertyTests {
    private static let replicas = (1...3).map { Identifier128(high: UInt64($0), low: 0) }

    /// Values that are easily taken for each other. Nothing changes them, or the bytes that they own.
    nonisolated(unsafe) private static let values: [OwnedValue] = {
        var values: [WireValue] = [.null]
        values += [Int64.min, -1, 0, 1, 2, Int64.max - 1, Int64.max].map(WireValue.integer)
        values += [
            -0.0, 0.0, 1.0, 2.0, -1.0, .infinity, -.infinity, .leastNonzeroMagnitude,
            .greatestFiniteMagnitude,
            9_223_372_036_854_775_807.0, .nan, -.nan, Double(bitPattern: 0x7FF8_0000_0000_0001),
        ].map(WireValue.real)
        let bytes: [[UInt8]] = [
            [], [0], [0x61], [0x41], [0x61, 0], [0x61, 0, 0x62], [0x61, 0x62], [0x80], [0xFF, 0xFE],
            [0xC3, 0xA9],
            [0x65, 0xCC, 0x81],
        ]
        return values.map { OwnedValue(copying: $0) }
            + bytes.flatMap { bytes in
                bytes.withUnsafeBytes {
                    [OwnedValue(copying: .text($0)), OwnedValue(copying: .blob($0))]
                }
            }
    }()

    /// A row: values are indexes into the list.
    private struct State: Equatable {
        var life: Int64
        var base: Stamp
        var columns: [Int: Write]
        var isAlive: Bool { life & 1 == 1 }
    }

    private struct Write: Equatable {
        var stamp: Stamp
        var value: Int
    }

    private func index(of value: WireValue) throws -> Int {
        try #require(Self.values.firstIndex { $0.value.compare(value) == 0 })
    }

    private func version(_ state: State) -> RowVersion {
        RowVersion(
            life: state.life, base: state.base,
            cells: state.columns.mapValues(\.stamp).filter { $0.value != state.base },
            values: state.columns.mapValues { Self.values[$0.value].value })
    }

    private func change(_ state: State) -> RowChange {
        RowChange(
            life: state.life, base: state.base,
            writes: state.columns.mapValues { .init(stamp: $0.stamp, value: Self.values[$0.value].value) })
    }

    private func merge(_ left: State, _ right: State) throws -> State {
        let plan = try #require(
            Merge.plan(local: version(left), incoming: change(right), peer: VersionVector()))
        var values =
            [.replace, .insert, .delete].contains(plan.action) ? [:] : left.columns.mapValues(\.value)
        for (column, value) in plan.writes { values[column] = try index(of: value) }
        for column in plan.resets { values[column] = nil }
        var columns: [Int: Write] = [:]
        for (column, value) in values {
            columns[column] = Write(stamp: plan.cells[column] ?? plan.base, value: value)
        }
        return State(life: plan.life, base: plan.base, columns: columns)
    }

    private func randomStamp(_ random: inout SplitMix64, above base: Stamp? = nil) -> Stamp {
        let time = Int64(random.next(below: 4)) + (base?.timestamp.rawValue ?? 0)
        let stamp = Stamp(
            timestamp: HybridTimestamp(rawValue: time), replica: Self.replicas[Int(random.next(below: 3))],
            sequence: Int64(random.next(below: 3)) + 1)
        guard let base, base.isNewer(than: stamp) else { return stamp }
        return base
    }

    private func randomState(_ random: inout SplitMix64) -> State {
        let base = randomStamp(&random)
        var state = State(life: Int64(random.next(below: 4)) + 1, base: base, columns: [:])
        guard state.isAlive else { return state }
        for column in 0..<4 where random.next(below: 4) > 0 {
            let stamp = random.next(below: 2) == 0 ? base : randomStamp(&random, above: base)
            state.columns[column] = Write(
                stamp: stamp, value: Int(random.next(below: UInt64(Self.values.count))))
        }
        return state
    }

    @Test(arguments: 1...4) func randomRowsMergeInAnyOrderAndGrouping(seed: UInt64) throws {
        var random = SplitMix64(state: seed)
        for _ in 0..<3000 {
            let (x, y, z) = (randomState(&random), randomState(&random), randomState(&random))
            let (one, other) = (try merge(x, y), try merge(y, x))
            #expect(one == other, "\(x) \(y)")
            let (left, right) = (try merge(one, z), try merge(x, merge(y, z)))
            #expect(left == right, "\(x) \(y) \(z)")
            let (again, itself) = (try merge(one, y), try merge(x, x))
            #expect(again == one, "\(x) \(y)")
            #expect(itself == x)
            guard one == other, left == right, again == one, itself == x else { return }
        }
    }

    @Test func everyPairAndTripleOfValuesHasOneWinner() throws {
        let stamp = Stamp(timestamp: HybridTimestamp(rawValue: 5), replica: Self.replicas[0], sequence: 1)
        func row(_ value: Int) -> State {
            State(life: 1, base: stamp, columns: [0: Write(stamp: stamp, value: value)])
        }
        for x in Self.values.indices {
            for y in Self.values.indices {
                let both = try merge(row(x), row(y))
                let turned = try merge(row(y), row(x))
                #expect(both == turned && (x == y) == (row(x) == row(y)))
                for z in stride(from: x % 3, to: Self.values.count, by: 3) {
                    let left = try merge(both, row(z))
                    let right = try merge(row(x), merge(row(y), row(z)))
                    if left != right { Issue.record("\(x) \(y) \(z)") }
                }
            }
        }
    }

    @Test func noTwoValuesOfTheListAreOne() {
        for (index, value) in Self.values.enumerated() {
            let same = Self.values.indices.filter { Self.values[$0].value.compare(value.value) == 0 }
            #expect(same == [index])
        }
    }

    /// What SQLite makes of a value, and whether it comes back as it went.
    @Test func valuesSurviveTheDatabaseOrBecomeNull() throws {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE t (v, n COLLATE NOCASE)")
            for owned in Self.values {
                try db.execute(sql: "DELETE FROM t")
                let insertion = try db.makeStatement(sql: "INSERT INTO t VALUES (?1, ?1)")
                owned.value.bind(insertion.sqliteStatement, 1)
                while try insertion.step() {}
                let reading = try db.makeStatement(sql: "SELECT v, n FROM t")
                #expect(try reading.step())
                for column: CInt in 0..<2 {
                    let stored = WireValue(reading.sqliteStatement, column)
                    if case .real(let number) = owned.value, number.isNaN {
                        #expect(stored.compare(.null) == 0)
                    } else {
                        #expect(stored.compare(owned.value) == 0)
                    }
                }
                reading.reset()
            }
        }
    }

    /// Of two values that differ and were written apart, one is in the row and one in the journal.
    @Test func nothingIsLostSilently() throws {
        var random = SplitMix64(state: 99)
        for _ in 0..<3000 {
            let (x, y) = (randomState(&random), randomState(&random))
            let plan = try #require(
                Merge.plan(local: version(x), incoming: change(y), peer: VersionVector()))
            let merged = try merge(x, y)
            for (state, other) in [(x, y), (y, x)] {
                for (column, write) in state.columns {
                    if merged.life == state.life, merged.columns[column]?.value == write.value { continue }
                    let isSameMoment =
                        merged.life == state.life
                        && other.columns[column].map {
                            !$0.stamp.isNewer(than: write.stamp) && !write.stamp.isNewer(than: $0.stamp)
                        } == true
                    if isSameMoment { continue }
                    // A NULL that gave way to a default is no loss.
                    let isNull = Self.values[write.value].value.compare(.null) == 0
                    if isNull, merged.life == state.life, merged.columns[column] == nil { continue }
                    let isKept = plan.conflicts.contains {
                        $0.column == column && $0.lost.compare(Self.values[write.value].value) == 0
                    }
                    #expect(isKept, "\(x) \(y) column \(column)")
                }
            }
        }
    }
}
