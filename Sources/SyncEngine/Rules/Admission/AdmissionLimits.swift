import SyncWire

/// How much a store takes in of what others say.
///
/// A bundle can hold more than that (``WireLimits``). What a store took in, it sends on, with what it adds itself: so
/// it takes in strictly less than what a bundle can hold, and no store can be brought to a state in which its own
/// bundles are refused. `Schemas/wire/v1.md`, section 9.1, "Limits of what a peer can claim", is the contract.
package enum AdmissionLimits {
    /// The highest number of a change. Numbers count the entries of a log, and nobody but their replica adds to
    /// them. A number that JSON can hold.
    package static let sequenceMax: Int64 = 1 << 53
    /// The latest timestamp: in the year 4199.
    ///
    /// A write is stamped above the one that it replaces. One that would get beyond this bound begins a new life of its
    /// row instead, which wins over any stamp of the former one (see ``Fold``). So all stores stay within the bound.
    package static let timestampMax: Int64 = 1 << 62
    /// The last life of a row, in which it is deleted: what is deleted then stays so.
    package static let lifeMax: Int64 = 1 << 62
    /// The latest time in milliseconds, which is the one of the latest timestamp.
    package static let millisecondsMax: Int64 = timestampMax >> 16

    /// The replicas of which a store keeps anything. A header can list five times as many.
    package static let replicaCountMax = 20_000
    /// The tables, and the groups of names and policies, that a header needs. It can list more than twice as many.
    package static let tableCountMax = 4_000
    /// The columns of a table, those among them that are only known elsewhere. A header can list four times as many.
    package static let columnCountMax = 8_000
    /// The columns of all tables. A header can list five times as many.
    package static let columnTotalMax = 200_000
    /// The names that peers give one table or column beside its own. What is beyond is not kept, and understood in the
    /// bundle that says it. As many again have room that it had here before, half of them for those under which it was known
    /// as another one: a greeting can list 1,000 of each.
    package static let otherNameCountMax = 200
    /// The names that peers give all tables and columns beside their own.
    package static let otherNameTotalMax = 50_000
    /// The bytes of a name. It can have four times as many.
    package static let nameByteCountMax = 16 << 10
    /// The bytes of all names: a quarter of a header.
    package static let nameByteTotalMax = 4 << 20
    /// The bytes of the name of a function that merges. A policy with a longer one counts for none, and is not passed on.
    package static let functionNameByteCountMax = 256
    /// What is known of single tables beside what is known of all: entries of vectors in a header.
    package static let coverageEntryCountMax = 50_000

    /// What replicas are known to know, entries of vectors: of replicas that this one never met, a quarter of it is noted.
    /// All of it is read for each greeting. What has no room is what somebody knows of replicas of which nothing was noted of
    /// it so far (see ``KnownNews``): it counts as unknown, so deletions by those replicas are not forgotten.
    static let knownEntryCountMax = 1_000_000

    /// The bytes of what a store says about other replicas, in a greeting or in a header. What has no place is left
    /// out, and said another time: it is there to forget deletions early, and to find copies of files.
    static let factByteCountMax = 2 << 20
    /// The replicas of which one greeting may say something for the first time.
    static let strangerCountMax = 1_000
}
