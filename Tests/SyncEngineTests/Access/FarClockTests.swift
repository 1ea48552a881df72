import CipherStore
import Foundation
import SyncWire
import Testing

@testable import SyncEngine

/// Machines whose clocks show a time that no stamp can have.
@Suite struct FarClockTests {
    let stores: TestStores

    /// The year 5000.
    private static let far: Int64 = 95_617_584_000_000

    init() throws { stores = try TestStores() }

    private func environment(at milliseconds: Int64) -> SyncEnvironment {
        SyncEnvironment(milliseconds: { milliseconds }, random: stores.clock.environment.random)
    }

    private func fold(_ replica: TestReplica, at milliseconds: Int64) throws {
        let environment = environment(at: milliseconds)
        try replica.queue.write { _ = try FoldedStore.fold($0, environment) }
    }

    private func problems(_ replica: TestReplica) throws -> [String] {
        try replica.queue.read { try MetadataCheck.problems(of: $0, isDeep: false) }.map(\.message)
    }

    private func newestTimestamp(_ replica: TestReplica) throws -> Int64? {
        try replica.value(
            "SELECT max(hlc) FROM (SELECT hlc FROM _sync_row UNION ALL SELECT hlc FROM _sync_cell)")
    }

    @Test func nothingIsStampedWhileTheClockIsBeyondAllTimestamps() throws {
        let a = try stores.create()
        let b = try stores.clone(a, as: "b.db")
        try a.insert(1, "one")
        try a.queue.write { try $0.execute(sql: "UPDATE _sync_log SET ms = \(Self.far)") }
        let error = #expect(throws: SyncError.self) { try fold(a, at: Self.far) }
        #expect(error?.code == .unusableClock)
        #expect(try newestTimestamp(a) == nil)
        // What was written is there when the clock is right again, and nothing is dated after it.
        try a.sync(b)
        #expect(try b.titles() == ["one"])
        let newest = try #require(try newestTimestamp(b))
        #expect(newest >> 16 <= stores.clock.environment.milliseconds())
    }

    @Test func noPolicyIsDeclaredByAClockBeyondAllTimestamps() throws {
        let a = try stores.create()
        let synchronizer = try Synchronizer(existing: a.queue, environment: environment(at: Self.far))
        let error = #expect(throws: SyncError.self) {
            try synchronizer.setPolicies([.counter("note", "stars")])
        }
        #expect(error?.code == .unusableClock)
        #expect(try a.value("SELECT count(*) FROM _sync_policy", as: Int.self) == 0)
    }

    @Test func aStoreOfWhichTheClockWasBeyondAllTimestampsIsNamedAndHealed() throws {
        let a = try stores.create()
        let b = try stores.clone(a, as: "b.db")
        try a.insert(1, "one")
        try fold(a, at: stores.clock.environment.milliseconds())
        // As an older program stamped it.
        try a.queue.write { db throws in
            try db.execute(sql: "UPDATE _sync_row SET hlc = \(Self.far << 16)")
            try db.execute(sql: "UPDATE _sync_state SET clock = \(Self.far << 16)")
        }
        let named = try problems(a)
        #expect(named.contains { $0.contains("clock of the store") }, "\(named)")
        try a.insert(2, "two")
        let report = try a.synchronizer.repairMetadata()
        #expect(report.claimCount == 1)
        #expect(report.rowCount == 1)
        #expect(try problems(a) == [])
        try a.insert(3, "three")
        try a.sync(b)
        #expect(try b.titles() == ["one", "two", "three"])
        try b.execute("UPDATE note SET title = 'edited'")
        try a.sync(b)
        try a.execute("DELETE FROM note WHERE id = ?", [key(3)])
        try a.sync(b)
        #expect(try a.state(["note"]) == b.state(["note"]))
        let newest = try #require(try newestTimestamp(a))
        #expect(newest >> 16 <= stores.clock.environment.milliseconds())
        try expectHealthy([a, b])
    }

    @Test func stampsOfTheLastMomentAreTakenIn() throws {
        let a = try stores.create()
        let b = try stores.clone(a, as: "b.db")
        let last = AdmissionLimits.millisecondsMax
        try a.insert(1, "one")
        try a.queue.write { try $0.execute(sql: "UPDATE _sync_log SET ms = \(Int64.max)") }
        try fold(a, at: last)
        #expect(try newestTimestamp(a) == AdmissionLimits.timestampMax)
        try a.insert(2, "two")
        try a.execute("UPDATE note SET title = 'edited' WHERE id = ?", [key(1)])
        try fold(a, at: last)
        #expect(try newestTimestamp(a) == AdmissionLimits.timestampMax)
        #expect(try problems(a) == [])
        try a.sync(b)
        #expect(try b.titles() == ["edited", "two"])
        try expectHealthy([a, b])
    }
}
