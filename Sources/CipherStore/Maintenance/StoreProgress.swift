/// How far a long operation on a store has come.
public struct StoreProgress: Sendable {
    /// The parts of an operation.
    public enum Phase: String, Sendable {
        /// Pages are copied.
        case copying
        /// The copy is checked.
        case verifying
    }

    /// The part that is running.
    public let phase: Phase

    /// The pages that this part is done with.
    public let completedPageCount: Int

    /// The pages of this part.
    public let totalPageCount: Int
}

/// Receives progress. An error that it throws cancels the operation, which then
/// leaves everything as it was.
public typealias StoreProgressHandler = (StoreProgress) throws -> Void
