import CipherStore
import Foundation
import SyncEngine
import Synchronization
import Testing

@testable import SyncHTTP

/// To whom an invitation belongs while a device joins, over the wire.
@Suite(.serialized) struct InvitationHoldTests {
    private struct Cancelled: Error {}

    /// Options whose request of a number is cancelled, and all after it.
    private static func cancelling(at number: Int) -> HTTPTransport.Options {
        let count = Counter()
        var options = HTTPTransport.Options.hasty
        options.onRequest = { if count.next() >= number { throw Cancelled() } }
        return options
    }

    private final class Counter: Sendable {
        private let value = Mutex(0)

        func next() -> Int {
            value.withLock {
                $0 += 1
                return $0
            }
        }
    }

    private func code(_ body: () async throws -> Void) async -> RemoteError.Code? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? RemoteError)?.code
        }
    }

    @Test(arguments: [nil, ["note"]] as [[String]?])
    func aJoinThatIsCancelledAnywhereIsRepeatedAtOnce(tables: [String]?) async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db", rows: 3)
        try await RunningServer.serving(hub, tls: .plaintextOnLoopback) { server in
            var isJoined = false
            for number in 1..<20 where !isJoined {
                let link = try server.invite("phone \(number)", tables: tables)
                let count = try server.register.devices().count
                do {
                    _ = try await stores.join(link, "phone.db", options: Self.cancelling(at: number))
                    isJoined = true
                } catch is Cancelled {
                    #expect(!FileManager.default.fileExists(atPath: stores.path("phone.db")))
                    #expect(try server.register.devices().count == count, "cancelled at \(number)")
                    let other = try server.register.enrol(
                        key: DeviceKey().publicKey, secret: link.secret)
                    #expect(other.label == "phone \(number)")
                }
            }
            #expect(isJoined)
        }
        #expect(try stores.leftovers().isEmpty)
    }

    @Test func aJoinThatFailsOnTheDeviceIsRepeatedAtOnce() async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db", rows: 3)
        try await RunningServer.serving(hub, tls: .plaintextOnLoopback) { server in
            let link = try server.invite()
            await #expect(throws: (any Error).self) { _ = try await stores.join(link, "none/phone.db") }
            #expect(try server.register.devices().isEmpty)
            let phone = try await stores.join(link, "phone.db")
            #expect(try phone.rows() == hub.rows())
        }
    }

    @Test(arguments: [nil, ["note"]] as [[String]?])
    func aFileThatSomebodyMakesMeanwhileStays(tables: [String]?) async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db", rows: 3)
        try await RunningServer.serving(hub, tls: .plaintextOnLoopback) { server in
            let link = try server.invite(tables: tables)
            let (path, content) = (stores.path("phone.db"), Data("somebody's".utf8))
            var options = HTTPTransport.Options.hasty
            options.onRequest = { try content.write(to: URL(fileURLWithPath: path)) }
            let hasty = options
            let error = await #expect(throws: StoreError.self) {
                _ = try await stores.join(link, "phone.db", options: hasty)
            }
            #expect(error?.code == .exists)
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == content)
            #expect(try server.register.devices().isEmpty)
            try FileManager.default.removeItem(atPath: path)
            _ = try await stores.join(link, "phone.db")
            let names = try FileManager.default.contentsOfDirectory(atPath: stores.folder)
            #expect(names.filter { $0.hasPrefix("phone.db.") }.isEmpty)
        }
        #expect(try stores.leftovers().isEmpty)
    }

    @Test func aThiefIsRefusedUntilTheTimeIsOver() async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db", rows: 3)
        try await RunningServer.serving(hub, tls: .plaintextOnLoopback) { server in
            let link = try server.invite()
            // As far as a join came that was killed.
            _ = try server.register.enrol(key: DeviceKey().publicKey, secret: link.secret)
            #expect(await code { _ = try await stores.join(link, "thief.db") } == .invalidInvite)
            #expect(!FileManager.default.fileExists(atPath: stores.path("thief.db")))
            stores.clock.advance(milliseconds: DeviceRegister.holdMilliseconds)
            let phone = try await stores.join(link, "phone.db")
            #expect(try phone.rows() == hub.rows())
            #expect(await code { _ = try await stores.join(link, "thief.db") } == .invalidInvite)
            #expect(try server.register.devices().count == 1)
        }
    }

    @Test func onlyTheDeviceItselfTakesItsEnrolmentBackAndOnlyBeforeItIsAReplica() async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db")
        try await RunningServer.serving(hub, tls: .plaintextOnLoopback) { server in
            let attacker = try await Attacker(server)
            let target = attacker.base + "/devices/self"
            let (unsigned, _) = try await Attacker.send(attacker.url, "DELETE", target, [:], [])
            #expect(unsigned == 401)
            #expect(try await attacker.send(1, "DELETE", "/devices/1").0 == 404)
            let device = try #require(try server.register.devices().first)
            try server.register.bind(device, to: ReplicaID(high: 1, low: 2))
            #expect(try await attacker.send(2, "DELETE", "/devices/self").0 == 400)
            #expect(try server.register.devices().count == 1)
            let other = try await Attacker(server)
            #expect(try await other.send(1, "DELETE", "/devices/self").0 == 204)
            // Its session has gone with it.
            #expect(try await other.send(2, "DELETE", "/devices/self").0 == 401)
            #expect(try server.register.devices().map(\.id) == [device.id])
        }
    }
}
