/// An observation of what can be read from a database.
///
/// ```swift
/// let observation = ValueObservation.tracking { db in
///     try Player.order(\.score.desc).limit(10).fetchAll(db)
/// }
/// let cancellable = observation.start(in: dbPool) { error in
///     print("no more players: \(error)")
/// } onChange: { players in
///     print("the best players: \(players)")
/// }
/// ```
///
/// The observation begins with the value that is in the database when it is
/// started, and goes on with a value after each transaction that changed
/// what was read. What it promises:
///
/// - Each value is one that the database had after a commit, and they come in
///   that order. The last one is the value that is in the database.
/// - Transactions may share one value, and equal values may follow each other:
///   see ``removeDuplicates()``.
/// - No change is missed between the first value and those that follow.
/// - An error is the end, unless ``recoversFromErrors`` is set.
/// - Nothing comes after it was cancelled.
///
/// In a ``DatabaseQueue``, each transaction is followed by a fetch before the
/// next access. In a ``DatabasePool``, fetches run on readers beside the
/// writes that follow, and no write waits for them. A snapshot gives one value.
///
/// Commits of other processes, and of other connections of this process, to the same file are seen within
/// 200 ms, unless the writer is busy for longer: each of them is followed by a fetch, because SQLite does not tell
/// what they changed. So an observation in a process that only reads goes on as well.
/// ``Configuration/observesOtherConnections`` turns that off.
///
/// Changes of the schema by the connection itself are not seen; ``TransactionObserver`` lists what else is
/// not. ``Database/notifyChanges(in:)`` tells of them.
public struct ValueObservation<Reducer: ValueReducer>: Sendable {
    /// What is fetched, and what is made of it.
    var reducer: Reducer

    /// Which changes count.
    let tracking: RegionTracking

    /// Who else is told what happens.
    var events = ObservationEvents()

    /// Whether the value is fetched in a transaction that may write. The
    /// default is false.
    ///
    /// Such a fetch runs on the writing connection, also in a pool, and its
    /// transaction is rolled back if it throws. What it changes itself does not make it run again.
    public var requiresWriteAccess = false

    /// Whether the observation goes on after an error. The default is false, as in GRDB: an error is the end.
    ///
    /// With this, `onError` is called when the observation begins to fail, and when it fails for another reason.
    /// A value comes as soon as the cause of the error has ended: a commit has brought the table or a row
    /// that can be decoded, or a lock is gone. Loops over ``values(in:scheduling:bufferingPolicy:)`` go on
    /// too, and see no errors. A database that was closed is the end in any case.
    public var recoversFromErrors = false

    init(reducer: Reducer, tracking: RegionTracking) {
        self.reducer = reducer
        self.tracking = tracking
    }

    /// The observation with something else made of its values.
    func with<Other: ValueReducer>(_ reducer: Other) -> ValueObservation<Other> {
        var observation = ValueObservation<Other>(reducer: reducer, tracking: tracking)
        observation.events = events
        observation.requiresWriteAccess = requiresWriteAccess
        observation.recoversFromErrors = recoversFromErrors
        return observation
    }
}

/// How an observation finds out which changes count.
enum RegionTracking: Sendable {
    /// All that was read by the last fetch.
    case lastFetch
    /// All that was read by the first fetch.
    case firstFetch
    /// What these say before the first fetch.
    case regions([any DatabaseRegionConvertible & Sendable])
}

extension ValueObservation {
    /// Makes an observation of all that a function reads.
    ///
    /// The function may read different tables, columns or rows each time; what
    /// it read last is what counts.
    ///
    /// ```swift
    /// let observation = ValueObservation.tracking { db in
    ///     try Player.fetchAll(db)
    /// }
    /// ```
    ///
    /// - parameter fetch: Reads the value.
    @preconcurrency public static func tracking<Value: Sendable>(
        _ fetch: @escaping @Sendable (Database) throws -> Value
    ) -> Self where Reducer == ValueReducers.Fetch<Value> {
        Self(reducer: ValueReducers.Fetch(fetch), tracking: .lastFetch)
    }

    /// Makes an observation of all that a function reads the first time.
    ///
    /// Use it when the function always reads the same tables, columns and rows:
    /// it saves the work to find out. ``Database/registerAccess(to:)`` adds what the first time leaves out.
    ///
    /// - parameter fetch: Reads the value.
    @preconcurrency public static func trackingConstantRegion<Value: Sendable>(
        _ fetch: @escaping @Sendable (Database) throws -> Value
    ) -> Self where Reducer == ValueReducers.Fetch<Value> {
        Self(reducer: ValueReducers.Fetch(fetch), tracking: .firstFetch)
    }

    /// Makes an observation of some regions: their changes make a function run again,
    /// whatever it reads.
    ///
    /// ```swift
    /// let observation = ValueObservation.tracking(
    ///     region: Player.filter(id: 1), Team.all(), fetch: { db in try Summary.fetch(db) })
    /// ```
    ///
    /// - parameters:
    ///     - region: A region.
    ///     - otherRegions: More of them.
    ///     - fetch: Reads the value.
    @preconcurrency public static func tracking<Value: Sendable>(
        region: any DatabaseRegionConvertible & Sendable,
        _ otherRegions: any DatabaseRegionConvertible & Sendable...,
        fetch: @escaping @Sendable (Database) throws -> Value
    ) -> Self where Reducer == ValueReducers.Fetch<Value> {
        tracking(regions: [region] + otherRegions, fetch: fetch)
    }

    /// Makes an observation of some regions: their changes make a function run again,
    /// whatever it reads.
    ///
    /// - parameters:
    ///     - regions: The regions.
    ///     - fetch: Reads the value.
    @preconcurrency public static func tracking<Value: Sendable>(
        regions: [any DatabaseRegionConvertible & Sendable],
        fetch: @escaping @Sendable (Database) throws -> Value
    ) -> Self where Reducer == ValueReducers.Fetch<Value> {
        Self(reducer: ValueReducers.Fetch(fetch), tracking: .regions(regions))
    }
}
