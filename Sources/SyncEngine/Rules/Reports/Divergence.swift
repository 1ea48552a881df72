import SyncWire

/// That two replicas which know the same changes do not hold the same.
///
/// It never comes of concurrent edits, whose outcome is the same everywhere. It comes of a
/// program that changed the metadata, of a damaged file, or of an error of this library.
public struct Divergence: Equatable, Sendable {
    /// The rows of a table that differ.
    public struct Table: Equatable, Sendable {
        /// The table, as it is called here.
        public let name: String
        /// The keys of the rows.
        public let keys: [StateRowKey]
    }

    /// The tables in which rows differ. There can be none, when only the digests were wrong.
    public internal(set) var tables: [Table] = []
    /// How many values lost when the rows were made equal; they are in the journals of both sides.
    public internal(set) var conflictCount: Int64 = 0
    /// Whether both sides hold the same now.
    public internal(set) var isRepaired = false
    /// Why they don't.
    public internal(set) var failure: SyncError?

    /// How many rows differ.
    public var rowCount: Int { tables.reduce(0) { $0 + $1.keys.count } }
}
