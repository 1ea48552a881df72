import SyncWire
import TestSupport
import Testing

@testable import SyncEngine

/// The merge as a pure function, over small lives, stamps and values.
@Suite(.anyEngine) struct MergeTests {
    private static let replicas = (1...3).map { Identifier128(high: UInt64($0), low: 0) }

    private func stamp(_ time: Int64, _ replica: Int = 0, _ sequence: Int64 = 1) -> Stamp {
        Stamp(timestamp: HybridTimestamp(rawValue: time), replica: Self.replicas[replica], sequence: sequence)
    }

    private func isEqual(_ value: WireValue?, _ number: Int64) -> Bool {
        value.map { $0.compare(.integer(number)) == 0 } ?? false
    }

    @Test func aRowThatWasNeverSeenIsInsertedWithItsVersions() throws {
        let change = RowChange(
            life: 1, base: stamp(5),
            writes: [
                0: .init(stamp: stamp(5), value: .integer(1)), 1: .init(stamp: stamp(9), value: .integer(2)),
            ])
        let plan = try #require(Merge.plan(local: nil, incoming: change, peer: VersionVector()))
        #expect(plan.action == .insert)
        #expect(plan.base == stamp(5))
        #expect(plan.cells == [1: stamp(9)])
        #expect(plan.writes.count == 2)
        #expect(plan.conflicts.isEmpty)
    }

    @Test func aChangeOfAnUnknownRowWithoutItsBeginningIsRefused() {
        let change = RowChange(life: 1, base: nil, writes: [0: .init(stamp: stamp(5), value: .integer(1))])
        #expect(Merge.plan(local: nil, incoming: change, peer: VersionVector()) == nil)
    }

    @Test func aLaterLifeWithoutItsBeginningIsRefused() {
        let local = RowVersion(life: 1, base: stamp(1), cells: [:], values: [0: .integer(1)])
        let change = RowChange(life: 3, base: nil, writes: [0: .init(stamp: stamp(5), value: .integer(2))])
        #expect(Merge.plan(local: local, incoming: change, peer: VersionVector()) == nil)
    }

    @Test func theNewerWriteOfAColumnWins() throws {
        let local = RowVersion(
            life: 1, base: stamp(1), cells: [0: stamp(7)], values: [0: .integer(10), 1: .integer(20)])
        let change = RowChange(
            life: 1, base: nil,
            writes: [
                0: .init(stamp: stamp(6, 1), value: .integer(11)),
                1: .init(stamp: stamp(6, 1), value: .integer(21)),
            ])
        let plan = try #require(
            Merge.plan(local: local, incoming: change, peer: VersionVector([Self.replicas[0]: 1])))
        #expect(plan.action == .update)
        #expect(plan.writes.count == 1)
        #expect(isEqual(plan.writes[1], 21))
        #expect(plan.cells == [0: stamp(7), 1: stamp(6, 1)])
        // Column 0 lost against a write that it did not know; column 1 replaced one that the peer knew.
        #expect(plan.conflicts.map(\.column) == [0])
        #expect(isEqual(plan.conflicts.first?.lost, 11))
    }

    /// Copies of one file can stamp two writes alike, but for their numbers.
    @Test func ofOneMomentTheGreaterSequenceStandsOnBothSides() throws {
        func version(_ sequence: Int64) -> RowVersion {
            RowVersion(life: 1, base: stamp(5, 0, sequence), cells: [:], values: [0: .integer(1)])
        }
        func change(_ sequence: Int64) -> RowChange {
            let own = stamp(5, 0, sequence)
            return RowChange(life: 1, base: own, writes: [0: .init(stamp: own, value: .integer(1))])
        }
        for (here, there) in [(2, 3), (3, 2)] as [(Int64, Int64)] {
            let plan = try #require(
                Merge.plan(local: version(here), incoming: change(there), peer: VersionVector()))
            #expect(plan.base == stamp(5, 0, 3))
            #expect(plan.cells == [:] && plan.conflicts.isEmpty)
            let ended = RowVersion(life: 2, base: stamp(5, 0, here), cells: [:], values: [:])
            let end = RowChange(life: 2, base: stamp(5, 0, there), writes: [:])
            #expect(
                try #require(Merge.plan(local: ended, incoming: end, peer: VersionVector())).base
                    == stamp(5, 0, 3))
        }
    }

    /// Both sides journal such an edit, which reports count once.
    @Test func editsThatLostAgainstADeletionWhoseTellerKnowsThemAreCountedAsShared() throws {
        let values: [Int: WireValue] = [0: .integer(1), 1: .integer(2), 2: .integer(3)]
        let local = RowVersion(
            life: 1, base: stamp(1), cells: [0: stamp(9, 1, 4), 1: stamp(8, 2, 6)], values: values)
        // The teller knows the first edit by now; who deleted the row did not know either.
        let peer = VersionVector([Self.replicas[0]: 1, Self.replicas[1]: 4])
        let deletion = RowChange(life: 2, base: stamp(7, 2, 5), writes: [:])
        let plan = try #require(Merge.plan(local: local, incoming: deletion, peer: peer))
        #expect(plan.action == .delete)
        // The value that the deletion knew is not lost, and stands in the journal with the others.
        #expect(plan.conflicts.map(\.reason) == [.deleted, .deleted, .row])
        #expect(plan.sharedConflictCount(peer) == 1)
        #expect(plan.sharedConflictCount(VersionVector()) == 0)
        var successor = plan
        successor.action = .replace
        #expect(successor.sharedConflictCount(peer) == 1)
        for action in [MergePlan.Action.keep, .update, .insert] {
            successor.action = action
            #expect(successor.sharedConflictCount(peer) == 0)
        }
    }

    // MARK: Columns that a side lacks

    /// Both inserted the row; the later one has no column 1.
    @Test func anOlderValueLosesAgainstAWholeRowWithoutItsColumn() throws {
        let local = RowVersion(life: 3, base: stamp(9), cells: [:], values: [0: .integer(10)])
        let change = RowChange(
            life: 3, base: stamp(5, 1),
            writes: [
                0: .init(stamp: stamp(5, 1), value: .integer(11)),
                1: .init(stamp: stamp(5, 1), value: .integer(12)),
            ])
        let plan = try #require(Merge.plan(local: local, incoming: change, peer: VersionVector()))
        #expect(plan.base == stamp(9))
        #expect(plan.action == .keep)
        #expect(plan.cells.isEmpty)
        #expect(plan.conflicts.map(\.column) == [0, 1])
    }

    @Test func aNewerWholeRowResetsTheColumnsThatItsWriterLacks() throws {
        let local = RowVersion(
            life: 3, base: stamp(5), cells: [2: stamp(7), 3: stamp(12)],
            values: [0: .integer(10), 1: .integer(11), 2: .integer(12), 3: .integer(13), 4: .null])
        let change = RowChange(
            life: 3, base: stamp(9, 1), writes: [0: .init(stamp: stamp(9, 1), value: .integer(10))])
        let plan = try #require(Merge.plan(local: local, incoming: change, peer: VersionVector()))
        #expect(plan.base == stamp(9, 1))
        #expect(plan.resets == [1, 2, 4])
        #expect(plan.cells == [3: stamp(12)])
        #expect(plan.action == .update)
        #expect(plan.conflicts.map(\.column) == [1, 2])
        // Whoever wrote the row knew the values.
        let known = VersionVector([Self.replicas[0]: 1])
        let plan2 = try #require(Merge.plan(local: local, incoming: change, peer: known))
        #expect(plan2.conflicts.isEmpty)
    }

    /// The value of a column that the table lacks here is not here, so that there is nothing to reset or to lose.
    @Test func aNewerWholeRowResetsNothingOfAColumnWithoutAValue() throws {
        let local = RowVersion(life: 1, base: stamp(1), cells: [1: stamp(2)], values: [0: .integer(1)])
        let change = RowChange(
            life: 1, base: stamp(9, 1), writes: [0: .init(stamp: stamp(9, 1), value: .integer(3))])
        let plan = try #require(Merge.plan(local: local, incoming: change, peer: VersionVector()))
        #expect(plan.resets == [] && plan.cells == [:])
        #expect(plan.base == stamp(9, 1))
        #expect(plan.conflicts.map(\.column) == [0])
    }

    @Test func aWholeRowSaysNothingOfSharesOfCounters() throws {
        let local = RowVersion(
            life: 1, base: stamp(5), cells: [1: stamp(7)], values: [0: .integer(10), 1: .integer(3)])
        let change = RowChange(
            life: 1, base: stamp(9, 1), writes: [0: .init(stamp: stamp(9, 1), value: .integer(20))])
        let plan = try #require(
            Merge.plan(local: local, incoming: change, peer: VersionVector(), separate: [1]))
        #expect(plan.cells == [1: stamp(7)])
        #expect(plan.resets.isEmpty)
        let newer = RowVersion(life: 1, base: stamp(9, 1), cells: [:], values: [0: .integer(20)])
        let share = RowChange(life: 1, base: nil, writes: [1: .init(stamp: stamp(7), value: .integer(3))])
        let other = try #require(
            Merge.plan(local: newer, incoming: share, peer: VersionVector(), separate: [1]))
        #expect(other.cells == [1: stamp(7)])
        #expect(isEqual(other.writes[1], 3))
    }

    @Test func equalValuesAreNoConflict() throws {
        let local = RowVersion(life: 1, base: stamp(1), cells: [:], values: [0: .integer(10)])
        let change = RowChange(
            life: 1, base: nil, writes: [0: .init(stamp: stamp(6, 1), value: .integer(10))])
        let plan = try #require(Merge.plan(local: local, incoming: change, peer: VersionVector()))
        #expect(plan.action == .keep)
        #expect(plan.cells == [0: stamp(6, 1)])
        #expect(plan.conflicts.isEmpty)
    }

    @Test func aDeleteBeatsTheEditsOfItsLifeWhateverTheirTime() throws {
        let local = RowVersion(
            life: 1, base: stamp(1), cells: [0: stamp(100, 1)], values: [0: .integer(1), 1: .integer(2)])
        let change = RowChange(life: 2, base: stamp(5, 2), writes: [:])
        let plan = try #require(
            Merge.plan(local: local, incoming: change, peer: VersionVector([Self.replicas[0]: 1])))
        #expect(plan.action == .delete)
        #expect(plan.life == 2)
        // Column 1 was known to who deleted the row, and is kept to restore it whole.
        #expect(plan.conflicts.map(\.column) == [0, 1])
        #expect(plan.conflicts.map(\.reason) == [.deleted, .row])
        #expect(plan.lostLife == 1)
    }

    @Test func anEditAfterADeleteWasNotKnownToItWhateverThePeerKnowsByNow() throws {
        let local = RowVersion(life: 1, base: stamp(1), cells: [0: stamp(7)], values: [0: .integer(1)])
        let change = RowChange(life: 2, base: stamp(5, 1), writes: [:])
        let peer = VersionVector([Self.replicas[0]: 1])
        #expect(try #require(Merge.plan(local: local, incoming: change, peer: peer)).conflicts.count == 1)
        var known = local
        known.cells = [0: stamp(4)]
        #expect(try #require(Merge.plan(local: known, incoming: change, peer: peer)).conflicts.isEmpty)
    }

    @Test func anEditOfALifeThatHasEndedGoesToTheJournal() throws {
        let local = RowVersion(life: 2, base: stamp(5), cells: [:], values: [:])
        let change = RowChange(life: 1, base: nil, writes: [0: .init(stamp: stamp(9, 1), value: .integer(3))])
        let plan = try #require(Merge.plan(local: local, incoming: change, peer: VersionVector()))
        #expect(plan.action == .keep)
        #expect(plan.life == 2)
        #expect(plan.conflicts.count == 1)
    }

    @Test func aLaterLifeReplacesTheRow() throws {
        let local = RowVersion(life: 1, base: stamp(4), cells: [:], values: [0: .integer(1)])
        let change = RowChange(
            life: 3, base: stamp(5, 1), writes: [0: .init(stamp: stamp(5, 1), value: .integer(2))])
        let plan = try #require(
            Merge.plan(local: local, incoming: change, peer: VersionVector([Self.replicas[0]: 1])))
        #expect(plan.action == .replace)
        #expect(plan.base == stamp(5, 1))
        #expect(plan.conflicts.isEmpty)
    }

    // MARK: Properties

    /// A row's state, so that merges can be chained and compared.
    private struct State: Equatable {
        var life: Int64
        var base: Stamp
        var stamps: [Int: Stamp]
        var values: [Int: Int64]

        static func == (left: State, right: State) -> Bool {
            left.life == right.life && left.base == right.base
                && (left.life & 1 == 0 || (left.stamps == right.stamps && left.values == right.values))
        }
    }

    private func version(_ state: State) -> RowVersion {
        RowVersion(
            life: state.life, base: state.base, cells: state.stamps.filter { $0.value != state.base },
            values: state.life & 1 == 1 ? state.values.mapValues { .integer($0) } : [:])
    }

    /// The whole state as a peer would send it to somebody who knows nothing.
    private func change(_ state: State) -> RowChange {
        var change = RowChange(life: state.life, base: state.base, writes: [:])
        guard state.life & 1 == 1 else { return change }
        for (column, value) in state.values {
            change.writes[column] = .init(stamp: state.stamps[column] ?? state.base, value: .integer(value))
        }
        return change
    }

    private func merge(_ left: State, _ right: State) throws -> State {
        let plan = try #require(
            Merge.plan(local: version(left), incoming: change(right), peer: VersionVector()))
        var values = plan.action == .replace || plan.action == .insert ? [:] : left.values
        for (column, value) in plan.writes {
            if case .integer(let number) = value { values[column] = number }
        }
        let stamps = Dictionary(uniqueKeysWithValues: (0..<3).map { ($0, plan.cells[$0] ?? plan.base) })
        return State(life: plan.life, base: plan.base, stamps: stamps, values: values)
    }

    private func randomState(_ random: inout SplitMix64) -> State {
        // Two replicas may write at one time, but a replica's stamp has one value per column.
        func write(_ column: Int) -> (Stamp, Int64) {
            let time = Int64(random.next(below: 6)) + 1
            let replica = Int(random.next(below: 3))
            return (stamp(time, replica, time), time * 100 + Int64(replica * 10 + column))
        }
        let base = write(0).0
        var state = State(life: Int64(random.next(below: 4)) + 1, base: base, stamps: [:], values: [:])
        for column in 0..<3 {
            var (stamp, value) = write(column)
            if base.isNewer(than: stamp) || random.next(below: 2) == 0 {
                stamp = base
                value =
                    base.timestamp.rawValue * 100 + Int64(Self.replicas.firstIndex(of: base.replica) ?? 0)
                    * 10 + Int64(column)
            }
            state.stamps[column] = stamp
            state.values[column] = value
        }
        return state
    }

    @Test func mergingIsCommutativeAssociativeAndIdempotent() throws {
        var random = SplitMix64(state: 42)
        for _ in 0..<5000 {
            let (x, y, z) = (randomState(&random), randomState(&random), randomState(&random))
            #expect(try merge(x, y) == merge(y, x))
            #expect(try merge(merge(x, y), z) == merge(x, merge(y, z)))
            #expect(try merge(merge(x, y), y) == merge(x, y))
            #expect(try merge(x, x) == x)
        }
    }
}

/// A small generator with a seed.
struct SplitMix64: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    mutating func next(below bound: UInt64) -> UInt64 { next() % bound }
}
