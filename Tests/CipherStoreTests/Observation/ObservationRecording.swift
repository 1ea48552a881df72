import Foundation
import Testing

@testable import CipherStore

/// What an observation tells, to be waited for by tasks.
final class ObservationRecording<Value: Sendable>: Sendable {
    enum Event: Sendable {
        case value(Value)
        case failure(any Error)
    }

    private let iterator: AsyncStream<Event>
    private let continuation: AsyncStream<Event>.Continuation
    private let cancellable = LockedBox<AnyDatabaseCancellable?>(nil)

    init() {
        (iterator, continuation) = AsyncStream.makeStream(of: Event.self)
    }

    /// Starts an observation that is told on a queue of its own.
    convenience init<Reducer: ValueReducer>(
        _ observation: ValueObservation<Reducer>, in reader: any DatabaseReader,
        scheduling scheduler: some ValueObservationScheduler = .async(onQueue: DispatchQueue(label: "told"))
    ) where Reducer.Value == Value {
        self.init()
        cancellable.value = observation.start(
            in: reader, scheduling: scheduler,
            onError: { [continuation] in continuation.yield(.failure($0)) },
            onChange: { [continuation] in continuation.yield(.value($0)) })
    }

    /// Subscribes to a shared observation.
    convenience init(_ shared: SharedValueObservation<Value>) {
        self.init()
        cancellable.value = shared.start(
            onError: { [continuation] in continuation.yield(.failure($0)) },
            onChange: { [continuation] in continuation.yield(.value($0)) })
    }

    func cancel() { cancellable.value?.cancel() }

    /// Tells that nothing more comes, so that `rest()` ends.
    func finish() { continuation.finish() }

    func receive(_ event: Event) { continuation.yield(event) }

    /// Waits for the next value.
    func next() async throws -> Value {
        for await event in iterator {
            switch event {
            case .value(let value): return value
            case .failure(let error): throw error
            }
        }
        throw CancellationError()
    }

    /// Waits for some values.
    func next(_ count: Int) async throws -> [Value] {
        var values: [Value] = []
        for _ in 0..<count { values.append(try await next()) }
        return values
    }

    /// Waits for a value, and returns all of them up to it.
    func values(until isLast: (Value) -> Bool) async throws -> [Value] {
        var values: [Value] = []
        repeat { values.append(try await next()) } while !(values.last.map(isLast) ?? true)
        return values
    }

    /// What was told, after `finish()`.
    func rest() async -> [Event] {
        var events: [Event] = []
        for await event in iterator { events.append(event) }
        return events
    }
}

extension ObservationRecording where Value: Equatable {
    /// Expects that the next value is this one.
    func expect(_ expected: Value, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let value = try await next()
        #expect(value == expected, sourceLocation: sourceLocation)
    }

    /// Waits for this value, whatever comes before it.
    func expect(finally expected: Value) async throws {
        _ = try await values { $0 == expected }
    }
}

extension ObservationRecording {
    /// Expects that nothing was told that was not waited for.
    func expectNothingMore(sourceLocation: SourceLocation = #_sourceLocation) async {
        finish()
        let rest = await rest()
        #expect(rest.isEmpty, sourceLocation: sourceLocation)
    }
}
