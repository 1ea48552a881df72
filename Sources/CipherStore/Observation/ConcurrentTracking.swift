/// What an observation of a pool does next: a state machine without I/O.
///
/// Fetches run on readers, one at a time and each in a snapshot of its own. The region
/// that counts is watched on the writer, which takes an access to it. So the
/// region of a fetch may be watched only after other transactions were committed, and
/// nobody has looked whether they changed it. Commits are counted for this: a fetch
/// notes the count before its snapshot, and when the region is watched
/// and the count is another one, it is fetched once more.
///
/// ```
/// idle ─▶ scheduled ─▶ running ─▶ idle
///              ▲          ▼ change
///              └────── outdated
/// ```
///
/// A change while a fetch is scheduled needs nothing: the fetch will see it.
struct ConcurrentTracking: Sendable {
    /// What is to be done, in this order.
    struct Actions: Equatable {
        /// The region that is to be watched instead of the one before.
        var watchedRegion: DatabaseRegion?
        /// The region that counts from now on, to be told.
        var toldRegion: DatabaseRegion?
        /// Whether the region may have changed before it was watched, to be told.
        var mayHaveChanged = false
        /// Whether to schedule an access to the writer.
        var schedulesAccess = false
        /// Whether to schedule a fetch.
        var schedulesFetch = false
    }

    private enum Fetch {
        case idle
        case scheduled
        case running
        /// It runs, and there was a change since it began.
        case outdated
    }

    /// The region of the last fetch, and how many commits there were before it.
    private struct Finding {
        var region: DatabaseRegion
        var commitCount: Int
    }

    private var fetch = Fetch.scheduled
    private var finding: Finding?
    private var watchedRegion: DatabaseRegion?
    private var toldRegion: DatabaseRegion?
    private var isAccessScheduled = false

    /// Whether a fetch has found out which region counts.
    var knowsRegion: Bool { finding != nil }

    /// Whether a change of something unknown counts: it does not when nothing is read.
    var mayConcern: Bool { finding?.region.isEmpty != true }

    /// A fetch is about to open its snapshot.
    mutating func fetchBegins() { fetch = .running }

    /// A fetch has found something.
    ///
    /// - parameters:
    ///     - region: The region that counts, or nil when it is the same as before.
    ///     - commitCount: How many commits there were before the snapshot.
    mutating func fetchFinds(region: DatabaseRegion?, commitCount: Int) -> Actions {
        var actions = Actions()
        let region = region ?? finding?.region ?? DatabaseRegion()
        finding = Finding(region: region, commitCount: commitCount)
        if region != watchedRegion {
            actions.schedulesAccess = !isAccessScheduled
            isAccessScheduled = true
        } else if toldRegion != region {
            toldRegion = region
            actions.toldRegion = region
        }
        return actions
    }

    /// A fetch is done, and its value is on its way: the next one can't overtake it.
    ///
    /// - returns: Whether to schedule a fetch.
    mutating func fetchEnds() -> Bool {
        let isOutdated = fetch == .outdated
        fetch = isOutdated ? .scheduled : .idle
        return isOutdated
    }

    /// The access to the writer has begun: nothing is committed until it ends.
    ///
    /// - parameter commitCount: How many commits there were.
    mutating func accessBegins(commitCount: Int) -> Actions {
        isAccessScheduled = false
        guard let finding, finding.region != watchedRegion else { return Actions() }
        watchedRegion = finding.region
        var actions = Actions()
        actions.watchedRegion = finding.region
        if finding.commitCount != commitCount {
            // The fetch that follows tells the region, if it still is that one.
            actions.mayHaveChanged = true
            actions.schedulesFetch = regionChanges()
        } else if toldRegion != finding.region {
            toldRegion = finding.region
            actions.toldRegion = finding.region
        }
        return actions
    }

    /// A transaction has changed the region, or may have.
    ///
    /// - returns: Whether to schedule a fetch.
    mutating func regionChanges() -> Bool {
        switch fetch {
        case .idle:
            fetch = .scheduled
            return true
        case .scheduled, .outdated: return false
        case .running:
            fetch = .outdated
            return false
        }
    }
}
