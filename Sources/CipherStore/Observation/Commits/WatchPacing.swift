/// When a watch of commits looks next: a state machine without I/O or clock.
///
/// ```
/// resting ──event, or something was found──▶ active ──nothing for a while──▶ resting
/// ```
///
/// Events of the file system come when a WAL is written, which is before the commit can be seen, so a watch looks
/// again for a while after one. While it is active it asks for no events, which would cost each write something.
struct WatchPacing: Equatable, Sendable {
    /// The shortest pause between two looks, in milliseconds: what bounds the cost beside many commits.
    static let pauseMin = 10

    /// The longest pause of an active watch, and of one that has no events, in milliseconds.
    static let pauseMax = 100

    /// How long a watch stays active when nothing happens, in milliseconds. A commit that waits for its disk longer
    /// than this is found by the slow look of a resting watch.
    static let activeTime = 5000

    /// How often a resting watch looks that has events, in milliseconds: some file systems tell of none.
    static let restingPause = 1000

    /// What a look came with.
    struct Look: Equatable {
        /// Whether an event came since the look before.
        var hadEvent: Bool
        /// Whether there was a commit since the look before, by whomever.
        var foundCommit: Bool
    }

    /// How many commits in a row may come without an event until the watch trusts in events no more.
    static let missCountMax = 3

    /// Whether the system tells of events.
    private(set) var hasEvents: Bool

    private var missCount = 0

    /// The pause of an active watch, or nil when it rests.
    private var pause: Int?

    /// For how long nothing has happened.
    private var quietTime = 0

    init(hasEvents: Bool) {
        self.hasEvents = hasEvents
        pause = Self.pauseMin
    }

    /// Whether events are to be waited for.
    var waitsForEvents: Bool { hasEvents && pause == nil }

    /// A look is done.
    ///
    /// - returns: The milliseconds until the next one.
    mutating func next(after look: Look) -> Int {
        if look.foundCommit, waitsForEvents {
            missCount = look.hadEvent ? 0 : missCount + 1
            if missCount == Self.missCountMax { hasEvents = false }
        }
        if look.hadEvent || look.foundCommit {
            pause = Self.pauseMin
            quietTime = 0
            return Self.pauseMin
        }
        guard let last = pause else { return hasEvents ? Self.restingPause : Self.pauseMax }
        quietTime += last
        guard quietTime < Self.activeTime else {
            pause = nil
            return hasEvents ? Self.restingPause : Self.pauseMax
        }
        let next = min(last * 2, Self.pauseMax)
        pause = next
        return next
    }
}
