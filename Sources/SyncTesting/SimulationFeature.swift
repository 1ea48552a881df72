/// What can happen in a simulated run. Each run chooses some of what it is allowed.
public enum SimulationFeature: String, CaseIterable, Sendable {
    /// Bundles are lost, cut off at any byte, applied twice, delivered late; connections break
    /// between the two directions of a synchronization; links are down for a while.
    case network
    /// A process dies at any write of a transaction, and starts again from what the disk holds.
    case crashes
    /// Clocks are wrong by years, and jump.
    case clocks
    /// Programs without a synchronizer write to the files, also while these are synchronized.
    case foreignWriters = "foreign-writers"
    /// Replicas are cloned in the middle of a run.
    case clones
    /// Files are copied as any other file, and both the original and the copy go on.
    case copies
    /// The schema has foreign keys.
    case foreignKeys = "foreign-keys"
    /// The schema has UNIQUE constraints.
    case uniques
    /// The schema has CHECK constraints that two columns decide.
    case checks
    /// Replicas run different versions of the app, and migrate at different times.
    case migrations
    /// Files are put back to older copies of themselves, and go on.
    case restores
    /// Deletions are forgotten that all know, and replicas retired that were away for long.
    case compaction
    /// Some replicas exchange some tables only, and choose others in the middle of a run. The model
    /// of it knows no identities that change, no deletions that are forgotten and no tables that do.
    case scopes
    /// Some columns count.
    case counters
    /// Some replicas hold some rows of a table only, and choose others in the middle of a run. The
    /// model of it leaves out what that of scopes does.
    case rowScopes = "row-scopes"
    /// A device that one of the replicas admitted says what it likes, in messages that are well made. No model knows
    /// what that does to rows, so a run with it is held to rules of its own, and has no other faults.
    case hostileDevice = "hostile-device"
    /// Some tables or rows are exchanged, while all the rest of this goes wrong. No model knows what comes of that, so a run
    /// with it is held to what users see.
    case witnessed
    /// Replicas meet in a mailbox, while all the rest of this goes wrong, but for scopes. A run with it is held to what
    /// users see, as one with ``witnessed``.
    case mailbox
    /// A database that is carried through a mailbox has members, who are invited and removed, and whose roles change.
    case members
    /// A mailbox is put back to an older state, or changes and loses files for good.
    case lyingPlaces = "lying-places"

    /// What came later, and is chosen apart, so that a seed chooses of the others what it always did.
    static let late: Set<SimulationFeature> = [
        .counters, .rowScopes, .hostileDevice, .witnessed, .mailbox, .members, .lyingPlaces,
    ]

    /// What a run leaves out that has scopes, of tables or rows.
    static let apartFromScopes: Set<SimulationFeature> = [
        .crashes, .copies, .restores, .compaction, .migrations,
    ]

    /// What CI runs, and what runs can have together: all but ``hostileDevice``, ``witnessed``, and ``mailbox`` with what
    /// belongs to it.
    public static let stable = Set(allCases).subtracting([
        .hostileDevice, .witnessed, .mailbox, .members, .lyingPlaces,
    ])
}
