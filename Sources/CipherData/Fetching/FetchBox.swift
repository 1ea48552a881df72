import CipherStore
import Foundation
import Observation
import Synchronization

/// What the copies of a property wrapper share: the value, what it is fetched by, and who watches it.
///
/// Whoever reads the value in `withObservationTracking`, as SwiftUI's views do, is told when there is another one.
final class FetchBox<Value: Sendable>: Observable, Sendable {
    private struct State {
        var value: Value
        var error: (any Error)?
        var isLoading = false
        var subscription: SharedSubscription?
        /// Which load counts: what an older one brings is dropped.
        var round = 0
        /// The number of the content that was received last in this round.
        var contentNumber = 0
        var reload: (@Sendable () async throws -> Void)?
        var streams: [Int: AsyncStream<Value>.Continuation] = [:]
        var lastStream = 0
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
    func values() -> AsyncStream<Value> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let id = state.withLock { state in
                state.lastStream += 1
                state.streams[state.lastStream] = continuation
                continuation.yield(state.value)
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
        let round = state.withLock { state in
            state.round += 1
            state.contentNumber = 0
            state.reload = { [weak self, round = state.round] in
                let before = self?.state.withLock { $0.contentNumber }
                let value = try await database.read { db in try map(request.fetch(db)) }
                self?.change(round) { state in
                    // What the observation has brought meanwhile may be newer. If it is older, more comes.
                    guard state.contentNumber == before else { return }
                    state.value = value
                    state.error = nil
                    state.isLoading = false
                }
            }
            return state.round
        }
        change(round) { $0.isLoading = true }
        let fetch = SharedFetches.fetch(request, in: database)
        let (subscription, content) = fetch.subscribe(isImmediate: isImmediate) { [weak self] in
            self?.receive($0, round, map)
        }
        receive(content, round, map)
        let former = state.withLock { state -> SharedSubscription? in
            guard state.round == round else { return subscription }
            defer { state.subscription = subscription }
            return state.subscription
        }
        withExtendedLifetime(former) {}
        return round
    }

    private func receive<Fetched>(
        _ content: SharedFetch<Fetched>.Content, _ round: Int, _ map: (Fetched) throws -> Value
    ) {
        guard !content.isLoading else { return }
        // The value that was there stays beside the error.
        let result: Result<Value, any Error>? =
            if let error = content.error { .failure(error) } else {
                content.value.map { value in
                    Result { try map(value) }
                }
            }
        change(round) { state in
            guard content.number > state.contentNumber else { return }
            state.contentNumber = content.number
            state.isLoading = false
            switch result {
            case .success(let value):
                state.value = value
                state.error = nil
            case .failure(let error): state.error = error
            case nil: break
            }
        }
    }

    /// Changes the state, unless another load has followed.
    private func change(_ round: Int, _ update: (inout State) -> Void) {
        registrar.withMutation(of: self, keyPath: \.value) {
            registrar.withMutation(of: self, keyPath: \.error) {
                registrar.withMutation(of: self, keyPath: \.isLoading) {
                    state.withLock { state in
                        guard round == state.round else { return }
                        update(&state)
                        if !state.isLoading {
                            for stream in state.streams.values { stream.yield(state.value) }
                        }
                    }
                }
            }
        }
    }

    /// Observes a request, and waits for its first value. The thread does other things meanwhile.
    ///
    /// - throws: What the fetch throws; `CancellationError` when the task is cancelled before there is a value.
    func load<Request: FetchKeyRequest>(
        _ request: Request, in database: (any DatabaseReader)?,
        _ map: @escaping @Sendable (Request.Value) throws -> Value
    ) async throws -> FetchSubscription {
        let round = observe(request, in: database, isImmediate: false, map)
        for await _ in values() where !isLoading { break }
        if Task.isCancelled, isLoading {
            // Nobody gets what would end it.
            end(round)
            change(round) { $0.isLoading = false }
            throw CancellationError()
        }
        if let error { throw error }
        return FetchSubscription { [weak self] in self?.end(round) }
    }

    /// Fetches once more what is observed, and waits for it.
    ///
    /// - throws: What the fetch throws.
    func reload() async throws {
        let (reload, round) = state.withLock { ($0.reload, $0.round) }
        guard let reload else { return }
        do {
            try await reload()
        } catch {
            change(round) { $0.error = error }
            throw error
        }
    }

    /// Ends a load, unless another one has followed.
    func end(_ round: Int) {
        let ended = state.withLock { state -> SharedSubscription? in
            guard state.round == round else { return nil }
            defer { state.subscription = nil }
            return state.subscription
        }
        withExtendedLifetime(ended) {}
    }
}
