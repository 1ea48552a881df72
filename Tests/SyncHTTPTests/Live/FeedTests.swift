import CipherStore
import Logging
import Synchronization
import Testing

@testable import SyncEngine
@testable import SyncHTTP

/// Streams whose device is revoked, or whose store can't be read, at the wrong moment.
@Suite(.serialized) struct FeedTests {
    private var limits: HubServer.Limits {
        var limits = HubServer.Limits()
        limits.heartbeatSeconds = 0.02
        return limits
    }

    /// The error with which a stream ends; nil when it is still open after many signs of life.
    private func end(of signals: AsyncStream<HubFeed.Signal>) async -> RemoteError? {
        var beats = 0
        for await signal in signals {
            if case .end(let error) = signal { return error }
            if case .heartbeat = signal { beats += 1 }
            if beats > 200 { return nil }
        }
        return nil
    }

    @Test func aDeviceThatIsRevokedWhileItsStreamIsOpenedIsToldSo() async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db", rows: 1)
        let register = try DeviceRegister(hub)
        let feed = HubFeed(register, limits: limits, logger: .init(label: "test"))
        defer { feed.endAll() }
        let device = try register.enrol(
            key: [UInt8](repeating: 1, count: 32), secret: register.inviteForTests("a"))
        let other = try register.enrol(
            key: [UInt8](repeating: 2, count: 32), secret: register.inviteForTests("b"))
        // This one keeps the watcher alive; what it sees of the revocation ends the next.
        let alive = try feed.open(other)
        let former = try feed.open(device)
        try register.revoke("a")
        #expect(await end(of: former.signals)?.code == .revokedDevice)
        // The looks at what the first one committed itself.
        var beats = 0
        for await signal in alive.signals {
            if case .heartbeat = signal { beats += 1 }
            if beats == 10 { break }
        }
        // A request that was read before the revocation opens its stream after it was looked for.
        let late = try feed.open(device)
        #expect(await end(of: late.signals)?.code == .revokedDevice)
        #expect(feed.streamCount == 1)
    }

    /// Its invitation lets the next device in, which may have another one's rights.
    @Test func aDeviceThatTookItsEnrolmentBackHearsNothingMore() async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db", rows: 1)
        let store = try HubStore(
            hub, limits: limits, logger: .init(label: "test"), metrics: ServerMetrics())
        defer { store.feed.endAll() }
        let register = store.register
        let secret = try register.inviteForTests("a")
        let device = try register.enrol(key: [UInt8](repeating: 1, count: 32), secret: secret)
        let former = try store.feed.open(device)
        try store.release(device)
        let next = try register.enrol(key: [UInt8](repeating: 2, count: 32), secret: secret)
        #expect(next.id > device.id)
        let open = try store.feed.open(next)
        #expect(await end(of: former.signals)?.code == .unknownDevice)
        #expect(store.feed.streamCount == 1 && store.feed.deviceStreamCounts == [next.id: 1])
        store.feed.close(open.number)
    }

    @Test func aLookThatFailedIsRepeated() async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db", rows: 1)
        let (looks, continuation) = AsyncStream.makeStream(of: Int.self)
        let count = Mutex(0)
        let watcher = StoreWatcher(path: hub.writer.path, configuration: hub.writer.configuration) {
            let number = count.withLock { count in
                count += 1
                return count
            }
            continuation.yield(number)
            if number < 3 { throw DatabaseError(resultCode: .SQLITE_BUSY) }
        }
        // Nothing is committed meanwhile.
        for await number in looks where number == 3 { break }
        watcher.stop()
    }

    @Test func aProblemThatLastsIsLoggedWhenItBeginsAndWhenItIsOver() {
        let lines = LogLines()
        let problem = LastingProblem(Logger(label: "test") { _ in lines }, "the store can't be watched")
        problem.end()
        for _ in 0..<3 { problem.meet(RemoteError(.busy, "somebody writes")) }
        problem.meet(RemoteError(.failed, "the file is gone"))
        for _ in 0..<2 { problem.end() }
        let logged = lines.lines.withLock { $0 }
        #expect(logged.count == 3)
        #expect(logged.first?.contains("somebody writes") == true)
        #expect(logged.last?.hasPrefix("over: the store can't be watched") == true)
        #expect(logged.dropFirst().allSatisfy { $0.contains("the file is gone") })
    }
}
