import SyncWire

/// What a replica asks another one for.
public struct TransferRequest: Equatable, Sendable {
    /// What it knows of all tables.
    public var base: VersionVector
    /// The tables of which it knows something else.
    public var parts: [ReplicaFacts.Part]
    /// The tables that it wants, each by its name and its other names; nil for all.
    public var tables: [[String]]?
    /// The tables of which it wants some rows only.
    public var rows: [RowRequest] = []
    /// The tables of which it holds some rows only, each by its names, and wants nothing now.
    public var leftOut: [[String]] = []
    /// Rows that it does not take from this replica: what was changed in them waits (see ``HeldBackRows``).
    package var heldBack: [StateRows] = []
    /// Rows that it does not have, though what they began with counts as known there: it wants all of each.
    package var wholeRows: [StateRows] = []
    /// About how many of the sender's own changes it wants at once; nil for all (see ``BundlePortion``).
    package var changeCountMax: Int64?
    /// Whether it takes a row without values that were written to it later.
    package var dividesRows = false
    /// Whether it takes the same to be known of all tables, so that nothing is said of single ones where there is no need.
    package var isOfAllTables = false

    /// Makes a request.
    public init(base: VersionVector, parts: [ReplicaFacts.Part] = [], tables: [[String]]? = nil) {
        self.base = base
        self.parts = parts
        self.tables = tables
    }

    /// The last change of each replica of which anything is known.
    var reach: VersionVector {
        let reach = parts.reduce(into: base) { $0.join($1.target) }
        let all = rows.reduce(into: reach) { $0.join($1.partial.known) }
        assert(all.covers(base))
        return all
    }
}
