import SyncWire

/// The frames of a peer come too slowly for a receiver that has a transaction open.
package struct SourceStalled: Error {
    package init() {}
}

/// A replica that can be synchronized with: the store here, or one elsewhere.
public protocol SyncPeer: AnyObject {
    /// Folds its log and says who it is and what it knows.
    func greet() throws -> Greeting

    /// Fetches in advance what ``send(_:progress:to:)`` will hand out, if fetching takes long. The receiver
    /// has a transaction open while it takes frames, and other writers wait for it.
    ///
    /// A peer may fetch a part and begin to hand it out. If the rest is late, it throws `SourceStalled`. It
    /// is then asked for the same again, and the second time it fetches everything.
    func prepareToSend(_ request: TransferRequest, progress: SyncProgressHandler?) throws

    /// Writes the changes that a receiver does not know, of all tables or of some, as the frames of a bundle,
    /// from one snapshot.
    ///
    /// - parameter request: What is asked for.
    /// - parameter progress: Called with how far it is; an error that it throws ends the whole.
    /// - parameter sink: Takes frames; their bytes are valid only during the call.
    /// - returns: The number of rows and bytes.
    func send(
        _ request: TransferRequest, progress: SyncProgressHandler?,
        to sink: @escaping (UnsafeRawBufferPointer) throws -> Void
    ) throws -> TransferSummary

    /// Applies the frames that `frames` hands out: all or nothing.
    func receive(
        _ frames: ((UnsafeRawBufferPointer) throws -> Void) throws -> Void
    ) throws -> ApplySummary

    /// Takes in what another replica says about itself and about others.
    ///
    /// - returns: The forks that this replica sees in it.
    func meet(_ greeting: Greeting) throws -> [Fork]

    /// Gives the replica a new identity, and moves its changes beyond the common part of each fork to that
    /// identity.
    func renewIdentity(_ forks: [Fork]) throws

    /// Does the same, unless the greeting no longer shows the forks. Another process may have synchronized
    /// the two replicas since this one greeted; its own newer state then looks like a copy of its file.
    ///
    /// - parameters:
    ///     - forks: The forks.
    ///     - greeting: What the other replica said.
    ///     - replica: The identity that this replica greeted with.
    /// - returns: Whether it has a new identity.
    func renewIdentity(_ forks: [Fork], shownBy greeting: Greeting, to replica: ReplicaID) throws -> Bool

    /// Remembers that it was synchronized with another replica.
    ///
    /// - parameter peer: What the remote said of itself.
    /// - parameter name: What people call the remote.
    /// - parameter vector: What the other replica knows now.
    func remember(_ peer: ReplicaID, name: String, knowing vector: VersionVector) throws

    /// Says what the replica holds, as digests.
    ///
    /// - returns: nil when it can't be compared, because its program knows no digests, or can't be compared
    ///   now, because something was written after the fold.
    func state(_ kind: StateKind) throws -> ReplicaState?

    /// Answers a question about rows.
    func answer(_ question: StateQuestion) throws -> StateAnswer

    /// Fetches in advance what ``send(rows:to:)`` will hand out, as ``prepareToSend(_:progress:)`` does.
    func prepareToSend(rows: [StateRows]) throws

    /// Writes all of some rows as the frames of a bundle that repairs a divergence.
    func send(
        rows: [StateRows], to sink: @escaping (UnsafeRawBufferPointer) throws -> Void
    ) throws -> TransferSummary

    /// Notes the forks of this retired replica, whose changes it has to take along when it gets a new
    /// identity.
    func note(_ forks: [Fork]) throws

    /// The rows to ask another replica for, in tables that this one holds in part.
    func rowRequests() throws -> [RowRequest]

    /// Takes out rows outside the choice, if a remote has the changes that were made to them here.
    ///
    /// - parameter acknowledged: What the remote knows of the tables that are held in part, by their names.
    func takeOutRows(acknowledged: [(names: [String], known: VersionVector)]) throws

    /// Ends the connection.
    func close()
}

extension SyncPeer {
    /// Asks nothing again.
    public func renewIdentity(
        _ forks: [Fork], shownBy greeting: Greeting, to replica: ReplicaID
    ) throws -> Bool {
        try renewIdentity(forks)
        return true
    }

    /// Does nothing: another program gives that replica its new identity.
    public func note(_ forks: [Fork]) throws {}

    /// Asks for nothing: all rows are here.
    public func rowRequests() throws -> [RowRequest] { [] }

    /// Does nothing, as above.
    public func takeOutRows(acknowledged: [(names: [String], known: VersionVector)]) throws {}
}

extension SyncPeer {
    /// Does nothing: local rows need not be fetched.
    public func prepareToSend(_ request: TransferRequest, progress: SyncProgressHandler?) throws {}

    /// Does nothing, as above.
    public func prepareToSend(rows: [StateRows]) throws {}
}

/// Which digests a replica is asked for.
public enum StateKind: Sendable {
    /// As they are kept, and without what there is nothing of.
    case kept
    /// Of all tables and columns, recomputed from the versions.
    case recomputed
}

/// A peer whose program does not know how to compare. These go with each other.
extension SyncPeer {
    /// Says that it can't be compared.
    public func state(_ kind: StateKind) throws -> ReplicaState? { nil }

    /// Refuses.
    public func answer(_ question: StateQuestion) throws -> StateAnswer {
        throw SyncError(.notComparable, "the remote can't be compared")
    }

    /// Refuses.
    public func send(
        rows: [StateRows], to sink: @escaping (UnsafeRawBufferPointer) throws -> Void
    ) throws -> TransferSummary {
        throw SyncError(.notComparable, "the remote can't be compared")
    }
}

extension SyncPeer {
    /// Writes what lies beyond a vector, of all tables.
    package func send(
        since vector: VersionVector, progress: SyncProgressHandler?,
        to sink: @escaping (UnsafeRawBufferPointer) throws -> Void
    ) throws -> TransferSummary {
        try send(TransferRequest(base: vector), progress: progress, to: sink)
    }
}

/// A peer that hands on what it is asked to another one, and changes some of it: what tests watch, and what the
/// simulator's faults are in. What a remote need not answer is not handed on.
package protocol WrappedPeer: SyncPeer {
    var inner: any SyncPeer { get }
}

extension WrappedPeer {
    package func greet() throws -> Greeting { try inner.greet() }

    package func meet(_ greeting: Greeting) throws -> [Fork] { try inner.meet(greeting) }

    package func renewIdentity(_ forks: [Fork]) throws { try inner.renewIdentity(forks) }

    package func remember(_ peer: ReplicaID, name: String, knowing vector: VersionVector) throws {
        try inner.remember(peer, name: name, knowing: vector)
    }

    package func state(_ kind: StateKind) throws -> ReplicaState? { try inner.state(kind) }

    package func answer(_ question: StateQuestion) throws -> StateAnswer { try inner.answer(question) }

    package func send(
        rows: [StateRows], to sink: @escaping (UnsafeRawBufferPointer) throws -> Void
    ) throws -> TransferSummary { try inner.send(rows: rows, to: sink) }

    package func close() { inner.close() }
}
