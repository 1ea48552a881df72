import SyncWire

/// A remote that says what a store may exchange with it.
package protocol AdaptingPeer: SyncPeer {
    /// Called before a store is synchronized with this peer. One that says what the store may exchange with it
    /// adapts the store's choice.
    ///
    /// - returns: The direction, or the only one that the peer allows of both.
    func adapt(_ synchronizer: Synchronizer, _ direction: SyncDirection) throws -> SyncDirection
}
