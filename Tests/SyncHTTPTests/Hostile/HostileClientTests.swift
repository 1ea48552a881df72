import CipherStore
import Foundation
import SyncEngine
import SyncWire
import TestSupport
import Testing

@testable import SyncHTTP
@testable import SyncTesting

/// A server survives whatever its devices sign and send, and others go on with it.
@Suite(.serialized) struct HostileClientTests {
    private static let schema = """
        CREATE TABLE note (id BLOB PRIMARY KEY, title TEXT);
        CREATE TABLE item (id BLOB PRIMARY KEY, place, label TEXT UNIQUE, size INTEGER DEFAULT 1)
        """

    /// The devices: without bounds, with some tables, some rows, and read-only.
    private static let entries: [(scope: SyncScope?, isReadOnly: Bool)] = [
        (nil, false), (.tables(["note"]), false), (.rows(of: "item", where: "place", in: ["a", "b"]), false),
        (SyncScope.tables(["item"]).rows(of: "item", where: "place", in: ["a"]), false), (nil, true),
    ]

    private func hub(_ stores: ServedStores) throws -> Synchronizer {
        let queue = try DatabaseQueue(
            path: stores.path("hub.db"), configuration: ServedStores.configuration("hub.db"))
        try queue.write { try $0.execute(sql: Self.schema) }
        let hub = try Synchronizer(queue, tables: ["note", "item"], environment: stores.clock.environment)
        try hub.insert(5, "from the hub")
        try queue.write { db in
            for (number, place) in ["a", "b", "c", "d"].enumerated() {
                try db.execute(
                    sql: "INSERT INTO item (id, place, label) VALUES (?, ?, ?)",
                    arguments: [Data(repeating: 0xE0 | UInt8(number), count: 16), place, "item \(number)"])
            }
        }
        return hub
    }

    /// At night, 105,000 messages.
    @Test(arguments: Campaign.seeds(2, nightly: 30))
    func aServerSurvivesWhateverDevicesSend(seed: UInt64) async throws {
        let stores = try ServedStores()
        let hub = try hub(stores)
        var limits = HubServer.Limits()
        limits.deviceRequestsPerSecond = 1_000_000
        limits.admissionsPerSecond = 1_000_000
        limits.addressAdmissionsPerSecond = 1_000_000
        try await RunningServer.serving(hub, tls: .plaintextOnLoopback, limits: limits) { server in
            let phone = try await stores.join(try server.invite("phone"), "phone.db")
            for (index, entry) in Self.entries.enumerated() {
                let attacker = try await Attacker(server, scope: entry.scope, isReadOnly: entry.isReadOnly)
                var random = SimulationRandom(seed: seed &* 100 &+ UInt64(index))
                var client = HostileClient(attacker, hub, &random)
                for message in 0..<Campaign.count(30, nightly: 700) {
                    stores.clock.advance(milliseconds: 7)
                    let answer = try await client.send(SimulationRandom(seed: random.next()))
                    // 503: it asks for what another request of its own is busy with.
                    let isServed = answer.status.map { $0 < 500 || $0 == 503 } ?? answer.isCutOff
                    #expect(
                        isServed,
                        "seed \(seed), device \(index), message \(message): \(answer.request): \(answer.status ?? 0) \(answer.detail)"
                    )
                }
                _ = try server.register.revoke(attacker.label)
            }
            try await expectExchange(phone, hub)
        }
        try expectHealthy(hub)
    }

    /// A device that is what it says goes on.
    private func expectExchange(_ phone: Synchronizer, _ hub: Synchronizer) async throws {
        for round in 0..<3 {
            try phone.insert(1, "of the phone \(round)")
            try hub.insert(1, "of the hub \(round)")
            for _ in 0..<3 { try await synchronize(phone, hub) }
            for store in [phone, hub] {
                let titles = try store.titles()
                #expect(
                    titles["of the phone \(round)"] == 1 && titles["of the hub \(round)"] == 1,
                    "\(round): \(titles)")
            }
        }
        #expect(try phone.rows() == hub.rows())
        try expectHealthy(phone)
    }

    /// Who was retired goes on under another identity, as its user is told.
    private func synchronize(_ phone: Synchronizer, _ hub: Synchronizer) async throws {
        for _ in 0..<4 {
            do {
                _ = try await phone.sync(with: RemoteBook(phone).transport(options: .hasty))
                return
            } catch let error as SyncError where error.code == .retiredReplica {
                try (error.message.contains("the remote") ? hub : phone).renewIdentity()
            } catch let error as SyncError where error.code == .forkedReplica {
                continue
            }
        }
        Issue.record("the phone can't synchronize any more")
    }

    private func expectHealthy(_ store: Synchronizer) throws {
        let problems = try store.writer.write { try MetadataCheck.problems(of: $0, isDeep: true) }
        #expect(problems.isEmpty, "\(problems)")
        nonisolated(unsafe) var frames: [[UInt8]] = []
        func take(_ frame: UnsafeRawBufferPointer) { frames.append(Array(frame)) }
        let request = TransferRequest(base: VersionVector())
        _ = try store.sendChanges(request, within: { _ in nil }, to: take)
        let header = try frames[0].withUnsafeBytes { try BundleParts.header(of: $0) }
        try Admission.check(header)
        #expect(frames[0].count < WireLimits().headerByteCountMax / 2)
    }
}
