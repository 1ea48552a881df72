import CipherStore
import Foundation
import SyncWire
import Synchronization
import Testing

@testable import SyncEngine
@testable import SyncHTTP

/// A live synchronization on a thread of its own, and what it told.
final class Watching: Sendable {
    let live: LiveSynchronization
    let events: AsyncStream<LiveSynchronization.Event>
    private let ended: AsyncThrowingStream<Void, any Error>

    init(_ replica: Synchronizer, silenceSeconds: Int64 = PositionStream.silenceSeconds) throws {
        var options = LiveSynchronization.Options()
        options.pauseSeconds = 0.02
        options.pauseSecondsMax = 0.05
        options.transport.pauseSeconds = 0.01
        options.silenceSeconds = silenceSeconds
        let live = try LiveSynchronization(replica, options: options)
        let (events, continuation) = AsyncStream.makeStream(of: LiveSynchronization.Event.self)
        let (ended, end) = AsyncThrowingStream.makeStream(of: Void.self)
        Thread.detachNewThread {
            do {
                try live.run { continuation.yield($0) }
                end.finish()
            } catch {
                end.finish(throwing: error)
            }
            continuation.finish()
        }
        self.live = live
        self.events = events
        self.ended = ended
    }

    deinit { live.stop() }

    /// Waits until something happened.
    func wait(_ isMatch: (LiveSynchronization.Event) -> Bool) async throws {
        for await event in events where isMatch(event) { return }
        try await end()
        throw RemoteError(.failed, "it ended before that")
    }

    func waitForConnection() async throws {
        try await wait { if case .connected = $0 { true } else { false } }
    }

    func waitForRows(_ count: Int64) async throws {
        var total: Int64 = 0
        try await wait {
            if case .synchronized(let report) = $0 { total += report.pulled?.rowCount ?? 0 }
            return total >= count
        }
    }

    /// Waits for its end, with its error.
    func end() async throws { for try await _ in ended {} }
}

@Suite(.serialized) struct LiveTests {
    @Test func commitsOfAnyConnectionAreAtTheOtherDeviceSoon() async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db", rows: 2)
        try await RunningServer.serving(hub) { server in
            let phone = try await stores.join(try server.invite(), "phone.db")
            let laptop = try await stores.join(try server.invite("laptop"), "laptop.db")
            // Nobody tells the synchronizer of what this connection writes, as of another process's.
            let (other, reader) = (try stores.open("phone.db"), try stores.open("laptop.db"))
            let (first, second) = (try Watching(phone), try Watching(laptop))
            try await first.waitForConnection()
            try await second.waitForConnection()
            // How soon is for the benchmarks to say.
            for count in 1...5 {
                try other.insert(1, "phone")
                while try reader.titles()["phone"] != count { await Task.yield() }
            }
            // The hub's own commits, and those of the laptop.
            try stores.open("hub.db").insert(3, "hub")
            try await first.waitForRows(3)
            try laptop.insert(4, "laptop")
            try await first.waitForRows(4)
            #expect(try hub.rows() == phone.rows() && hub.rows() == laptop.rows())
            #expect(try hub.titles() == ["from hub.db": 2, "phone": 5, "hub": 3, "laptop": 4])
            first.live.stop()
            second.live.stop()
            try await first.end()
            try await second.end()
        }
        #expect(try stores.leftovers().isEmpty)
    }

    @Test func aRevocationEndsItAtOnce() async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db", rows: 1)
        try await RunningServer.serving(hub) { server in
            let phone = try await stores.join(try server.invite(), "phone.db")
            let watching = try Watching(phone)
            try await watching.waitForConnection()
            // By another process, as far as the server can tell.
            try DeviceRegister(stores.open("hub.db")).revoke("phone")
            let error = await #expect(throws: RemoteError.self) { try await watching.end() }
            #expect(error?.code == .revokedDevice)
        }
    }

    @Test func itConnectsAnewWhenTheServerIsBack() async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db", rows: 1)
        let proxy = CuttingProxy(to: nil)
        defer { proxy.close() }
        let watching = Mutex<Watching?>(nil)
        try await RunningServer.serving(hub, behind: proxy) { server in
            let phone = try await stores.join(try server.invite(), "phone.db")
            let watch = try Watching(phone)
            try await watch.waitForConnection()
            watching.withLock { $0 = watch }
        }
        let watch = try #require(watching.withLock { $0 })
        try await watch.wait {
            if case .disconnected(_, let milliseconds) = $0 { milliseconds <= 50 } else { false }
        }
        try hub.insert(5, "hub")
        try await RunningServer.serving(hub, behind: proxy) { _ in
            try await watch.waitForRows(5)
            watch.live.stop()
            try await watch.end()
        }
    }

    @Test func aReadOnlyDeviceIsKeptUpToDate() async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db", rows: 1)
        try await RunningServer.serving(hub) { server in
            let phone = try await stores.join(try server.invite(isReadOnly: true), "phone.db")
            let watching = try Watching(phone)
            try await watching.waitForConnection()
            try phone.insert(1, "phone")
            try hub.insert(2, "hub")
            try await watching.waitForRows(2)
            #expect(try hub.titles() == ["from hub.db": 1, "hub": 2])
        }
    }

    @Test func streamsAreBoundedAndEndWithTheirConnection() async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db", rows: 1)
        var limits = HubServer.Limits()
        limits.streamCountMax = 6
        limits.heartbeatSeconds = 0.02
        let register = try DeviceRegister(hub)
        let feed = HubFeed(register, limits: limits, logger: .init(label: "test"))
        let device = try register.enrol(
            key: [UInt8](repeating: 1, count: 32), secret: register.inviteForTests("a"))
        let other = try register.enrol(
            key: [UInt8](repeating: 2, count: 32), secret: register.inviteForTests("b"))
        let first = try feed.open(device)
        for _ in 0..<4 { _ = try feed.open(device) }
        #expect(feed.streamCount == 4)
        var last: HubFeed.Signal?
        for await signal in first.signals { last = signal }
        guard case .end(let error) = last else {
            Issue.record("the oldest stream did not end")
            return
        }
        #expect(error.code == .busy)
        for _ in 0..<2 { _ = try feed.open(other) }
        #expect(throws: RemoteError.self) { try feed.open(other) }
        let newest = try feed.open(device)
        #expect(feed.streamCount == 6)
        // The first look, and then signs of life.
        var beats = 0
        var positions = 0
        for await signal in newest.signals {
            if case .heartbeat = signal { beats += 1 } else { positions += 1 }
            if beats > 2 && positions > 0 { break }
        }
        feed.close(newest.number)
        #expect(feed.streamCount == 5)
        feed.endAll()
        #expect(feed.streamCount == 0)
        #expect(throws: RemoteError.self) { try feed.open(device) }
    }

    @Test func aServerNamesABoundedNumberOfReplicasLineByLine() throws {
        var limits = WireLimits()
        limits.replicaCountMax = 3
        func vector(_ numbers: ClosedRange<UInt64>) -> VersionVector {
            var vector = VersionVector()
            for number in numbers { vector[ReplicaID(high: 1, low: number)] = 1 }
            return vector
        }
        let first = try PositionStream.joined(nil, vector(1...2), limits: limits)
        #expect(try PositionStream.joined(first, vector(2...3), limits: limits) == vector(1...3))
        let error = #expect(throws: WireError.self) {
            try PositionStream.joined(first, vector(3...4), limits: limits)
        }
        #expect(error?.code == .tooLarge)
    }

    @Test func linesAreReadWhateverTheirPieces() throws {
        let (a, b) = (ReplicaID(high: 1, low: 2), ReplicaID(high: 3, low: 4))
        let former = VersionVector([a: 5])
        let current = VersionVector([a: 5, b: 7])
        #expect(PositionFrame(from: current, to: former) == nil)
        let frames = [
            try #require(PositionFrame(from: nil, to: former)),
            try #require(PositionFrame(from: former, to: current)), .heartbeat,
            PositionFrame(problem: ProblemCoding.problem(RemoteError(.revokedDevice, "gone"))),
        ]
        #expect(frames[1].positions == [b.description: 7])
        let bytes = try frames.flatMap { try $0.line() }
        for size in [1, 2, 7, 64, bytes.count] {
            var reader = PositionReader()
            var read: [PositionFrame] = []
            for start in stride(from: 0, to: bytes.count, by: size) {
                try reader.read(Array(bytes[start..<min(start + size, bytes.count)])) { read.append($0) }
            }
            #expect(read == frames)
        }
        var reader = PositionReader()
        var read: [PositionFrame] = []
        try reader.read(Array("\n{}\n\n".utf8)) { read.append($0) }
        #expect(read == [.heartbeat, .heartbeat, .heartbeat])
        #expect(throws: RemoteError.self) { try reader.read(Array("garbage\n".utf8)) { _ in } }
        #expect(throws: RemoteError.self) {
            for _ in 0..<18 { try reader.read([UInt8](repeating: 0x20, count: 1 << 20)) { _ in } }
        }
    }
}

extension DeviceRegister {
    func inviteForTests(_ label: String) throws -> [UInt8] {
        try invite(label: label, address: ServerAddress(host: "127.0.0.1", port: 1, trust: .loopback)).secret
    }
}
