import CipherStore
import Foundation
import Logging
import SyncEngine
import SyncWire
import Testing

@testable import SyncHTTP

/// Bundles that are made once for all devices that know the same.
@Suite struct SharedMakingTests {
    /// A served store with rows that take more than comes with an answer, and devices that have greeted.
    private struct Hub {
        let stores: ServedStores
        let replica: Synchronizer
        let store: HubStore
        let register: DeviceRegister
        let request = TransferRequest(base: VersionVector())

        /// - parameter rowByteCount: The size of each of three rows.
        init(rowByteCount: Int = 60_000) throws {
            stores = try ServedStores()
            replica = try stores.create("hub.db")
            try replica.insertLarge(3, byteCount: rowByteCount)
            store = try HubStore(
                replica, limits: .init(), logger: Logger(label: "test"), metrics: ServerMetrics())
            register = try DeviceRegister(replica)
        }

        func enrol(_ label: String) throws -> Device {
            let address = try ServerAddress(host: "127.0.0.1", port: 1, trust: .loopback)
            let link = try register.invite(label: label, address: address)
            return try register.enrol(key: DeviceKey().publicKey, secret: link.secret)
        }

        func greet(_ device: Device) throws { _ = try HubDevice(hub: store, device: device).greet() }

        /// Begins what a device asks for in a request that came as other devices' does.
        func begin(
            _ asked: TransferRequest? = nil, codec: String? = nil, for device: Device
        ) throws -> HubStore.Making {
            let asked = asked ?? request
            let body = try BundleRequest.changes(asked).encode()
            return try store.beginChanges(
                asked, digest: SharedMakings.digest(of: body), codec: codec, for: device)
        }

        func bytes(_ spool: ByteSpool) throws -> [UInt8] {
            var bytes: [UInt8] = []
            try spool.forEachPiece { bytes += $0 }
            return bytes
        }
    }

    @Test func devicesThatKnowTheSameGetOneBundle() throws {
        let hub = try Hub()
        let devices = try ["phone", "laptop", "tablet"].map(hub.enrol)
        for device in devices { try hub.greet(device) }
        let first = try hub.begin(for: devices[0])
        _ = try hub.bytes(first.spool)
        let second = try hub.begin(for: devices[1])
        #expect(first.spool === second.spool)
        // Another question is another bundle.
        var other = hub.request
        other.tables = [["note"]]
        #expect(try hub.begin(other, for: devices[1]).spool !== first.spool)
        #expect(
            try hub.begin(codec: Message.codec, for: devices[1]).spool
                !== first.spool)
        // So is that of a device that was shown more.
        try hub.replica.insert(9, "later")
        try hub.greet(devices[2])
        let later = try hub.begin(for: devices[2])
        #expect(later.spool !== first.spool)
        #expect(try hub.bytes(later.spool).count > hub.bytes(first.spool).count)
    }

    @Test func aBundleIsNotSharedAfterAWhile() throws {
        let hub = try Hub()
        let devices = try ["phone", "laptop"].map(hub.enrol)
        for device in devices { try hub.greet(device) }
        let first = try hub.begin(for: devices[0])
        hub.stores.clock.advance(milliseconds: SharedMakings.milliseconds)
        #expect(try hub.begin(for: devices[1]).spool !== first.spool)
    }

    @Test func aDeviceThatMayHaveAPartSharesNothing() throws {
        let hub = try Hub()
        let phone = try hub.enrol("phone")
        _ = try hub.enrol("laptop")
        try hub.greet(phone)
        let first = try hub.begin(for: phone)
        let laptop = try hub.register.change("laptop", scope: .tables(["note"]))
        try hub.greet(laptop)
        #expect(throws: SyncError.self) { try hub.begin(for: laptop) }
        _ = try hub.bytes(first.spool)
    }

    @Test func whatBecomesOfOneDeviceIsNotSaidToOthers() throws {
        let hub = try Hub()
        let devices = try ["phone", "laptop"].map(hub.enrol)
        for device in devices { try hub.greet(device) }
        // Its request was let in before.
        _ = try hub.register.revoke("phone")
        let first = try hub.begin(for: devices[0])
        let error = #expect(throws: RemoteError.self) { try hub.bytes(first.spool) }
        #expect(error?.code == .busy)
        let second = try hub.begin(for: devices[1])
        #expect(try !hub.bytes(second.spool).isEmpty)
    }

    /// What comes with the answer, and what is fetched after it.
    @Test(arguments: [100, 60_000])
    func aDeviceThatJoinsGetsNothingOnceItMayHaveLess(rowByteCount: Int) throws {
        let hub = try Hub(rowByteCount: rowByteCount)
        let devices = try ["phone", "laptop", "tablet"].map(hub.enrol)
        for device in devices { try hub.greet(device) }
        let first = try hub.begin(for: devices[0])
        // Their requests were let in before.
        let joined = try devices.dropFirst().map { try hub.begin(for: $0) }
        _ = try hub.register.revoke("laptop")
        _ = try hub.register.change("tablet", scope: .tables(["note"]))
        let codes: [RemoteError.Code] = [.revokedDevice, .busy]
        for ((making, device), code) in zip(zip(joined, devices.dropFirst()), codes) {
            #expect(making.spool === first.spool)
            let reach = try making.spool.reach(beyond: HubStore.wholeByteCountMax)
            let error = #expect(throws: RemoteError.self) {
                try hub.store.offer(making, reach, to: device)
            }
            #expect(error?.code == code)
        }
        // The others keep what they have.
        let reach = try first.spool.reach(beyond: HubStore.wholeByteCountMax)
        let offer = try hub.store.offer(first, reach, to: devices[0])
        #expect((offer.content != nil) == (rowByteCount == 100))
    }

    @Test func whoJoinsABundleHasComeAsFarAsItsBeginning() throws {
        let hub = try Hub()
        let devices = try ["phone", "laptop"].map(hub.enrol)
        for device in devices { try hub.greet(device) }
        var request = hub.request
        request.tables = [["note"]]
        let reach = try hub.replica.foldedReach()
        let first = try hub.begin(request, for: devices[0])
        try hub.replica.insert(1, "later")
        #expect(try hub.begin(request, for: devices[1]).spool === first.spool)
        for device in devices { hub.store.noteTaken(by: device) }
        let taken = hub.store.takenParts
        #expect(taken[devices[0].id] == reach && taken[devices[1].id] == reach)
        #expect(try hub.replica.foldedReach() != reach)
    }

    @Test func aBundleCountsForEachDeviceThatItIsOfferedTo() async throws {
        let hub = try Hub()
        let devices = try ["phone", "laptop"].map(hub.enrol)
        for device in devices { try hub.greet(device) }
        for device in devices {
            let making = try hub.begin(for: device)
            let reach = try making.spool.reach(beyond: HubStore.wholeByteCountMax)
            _ = try hub.store.offer(making, reach, to: device)
        }
        // Who makes it counts the offers that came before it was made.
        let lines = ["bundles_total{direction=\"out\"} 2\n", "rows_total{direction=\"out\"} 6\n"]
        func isCounted() -> Bool {
            let text = hub.store.metrics.text([:])
            return lines.filter { text.contains($0) }.count == lines.count
        }
        for _ in 0..<5000 where !isCounted() { try await Task.sleep(for: .milliseconds(2)) }
        #expect(isCounted())
    }

    @Test func offersCountOnceWhetherTheBundleIsMadeBeforeOrAfter() {
        let rows = HubStore.RowCounts()
        #expect(!rows.offer())
        #expect(!rows.offer())
        #expect(rows.end() == 2)
        #expect(rows.offer())
    }

    @Test func aBundleStaysForThoseWhoStillReadIt() throws {
        let spool = try ByteSpool(folder: NSTemporaryDirectory(), byteCountMax: 1000)
        #expect(spool.join())
        spool.leave(RemoteError(.notFound, "one"))
        try [UInt8](repeating: 7, count: 10).withUnsafeBytes { try spool.append($0) }
        spool.leave(RemoteError(.notFound, "both"))
        #expect(throws: RemoteError.self) {
            try [UInt8](repeating: 7, count: 10).withUnsafeBytes { try spool.append($0) }
        }
        #expect(!spool.join())
    }

    @Test func aBundleCountsToADeviceThatStillWantsIt() throws {
        let unit: Int64 = 64 << 20
        let budget = DownloadBudget(byteCountMax: 4 * unit, downloadByteCountMax: unit)
        let (first, second) = (budget.share(of: 1), budget.share(of: 2))
        let ten = [UInt8](repeating: 7, count: 10)
        var spool: ByteSpool? = try ByteSpool(
            folder: NSTemporaryDirectory(), byteCountMax: 1000, share: first)
        try ten.withUnsafeBytes { try spool?.append($0) }
        #expect(spool?.join(second) == true)
        spool?.leave(RemoteError(.notFound, "one"), first)
        // The first one has all of its room, and the other one has less.
        try first.take(2 * unit)
        #expect(throws: RemoteError.self) { try second.take(2 * unit) }
        try second.take(2 * unit - 10)
        #expect(budget.byteCount == 4 * unit)
        // Until nothing reads it any more, it counts to the last one.
        spool?.leave(RemoteError(.notFound, "both"), second)
        #expect(throws: RemoteError.self) { try second.take(10) }
        spool = nil
        #expect(budget.byteCount == 4 * unit - 10)
        try second.take(10)
    }

    @Test func aBundleCountsToWhoComesAfterAllOthersLeft() throws {
        let unit: Int64 = 64 << 20
        let budget = DownloadBudget(byteCountMax: 8 * unit, downloadByteCountMax: unit)
        let (first, second) = (budget.share(of: 1), budget.share(of: 2))
        var spool: ByteSpool? = try ByteSpool(
            folder: NSTemporaryDirectory(), byteCountMax: 1000, share: first)
        try [UInt8](repeating: 7, count: 10).withUnsafeBytes { try spool?.append($0) }
        try spool?.finish()
        // Somebody still reads it.
        spool?.leave(RemoteError(.notFound, "first"), first)
        #expect(throws: RemoteError.self) { try first.take(2 * unit) }
        #expect(spool?.join(second) == true)
        try first.take(2 * unit)
        #expect(throws: RemoteError.self) { try second.take(2 * unit) }
        spool?.leave(RemoteError(.notFound, "second"), second)
        first.release(2 * unit)
        // One that comes back is there once.
        #expect(spool?.join(first) == true)
        #expect(spool?.join(second) == true)
        spool?.leave(RemoteError(.notFound, "first"), first)
        try first.take(2 * unit)
        #expect(budget.byteCount == 2 * unit + 10)
        spool = nil
        #expect(budget.byteCount == 2 * unit)
    }

    @Test func aBundleGoesOnWhereAnotherDeviceHasRoomForIt() throws {
        let unit: Int64 = 64 << 20
        let budget = DownloadBudget(byteCountMax: 4 * unit, downloadByteCountMax: unit)
        let (first, second) = (budget.share(of: 1), budget.share(of: 2))
        let ten = [UInt8](repeating: 7, count: 10)
        let spool = try ByteSpool(folder: NSTemporaryDirectory(), byteCountMax: 1000, share: first)
        try ten.withUnsafeBytes { try spool.append($0) }
        #expect(spool.join(second))
        try first.take(2 * unit - 10)
        try ten.withUnsafeBytes { try spool.append($0) }
        #expect(budget.byteCount == 2 * unit + 10)
        try first.take(10)
        try second.take(2 * unit - 20)
        let error = #expect(throws: RemoteError.self) { try ten.withUnsafeBytes { try spool.append($0) } }
        #expect(error?.code == .busy && spool.byteCount == 20 && budget.byteCount == 4 * unit)
    }
}
