import CipherStore
import Foundation
import SyncWire
import Testing

@testable import SyncEngine

/// The order in which values are greater or smaller.
@Suite struct ExtremePolicyTests {
    private static let greatest = ExtremePolicy(isGreatest: true)
    private static let smallest = ExtremePolicy(isGreatest: false)

    /// Values in rising order; those of one group are equal.
    private static let groups: [[DatabaseValue]] = [
        [(-Double.infinity).databaseValue], [(-0x1.8p63).databaseValue],
        [Int64.min.databaseValue, (-0x1.0p63).databaseValue], [(-1.5).databaseValue],
        [(-1).databaseValue, (-1.0).databaseValue],
        [0.databaseValue, (0.0).databaseValue, (-0.0).databaseValue], [(0.5).databaseValue],
        [1.databaseValue, (1.0).databaseValue], [(1.5).databaseValue], [2.databaseValue],
        [9_007_199_254_740_992.databaseValue, (9_007_199_254_740_992.0).databaseValue],
        [9_007_199_254_740_993.databaseValue], [Int64.max.databaseValue],
        [(0x1.0p63).databaseValue], [Double.infinity.databaseValue],
        ["".databaseValue], ["10".databaseValue], ["2026-01-31".databaseValue],
        ["2026-02-01".databaseValue], ["9".databaseValue], ["A".databaseValue], ["a".databaseValue],
        ["ä".databaseValue], [Data().databaseValue], [Data([0]).databaseValue],
        [Data([0, 1]).databaseValue], [Data([255]).databaseValue],
    ]

    private func prefers(_ policy: ExtremePolicy, _ lost: DatabaseValue, _ won: DatabaseValue) -> Bool {
        let values = (OwnedValue.make(lost), OwnedValue.make(won))
        return withExtendedLifetime(values) { policy.prefers(values.0.value, over: values.1.value) }
    }

    @Test func theOlderValueStandsWhenItIsBeyondTheNewerOne() {
        for (place, group) in Self.groups.enumerated() {
            for (other, others) in Self.groups.enumerated() {
                for (lost, won) in group.flatMap({ one in others.map { (one, $0) } }) {
                    #expect(prefers(Self.greatest, lost, won) == (place > other), "\(lost) \(won)")
                    #expect(prefers(Self.smallest, lost, won) == (place < other), "\(lost) \(won)")
                }
            }
        }
    }

    @Test func theOrderIsThatOfTheDatabase() throws {
        let queue = try DatabaseQueue()
        try queue.read { db in
            let values = Self.groups.joined()
            for lost in values {
                for won in values {
                    let isGreater = try Bool.fetchOne(db, sql: "SELECT ?1 > ?2", arguments: [lost, won])
                    #expect(prefers(Self.greatest, lost, won) == isGreater, "\(lost) \(won)")
                }
            }
        }
    }

    @Test func nullGivesWayToAnyValue() {
        for value in Self.groups.joined() {
            for policy in [Self.greatest, Self.smallest] {
                #expect(prefers(policy, value, .null))
                #expect(!prefers(policy, .null, value))
            }
        }
        for policy in [Self.greatest, Self.smallest] {
            #expect(!prefers(policy, .null, .null))
            #expect(!policy.prefers(.real(.nan), over: .null))
            #expect(!policy.prefers(.real(.nan), over: .integer(-1)))
            #expect(policy.prefers(.integer(-1), over: .real(.nan)))
        }
    }
}
