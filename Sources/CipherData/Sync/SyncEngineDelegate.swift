import SyncEngine

/// Who is told what happens to a sync engine.
public protocol SyncEngineDelegate: Sendable {
    /// A synchronization has come to its end.
    func syncEngine(_ syncEngine: SyncEngine, didSynchronize report: SyncReport)

    /// A synchronization has failed. A running engine tries again.
    func syncEngine(_ syncEngine: SyncEngine, didFail error: any Error)
}

extension SyncEngineDelegate {
    /// Does nothing.
    public func syncEngine(_ syncEngine: SyncEngine, didSynchronize report: SyncReport) {}

    /// Does nothing.
    public func syncEngine(_ syncEngine: SyncEngine, didFail error: any Error) {}
}

/// A delegate that does nothing.
public struct SilentDelegate: SyncEngineDelegate {
    /// Makes one.
    public init() {}
}
