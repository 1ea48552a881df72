import CipherStore
import Foundation
import SyncWire
import Testing

@testable import SyncEngine

/// What a store does not take in of what others say, and what becomes of what it does.
@Suite struct AdmissionTests {
    private let device = AdmissionTests.replica(1_000_000)

    private func stamp(_ timestamp: Int64, _ sequence: Int64 = 1, replica: Int = 0) -> WireStamp {
        WireStamp(timestamp: timestamp, replica: replica, sequence: sequence)
    }

    // MARK: Time

    @Test func anEditWinsOverAValueOfTheLastTimestampThereIs() throws {
        let stores = try TestStores()
        let hub = try stores.createWithScopes()
        let other = try stores.clone(hub, as: "b.db")
        let last = AdmissionLimits.timestampMax
        try hub.take(
            Forgery(
                hub, device,
                [
                    .init(
                        number: 1, base: stamp(last), values: [0: "a", 1: .integer(1)],
                        cells: [(2, stamp(last, 2), .integer(2))])
                ]), within: nil)
        try other.sync(hub)
        for replica in [hub, other, hub] {
            try replica.execute("UPDATE item SET y = y + 1, x = 5")
            try hub.sync(other)
        }
        #expect(try hub.dump(["item"]) == other.dump(["item"]))
        #expect(try hub.value("SELECT y FROM item", as: Int.self) == 5)
        let newest = try #require(try hub.value("SELECT max(hlc) FROM _sync_row", as: Int64.self))
        #expect(newest < last)
        try other.execute("DELETE FROM item")
        try hub.sync(other)
        #expect(try hub.value("SELECT count(*) FROM item", as: Int.self) == 0)
        try expectHealthy([hub, other])
    }

    @Test func aLaterTimestampThanTheLastIsRefused() throws {
        let stores = try TestStores()
        let hub = try stores.createWithScopes()
        for timestamp in [AdmissionLimits.timestampMax + 1, .max] {
            let forgery = try Forgery(
                hub, device, [.init(number: 1, base: stamp(timestamp), values: [0: "a"])])
            #expect(try code { try hub.take(forgery, within: nil) } == .invalidBundle)
        }
        try expectHealthy([hub])
    }

    // MARK: Lives

    @Test func aRowInTheLastLifeCanBeDeletedEverywhere() throws {
        let stores = try TestStores()
        let hub = try stores.createWithScopes()
        let other = try stores.clone(hub, as: "b.db")
        let life = AdmissionLimits.lifeMax - 1
        try hub.take(
            Forgery(hub, device, [.init(number: 1, life: life, base: stamp(1), values: [0: "a"])]),
            within: nil)
        try other.sync(hub)
        #expect(try other.value("SELECT count(*) FROM item", as: Int.self) == 1)
        try other.execute("DELETE FROM item")
        try hub.sync(other)
        #expect(try hub.value("SELECT count(*) FROM item", as: Int.self) == 0)
        #expect(try hub.value("SELECT cl FROM _sync_row", as: Int64.self) == AdmissionLimits.lifeMax)
        try expectHealthy([hub, other])
    }

    @Test func aRowInTheLastLifeCanBeReplacedEverywhere() throws {
        let stores = try TestStores()
        let hub = try stores.createWithScopes()
        let other = try stores.clone(hub, as: "b.db")
        let row = Forgery.Row(
            number: 1, life: AdmissionLimits.lifeMax - 1, base: stamp(1), values: [0: "a"])
        try hub.take(Forgery(hub, device, [row]), within: nil)
        try other.sync(hub)
        try other.execute("INSERT OR REPLACE INTO item (id, scope, x) VALUES (?, 'b', 5)", [itemKey(1)])
        try hub.sync(other)
        for replica in [hub, other] {
            #expect(try replica.value("SELECT scope || x FROM item", as: String.self) == "b5")
        }
        try expectHealthy([hub, other])
    }

    @Test func aLifeAfterTheLastIsRefused() throws {
        let stores = try TestStores()
        let hub = try stores.createWithScopes()
        for life in [AdmissionLimits.lifeMax + 1, .max] {
            let forgery = try Forgery(
                hub, device, [.init(number: 1, life: life, base: stamp(1), values: [0: "a"])])
            #expect(try code { try hub.take(forgery, within: nil) } == .invalidBundle)
        }
    }

    // MARK: Numbers of changes, and replicas

    @Test func aNumberThatNoReplicaReachesIsRefused() throws {
        let stores = try TestStores()
        let hub = try stores.createWithScopes()
        let own = try hub.synchronizer.identity().replica
        let beyond = AdmissionLimits.sequenceMax + 1
        var forgery = try Forgery(hub, device, [])
        for change in [
            { $0.target[device] = beyond }, { $0.target[own] = beyond },
            { $0.facts.floor[device] = beyond }, { $0.facts.known[device] = VersionVector([own: beyond]) },
            { $0.facts.parts[0].base[device] = .max }, { $0.facts.parts[0].target[own] = .max },
        ] as [(inout Forgery) -> Void] {
            var changed = forgery
            change(&changed)
            #expect(try code { try hub.take(changed, within: nil) } == .invalidBundle)
        }
        let greeting = Greeting(
            store: forgery.store, replica: device, vector: VersionVector([device: beyond]), ownSequence: 0)
        #expect(try code { _ = try hub.peer.meet(greeting) } == .invalidBundle)
        forgery.target[device] = AdmissionLimits.sequenceMax
        try hub.take(forgery, within: nil)
        try expectExchange(hub, stores)
    }

    @Test func replicasThatAGreetingInventsAreNotKept() throws {
        let stores = try TestStores()
        let hub = try stores.createWithScopes()
        let store = try hub.synchronizer.identity().store
        for round in 0..<2 {
            let invented = (0..<3_000).map { (Self.replica(round * 3_000 + $0), Int64(1)) }
            _ = try hub.peer.meet(
                Greeting(
                    store: store, replica: device,
                    vector: VersionVector(Dictionary(invented, uniquingKeysWith: max)), ownSequence: 0))
        }
        #expect(try hub.value("SELECT count(*) FROM _sync_replica", as: Int.self) == 2)
        var facts = ReplicaFacts()
        for number in 0..<3_000 { facts.known[Self.replica(number)] = VersionVector([device: 1]) }
        _ = try hub.peer.meet(
            Greeting(store: store, replica: device, vector: VersionVector(), ownSequence: 0, facts: facts))
        let count = try #require(try hub.value("SELECT count(*) FROM _sync_replica", as: Int.self))
        #expect(count <= 2 + AdmissionLimits.strangerCountMax)
        try expectExchange(hub, stores)
    }

    @Test func aBundleWithMoreReplicasThanAStoreKeepsIsRefused() throws {
        let stores = try TestStores()
        let hub = try stores.createWithScopes()
        var forgery = try Forgery(hub, device, [])
        for number in 0..<AdmissionLimits.replicaCountMax {
            forgery.replicas.append(Self.replica(number))
            forgery.target[Self.replica(number)] = 1
        }
        #expect(try code { try hub.take(forgery, within: nil) } == .capacityExceeded)
        // Listed alone, they mean nothing.
        forgery.target = [:]
        try hub.take(forgery, within: nil)
        #expect(try hub.value("SELECT count(*) FROM _sync_replica", as: Int.self) == 2)
    }

    static func replica(_ number: Int) -> ReplicaID {
        ReplicaID(high: 0xEE, low: UInt64(number))
    }

    // MARK: Names

    @Test func tablesBeyondWhatAStoreKeepsAreRefusedAndOthersGoOn() throws {
        let stores = try TestStores()
        let hub = try stores.createWithScopes()
        var forgery = try Forgery(hub, device, [])
        for number in 0..<AdmissionLimits.tableCountMax {
            forgery.tables.append(.init(name: "t\(number)", key: "id", columns: ["c"]))
        }
        #expect(try code { try hub.take(forgery, within: nil) } == .capacityExceeded)
        forgery.tables = [
            .init(name: "item", key: "id", columns: (0...AdmissionLimits.columnCountMax).map { "c\($0)" })
        ]
        #expect(try code { try hub.take(forgery, within: nil) } == .capacityExceeded)
        forgery.tables[0] = .init(
            name: "item", key: "id",
            columns: [String(repeating: "n", count: AdmissionLimits.nameByteCountMax + 1)])
        #expect(try code { try hub.take(forgery, within: nil) } == .invalidBundle)
        try expectExchange(hub, stores)
    }

    /// Where facts name tables and columns.
    private static let factsWithNames: [@Sendable (inout ReplicaFacts, String) -> Void] = [
        { $0.parts = [.init(tables: [["item"], [$1]], target: VersionVector())] },
        { $0.partials = [.init(names: ["item", $1])] },
        {
            $0.restrictions = [
                .init(table: $1, column: "x", values: nil, receiver: AdmissionTests.replica(1), revision: 1)
            ]
        },
        {
            $0.restrictions = [
                .init(
                    table: "item", column: $1, values: nil, receiver: AdmissionTests.replica(1), revision: 1)
            ]
        },
        { $0.digest = StateDigest(tables: [.init(names: ["item", $1], rows: DigestSum(), columns: [])]) },
        {
            let column = StateDigest.Column(names: ["x", $1], isPresent: true, cells: DigestSum())
            $0.digest = StateDigest(tables: [.init(names: ["item"], rows: DigestSum(), columns: [column])])
        },
    ]

    @Test func namesInFactsThatNoTableHasAreRefused() throws {
        let stores = try TestStores()
        let hub = try stores.createWithScopes()
        let tooLong = String(repeating: "n", count: AdmissionLimits.nameByteCountMax + 1)
        for (index, change) in Self.factsWithNames.enumerated() {
            for name in ["a\u{0}b", tooLong] {
                var forgery = try Forgery(hub, device, [])
                change(&forgery.facts, name)
                let header = BundleHeader(
                    store: forgery.store, sender: device, base: VersionVector(), target: VersionVector(),
                    replicas: forgery.replicas, tables: forgery.tables, facts: forgery.facts)
                #expect(try code { try Admission.check(header) } == .invalidBundle, "\(index)")
                let greeting = Greeting(
                    store: forgery.store, replica: device, vector: VersionVector(), ownSequence: 0,
                    facts: forgery.facts)
                #expect(try code { _ = try hub.peer.meet(greeting) } == .invalidBundle, "\(index)")
            }
        }
        try expectExchange(hub, stores)
    }

    @Test func aDeviceNamesOnlySoManyTablesAndAnotherOneMoreStill() throws {
        let stores = try TestStores()
        let hub = try stores.createWithScopes()
        func take(_ names: Range<Int>, device number: Int64) throws {
            var forgery = try Forgery(hub, Self.replica(Int(number)), [])
            forgery.tables += names.map { .init(name: "t\($0)", key: "id", columns: ["c"]) }
            let frames = try forgery.frames()
            func handOut(_ sink: (UnsafeRawBufferPointer) throws -> Void) throws {
                for frame in frames { try frame.withUnsafeBytes { try sink($0) } }
            }
            _ = try hub.synchronizer.applyUpload(on: { _ in UploadTerms(device: number) }, handOut)
        }
        try take(0..<1_000, device: 1)
        try take(1_000..<1_900, device: 1)
        #expect(try code { try take(1_900..<2_100, device: 1) } == .capacityExceeded)
        try take(1_900..<2_100, device: 2)
        try expectHealthy([hub])
    }

    /// What nobody uses is not sent on, so it ends where it is taken out.
    @Test func tablesWithoutRowsAreNotSentOn() throws {
        let stores = try TestStores()
        let hub = try stores.createWithScopes()
        let other = try stores.clone(hub, as: "b.db")
        var forgery = try Forgery(hub, device, [])
        forgery.tables.append(.init(name: "elsewhere", key: "id", columns: ["c"]))
        try hub.take(forgery, within: nil)
        try hub.sync(other)
        let count = "SELECT count(*) FROM _sync_table WHERE name = 'elsewhere'"
        #expect(try hub.value(count, as: Int.self) == 1)
        #expect(try other.value(count, as: Int.self) == 0)
        #expect(try hub.synchronizer.compact().repair.nameCount == 1)
        #expect(try hub.value(count, as: Int.self) == 0)
        try expectHealthy([hub, other])
    }
}

/// Nothing is wrong with the metadata, and a bundle of everything can be read.
func expectHealthy(_ replicas: [TestReplica], sourceLocation: SourceLocation = #_sourceLocation) throws {
    for replica in replicas {
        let problems = try replica.queue.write { try MetadataCheck.problems(of: $0, isDeep: true) }
        #expect(problems.isEmpty, "\(problems)", sourceLocation: sourceLocation)
        let frames = try replica.everythingAsBundle()
        let header = try frames[0].withUnsafeBytes { try BundleParts.header(of: $0) }
        try Admission.check(header)
        #expect(frames[0].count < WireLimits().headerByteCountMax / 2, sourceLocation: sourceLocation)
    }
}

extension TestReplica {
    /// All that the replica has, for one that knows nothing.
    func everythingAsBundle() throws -> [[UInt8]] {
        nonisolated(unsafe) var frames: [[UInt8]] = []
        let request = TransferRequest(base: VersionVector())
        func take(_ frame: UnsafeRawBufferPointer) { frames.append(Array(frame)) }
        _ = try peer.send(request, progress: nil, to: take)
        return frames
    }
}

/// Another replica can still be made of a store, and both exchange what is new.
func expectExchange(_ hub: TestReplica, _ stores: TestStores) throws {
    let other = try stores.clone(hub, as: "exchange.db")
    try other.execute("INSERT INTO item (id, scope) VALUES (?, 'a')", [itemKey(4)])
    try hub.sync(other)
    try hub.execute("UPDATE item SET x = 9")
    try hub.sync(other)
    #expect(try hub.dump(["item"]) == other.dump(["item"]))
    try expectHealthy([hub, other])
}
