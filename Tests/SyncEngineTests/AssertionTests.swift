import CipherStore
import SyncWire
import Testing

@testable import SyncEngine

/// What assertions are made of: a mistake in it would let all of them pass.
@Suite struct AssertionTests {
    private struct Failure: Error {}

    @Test func aLookUpOfAnAssertionIsMadeWhereAssertionsAreChecked() throws {
        var count = 0
        func lookUp() throws -> Bool {
            count += 1
            return true
        }
        try debugAssert(lookUp())
        #expect(count == (checksAssertions ? 1 : 0))
        func fail() throws -> Bool { throw Failure() }
        guard checksAssertions else { return try debugAssert(fail()) }
        #expect(throws: Failure.self) { try debugAssert(fail()) }
    }

    @Test func equalElementsAreInNoOrder() {
        #expect([Int]().isOrdered(by: <))
        #expect([1].isOrdered(by: <))
        #expect([1, 2, 5].isOrdered(by: <))
        #expect(![1, 1].isOrdered(by: <))
        #expect(![1, 3, 2].isOrdered(by: <))
    }

    @Test func aKeyIsAsLongAsAUUIDOfItsKind() {
        for (count, isText, isLong) in [
            (16, false, true), (36, true, true), (36, false, false), (16, true, false), (0, false, false),
        ] {
            [UInt8](repeating: 0x61, count: count).withUnsafeBytes {
                #expect(RowKey(bytes: $0, isText: isText).isUUIDLong == isLong)
            }
        }
    }

    @Test func anOperationIsKnownWhateverItsGroupOfColumnsIs() {
        #expect((1...4).allSatisfy(ChangeLog.Operation.isKnown))
        #expect(ChangeLog.Operation.isKnown(ChangeLog.Operation.update | 7 << ChangeLog.Operation.groupShift))
        #expect(!ChangeLog.Operation.isKnown(0))
        #expect(!ChangeLog.Operation.isKnown(5))
    }

    @Test func theResultOfAPlanHasWhatWasWrittenAndNotWhatWentBackToItsDefault() throws {
        let replica = Identifier128(high: 1, low: 0)
        func stamp(_ time: Int64) -> Stamp {
            Stamp(timestamp: HybridTimestamp(rawValue: time), replica: replica, sequence: time)
        }
        let local = RowVersion(
            life: 1, base: stamp(1), cells: [:], values: [0: .integer(1), 1: .integer(2), 2: .integer(3)])
        var plan = MergePlan(life: 1, base: stamp(2), cells: [0: stamp(3)])
        plan.writes = [0: .integer(4)]
        plan.resets = [1]
        let row = plan.result(of: local)
        #expect(plan.keepsVersions(of: row))
        #expect(row.values.keys.sorted() == [0, 2])
        #expect(row.values[0].map { $0.compare(.integer(4)) } == 0)
        // Of another life, nothing is left.
        plan.life = 3
        #expect(plan.result(of: local).values.keys.sorted() == [0])
        #expect(plan.result(of: nil).values.keys.sorted() == [0])
    }

    @Test func theTriggersAreMuteAsLongAsTheEngineWritesForAPeer() throws {
        let a = try TestStores().create()
        try a.queue.write { db in
            #expect(try !StoreMetadata.isApplying(db))
            let muting = try Muting(db)
            #expect(try StoreMetadata.isApplying(db))
            try muting.end(hasChanges: false)
            #expect(try !StoreMetadata.isApplying(db))
        }
    }
}
