import CipherStore
import Foundation
import Synchronization

/// The one observation of a request in a database, for all properties that have that request.
///
/// It observes while there are subscribers, and goes on after errors.
final class SharedFetch<Value: Sendable>: Sendable {
    /// What is known of the value.
    struct Content: Sendable {
        var value: Value?
        var error: (any Error)?
        /// Rises with each content: what was told may come later than what is known.
        var number = 0
        /// Whether neither a value nor an error has come yet.
        var isLoading: Bool { value == nil && error == nil }
    }

    typealias Receiver = @Sendable (Content) -> Void

    private struct State {
        var content = Content()
        var receivers: [Int: Receiver] = [:]
        var lastID = 0
        var cancellable: AnyDatabaseCancellable?
        var isStarted = false
        /// Whether the observation that was started last told its first value before the start returned.
        var isImmediate = false
        /// The number of the observation that was started last.
        var round = 0
    }

    let database: any DatabaseReader
    private let observation: ValueObservation<ValueReducers.Fetch<Value>>
    private let state = Mutex(State())

    init(_ database: any DatabaseReader, _ fetch: @escaping @Sendable (Database) throws -> Value) {
        self.database = database
        var observation = ValueObservation.tracking(fetch)
        observation.recoversFromErrors = true
        self.observation = observation
    }

    /// Adds a receiver, which is called with all that comes from now on.
    ///
    /// The first one starts the observation.
    ///
    /// - parameters:
    ///     - isImmediate: Whether it blocks the thread until there is a value. It never does in the middle of an access to a
    ///       database, for which the value might have to wait.
    ///     - receiver: What is called.
    /// - returns: What ends the subscription when it goes, and what is known.
    func subscribe(
        isImmediate: Bool, _ receiver: @escaping Receiver
    ) -> (subscription: SharedSubscription, content: Content) {
        let isImmediate = isImmediate && !Database.isInAccess
        let (id, round) = state.withLock { state -> (Int, Int?) in
            state.lastID += 1
            state.receivers[state.lastID] = receiver
            // Who needs the value at once has it sooner from a new observation than from one that brings it later.
            let isLate = isImmediate && !state.isImmediate && state.content.isLoading
            guard !state.isStarted || isLate else { return (state.lastID, nil) }
            state.isStarted = true
            state.isImmediate = isImmediate
            state.round += 1
            return (state.lastID, state.round)
        }
        let subscription = SharedSubscription { [self] in unsubscribe(id) }
        if let round { start(round, isImmediate: isImmediate) }
        return (subscription, state.withLock { $0.content })
    }

    private func start(_ round: Int, isImmediate: Bool) {
        let cancellable = observation.start(
            in: database, scheduling: FetchScheduler(isImmediate: isImmediate),
            onError: { [weak self] error in self?.receive(round) { $0.error = error } },
            onChange: { [weak self] value in self?.receive(round) { $0 = Content(value: value) } })
        let ended = state.withLock { state -> AnyDatabaseCancellable? in
            guard state.isStarted, state.round == round else { return cancellable }
            defer { state.cancellable = cancellable }
            return state.cancellable
        }
        ended?.cancel()
    }

    /// Takes what an observation tells, unless it has ended: what it was about to tell then is older than what
    /// the next one has fetched.
    private func receive(_ round: Int, _ change: (inout Content) -> Void) {
        let (receivers, content) = state.withLock { state -> ([Receiver], Content) in
            guard state.isStarted, state.round == round else { return ([], state.content) }
            let number = state.content.number
            change(&state.content)
            state.content.number = number + 1
            return (state.receivers.sorted { $0.key < $1.key }.map(\.value), state.content)
        }
        for receiver in receivers { receiver(content) }
    }

    private func unsubscribe(_ id: Int) {
        let ended: (Receiver?, AnyDatabaseCancellable?) = state.withLock { state in
            let receiver = state.receivers.removeValue(forKey: id)
            guard state.receivers.isEmpty else { return (receiver, nil) }
            defer {
                state.cancellable = nil
                state.isStarted = false
                // What is known grows old from here on.
                state.content = Content()
            }
            return (receiver, state.cancellable)
        }
        ended.1?.cancel()
    }
}

/// Tells values where they come from.
private struct FetchScheduler: ValueObservationScheduler {
    /// Whether the first one is told before the start returns.
    let isImmediate: Bool

    func immediateInitialValue() -> Bool { isImmediate }

    func schedule(_ action: @escaping @Sendable () -> Void) { action() }
}

extension SharedFetch: ObservedFetch {
    var isObserved: Bool { state.withLock { $0.isStarted } }
}

/// A shared fetch of whatever value.
private protocol ObservedFetch: AnyObject, Sendable {
    /// Whether there are subscribers.
    var isObserved: Bool { get }
}

/// Somebody who is told of a shared fetch, until this goes.
final class SharedSubscription: Sendable {
    private let end: @Sendable () -> Void

    init(_ end: @escaping @Sendable () -> Void) { self.end = end }

    deinit { end() }
}

/// Which fetches there are, by request and database.
enum SharedFetches {
    private struct Key: Hashable {
        let request: HashableRequest
        let value: ObjectIdentifier
        let database: ObjectIdentifier
    }

    /// A request of whatever type.
    // Requests are Sendable, which AnyHashable does not say.
    private struct HashableRequest: Hashable, @unchecked Sendable {
        let request: AnyHashable
    }

    private struct Entry: Sendable {
        weak var fetch: (any ObservedFetch)?
    }

    private static let entries = Mutex<[Key: Entry]>([:])

    /// The fetch of a request in a database.
    static func fetch<Request: FetchKeyRequest>(
        _ request: Request, in database: any DatabaseReader
    ) -> SharedFetch<Request.Value> {
        let key = Key(
            request: HashableRequest(request: AnyHashable(request)),
            value: ObjectIdentifier(Request.Value.self),
            database: ObjectIdentifier(database))
        return entries.withLock { entries in
            if let fetch = entries[key]?.fetch as? SharedFetch<Request.Value> { return fetch }
            entries = entries.filter { $0.value.fetch != nil }
            let fetch = SharedFetch(database) { try request.fetch($0) }
            entries[key] = Entry(fetch: fetch)
            return fetch
        }
    }

    /// How many fetches of a database have subscribers, for tests.
    static func count(in database: any DatabaseReader) -> Int {
        let id = ObjectIdentifier(database)
        return entries.withLock { entries in
            entries.count { $0.key.database == id && $0.value.fetch?.isObserved == true }
        }
    }
}
