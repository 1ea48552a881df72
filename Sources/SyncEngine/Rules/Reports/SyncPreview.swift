import CipherStore
import SyncWire

/// What a synchronization would exchange now.
public struct SyncPreview: Equatable, Sendable {
    /// The rows of a table that would be exchanged.
    public struct Table: Equatable, Sendable {
        /// Its name, as the sender calls it.
        public let name: String
        /// How many rows: those that are new, changed or deleted. Of a table that one side holds in part, at most.
        public let rowCount: Int64
    }

    /// What would go, by table; nil when it was not asked for.
    public internal(set) var outgoing: [Table]?
    /// What would come, by table; nil when it was not asked for, or when the remote does not tell.
    public internal(set) var incoming: [Table]?
    /// How many changes would come from a remote that does not tell of tables; a row can have several. nil otherwise.
    public internal(set) var incomingChangeCount: Int64?
}
