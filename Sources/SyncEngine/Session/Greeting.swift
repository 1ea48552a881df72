import SyncWire

/// What a replica says of itself when a synchronization begins.
public struct Greeting: Equatable, Sendable {
    /// The database that it is a replica of.
    public let store: StoreID
    /// The replica.
    public let replica: ReplicaID
    /// What it knows.
    public let vector: VersionVector
    /// The last of its own changes that had a number before this greeting gave
    /// numbers to what was new. A peer that knows more has seen changes that
    /// this file lost: it was restored from an older copy.
    public let ownSequence: Int64

    /// Makes a greeting.
    public init(store: StoreID, replica: ReplicaID, vector: VersionVector, ownSequence: Int64) {
        self.store = store
        self.replica = replica
        self.vector = vector
        self.ownSequence = ownSequence
    }
}

/// Which way changes go.
public enum SyncDirection: String, Sendable {
    /// From the remote to this store.
    case pull
    /// From this store to the remote.
    case push
    /// Both ways: first from the remote, then to it.
    case both
}
