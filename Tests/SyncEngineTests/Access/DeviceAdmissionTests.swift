import CipherStore
import Foundation
import SyncWire
import Testing

@testable import SyncEngine

/// What one device says that would harm all others, if it were taken in.
@Suite struct DeviceAdmissionTests {
    private let device = AdmissionTests.replica(1_000_000)

    /// A repair moves no vector, so nobody could send on what it brings beyond.
    @Test func aRepairWithChangesThatAreNotKnownIsRefused() throws {
        let stores = try TestStores()
        let hub = try stores.createWithScopes()
        let other = try stores.clone(hub, as: "b.db")
        try other.sync(hub)
        let vector = try hub.synchronizer.identity().vector
        let stamp = WireStamp(timestamp: 1, replica: 2, sequence: 5)
        var forgery = try Forgery(hub, device, [.init(number: 1, base: stamp, values: [0: "a"])])
        forgery.replicas.append(try other.synchronizer.identity().replica)
        forgery.facts.parts = []
        forgery.facts.isRepair = true
        forgery.target = vector.sequences
        forgery.target[forgery.replicas[2]] = 5
        #expect(try code { try hub.take(forgery, within: nil) } == .invalidBundle)
        try expectExchange(hub, stores)
    }

    /// Others would take what somebody wrote for deleted before he could send it.
    @Test func aFloorAboveWhatItsSenderKnowsIsRefused() throws {
        let stores = try TestStores()
        let hub = try stores.createWithScopes()
        let other = try stores.clone(hub, as: "b.db")
        try other.execute("INSERT INTO item (id, scope) VALUES (?, 'a')", [itemKey(1)])
        let replica = try other.synchronizer.identity().replica
        var forgery = try Forgery(hub, device, [])
        for target in [0, 1] as [Int64] {
            forgery.target[device] = target
            forgery.facts.floor = VersionVector([replica: 1000])
            #expect(try code { try hub.take(forgery, within: nil) } == .invalidBundle)
        }
        try other.sync(hub)
        #expect(try hub.value("SELECT count(*) FROM item", as: Int.self) == 1)
        #expect(try other.value("SELECT count(*) FROM item", as: Int.self) == 1)
        try expectHealthy([hub, other])
    }

    /// A device can greet as one replica after the other, and each acknowledgement names one of them.
    @Test func aDeviceIsRememberedAsOnlySoManyReplicas() throws {
        let stores = try TestStores()
        let hub = try stores.createWithScopes()
        let (own, vector) = (try hub.synchronizer.identity().replica, try hub.synchronizer.identity().vector)
        for number in 0..<3 {
            try hub.synchronizer.remember(AdmissionTests.replica(number), knowing: vector, ofDevice: 1)
        }
        let spent = "SELECT value FROM _sync_setting WHERE name = 'device.1.replicas'"
        #expect(try hub.value(spent, as: Int.self) == 3)
        try hub.execute(
            "UPDATE _sync_setting SET value = ? WHERE name = 'device.1.replicas'",
            [DeviceBudget.replicaCountMax])
        #expect(
            try code {
                try hub.synchronizer.remember(AdmissionTests.replica(3), knowing: vector, ofDevice: 1)
            } == .capacityExceeded)
        // One that is known says what is new all the same, and other devices are not concerned.
        try hub.synchronizer.remember(
            AdmissionTests.replica(2), knowing: VersionVector([own: 7]), ofDevice: 1)
        try hub.synchronizer.remember(AdmissionTests.replica(3), knowing: vector, ofDevice: 2)
        try expectExchange(hub, stores)
    }

    /// Each identity that the server had stays known for ever, so a device can't have it take as many as it likes.
    @Test func aDeviceHasAServerTakeOnlySoManyIdentities() throws {
        let stores = try TestStores()
        let hub = try stores.createWithScopes()
        func spent() throws -> Int {
            try hub.value(
                "SELECT value FROM _sync_setting WHERE name = 'device.1.replicas'", as: Int.self) ?? 0
        }
        // A fork that the bundle, which builds on something else, does not fit.
        var forgery = try Forgery(hub, device, [])
        forgery.base[device] = 5
        forgery.target[forgery.replicas[1]] = AdmissionLimits.sequenceMax
        forgery.facts.parts = []
        let frames = try forgery.frames()
        func upload() throws {
            func handOut(_ sink: (UnsafeRawBufferPointer) throws -> Void) throws {
                for frame in frames { try frame.withUnsafeBytes { try sink($0) } }
            }
            _ = try hub.synchronizer.applyUpload(on: { _ in UploadTerms(device: 1) }, handOut)
        }
        let first = try hub.synchronizer.identity().replica
        #expect(try code { try upload() } == .forkedReplica)
        let second = try hub.synchronizer.identity().replica
        #expect(second != first)
        #expect(try spent() == 1)
        try hub.synchronizer.renewIdentity([Fork(replica: second, common: 0)], shownByDevice: 1)
        #expect(try spent() == 2)
        try hub.execute(
            "UPDATE _sync_setting SET value = ? WHERE name = 'device.1.replicas'",
            [DeviceBudget.replicaCountMax])
        let third = try hub.synchronizer.identity().replica
        #expect(
            try code {
                try hub.synchronizer.renewIdentity([Fork(replica: third, common: 0)], shownByDevice: 1)
            } == .capacityExceeded)
        #expect(try hub.synchronizer.identity().replica == third)
        try expectExchange(hub, stores)
    }

    /// All of it is in each greeting.
    @Test func whatIsKnownOfSingleTablesHasABound() throws {
        let stores = try TestStores()
        let hub = try stores.createWithScopes()
        var forgery = try Forgery(hub, device, [])
        forgery.tables += (0..<50).map { .init(name: "t\($0)", key: "id", columns: []) }
        for number in 0..<1_000 {
            forgery.replicas.append(AdmissionTests.replica(number))
            forgery.target[AdmissionTests.replica(number)] = 1
        }
        try hub.take(forgery, within: nil)
        try hub.execute(
            """
            INSERT INTO _sync_coverage (tbl, sid, oseq, floor)
            SELECT t.tbl, r.sid, 1 + t.tbl, 0 FROM _sync_table AS t CROSS JOIN _sync_replica AS r
            WHERE t.name GLOB 't[0-9]*' AND t.name <> 't49' AND r.oseq = 1
            """)
        forgery.target = [:]
        forgery.facts.parts = [.init(tables: [["t49"]], target: VersionVector([device: 2000]))]
        #expect(try code { try hub.take(forgery, within: nil) } == .capacityExceeded)
        forgery.facts.parts = []
        forgery.target[device] = 2000
        try hub.take(forgery, within: nil)
        #expect(try hub.peer.greet().encode().count < WireLimits().headerByteCountMax / 2)
    }

    /// SQLite takes two names for one that differ behind a zero byte only.
    @Test func aNameWithAZeroByteIsRefused() throws {
        let stores = try TestStores()
        let hub = try stores.createWithScopes()
        for columns in [["a\0b"], ["a\0b", "a\0c"]] {
            var forgery = try Forgery(hub, device, [])
            forgery.tables[0] = .init(name: "item", key: "id", columns: columns)
            #expect(try code { try hub.take(forgery, within: nil) } == .invalidBundle)
            forgery.tables[0] = .init(name: columns[0], key: "id", columns: [])
            #expect(try code { try hub.take(forgery, within: nil) } == .invalidBundle)
        }
        try expectExchange(hub, stores)
    }

    @Test func aBundleThatNamesItsKeyAsAColumnIsRefused() throws {
        let stores = try TestStores()
        let hub = try stores.createWithScopes()
        var forgery = try Forgery(hub, device, [])
        forgery.tables[0] = .init(name: "item", key: "id", columns: ["scope", "ID"])
        #expect(try code { try hub.take(forgery, within: nil) } == .invalidBundle)
        try expectExchange(hub, stores)
    }

    /// A deletion that its writer did not know the row of is re-issued, and here the row came back in the same bundle.
    @Test func aBundleThatSpeaksOfARowTwiceLeavesItWhole() throws {
        let stores = try TestStores()
        let hub = try stores.createWithScopes()
        try hub.execute("INSERT INTO item (id, scope) VALUES (?, 'a')", [itemKey(1)])
        _ = try hub.synchronizer.identity()
        let now = HybridTimestamp(milliseconds: stores.clock.environment.milliseconds() + 60_000)
        let gone = WireStamp(timestamp: 7, replica: 0, sequence: 1)
        let back = WireStamp(timestamp: now.rawValue, replica: 0, sequence: 2)
        let rows: [Forgery.Row] = [
            .init(number: 1, life: 2, base: gone), .init(number: 1, life: 1, base: back, values: [0: "b"]),
        ]
        for order in [rows, rows.reversed()] {
            try hub.take(Forgery(hub, device, order), within: nil)
            try hub.execute("INSERT INTO item (id, scope) VALUES (?, 'a')", [itemKey(2 + rows.count)])
            try hub.execute("DELETE FROM item WHERE id = ?", [itemKey(2 + rows.count)])
            try expectHealthy([hub])
        }
        try expectExchange(hub, stores)
    }
}
