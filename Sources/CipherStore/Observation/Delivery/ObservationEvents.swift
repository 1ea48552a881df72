/// Functions that are called when something happens to an observation.
struct ObservationEvents: Sendable {
    var willStart: [@Sendable () -> Void] = []
    var willFetch: [@Sendable () -> Void] = []
    var willTrackRegion: [@Sendable (DatabaseRegion) -> Void] = []
    var databaseDidChange: [@Sendable () -> Void] = []
    var didFail: [@Sendable (any Error) -> Void] = []
    var didCancel: [@Sendable () -> Void] = []
}

extension Array where Element == @Sendable () -> Void {
    /// Calls all functions.
    func callAll() {
        for function in self { function() }
    }
}

extension Array {
    /// Calls all functions.
    func callAll<Argument>(_ argument: Argument) where Element == @Sendable (Argument) -> Void {
        for function in self { function(argument) }
    }
}

extension ValueObservation {
    /// Calls functions when something happens to the observation.
    ///
    /// They are called on the threads where it happens, some of them in an access to
    /// the database, which they must not use.
    ///
    /// - parameters:
    ///     - willStart: The observation starts.
    ///     - willFetch: A value is about to be fetched.
    ///     - willTrackRegion: Changes of another region count from now on.
    ///     - databaseDidChange: A transaction has changed the region.
    ///     - didReceiveValue: There is a value.
    ///     - didFail: The observation ends with an error.
    ///     - didCancel: The observation was cancelled.
    public func handleEvents(
        willStart: (@Sendable () -> Void)? = nil,
        willFetch: (@Sendable () -> Void)? = nil,
        willTrackRegion: (@Sendable (DatabaseRegion) -> Void)? = nil,
        databaseDidChange: (@Sendable () -> Void)? = nil,
        didReceiveValue: (@Sendable (Reducer.Value) -> Void)? = nil,
        didFail: (@Sendable (any Error) -> Void)? = nil,
        didCancel: (@Sendable () -> Void)? = nil
    ) -> ValueObservation<ValueReducers.Trace<Reducer>> {
        var observation = with(ValueReducers.Trace(reducer, didReceiveValue))
        if let willStart { observation.events.willStart.append(willStart) }
        if let willFetch { observation.events.willFetch.append(willFetch) }
        if let willTrackRegion { observation.events.willTrackRegion.append(willTrackRegion) }
        if let databaseDidChange { observation.events.databaseDidChange.append(databaseDidChange) }
        if let didFail { observation.events.didFail.append(didFail) }
        if let didCancel { observation.events.didCancel.append(didCancel) }
        return observation
    }

    /// Writes a line for each thing that happens to the observation.
    ///
    /// ```
    /// start
    /// fetch
    /// tracked region: player(*)
    /// value: 12
    /// database did change
    /// fetch
    /// value: 13
    /// cancel
    /// ```
    ///
    /// - parameters:
    ///     - prefix: What each line begins with, followed by a colon.
    ///     - stream: Where the lines go, one in each call and without an end of
    ///       line. They go to the standard output by default.
    public func print(
        _ prefix: String = "", to stream: (any TextOutputStream)? = nil
    ) -> ValueObservation<ValueReducers.Trace<Reducer>> {
        let log = ObservationLog(prefix: prefix, stream: stream)
        return handleEvents(
            willStart: { log.write("start") },
            willFetch: { log.write("fetch") },
            willTrackRegion: { log.write("tracked region: \($0)") },
            databaseDidChange: { log.write("database did change") },
            didReceiveValue: { log.write("value: \($0)") },
            didFail: { log.write("failure: \($0)") },
            didCancel: { log.write("cancel") })
    }
}

/// Where the events of an observation are written to.
///
/// It is `@unchecked Sendable` because the stream is used only while the lock is
/// held, by one thread at a time, as its mutating method needs it.
private final class ObservationLog: @unchecked Sendable {
    private let prefix: String
    private let lock = Lock(())
    private var stream: (any TextOutputStream)?

    init(prefix: String, stream: (any TextOutputStream)?) {
        self.prefix = prefix.isEmpty ? "" : prefix + ": "
        self.stream = stream
    }

    func write(_ event: String) {
        lock.withLock { _ in
            if stream == nil {
                Swift.print(prefix + event)
            } else {
                stream?.write(prefix + event)
            }
        }
    }
}
