import SyncWire

/// A way to reach a replica.
///
/// A cancelled synchronization stops between two frames that are handed over, and then closes the peer. A wait
/// of a transport's own is not ended by it, so each has to have an end of its own.
public protocol Transport: Sendable {
    /// A name for status lines, such as a path. No secret.
    var name: String { get }

    /// Opens a connection to the replica.
    func connect(_ environment: SyncEnvironment) throws -> any SyncPeer
}

/// What a peer was to hand out does not come fast enough for a receiver that has a transaction open.
package struct SourceStalled: Error {
    package init() {}
}

/// A replica that can be synchronized with: the store here, or one elsewhere.
public protocol SyncPeer: AnyObject {
    /// Folds its log and says who it is and what it knows.
    func greet() throws -> Greeting

    /// Fetches what ``send(_:progress:to:)`` is going to hand out, if that takes long: the
    /// receiver has a transaction open while it takes frames, and others wait for it.
    ///
    /// A peer may fetch a part and begin to hand it out. It throws `SourceStalled` when the rest is late,
    /// and is asked again for the same then: the second time it fetches everything.
    func prepareToSend(_ request: TransferRequest, progress: SyncProgressHandler?) throws

    /// Writes what lies beyond what a receiver knows, of all tables or of some, as the frames of a
    /// bundle, from one snapshot.
    ///
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

    /// Takes in what another replica says of itself and of others.
    ///
    /// - returns: The forks that this replica sees in it.
    func meet(_ greeting: Greeting) throws -> [Fork]

    /// Gives the replica a new identity, and all that it has of forks beyond their common part.
    func renewIdentity(_ forks: [Fork]) throws

    /// The same, unless the greeting that showed the forks does not show them any more: another process may have
    /// synchronized the two replicas since this one greeted, and then what looks like a copy of its file is its own
    /// newer state.
    ///
    /// - parameters:
    ///     - greeting: What the other replica said.
    ///     - replica: The identity that this replica greeted with.
    /// - returns: Whether it has a new identity.
    func renewIdentity(_ forks: [Fork], shownBy greeting: Greeting, to replica: ReplicaID) throws -> Bool

    /// Remembers that it was synchronized with another replica.
    ///
    /// - parameter vector: What the other replica knows now.
    func remember(_ peer: ReplicaID, name: String, knowing vector: VersionVector) throws

    /// Says what the replica holds, as digests.
    ///
    /// - returns: nil when it can't be compared, or only by and by: its program knows no
    ///   digests, or somebody wrote after the fold.
    func state(_ kind: StateKind) throws -> ReplicaState?

    /// Answers a question about rows.
    func answer(_ question: StateQuestion) throws -> StateAnswer

    /// Fetches what ``send(rows:to:)`` is going to hand out, as ``prepareToSend(_:progress:)``.
    func prepareToSend(rows: [StateRows]) throws

    /// Writes all of some rows as the frames of a bundle that repairs a divergence.
    func send(
        rows: [StateRows], to sink: @escaping (UnsafeRawBufferPointer) throws -> Void
    ) throws -> TransferSummary

    /// Notes what this replica, which was retired, has to take along when it gets a new identity.
    func note(_ forks: [Fork]) throws

    /// What to ask another replica for, of the tables that this one holds some rows of.
    func rowRequests() throws -> [RowRequest]

    /// Takes out the rows that are not wanted, and of which a remote has what was written to them here.
    ///
    /// - parameter acknowledged: What the remote knows of tables that are held in part, by their names.
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
    /// Does nothing: what is here needs not be fetched.
    public func prepareToSend(_ request: TransferRequest, progress: SyncProgressHandler?) throws {}

    /// Does nothing, as above.
    public func prepareToSend(rows: [StateRows]) throws {}
}

/// How digests are told.
public enum StateKind: Sendable {
    /// As they are kept, and without what there is nothing of.
    case kept
    /// Of all tables and columns, computed anew from the versions.
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
