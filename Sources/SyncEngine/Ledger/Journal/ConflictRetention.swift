import CipherStore

/// How long the journal keeps conflicts.
///
/// Open conflicts are kept for ever unless bounds are set for them. What a bound
/// drops is counted, see ``Synchronizer/droppedConflictCount()``. Resolved ones are looked for with a synchronization, once an
/// hour at most.
public struct ConflictRetention: Equatable, Sendable {
    /// The age in milliseconds after which a resolved conflict is dropped, counted
    /// from its resolution; nil for no bound.
    public var resolvedMilliseconds: Int64?
    /// How many resolved conflicts are kept, the latest ones; nil for no bound.
    public var resolvedCount: Int64?
    /// The age in milliseconds after which an open conflict is dropped, counted from
    /// when it was found; nil for no bound.
    public var openMilliseconds: Int64?
    /// How many open conflicts are kept, the latest ones; nil for no bound.
    public var openCount: Int64?

    /// Makes bounds. By default, conflicts are kept for 90 days after they were
    /// resolved, 10,000 of them at most, and open ones for ever.
    public init(
        resolvedMilliseconds: Int64? = 90 * 24 * 3600 * 1000, resolvedCount: Int64? = 10_000,
        openMilliseconds: Int64? = nil, openCount: Int64? = nil
    ) {
        self.resolvedMilliseconds = resolvedMilliseconds
        self.resolvedCount = resolvedCount
        self.openMilliseconds = openMilliseconds
        self.openCount = openCount
    }

    private static let droppedName = "conflicts.dropped"

    /// The bounds by the names of their settings; -1 stands for no bound.
    private static var settings: [(name: String, bound: WritableKeyPath<ConflictRetention, Int64?>)] {
        [
            ("conflicts.resolved.ms", \.resolvedMilliseconds), ("conflicts.resolved.count", \.resolvedCount),
            ("conflicts.open.ms", \.openMilliseconds), ("conflicts.open.count", \.openCount),
        ]
    }

    /// Reads the bounds of a store.
    static func load(_ db: Database) throws -> ConflictRetention {
        var retention = ConflictRetention()
        for setting in settings {
            if let value = try SyncSetting.integer(db, setting.name) {
                retention[keyPath: setting.bound] = value < 0 ? nil : value
            }
        }
        return retention
    }

    /// Writes the bounds.
    func store(_ db: Database) throws {
        for setting in Self.settings {
            try SyncSetting.set(db, setting.name, max(-1, self[keyPath: setting.bound] ?? -1))
        }
    }

    /// How many open conflicts bounds have dropped so far.
    static func droppedCount(_ db: Database) throws -> Int64 {
        try SyncSetting.integer(db, droppedName) ?? 0
    }

    private static let prunedName = "conflicts.pruned.ms"
    private static let intervalMilliseconds: Int64 = 3600 * 1000

    /// Drops what is beyond the bounds. The rest of a row goes with its last conflict.
    func prune(_ db: Database, now: Int64) throws {
        try SyncSetting.set(db, Self.prunedName, now)
        try prune(db, .resolved, resolvedMilliseconds, resolvedCount, now)
        try pruneOpen(db, now)
    }

    /// The same after a bundle. Resolved conflicts are looked for once an hour, since that reads the open ones as well, which
    /// may be any number.
    func pruneIfDue(_ db: Database, now: Int64) throws {
        let last = try SyncSetting.integer(db, Self.prunedName)
        let (bound, overflow) = now.subtractingReportingOverflow(Self.intervalMilliseconds)
        // A clock that was put back since doesn't put it off.
        if let last, !overflow, last > bound, last <= now { return try pruneOpen(db, now) }
        try prune(db, now: now)
    }

    private func pruneOpen(_ db: Database, _ now: Int64) throws {
        let dropped = try prune(db, .open, openMilliseconds, openCount, now)
        guard dropped > 0 else { return }
        try SyncSetting.set(db, Self.droppedName, try Self.droppedCount(db).addingSaturated(dropped))
        try ConflictJournal.removeRests(db)
    }

    @discardableResult
    private func prune(
        _ db: Database, _ state: ConflictJournal.State, _ age: Int64?, _ count: Int64?, _ now: Int64
    ) throws -> Int64 {
        var dropped: Int64 = 0
        if let age {
            let (bound, overflow) = now.subtractingReportingOverflow(age)
            dropped += try ConflictJournal.remove(db, state, before: overflow ? Int64.min : bound)
        }
        if let count { dropped += try ConflictJournal.remove(db, state, beyond: count) }
        return dropped
    }
}
