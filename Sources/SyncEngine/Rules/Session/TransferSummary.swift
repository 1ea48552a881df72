import SyncWire

/// How much a transfer moved.
public struct TransferSummary: Equatable, Sendable {
    /// The rows.
    public let rowCount: Int64
    /// The bytes on the wire.
    public let byteCount: Int64
    /// The last of the sender's changes that went, when others follow because no more was wanted at once.
    package var portionEnd: Int64?

    /// Makes a summary.
    public init(rowCount: Int64, byteCount: Int64) {
        self.rowCount = rowCount
        self.byteCount = byteCount
    }
}

/// How far a transfer has come.
public struct SyncProgress: Sendable {
    /// Which way the rows go.
    public let direction: SyncDirection
    /// The rows that were sent.
    public let completedRowCount: Int64
    /// The rows that are to be sent.
    public let totalRowCount: Int64
}

/// Receives progress. An error that it throws cancels the synchronization:
/// nothing of the transfer that is running is applied.
public typealias SyncProgressHandler = (_ completed: Int64, _ total: Int64) throws -> Void
