import CipherStore
import SyncWire

/// A replica id under which two files made changes: one is a copy of the other, or was
/// restored from one.
public struct Fork: Hashable, Sendable {
    /// The replica.
    public let replica: ReplicaID
    /// The last of its changes that both files have in common, as far as that is known.
    public let common: Int64

    /// Makes a fork.
    public init(replica: ReplicaID, common: Int64) {
        self.replica = replica
        self.common = common
    }
}
