import CipherStore
import SyncWire

/// What a replica that holds some rows of a table asks for.
public struct RowRequest: Equatable, Sendable {
    /// What it knows of the table, by its names.
    public var partial: ReplicaFacts.Partial
    /// The scope column, by its name and other names.
    public var columns: [String]
    /// The values whose rows it wants; nil for all rows.
    public var values: [ScopeValue]?
    /// The values of which it has the rows, as of what it knows.
    public var heldValues: [ScopeValue]
    /// Who asks.
    public var receiver: ReplicaID
    /// Rises whenever something else is asked for, so that no late answer is taken for that to another question.
    public var revision: Int64

    /// Makes a request.
    public init(
        partial: ReplicaFacts.Partial, columns: [String], values: [ScopeValue]?, heldValues: [ScopeValue],
        receiver: ReplicaID, revision: Int64
    ) {
        self.receiver = receiver
        self.revision = revision
        self.partial = partial
        self.columns = columns
        self.values = values
        self.heldValues = heldValues
    }
}
