/// What a replica says about replicas, besides what it knows itself: in greetings,
/// and in the headers of bundles.
public struct ReplicaFacts: Equatable, Sendable {
    /// A replica that nobody waits for any more.
    public struct Retirement: Hashable, Sendable {
        /// Why a replica was retired.
        public enum Reason: UInt8, Sendable {
            /// Nothing was heard of it for too long.
            case unseen = 1
            /// Somebody said so.
            case requested = 2
            /// Its file goes on under another identifier.
            case renewed = 3
        }

        /// The replica.
        public let replica: ReplicaID
        /// When, in milliseconds of Unix time.
        public let milliseconds: Int64
        /// Why.
        public let reason: Reason

        /// Makes a retirement.
        public init(replica: ReplicaID, milliseconds: Int64, reason: Reason) {
            self.replica = replica
            self.milliseconds = milliseconds
            self.reason = reason
        }
    }

    /// What is known of some tables, or sent of them, where it is not what is known of all.
    public struct Part: Equatable, Sendable {
        /// The tables, each by its name and its other names.
        public var tables: [[String]]
        /// In bundles: what the receiver has to know of these tables already.
        public var base: VersionVector
        /// What is known of these tables: in greetings by the sender, in bundles by the receiver
        /// afterwards.
        public var target: VersionVector
        /// The changes of these tables that every replica knows that holds them.
        public var floor: VersionVector

        /// Makes a part.
        public init(
            tables: [[String]], base: VersionVector = VersionVector(), target: VersionVector,
            floor: VersionVector = VersionVector()
        ) {
            self.tables = tables
            self.base = base
            self.target = target
            self.floor = floor
        }
    }

    /// Points of the chains of replicas, newest first.
    public var chains: [ReplicaID: [ChainPoint]] = [:]
    /// The changes that every replica knows that is not retired. Deletions among
    /// them are forgotten: whoever does not know them needs all rows.
    public var floor = VersionVector()
    /// What other replicas are known to know.
    public var known: [ReplicaID: VersionVector] = [:]
    /// The replicas that are retired.
    public var retirements: [Retirement] = []
    /// Where the file is, as a hash that says nothing to others: equal for two
    /// openings of one file.
    public var place: Identifier128?
    /// Tables of which something else is known, or sent, than of the others.
    public var parts: [Part] = []
    /// What replicas that hold some tables only know of all of these.
    public var acknowledged: [ReplicaID: VersionVector] = [:]
    /// Tables of which the sender holds some rows only.
    public var partials: [Partial] = []
    /// Tables of which a bundle has some rows only.
    public var restrictions: [Restriction] = []

    /// What the sender holds, as digests; in greetings only.
    public var digest: StateDigest?
    /// Whether a bundle holds rows in which two replicas differ that know the same: all of
    /// each row, whatever the receiver knows.
    public var isRepair = false

    /// Makes facts of nothing.
    public init() {}

    /// Whether there is nothing to say.
    public var isEmpty: Bool { self == ReplicaFacts() }
}
