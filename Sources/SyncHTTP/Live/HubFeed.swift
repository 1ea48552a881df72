import CipherStore
import Logging
import SyncEngine
import SyncWire
import Synchronization

/// Tells the devices whose streams are open that a store has something new.
///
/// One watcher looks at the store while there are streams. Each stream has room for one signal: a device that
/// reads slowly misses none, because what it is told is the difference to what it was told last.
final class HubFeed: Sendable {
    /// What a stream has to say.
    enum Signal: Sendable {
        /// The store may have something new.
        case position
        /// The connection is alive.
        case heartbeat
        /// The stream ends.
        case end(RemoteError)
    }

    private struct Stream {
        let device: Int64
        let enrolledMilliseconds: Int64
        /// The device's scope when the stream was opened.
        let revision: Int64
        let continuation: AsyncStream<Signal>.Continuation
    }

    private struct State {
        var streams: [Int64: Stream] = [:]
        var lastNumber: Int64 = 0
        var position = VersionVector()
        var watcher: StoreWatcher?
        /// Whether the watcher has not looked yet: then there is a stream that knows no position.
        var isStarting = false
        var isClosing = false
    }

    private let synchronizer: Synchronizer
    private let register: DeviceRegister
    private let limits: HubServer.Limits
    private let problem: LastingProblem
    private let state = Mutex(State())

    init(_ register: DeviceRegister, limits: HubServer.Limits, logger: Logger) {
        synchronizer = register.synchronizer
        self.register = register
        self.limits = limits
        problem = LastingProblem(logger, "the store can't be watched")
    }

    /// How many streams are open.
    var streamCount: Int { state.withLock { $0.streams.count } }

    /// How many streams each device has open.
    var deviceStreamCounts: [Int64: Int] {
        state.withLock { $0.streams.values.reduce(into: [:]) { $0[$1.device, default: 0] += 1 } }
    }

    /// What the store has, as far as it was noticed.
    var position: VersionVector { state.withLock { $0.position } }

    // MARK: Streams

    /// Opens a stream of a device.
    ///
    /// - throws: ``RemoteError`` of code `busy` when there are too many, or the server ends.
    func open(_ device: Device) throws -> (number: Int64, signals: AsyncStream<Signal>) {
        let (signals, continuation) = AsyncStream.makeStream(
            of: Signal.self, bufferingPolicy: .bufferingNewest(1))
        return try state.withLock { state in
            guard !state.isClosing else { throw Self.closing }
            let own = state.streams.filter { $0.value.device == device.id }.keys.sorted()
            if own.count >= limits.deviceStreamCountMax, let oldest = own.first {
                Self.end(&state, oldest, RemoteError(.busy, "the device has opened other streams"))
            }
            guard state.streams.count < limits.streamCountMax else {
                throw RemoteError(.busy, "\(state.streams.count) streams are open, and no more may be")
            }
            state.lastNumber += 1
            state.streams[state.lastNumber] = Stream(
                device: device.id, enrolledMilliseconds: device.enrolledMilliseconds,
                revision: device.revision, continuation: continuation)
            // Its first look tells the position. A later one ends a stream of a device that was revoked after its
            // request was read, and before this stream was known.
            if let watcher = state.watcher {
                continuation.yield(.position)
                watcher.look()
            } else {
                state.isStarting = true
                state.watcher = watch()
            }
            return (state.lastNumber, signals)
        }
    }

    /// Ends a stream whose device is gone.
    func close(_ number: Int64) {
        state.withLock { state in
            state.streams.removeValue(forKey: number)?.continuation.finish()
            guard state.streams.isEmpty else { return }
            state.watcher?.stop()
            state.watcher = nil
        }
    }

    /// Ends all streams, and opens none any more.
    func endAll() {
        state.withLock { state in
            state.isClosing = true
            for number in state.streams.keys { Self.end(&state, number, Self.closing) }
            state.watcher?.stop()
            state.watcher = nil
        }
    }

    /// Says that something was committed, sooner than it would be noticed.
    func look() { state.withLock { $0.watcher }?.look() }

    private static var closing: RemoteError { RemoteError(.busy, "the server is ending") }

    private static func end(_ state: inout State, _ number: Int64, _ error: RemoteError) {
        guard let stream = state.streams.removeValue(forKey: number) else { return }
        stream.continuation.yield(.end(error))
        stream.continuation.finish()
    }

    // MARK: Watching

    private func watch() -> StoreWatcher {
        StoreWatcher(
            path: synchronizer.writer.path, configuration: synchronizer.writer.configuration,
            heartbeatSeconds: limits.heartbeatSeconds,
            onHeartbeat: { [weak self] in self?.signal(.heartbeat) },
            onChange: { [weak self] in try self?.changed() })
    }

    private func changed() throws {
        do {
            try endChanged()
            let now = try synchronizer.foldedReach()
            let isNew = state.withLock { state in
                let isNew = state.isStarting || !state.position.covers(now)
                state.isStarting = false
                state.position.join(now)
                return isNew
            }
            problem.end()
            if isNew { signal(.position) }
        } catch {
            problem.meet(error)
            throw error
        }
    }

    /// Ends the streams of devices that were revoked or forgotten, or may exchange something else now, by whatever process:
    /// these open a session anew, and learn of it.
    private func endChanged() throws {
        // A device that is enrolled after that is not in the register that is read.
        let last = state.withLock { $0.lastNumber }
        let standings = try register.standings()
        state.withLock { state in
            for (number, stream) in state.streams where number <= last {
                if let error = Self.reason(standings[stream.device], toEnd: stream) {
                    Self.end(&state, number, error)
                }
            }
        }
    }

    private static func reason(_ standing: DeviceRegister.Standing?, toEnd stream: Stream) -> RemoteError? {
        guard let standing else {
            return RemoteError(
                .unknownDevice, "the device took its enrolment back, or another one took its place")
        }
        guard let revision = standing.revision else {
            return RemoteError(.revokedDevice, "the device was revoked")
        }
        guard revision == stream.revision, standing.enrolledMilliseconds == stream.enrolledMilliseconds else {
            return RemoteError(.sessionEnded, "what the device may exchange was changed")
        }
        return nil
    }

    private func signal(_ signal: Signal) {
        let continuations = state.withLock { $0.streams.values.map(\.continuation) }
        for continuation in continuations {
            // A heartbeat must not take the place of a position that was not told yet.
            if case .dropped(.position) = continuation.yield(signal), case .heartbeat = signal {
                continuation.yield(.position)
            }
        }
    }
}
