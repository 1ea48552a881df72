import CipherStore
import Foundation
import Observation
import Synchronization

/// What the copies of a property wrapper share: the value, what it is fetched by, and who watches it.
///
/// Whoever reads the value in `withObservationTracking`, as SwiftUI's views do, is told when there is another one.
final class FetchBox<Value: Sendable>: Observable, Sendable {
    /// A request that was given to the property.
    private struct Load {
        let round: Int
        var subscription: SharedSubscription?
        /// The number of the content that was received last.
        var contentNumber = 0
        /// Whether the property has shown neither a value nor an error of it yet.
        var isPending = true
        /// What came of it last while a later load was waited for.
        var missed: Result<Value, any Error>?
        let reload: @Sendable () async throws -> Void
    }

    /// A stream of the values, or of something that is made of them.
    private struct Stream {
        let yield: @Sendable (Value) -> Void
        let finish: @Sendable () -> Void
    }

    private struct State {
        var value: Value
        var error: (any Error)?
        /// The last one counts. Those before it are there until it has brought something: before that it may be
        /// cancelled, and the property goes on with them.
        var loads: [Load] = []
        var lastRound = 0
        var streams: [Int: Stream] = [:]
        var lastStream = 0

        var isLoading: Bool { loads.last?.isPending ?? false }

        func position(of round: Int) -> Int? { loads.firstIndex { $0.round == round } }

        /// Takes what a load has brought.
        ///
        /// - returns: The loads that nobody needs any more. They are to go outside of the lock.
        mutating func take(_ result: Result<Value, any Error>, at index: Int) -> [Load] {
            guard index == loads.count - 1 else {
                loads[index].missed = result
                return []
            }
            loads[index].isPending = false
            switch result {
            case .success(let value):
                self.value = value
                error = nil
            case .failure(let error):
                // The value that was there stays beside the error.
                self.error = error
            }
            let former = Array(loads.prefix(index))
            loads.removeFirst(index)
            return former
        }

        /// Takes back a load of which the property has shown nothing, and goes on with the one before.
        ///
        /// - returns: Whether that is so, and the loads that nobody needs any more.
        mutating func abandon(_ round: Int) -> (isAbandoned: Bool, unneeded: [Load]) {
            guard let index = position(of: round) else { return (true, []) }
            guard loads[index].isPending else { return (false, []) }
            let load = loads.remove(at: index)
            // If that was the last one, what the one before has brought meanwhile is shown now.
            let last = loads.count - 1
            guard index > last, last >= 0, let missed = loads[last].missed else { return (true, [load]) }
            loads[last].missed = nil
            return (true, [load] + take(missed, at: last))
        }
    }

    private let registrar = ObservationRegistrar()
    private let state: Mutex<State>

    init(_ value: Value) { state = Mutex(State(value: value)) }

    // MARK: Reading

    var value: Value {
        registrar.access(self, keyPath: \.value)
        return state.withLock { $0.value }
    }

    var error: (any Error)? {
        registrar.access(self, keyPath: \.error)
        return state.withLock { $0.error }
    }

    var isLoading: Bool {
        registrar.access(self, keyPath: \.isLoading)
        return state.withLock { $0.isLoading }
    }

    /// The value, and those that follow.
    func values() -> AsyncStream<Value> { values { value in value } }

    /// What is made of the value, and of those that follow.
    func values<Output: Sendable>(
        _ transform: @escaping @Sendable (Value) -> Output
    ) -> AsyncStream<Output> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let stream = Stream(
                yield: { value in _ = continuation.yield(transform(value)) },
                finish: { continuation.finish() })
            let id = state.withLock { state in
                state.lastStream += 1
                state.streams[state.lastStream] = stream
                stream.yield(state.value)
                return state.lastStream
            }
            continuation.onTermination = { [weak self] _ in
                _ = self?.state.withLock { $0.streams.removeValue(forKey: id) }
            }
        }
    }

    deinit {
        let streams = state.withLock { $0.streams }
        for stream in streams.values { stream.finish() }
    }

    // MARK: Loading

    /// Observes a request from now on, instead of the one before.
    ///
    /// - parameters:
    ///     - request: What to fetch.
    ///     - database: Where; the default database if it is nil.
    ///     - isImmediate: Whether the thread is blocked until there is a value, outside of accesses to a database.
    ///     - map: Makes the value of what was fetched and the value there is; nil keeps that.
    /// - returns: The number of the load, for `end(_:)`.
    @discardableResult func observe<Request: FetchKeyRequest>(
        _ request: Request, in database: (any DatabaseReader)?, isImmediate: Bool = true,
        _ map: @escaping @Sendable (Request.Value) throws -> Value
    ) -> Int {
        let database = database ?? DependencyValues.current.defaultDatabase
        let round = mutate { state in
            state.lastRound += 1
            let round = state.lastRound
            state.loads.append(
                Load(round: round) { [weak self] in
                    try await self?.fetch(request, in: database, round, map)
                })
            return round
        }
        let fetch = SharedFetches.fetch(request, in: database)
        let (subscription, content) = fetch.subscribe(isImmediate: isImmediate) { [weak self] in
            self?.receive($0, round, map)
        }
        receive(content, round, map)
        let unneeded = state.withLock { state -> SharedSubscription? in
            guard let index = state.position(of: round) else { return subscription }
            state.loads[index].subscription = subscription
            return nil
        }
        withExtendedLifetime(unneeded) {}
        return round
    }

    private func receive<Fetched>(
        _ content: SharedFetch<Fetched>.Content, _ round: Int, _ map: (Fetched) throws -> Value
    ) {
        let result: Result<Value, any Error>
        if let error = content.error {
            result = .failure(error)
        } else if let value = content.value {
            result = Result { try map(value) }
        } else {
            return
        }
        take(result, round) { load in
            guard content.number > load.contentNumber else { return false }
            load.contentNumber = content.number
            return true
        }
    }

    /// Takes what a load has brought, unless another one has taken its place.
    ///
    /// - parameter isNews: Whether the load doesn't have it yet, or something newer.
    private func take(
        _ result: Result<Value, any Error>, _ round: Int, if isNews: (inout Load) -> Bool
    ) {
        // Nobody sees what comes twice, or is missed while a later load is waited for: who watches would look for nothing.
        let isSeen = state.withLock { state -> Bool in
            guard let index = state.position(of: round) else { return false }
            var load = state.loads[index]
            guard isNews(&load) else { return false }
            if index == state.loads.count - 1 { return true }
            load.missed = result
            state.loads[index] = load
            return false
        }
        guard isSeen else { return }
        let former = mutate { state -> [Load] in
            guard let index = state.position(of: round), isNews(&state.loads[index]) else { return [] }
            return state.take(result, at: index)
        }
        withExtendedLifetime(former) {}
    }

    /// Changes the state, and tells who watches it, whether or not they see a difference.
    private func mutate<Outcome: Sendable>(_ update: (inout State) -> Outcome) -> Outcome {
        registrar.withMutation(of: self, keyPath: \.value) {
            registrar.withMutation(of: self, keyPath: \.error) {
                registrar.withMutation(of: self, keyPath: \.isLoading) {
                    state.withLock { state in
                        let outcome = update(&state)
                        if !state.isLoading {
                            for stream in state.streams.values { stream.yield(state.value) }
                        }
                        return outcome
                    }
                }
            }
        }
    }

    /// Observes a request, and waits for its first value. The thread does other things meanwhile.
    ///
    /// Until then the former request goes on: a load that is cancelled is as though there had been none.
    ///
    /// - throws: What the fetch throws; `CancellationError` when the task is cancelled before there is a value.
    func load<Request: FetchKeyRequest>(
        _ request: Request, in database: (any DatabaseReader)?,
        _ map: @escaping @Sendable (Request.Value) throws -> Value
    ) async throws -> FetchSubscription {
        let round = observe(request, in: database, isImmediate: false, map)
        for await _ in values() where !isPending(round) { break }
        // Nobody would get what ends it.
        if Task.isCancelled, abandon(round) { throw CancellationError() }
        if let error { throw error }
        return FetchSubscription { [weak self] in self?.end(round) }
    }

    /// Whether a load counts, or may count again, and has brought nothing yet.
    private func isPending(_ round: Int) -> Bool {
        state.withLock { state in state.loads.contains { $0.round == round && $0.isPending } }
    }

    /// Takes back a load that has brought nothing.
    ///
    /// - returns: Whether that is so.
    private func abandon(_ round: Int) -> Bool {
        let (isAbandoned, unneeded) = mutate { state in state.abandon(round) }
        withExtendedLifetime(unneeded) {}
        return isAbandoned
    }

    /// Fetches once more what is observed, and waits for it.
    ///
    /// - throws: What the fetch throws.
    func reload() async throws {
        guard let load = state.withLock({ $0.loads.last }) else { return }
        do {
            try await load.reload()
        } catch {
            mutate { state in
                if state.loads.last?.round == load.round { state.error = error }
            }
            throw error
        }
    }

    /// Fetches the value of a load, beside its observation.
    private func fetch<Request: FetchKeyRequest>(
        _ request: Request, in database: any DatabaseReader, _ round: Int,
        _ map: @escaping @Sendable (Request.Value) throws -> Value
    ) async throws {
        let before = state.withLock { state in
            state.loads.first { $0.round == round }?.contentNumber
        }
        let value = try await database.read { db in try map(request.fetch(db)) }
        // What the observation has brought meanwhile may be newer. If it is older, more comes.
        take(.success(value), round) { $0.contentNumber == before }
    }

    /// Ends a load, unless another one has taken its place.
    func end(_ round: Int) {
        let ended = state.withLock { state -> SharedSubscription? in
            guard let index = state.position(of: round) else { return nil }
            defer { state.loads[index].subscription = nil }
            return state.loads[index].subscription
        }
        withExtendedLifetime(ended) {}
    }
}
