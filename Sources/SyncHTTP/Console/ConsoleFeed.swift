import Foundation
import Logging
import SyncEngine
import Synchronization

/// Tells the pages that are open what is new in a store, at most once a second.
///
/// One watcher looks at the store while pages are open, and reads it on its own thread: what one page costs, all cost.
/// Each stream has room for one signal, and what it tells is what changed since it told something last.
final class ConsoleFeed: Sendable {
    /// What a stream has to say now.
    struct Event: Sendable {
        let name: String
        let data: [UInt8]
    }

    /// How far a stream has told.
    struct Progress: Sendable {
        fileprivate var version = 0
        fileprivate var traffic: [UInt8] = []
        fileprivate var beats = 0
    }

    private struct State {
        var streams: [Int: AsyncStream<Void>.Continuation] = [:]
        var lastNumber = 0
        var watcher: StoreWatcher?
        var isClosing = false
        /// Rises when there is another document.
        var version = 0
        var document: [UInt8] = []
        var generation: Int64?
        /// When it may be read again.
        var restsUntil = ContinuousClock.now
        var isStale = true
        /// When it is read again although nothing changed, because rows were not counted.
        var countsAt: ContinuousClock.Instant?
        var deviceStreams: [Int64: Int] = [:]

        func isDue(_ now: ContinuousClock.Instant, _ deviceStreams: [Int64: Int]) -> Bool {
            now >= restsUntil
                && (isStale || countsAt.map { $0 <= now } ?? false || self.deviceStreams != deviceStreams)
        }
    }

    private struct Traffic: Encodable {
        let now: Int64
        let series: [TrafficSeries.Series]
    }

    /// The most streams of a store.
    static let streamCountMax = 16
    /// A stream says so often that it is alive, in seconds, when it has nothing else to say.
    private static let quietBeatCountMax = 10
    /// A store is not read again for a second, nor for ten times as long as reading it took.
    private static let restMin = Duration.milliseconds(900)
    private static let restFactor = 10.0

    private let store: HubStore
    private let register: ConsoleRegister
    let reader: ConsoleReader
    private let problem: LastingProblem
    private let state = Mutex(State())

    init(_ store: HubStore, _ register: ConsoleRegister, logger: Logger) {
        self.store = store
        self.register = register
        problem = LastingProblem(logger, "the store can't be read for its page")
        reader = ConsoleReader(store)
    }

    /// What the page shows now, and the generation of sessions that may see it. Blocks.
    func read() throws -> (document: ConsoleDocument, generation: Int64) {
        (try reader.read(), try register.generation())
    }

    var traffic: [TrafficSeries.Series] { store.traffic.series }

    // MARK: Streams

    /// Opens a stream. Its first signal comes when the store was read.
    ///
    /// - throws: ``RemoteError`` of code `busy` when there are too many, or the server ends.
    func open() throws -> (number: Int, signals: AsyncStream<Void>) {
        let (signals, continuation) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        return try state.withLock { state in
            guard !state.isClosing else { throw RemoteError(.busy, "the server is ending") }
            guard state.streams.count < Self.streamCountMax else {
                throw RemoteError(.busy, "\(state.streams.count) pages are open, and no more may be")
            }
            state.lastNumber += 1
            state.streams[state.lastNumber] = continuation
            if let watcher = state.watcher { watcher.look() } else { state.watcher = watch() }
            return (state.lastNumber, signals)
        }
    }

    /// Ends a stream whose page is gone.
    func close(_ number: Int) {
        state.withLock { state in
            state.streams.removeValue(forKey: number)?.finish()
            guard state.streams.isEmpty else { return }
            state.watcher?.stop()
            state.watcher = nil
            state.isStale = true
        }
    }

    /// Ends all streams, and opens none any more.
    func endAll() {
        state.withLock { state in
            state.isClosing = true
            for stream in state.streams.values { stream.finish() }
            state.streams = [:]
            state.watcher?.stop()
            state.watcher = nil
        }
    }

    /// How many streams are open.
    var streamCount: Int { state.withLock { $0.streams.count } }

    /// What is new since a stream told something last; nothing before the store was read.
    ///
    /// - returns: The events, or nil when the session is of another generation: it was revoked.
    func news(since progress: inout Progress, generation: Int64) throws -> [Event]? {
        let (version, document, current) = state.withLock { ($0.version, $0.document, $0.generation) }
        guard let current else { return [] }
        guard current == generation else { return nil }
        var events: [Event] = []
        if version != progress.version { events.append(Event(name: "state", data: document)) }
        progress.version = version
        let series = traffic
        // Without the time, which always changes.
        let key = try JSONDocument.encode(series)
        if key != progress.traffic {
            events.append(
                Event(
                    name: "traffic",
                    data: try JSONDocument.encode(Traffic(now: store.now, series: series))))
        }
        progress.traffic = key
        progress.beats = events.isEmpty ? progress.beats + 1 : 0
        if progress.beats >= Self.quietBeatCountMax {
            progress.beats = 0
            events.append(Event(name: "alive", data: Array("{}".utf8)))
        }
        return events
    }

    // MARK: Watching

    private func watch() -> StoreWatcher {
        StoreWatcher(
            path: store.synchronizer.writer.path, configuration: store.synchronizer.writer.configuration,
            seconds: 0.1, heartbeatSeconds: 1, onHeartbeat: { [weak self] in self?.beat() },
            onChange: { [weak self] in self?.changed() })
    }

    private func changed() {
        let isDue = state.withLock { state in
            state.isStale = true
            return ContinuousClock.now >= state.restsUntil
        }
        if isDue { beat() }
    }

    /// Reads the store if it may have changed, and has all streams look.
    private func beat() {
        let deviceStreams = store.feed.deviceStreamCounts
        let isDue = state.withLock { state in
            guard state.isDue(.now, deviceStreams) else { return false }
            state.isStale = false
            state.deviceStreams = deviceStreams
            return true
        }
        if isDue { renew() }
        for stream in state.withLock({ $0.streams.values }) { stream.yield() }
    }

    private func renew() {
        do {
            let (start, due) = (ContinuousClock.now, reader.countsAreDue)
            let (document, generation) = try read()
            let bytes = try JSONDocument.encode(document)
            problem.end()
            let rest = max(Self.restMin, (ContinuousClock.now - start) * Self.restFactor)
            state.withLock { state in
                state.version += 1
                state.document = bytes
                state.generation = generation
                state.restsUntil = .now + rest
                state.countsAt = due > start ? due : nil
            }
        } catch {
            state.withLock { state in
                state.restsUntil = .now + Self.restMin
                state.isStale = true
                // Nobody knows whose session is revoked.
                state.generation = nil
            }
            problem.meet(error)
        }
    }
}
