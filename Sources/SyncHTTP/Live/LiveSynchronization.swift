import CipherStore
import Dispatch
import Foundation
import SyncEngine
import SyncWire
import Synchronization

/// Keeps a store and a server equal while it runs: what either side commits is at the other one a moment later.
///
/// ```swift
/// let live = try LiveSynchronization(synchronizer)
/// Task.detached { try live.run { event in print(event) } }     // on a thread that may block
/// …
/// live.stop()
/// ```
///
/// The server holds a stream open that tells positions, and the store is watched for commits of this and other
/// processes. Either starts an ordinary synchronization, on a connection that is kept. After a failure it
/// connects anew, later each time.
public final class LiveSynchronization: Sendable {
    /// What happened.
    public enum Event: Sendable {
        /// The server's stream is open.
        case connected(remote: String)
        /// Something was exchanged.
        case synchronized(SyncReport)
        /// The connection broke, or something failed that may pass; it is tried again after some milliseconds.
        case disconnected(any Error, retryMilliseconds: Int64)
    }

    /// How a live synchronization is run.
    public struct Options: Sendable {
        /// How often the store is looked at for commits, in seconds.
        public var watchSeconds = 0.01
        /// The first pause before it connects anew, in seconds; each is twice as long as the one before.
        public var pauseSeconds = 0.5
        /// The longest pause, in seconds.
        public var pauseSecondsMax = 60.0
        /// How patient single requests are. Their repetitions are few, because the whole is repeated.
        public var transport: HTTPTransport.Options
        /// After what time without a sign of life the server is taken for gone, in seconds.
        var silenceSeconds = PositionStream.silenceSeconds

        /// Makes the default options.
        public init() {
            transport = HTTPTransport.Options()
            transport.repetitionCountMax = 2
            transport.pauseSecondsMax = 1
        }
    }

    private let synchronizer: Synchronizer
    private let remote: String
    private let options: Options
    private let book: RemoteBook
    private let stopping = Flag()
    /// Ends what the present connection waits for.
    private let running = Mutex<SyncCancellation?>(nil)
    private let wake = DispatchSemaphore(value: 0)

    /// Prepares a live synchronization.
    ///
    /// - parameter synchronizer: The store.
    /// - parameter remote: The name of the server.
    /// - parameter options: How it is done.
    /// - throws: ``RemoteError`` of code `noSuchRemote`.
    public init(
        _ synchronizer: Synchronizer, remote: String = RemoteBook.defaultName, options: Options = Options()
    ) throws {
        self.synchronizer = synchronizer
        self.remote = remote
        var options = options
        let onRequest = options.transport.onRequest
        options.transport.onRequest = { [stopping] in
            if stopping.value.load(ordering: .relaxed) { throw SyncError(.cancelled, "it was stopped") }
            try onRequest?()
        }
        self.options = options
        book = try RemoteBook(synchronizer)
        _ = try book.remote(remote)
    }

    /// Whether it was stopped.
    private final class Flag: Sendable {
        let value = Atomic<Bool>(false)
    }

    private var isStopped: Bool { stopping.value.load(ordering: .relaxed) }

    /// Ends it, from any thread: what is being applied is finished or rolled back.
    public func stop() {
        stopping.value.store(true, ordering: .relaxed)
        running.withLock { $0 }?.cancel()
        wake.signal()
    }

    /// Synchronizes until it is stopped, and blocks this thread meanwhile.
    ///
    /// - parameter onEvent: Called on this thread; an error that it throws ends the whole.
    /// - throws: ``RemoteError``, `SyncError`, `DatabaseError`: what no repetition helps against, such as a
    ///   device that was revoked.
    public func run(_ onEvent: (Event) throws -> Void) throws {
        let watcher = StoreWatcher(
            path: synchronizer.writer.path, configuration: synchronizer.writer.configuration,
            seconds: options.watchSeconds
        ) { [wake] in wake.signal() }
        defer { watcher.stop() }
        var failures = 0
        while !isStopped {
            do {
                try connect(onEvent) { failures = 0 }
            } catch let error as EventFailure {
                throw error.error
            } catch {
                if isStopped { return }
                guard Self.mayPass(error) else { throw error }
                failures += 1
                let pause = pause(failures)
                try onEvent(.disconnected(error, retryMilliseconds: Int64(pause * 1000)))
                wait(until: .now + .seconds(pause))
            }
        }
    }

    /// An error of the receiver of events.
    private struct EventFailure: Error {
        let error: any Error
    }

    private func pause(_ failures: Int) -> Double {
        let most = min(options.pauseSecondsMax, options.pauseSeconds * pow(2, Double(min(failures, 30) - 1)))
        let random = Double(synchronizer.surroundings.random() >> 11) / Double(1 << 53)
        return most * (0.5 + random / 2)
    }

    /// Waits, whatever happens meanwhile, unless it is stopped.
    private func wait(until end: ContinuousClock.Instant) {
        while !isStopped, ContinuousClock.now < end {
            _ = wake.wait(timeout: .now() + (end - ContinuousClock.now) / .seconds(1))
        }
    }

    private static func mayPass(_ error: any Error) -> Bool {
        switch error {
        case let error as RemoteError:
            [.unreachable, .busy, .sessionEnded, .tooSlow, .notFound, .full, .failed].contains(error.code)
        case let error as SyncError:
            [.changedMeanwhile, .resyncRequired, .missingChanges].contains(error.code)
        case let error as DatabaseError: error.resultCode == .SQLITE_BUSY
        case let error as StoreError: error.code == .busy
        default: false
        }
    }

    // MARK: A connection

    private func connect(_ onEvent: (Event) throws -> Void, onSuccess: () -> Void) throws {
        let transport = try book.transport(remote, options: options.transport)
        let cancellation = SyncCancellation()
        running.withLock { $0 = cancellation }
        // It may have been stopped when there was nothing to cancel.
        if isStopped { cancellation.cancel() }
        let environment = synchronizer.surroundings.with(cancellation: cancellation)
        // A network that has changed tells nobody: the stream notices first, long before a request gives up.
        let stream = try PositionStream(
            transport, environment, silenceSeconds: options.silenceSeconds,
            onSilence: { cancellation.cancel() }, onSignal: { [wake] in wake.signal() })
        defer { stream.close() }
        let kept = KeptTransport(try transport.connection(environment), transport)
        defer { kept.connection.close() }
        var isFirst = true
        var seen = VersionVector()
        var sent: Int64 = -1
        while !isStopped {
            if let position = try stream.position() {
                if isFirst { try tell(onEvent, .connected(remote: transport.name)) }
                let here = try synchronizer.reach()
                // The first synchronization hears what the server takes.
                let direction: SyncDirection = try book.remote(remote).isReadOnly ? .pull : .both
                let isSent = direction == .pull || here.lastEntry <= sent
                // What was seen and did not come is not for this device.
                let isNew = position.sequences.contains { $0.value > max(here.known[$0.key], seen[$0.key]) }
                if isFirst || !isSent || isNew {
                    let report = try synchronize(direction, kept, stream)
                    seen.join(position)
                    if direction == .both { sent = here.lastEntry }
                    onSuccess()
                    if report.pulled != nil || report.pushed != nil || report.divergence != nil
                        || report.refusal != nil
                    {
                        try tell(onEvent, .synchronized(report))
                    }
                    isFirst = false
                    continue
                }
            }
            _ = wake.wait(timeout: .now() + 60)
        }
    }

    private func synchronize(
        _ direction: SyncDirection, _ kept: KeptTransport, _ stream: PositionStream
    ) throws -> SyncReport {
        do {
            return try synchronizer.run(direction, kept)
        } catch let error as CancellationError {
            // What cancelled it is why the stream ended.
            _ = try stream.position()
            throw error
        }
    }

    private func tell(_ onEvent: (Event) throws -> Void, _ event: Event) throws {
        do {
            try onEvent(event)
        } catch {
            throw EventFailure(error: error)
        }
    }
}

/// Reaches a server by a connection that stays open.
// The connection is used by the thread that runs the synchronizations, and by no other.
private struct KeptTransport: Transport, @unchecked Sendable {
    let connection: RemoteConnection
    private let transport: HTTPTransport

    init(_ connection: RemoteConnection, _ transport: HTTPTransport) {
        self.connection = connection
        self.transport = transport
    }

    var name: String { transport.name }

    func connect(_ environment: SyncEnvironment) throws -> any SyncPeer {
        HTTPPeer(
            connection, folder: transport.folder, options: transport.options, keepsConnection: true)
    }
}
