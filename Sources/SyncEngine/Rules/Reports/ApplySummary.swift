import SyncWire

/// What the application of a bundle did.
public struct ApplySummary: Equatable, Sendable {
    /// The rows that the bundle held.
    public package(set) var rowCount: Int64 = 0
    /// The values that lost against a write that did not know them; they are in the journal.
    public package(set) var conflictCount: Int64 = 0
    /// Those of them that the sender knew: it found the same events when it learnt of the values.
    public package(set) var sharedConflictCount: Int64 = 0
    /// The rows that differ from what was here before, or lost something: the others were known already.
    public package(set) var changedRowCount: Int64 = 0
    /// The rows that could not be written yet, and are kept for later.
    public package(set) var parkedCount: Int64 = 0
    /// Rows that were parked earlier and could be written now.
    public package(set) var unparkedCount: Int64 = 0
    /// The identity that this replica had before the bundle showed that it needs another one.
    public package(set) var renewedReplica: ReplicaID?
    /// How far stamps were ahead of the clock here, where it is more than it goes along with; else zero.
    public package(set) var skewMilliseconds: Int64 = 0
    /// Who wrote the newest of these stamps; nil when there are none.
    public package(set) var skewedReplica: ReplicaID?

    /// Makes a summary of nothing.
    public init() {}

    /// Adds what another application did.
    mutating func add(_ other: ApplySummary) {
        // The numbers of a remote are its own.
        rowCount = rowCount.addingSaturated(other.rowCount)
        conflictCount = conflictCount.addingSaturated(other.conflictCount)
        sharedConflictCount = sharedConflictCount.addingSaturated(other.sharedConflictCount)
        changedRowCount = changedRowCount.addingSaturated(other.changedRowCount)
        // What waited after one of them can have found its place in another.
        let foundCount = min(parkedCount, other.unparkedCount)
        parkedCount = parkedCount.addingSaturated(other.parkedCount - foundCount)
        unparkedCount = unparkedCount.addingSaturated(other.unparkedCount - foundCount)
        renewedReplica = renewedReplica ?? other.renewedReplica
        if other.skewMilliseconds > skewMilliseconds {
            (skewMilliseconds, skewedReplica) = (other.skewMilliseconds, other.skewedReplica)
        }
    }
}
