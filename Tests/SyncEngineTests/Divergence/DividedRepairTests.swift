import SyncWire
import Synchronization
import Testing

@testable import SyncEngine

/// Repairs of more than the remote takes at once.
@Suite struct DividedRepairTests {
    /// Two equal replicas, of which the second loses its versions' times.
    private func divergentPair(_ stores: TestStores) throws -> (TestReplica, TestReplica) {
        let first = try stores.create()
        for number in UInt8(1)...40 {
            try first.execute("INSERT INTO note (id, title) VALUES (?, ?)", [key(number), "t\(number)"])
        }
        try first.execute("INSERT INTO tag VALUES ('0000000a-0000-4000-8000-000000000000', 'red')")
        let second = try stores.clone(first, as: "b.db")
        #expect(try first.sync(second).divergence == nil)
        try first.queue.write { db in
            try db.execute(sql: "UPDATE _sync_row SET hlc = hlc + 1")
            try DigestLedger.invalidate(db)
        }
        return (first, second)
    }

    @Test(arguments: [1 << 20, 600, 450, 350])
    func rowsGoInPortionsThatTheRemoteTakes(byteCountMax: Int) throws {
        let stores = try TestStores()
        let (first, second) = try divergentPair(stores)
        let log = BusyTransport.Log()
        let transport = BusyTransport(inner: second.transport, byteCountMax: byteCountMax, log: log)
        let report = try first.synchronizer.run(.both, transport)
        let divergence = try #require(report.divergence)
        #expect(
            divergence.isRepaired && divergence.failure == nil && divergence.rowCount == 41, "\(divergence)")
        // Rows go both ways as one bundle where that is little enough, and in more the less the remote takes.
        let isDivided = log.refusedCount > 0
        #expect(isDivided == (byteCountMax < 1 << 20) && !log.wasAskedForMoreTime)
        #expect(log.takenCount >= (isDivided ? 41 / 8 : 1) && log.takenCount <= 2 * 41, "\(log.takenCount)")
        #expect(try first.state(["note", "tag"]) == second.state(["note", "tag"]))
        #expect(try first.sync(second).divergence == nil)
    }

    @Test func aRowThatIsTooMuchByItselfGoesWithMoreTime() throws {
        let stores = try TestStores()
        let (first, second) = try divergentPair(stores)
        let log = BusyTransport.Log()
        let transport = BusyTransport(inner: second.transport, byteCountMax: 10, log: log)
        let divergence = try #require(try first.synchronizer.run(.both, transport).divergence)
        #expect(divergence.isRepaired && log.wasAskedForMoreTime)
    }

    @Test func aRemoteThatNeverHasTimeIsNotAskedForEver() throws {
        let stores = try TestStores()
        let (first, second) = try divergentPair(stores)
        let log = BusyTransport.Log()
        let transport = BusyTransport(inner: second.transport, byteCountMax: 10, isPatient: false, log: log)
        let divergence = try #require(try first.synchronizer.run(.both, transport).divergence)
        #expect(!divergence.isRepaired && divergence.failure?.code == .tooMuchAtOnce)
        #expect(log.takenCount == 0 && log.refusedCount < 10)
    }

    /// The exchange before the repair is done on both sides, whatever the remote says then.
    @Test(arguments: [false, true])
    func aRemoteThatAnswersWronglyFailsTheRepairOnly(isOfNewerVersion: Bool) throws {
        let stores = try TestStores()
        let (first, second) = try divergentPair(stores)
        try second.execute("INSERT INTO note (id, title) VALUES (?, 'new')", [key(41)])
        let error = WireError(.malformed, "a wrong answer", isOfNewerVersion: isOfNewerVersion)
        let report = try first.synchronizer.run(.both, WrongTransport(inner: second.transport, error: error))
        let divergence = try #require(report.divergence)
        #expect(!divergence.isRepaired && divergence.failure?.code == .invalidBundle)
        #expect(divergence.failure?.message.contains("newer program") == isOfNewerVersion)
        #expect(report.pulled?.rowCount == 1 && report.unrecordedReason == nil)
        #expect(try first.sync(second).divergence?.isRepaired == true)
        #expect(try first.state(["note", "tag"]) == second.state(["note", "tag"]))
    }
}

/// A way to a replica whose answers about rows can't be read.
private struct WrongTransport: Transport {
    let inner: StoreTransport
    let error: WireError

    var name: String { inner.name }

    func connect(_ environment: SyncEnvironment) throws -> any SyncPeer {
        WrongPeer(try inner.connect(environment), error)
    }
}

private final class WrongPeer: WrappedPeer {
    let inner: any SyncPeer
    private let error: WireError

    init(_ inner: any SyncPeer, _ error: WireError) { (self.inner, self.error) = (inner, error) }

    func answer(_ question: StateQuestion) throws -> StateAnswer { throw error }

    func send(
        _ request: TransferRequest, progress: SyncProgressHandler?,
        to sink: @escaping (UnsafeRawBufferPointer) throws -> Void
    ) throws -> TransferSummary { try inner.send(request, progress: progress, to: sink) }

    func receive(_ frames: ((UnsafeRawBufferPointer) throws -> Void) throws -> Void) throws -> ApplySummary {
        try inner.receive(frames)
    }
}

/// A way to a replica that refuses bundles of more than so many bytes.
private struct BusyTransport: Transport {
    final class Log: Sendable {
        fileprivate let counts = Mutex((taken: 0, refused: 0, asked: false))

        var takenCount: Int { counts.withLock { $0.taken } }
        var refusedCount: Int { counts.withLock { $0.refused } }
        var wasAskedForMoreTime: Bool { counts.withLock { $0.asked } }
    }

    let inner: StoreTransport
    let byteCountMax: Int
    /// Whether it takes everything from who asks for more time.
    var isPatient = true
    let log: Log

    var name: String { inner.name }

    func connect(_ environment: SyncEnvironment) throws -> any SyncPeer {
        BusyPeer(try inner.connect(environment), self)
    }
}

private final class BusyPeer: PacedPeer, WrappedPeer {
    let inner: any SyncPeer
    let changeCountMax = Int64.max
    private let transport: BusyTransport

    init(_ inner: any SyncPeer, _ transport: BusyTransport) {
        (self.inner, self.transport) = (inner, transport)
    }

    func askForMoreTime() { transport.log.counts.withLock { $0.asked = true } }

    func send(
        _ request: TransferRequest, progress: SyncProgressHandler?,
        to sink: @escaping (UnsafeRawBufferPointer) throws -> Void
    ) throws -> TransferSummary { try inner.send(request, progress: progress, to: sink) }

    func receive(_ frames: ((UnsafeRawBufferPointer) throws -> Void) throws -> Void) throws -> ApplySummary {
        var kept: [[UInt8]] = []
        try frames { kept.append(Array($0)) }
        let byteCount = kept.reduce(0) { $0 + $1.count }
        let isTaken = transport.log.counts.withLock { counts in
            let isTaken = byteCount <= transport.byteCountMax || counts.asked && transport.isPatient
            if isTaken { counts.taken += 1 } else { counts.refused += 1 }
            return isTaken
        }
        guard isTaken else { throw SyncError(.tooMuchAtOnce, "it takes too long") }
        return try inner.receive { sink in
            for frame in kept { try frame.withUnsafeBytes(sink) }
        }
    }
}
