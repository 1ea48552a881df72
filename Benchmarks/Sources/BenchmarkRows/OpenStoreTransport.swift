import SyncEngine

/// A connection that stays open from one synchronization to the next, as a server's does.
package struct OpenStoreTransport: Transport {
    // Benchmarks have one thread.
    nonisolated(unsafe) let peer: any SyncPeer

    package init(peer: any SyncPeer) { self.peer = peer }

    package var name: String { "an open store" }

    package func connect(_ environment: SyncEnvironment) throws -> any SyncPeer { OpenPeer(peer) }
}

/// A peer that its session does not close.
private final class OpenPeer: SyncPeer {
    private let peer: any SyncPeer

    init(_ peer: any SyncPeer) { self.peer = peer }

    func greet() throws -> Greeting { try peer.greet() }

    func send(
        _ request: TransferRequest, progress: SyncProgressHandler?,
        to sink: @escaping (UnsafeRawBufferPointer) throws -> Void
    ) throws -> TransferSummary {
        try peer.send(request, progress: progress, to: sink)
    }

    func receive(_ frames: ((UnsafeRawBufferPointer) throws -> Void) throws -> Void) throws -> ApplySummary {
        try peer.receive(frames)
    }

    func meet(_ greeting: Greeting) throws -> [Fork] { try peer.meet(greeting) }

    func state(_ kind: StateKind) throws -> ReplicaState? { try peer.state(kind) }

    func answer(_ question: StateQuestion) throws -> StateAnswer { try peer.answer(question) }

    func send(
        rows: [StateRows], to sink: @escaping (UnsafeRawBufferPointer) throws -> Void
    ) throws -> TransferSummary { try peer.send(rows: rows, to: sink) }

    func renewIdentity(_ forks: [Fork]) throws { try peer.renewIdentity(forks) }

    func remember(_ replica: ReplicaID, name: String, knowing vector: VersionVector) throws {
        try peer.remember(replica, name: name, knowing: vector)
    }

    func close() {}
}
