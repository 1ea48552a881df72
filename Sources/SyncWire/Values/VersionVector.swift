/// How much a replica knows: for each replica, the last of its changes that
/// arrived, directly or through others.
public struct VersionVector: Hashable, Sendable {
    /// The sequences by replica. A missing replica is at zero.
    public private(set) var sequences: [ReplicaID: Int64]

    /// Makes a vector.
    public init(_ sequences: [ReplicaID: Int64] = [:]) {
        self.sequences = sequences.filter { $0.value > 0 }
    }

    /// The last known sequence of a replica.
    public subscript(replica: ReplicaID) -> Int64 {
        get { sequences[replica] ?? 0 }
        set { sequences[replica] = newValue > 0 ? newValue : nil }
    }

    /// Returns whether a change is covered.
    public func contains(_ stamp: Stamp) -> Bool {
        self[stamp.replica] >= stamp.sequence
    }

    /// Returns whether everything that the other vector covers is covered here.
    public func covers(_ other: VersionVector) -> Bool {
        other.sequences.allSatisfy { self[$0.key] >= $0.value }
    }

    /// Takes the later of the two sequences, for each replica.
    public mutating func join(_ other: VersionVector) {
        sequences.merge(other.sequences) { max($0, $1) }
        assert(covers(other))
    }

    /// Checks that it holds numbers of changes only, which begin with 1: equal vectors have equal entries.
    package func assertInvariants() {
        assert(sequences.values.allSatisfy { $0 > 0 }, "a replica that nothing is known of has an entry")
    }
}
