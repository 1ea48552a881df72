import SyncWire

/// A way to reach a replica.
///
/// A cancelled synchronization stops between two frames that are handed over, and then closes the peer. It
/// does not end a wait inside the transport, so every such wait needs a timeout.
public protocol Transport: Sendable {
    /// A name for status lines, such as a path. No secret, and not `/`, which a store keeps for itself.
    var name: String { get }

    /// Opens a connection to the replica.
    func connect(_ environment: SyncEnvironment) throws -> any SyncPeer
}
