import Dispatch
import SyncWire
import Synchronization

@testable import SyncEngine

/// Runs a synchronization in a task, and cancels that at some point of what passes.
final class SyncWatch: Sendable {
    /// Where a synchronization is.
    enum Point: Equatable {
        case frame(Int, ofBundle: Int)
        case remembering
    }

    private struct State {
        var cancel: (@Sendable () -> Void)?
        var frameCount = 0
        var bundleCount = 0
        var openCount = 0
        var connectionCount = 0
        var isDue = false
    }

    private let state = Mutex(State())
    private let hasBegun = DispatchSemaphore(value: 0)
    private let isEnd: @Sendable (Point, _ frameCount: Int) -> Bool

    /// - parameter isEnd: Whether the task is cancelled at a point, and after so many frames of all bundles.
    init(cancellingWhen isEnd: @escaping @Sendable (Point, _ frameCount: Int) -> Bool) {
        self.isEnd = isEnd
    }

    /// Whether the task was cancelled.
    var isDue: Bool { state.withLock { $0.isDue } }
    /// How many connections are open.
    var openCount: Int { state.withLock { $0.openCount } }
    /// How many connections there were.
    var connectionCount: Int { state.withLock { $0.connectionCount } }
    /// How many bundles began.
    var bundleCount: Int { state.withLock { $0.bundleCount } }

    func run<Report: Sendable>(
        _ body: @escaping @Sendable () async throws -> Report
    ) async throws -> Report {
        let task = Task { try await body() }
        state.withLock { $0.cancel = { task.cancel() } }
        hasBegun.signal()
        return try await task.value
    }

    func connect() {
        state.withLock {
            $0.openCount += 1
            $0.connectionCount += 1
        }
    }

    func close() { state.withLock { $0.openCount -= 1 } }

    func beginBundle() {
        state.withLock {
            $0.bundleCount += 1
            $0.frameCount = 0
        }
    }

    private let total = Mutex(0)

    func passFrame() {
        let point = state.withLock { state -> Point in
            state.frameCount += 1
            return .frame(state.frameCount, ofBundle: state.bundleCount)
        }
        let count = total.withLock { total in
            total += 1
            return total
        }
        pass(point, count)
    }

    func passRemembering() { pass(.remembering, total.withLock { $0 }) }

    private func pass(_ point: Point, _ frameCount: Int) {
        guard isEnd(point, frameCount) else { return }
        hasBegun.wait()
        let cancel = state.withLock { state in
            state.isDue = true
            return state.cancel
        }
        cancel?()
    }
}

/// A way to a replica on which frames are counted.
struct WatchedTransport: Transport {
    let inner: StoreTransport
    let watch: SyncWatch
    var changeCountMax = Int64.max

    var name: String { inner.name }

    func connect(_ environment: SyncEnvironment) throws -> any SyncPeer {
        let peer = try inner.connect(environment)
        watch.connect()
        return WatchedPeer(peer, watch, changeCountMax: changeCountMax)
    }
}

private final class WatchedPeer: PacedPeer, WrappedPeer {
    let inner: any SyncPeer
    private let watch: SyncWatch
    let changeCountMax: Int64

    init(_ inner: any SyncPeer, _ watch: SyncWatch, changeCountMax: Int64) {
        self.inner = inner
        self.watch = watch
        self.changeCountMax = changeCountMax
    }

    func askForMoreTime() {}

    func remember(_ peer: ReplicaID, name: String, knowing vector: VersionVector) throws {
        watch.passRemembering()
        try inner.remember(peer, name: name, knowing: vector)
    }

    func send(
        _ request: TransferRequest, progress: SyncProgressHandler?,
        to sink: @escaping (UnsafeRawBufferPointer) throws -> Void
    ) throws -> TransferSummary {
        watch.beginBundle()
        return try inner.send(request, progress: progress, to: watched(sink))
    }

    func send(
        rows: [StateRows], to sink: @escaping (UnsafeRawBufferPointer) throws -> Void
    ) throws -> TransferSummary {
        watch.beginBundle()
        return try inner.send(rows: rows, to: watched(sink))
    }

    func receive(_ frames: ((UnsafeRawBufferPointer) throws -> Void) throws -> Void) throws -> ApplySummary {
        watch.beginBundle()
        return try inner.receive { sink in
            try withoutActuallyEscaping(sink) { sink in
                try frames { frame in
                    watch.passFrame()
                    try sink(frame)
                }
            }
        }
    }

    private func watched(
        _ sink: @escaping (UnsafeRawBufferPointer) throws -> Void
    ) -> (UnsafeRawBufferPointer) throws -> Void {
        { [watch] frame in
            watch.passFrame()
            try sink(frame)
        }
    }

    func close() {
        inner.close()
        watch.close()
    }
}
