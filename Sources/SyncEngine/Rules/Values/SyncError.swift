import SyncWire

/// A failure of tracking or synchronization.
public struct SyncError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kinds of failure. New kinds may be added.
    public enum Code: String, Sendable {
        /// The database has no sync metadata.
        case notSynchronized
        /// The metadata was made by a newer program.
        case metadataTooNew
        /// The metadata contradicts itself.
        case damagedMetadata
        /// There is no such table.
        case noSuchTable
        /// The table's key is not a UUID, so its rows can't be matched.
        case unsuitableKey
        /// Keys can't be turned into UUIDs; the message lists the obstacles.
        case keysNotConvertible
        /// The table is of a kind that can't be tracked.
        case unsuitableTable
        /// The remote belongs to another database.
        case otherStore
        /// The remote is this file itself, or can't be distinguished from it.
        case sameReplica
        /// The remote sent something that can't be right.
        case invalidBundle
        /// A bundle shows that this file or the sender's is a copy of another one.
        case forkedReplica
        /// The database has members, and this store is none of them, or its role does not allow it.
        case notMember
        /// Somebody retired the replica.
        case retiredReplica
        /// Other replicas forgot deletions that this one does not know: only a bundle of everything can be
        /// applied.
        case resyncRequired
        /// The column can't have the policy.
        case unsuitablePolicy
        /// There is no such conflict in the journal.
        case noSuchConflict
        /// The conflict was resolved before.
        case conflictResolved
        /// The lost value can't be written: its table, column or place is not there.
        case unrestorable
        /// A deleted row can't be inserted again as a whole: some of its values are not known here.
        case incompleteRow
        /// The row of a lost value is not deleted: it is parked, because something stands against it.
        case parkedRow
        /// A bundle builds on changes that are not here.
        case missingChanges
        /// A folder holds no snapshot that a new replica could begin with.
        case snapshotMissing
        /// This way to the remote can't carry some tables only, nor knowledge that is limited to some tables.
        case scopeUnsupported
        /// The remote has the name `/`, which a store keeps for the remotes of the store that it is a copy of.
        case reservedName
        /// Rows can't be chosen by this column, by these values, or beside another choice.
        case unsuitableScope
        /// The device asks for, or brings, tables or rows that the remote does not exchange with it.
        case outsideScope
        /// More replicas, tables or columns would be known here than a store keeps.
        case capacityExceeded
        /// Applying the bundle takes longer than the server allows this device while others wait.
        case tooMuchAtOnce
        /// A bundle changes rows that are missing here, although the writes that began them count as known.
        case rowsMissing
        /// The replica is not known here.
        case noSuchReplica
        /// Two replicas know the same changes but hold different rows, and could not be made equal.
        case diverged
        /// The remote can't be compared.
        case notComparable
        /// A replica was written to while it was compared with another one.
        case changedMeanwhile
        /// A trigger, a view or something else in a file that somebody else may have written reaches into what synchronization
        /// keeps for itself: the message names it.
        case unsafeSchema
        /// The clock of this machine shows a time after the year 4199: no other store would take in what is stamped by it.
        case unusableClock
        /// The synchronization was cancelled; nothing was applied.
        case cancelled
    }

    /// The kind of failure.
    public let code: Code
    /// What happened.
    public let message: String
    /// The rows that are not taken (`outsideScope`) or not here (`rowsMissing`); there may be more of them.
    package var rows: [StateRows] = []
    /// What a retired replica has to take along into its new identity (`retiredReplica`).
    var forks: [Fork] = []
    /// Whether it is the sender of a bundle that was retired (`retiredReplica`), and not the replica that would apply it.
    package var isOfSender = false
    /// Whether it is the remote that was retired (`retiredReplica`), and not this store.
    package var isOfRemote = false

    /// Makes an error.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// What happened.
    public var description: String { message }
}

extension SyncError {
    /// A replica was written to while it was compared.
    static let changedMeanwhile = SyncError(
        .changedMeanwhile, "a replica was written to while it was compared with the other one; try again")

    /// A remote that has nothing to do with this store.
    static let otherStoreRemote = SyncError(.otherStore, "the remote is a replica of another database")
    /// A remote that can't be distinguished from this store.
    static let sameReplicaRemote = SyncError(
        .sameReplica,
        "the remote has the same identity: it is this file itself, or a copy that can't be told from it")
}
