import Dispatch

/// Gives an observation the one value of a database that does not change.
final class ObservationOnce<Reducer: ValueReducer>: Sendable {
    private let delivery: ObservationDelivery<Reducer>

    init(_ delivery: ObservationDelivery<Reducer>) { self.delivery = delivery }

    /// Starts the observation.
    func start(in reader: any DatabaseReader) {
        delivery.observation.events.willStart.callAll()
        guard delivery.isImmediate else {
            return reader.asyncUnsafeRead { [self] db in submit(Result { try fetch(db.get()) }) }
        }
        let isReduced = DispatchSemaphore(value: 0)
        submit(Result { try reader.unsafeReentrantRead { try fetch($0) } }) { isReduced.signal() }
        isReduced.wait()
        delivery.tellFirst()
    }

    /// Ends the observation.
    func cancel() { delivery.cancel() }

    private func fetch(_ db: Database) throws -> Reducer.Fetched {
        try db.fetch(delivery.observation, needsRegion: false).fetched
    }

    private func submit(
        _ result: Result<Reducer.Fetched, any Error>, completion: (@Sendable () -> Void)? = nil
    ) {
        delivery.submit(result, onFailure: {}, completion: completion)
    }
}
