extension ValueObservation {
    /// Starts the observation, and tells its values on the main actor.
    ///
    /// ```swift
    /// let cancellable = observation.start(in: dbPool, scheduling: .immediate) { error in
    ///     show(error)
    /// } onChange: { players in
    ///     show(players)
    /// }
    /// ```
    ///
    /// - parameters:
    ///     - reader: The database, which is kept open until the observation ends.
    ///     - scheduler: `.mainActor`, which tells all values after this method has
    ///       returned, or `.immediate`, which tells the first one before.
    ///     - onError: Called with the error that ends the observation.
    ///     - onChange: Called with each value.
    /// - returns: An object that ends the observation when it is cancelled or released.
    @preconcurrency @MainActor public func start(
        in reader: any DatabaseReader,
        scheduling scheduler: some ValueObservationMainActorScheduler = .mainActor,
        onError: @escaping @MainActor (any Error) -> Void,
        onChange: @escaping @MainActor (Reducer.Value) -> Void
    ) -> AnyDatabaseCancellable {
        run(
            in: reader, scheduler,
            .init(
                onError: { error in MainActor.assumeIsolated { onError(error) } },
                onChange: { value in MainActor.assumeIsolated { onChange(value) } }))
    }

    /// Starts the observation, and tells its values where a scheduler says.
    ///
    /// - parameters:
    ///     - reader: The database, which is kept open until the observation ends.
    ///     - scheduler: Where the closures are called, such as `.async(onQueue: queue)` or `.task`.
    ///     - onError: Called with the error that ends the observation.
    ///     - onChange: Called with each value.
    /// - returns: An object that ends the observation when it is cancelled or released.
    @preconcurrency public func start(
        in reader: any DatabaseReader,
        scheduling scheduler: some ValueObservationScheduler,
        onError: @escaping @Sendable (any Error) -> Void,
        onChange: @escaping @Sendable (Reducer.Value) -> Void
    ) -> AnyDatabaseCancellable {
        run(in: reader, scheduler, .init(onError: onError, onChange: onChange))
    }

    /// Starts the observation, and gives its values to loops.
    ///
    /// ```swift
    /// for try await players in observation.values(in: dbPool) {
    ///     print("the best players: \(players)")
    /// }
    /// ```
    ///
    /// Each loop is an observation of its own. It ends with an error, or with
    /// the task of the loop.
    ///
    /// - parameters:
    ///     - reader: The database.
    ///     - scheduler: Where values are passed on to the loop.
    ///     - bufferingPolicy: What becomes of values that come faster than the loop
    ///       takes them; by default, they wait. `.bufferingNewest(1)` keeps the last one only.
    public func values(
        in reader: any DatabaseReader,
        scheduling scheduler: some ValueObservationScheduler = .task,
        bufferingPolicy: AsyncValueObservation<Reducer.Value>.BufferingPolicy = .unbounded
    ) -> AsyncValueObservation<Reducer.Value> {
        AsyncValueObservation(bufferingPolicy: bufferingPolicy) { onError, onChange in
            start(
                in: reader, scheduling: scheduler, onError: { if !recoversFromErrors { onError($0) } },
                onChange: onChange)
        }
    }

    private func run(
        in reader: any DatabaseReader, _ scheduler: some ValueObservationScheduler,
        _ receivers: ObservationDelivery<Reducer>.Receivers
    ) -> AnyDatabaseCancellable {
        let database = reader.unwrapped
        if recoversFromErrors {
            var single = self
            single.recoversFromErrors = false
            let observer = RecoveringObserver(
                single, in: database, database.writingConnection, scheduler, receivers)
            observer.start()
            return AnyDatabaseCancellable { withExtendedLifetime(database) { observer.cancel() } }
        }
        let delivery = ObservationDelivery(self, scheduler, receivers)
        // The closures that cancel keep the database open.
        if !database.configuration.readonly || database.seesOthers {
            if let pool = database as? DatabasePool, !requiresWriteAccess {
                let observer = ConcurrentObserver(pool, delivery)
                observer.start()
                return AnyDatabaseCancellable { observer.cancel() }
            }
            if let writer = database as? any DatabaseWriter {
                let observer = SerialObserver(delivery, database.writingConnection)
                observer.start(in: writer)
                return AnyDatabaseCancellable { withExtendedLifetime(writer) { observer.cancel() } }
            }
        }
        let observer = ObservationOnce(delivery)
        observer.start(in: database)
        return AnyDatabaseCancellable { withExtendedLifetime(database) { observer.cancel() } }
    }
}

extension DatabaseReader {
    /// The connection that writes, of a queue or a pool.
    fileprivate var writingConnection: SerializedDatabase? {
        switch self {
        case let queue as DatabaseQueue: queue.connection
        case let pool as DatabasePool: pool.writer
        default: nil
        }
    }

    /// Whether other connections can commit to what is read, and are looked for.
    fileprivate var seesOthers: Bool {
        guard let path = writingConnection?.path else { return false }
        return configuration.observesOtherConnections && DatabasePath(path).isFile
    }
}
