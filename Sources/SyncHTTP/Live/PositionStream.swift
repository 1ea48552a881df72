import Dispatch
import Foundation
import SyncEngine
import SyncWire
import Synchronization

/// A device's end of the stream of positions, which is read on a thread of its own.
final class PositionStream: Sendable {
    private struct State {
        var position: VersionVector?
        var failure: (any Error)?
        var isEnded = false
        /// When the server said something last.
        var heard = ContinuousClock.now
    }

    /// A server says that it is alive every 15 seconds; after this it is taken for gone.
    static let silenceSeconds: Int64 = 40

    private let state = Mutex(State())
    private let ended = DispatchSemaphore(value: 0)
    // Made and closed by the thread that follows the stream; others only end its requests, which it allows.
    private nonisolated(unsafe) let connection: RemoteConnection

    /// Opens a stream.
    ///
    /// - parameters:
    ///     - silenceSeconds: After what time without a sign of life the stream ends.
    ///     - onSilence: Called when it has ended for that reason. One that somebody ended says nothing about other requests
    ///       to the server.
    ///     - onSignal: Called when there is something new, and at the end.
    init(
        _ transport: HTTPTransport, _ environment: SyncEnvironment,
        silenceSeconds: Int64 = PositionStream.silenceSeconds, onSilence: @escaping @Sendable () -> Void,
        onSignal: @escaping @Sendable () -> Void
    ) throws {
        var transport = transport
        transport.options.patienceSeconds = silenceSeconds
        transport.options.onRequest = nil
        connection = try transport.connection(environment)
        Thread.detachNewThread { [self] in
            do {
                try follow(onSignal)
            } catch {
                let silence = state.withLock { state -> Duration in
                    state.failure = error
                    return ContinuousClock.now - state.heard
                }
                // Signs of life come more than twice as often.
                if silence >= Duration.seconds(silenceSeconds) / 2 { onSilence() }
            }
            state.withLock { $0.isEnded = true }
            ended.signal()
            onSignal()
        }
    }

    private func follow(_ onSignal: () -> Void) throws {
        try connection.open()
        state.withLock { $0.heard = .now }
        var reader = PositionReader()
        try connection.exchange(.init(method: "GET", path: connection.base + "/live", seconds: 30)) {
            state.withLock { $0.heard = .now }
            try reader.read($0) { frame in
                if let problem = frame.problem { throw ProblemCoding.error(problem) }
                guard let positions = frame.positions else { return }
                let new = try Message.Vector(entries: positions).value()
                try state.withLock { $0.position = try Self.joined($0.position, new) }
                onSignal()
            }
        }
        throw RemoteError(.unreachable, "\(connection.address.authority) has ended the stream")
    }

    /// What a server has by a line of its stream, and those before.
    ///
    /// - throws: A `WireError` of code `tooLarge`: there is no end of replicas that a server can name line by line.
    static func joined(
        _ former: VersionVector?, _ new: VersionVector, limits: WireLimits = WireLimits()
    ) throws -> VersionVector {
        var position = former ?? VersionVector()
        position.join(new)
        guard position.sequences.count <= limits.replicaCountMax else {
            throw WireError(.tooLarge, "a server names more than \(limits.replicaCountMax) replicas")
        }
        return position
    }

    /// What the server has; nil until it said so.
    ///
    /// - throws: Why the stream ended.
    func position() throws -> VersionVector? {
        let state = state.withLock { ($0.position, $0.failure) }
        if let failure = state.1 { throw failure }
        return state.0
    }

    /// Ends the stream, and waits for its thread.
    func close() {
        connection.close()
        if !state.withLock({ $0.isEnded }) { ended.wait() }
    }
}
