import SyncWire

/// The course of one synchronization: event in, action out.
///
/// It does no I/O and knows no transport; whoever drives it carries the actions
/// out and reports what came of them.
struct SyncSession {
    /// One of the two sides.
    enum Side: Equatable { case local, remote }

    /// What happened.
    enum Event: Equatable {
        /// Both sides said who they are.
        case greeted(local: Greeting, remote: Greeting)
        /// A side that had been restored from an older copy got a new identity.
        case renewed(Side)
        /// The remote's changes are here.
        case pulled
        /// Our changes are at the remote.
        case pushed
    }

    /// What is to be done next.
    enum Action: Equatable {
        /// Ask both sides who they are.
        case greet
        /// Give a side a new replica id.
        case renew(Side)
        /// Bring what the remote knows beyond a vector.
        case pull(since: VersionVector)
        /// Send what we know beyond a vector.
        case push(since: VersionVector)
        /// Done.
        case finish
        /// The two sides must not be synchronized.
        case refuse(SyncError)
    }

    private enum State: Equatable {
        case greeting
        case renewing
        case pulling(thenPushSince: VersionVector?)
        case pushing
        case finished
    }

    private let direction: SyncDirection
    private var state = State.greeting
    private var renewedSides: [Side] = []

    init(_ direction: SyncDirection) {
        self.direction = direction
    }

    /// The first action.
    var start: Action { .greet }

    /// Takes an event.
    ///
    /// - returns: The next action.
    mutating func handle(_ event: Event) -> Action {
        switch (state, event) {
        case (.greeting, .greeted(let local, let remote)):
            return meet(local, remote)
        case (.renewing, .renewed(let side)):
            renewedSides.append(side)
            state = .greeting
            return .greet
        case (.pulling(let next), .pulled):
            return push(since: next)
        case (.pushing, .pushed):
            return finish()
        default:
            preconditionFailure("event \(event) does not belong in state \(state)")
        }
    }

    private mutating func meet(_ local: Greeting, _ remote: Greeting) -> Action {
        guard local.store == remote.store else {
            return refuse(.otherStore, "the remote is a replica of another database")
        }
        guard local.replica != remote.replica else {
            return refuse(
                .sameReplica,
                "the remote has the same identity: it is this file itself, or a plain copy of it")
        }
        if remote.vector[local.replica] > local.ownSequence { return renew(.local) }
        if local.vector[remote.replica] > remote.ownSequence { return renew(.remote) }
        let isPullDue = direction != .push && !local.vector.covers(remote.vector)
        let isPushDue = direction != .pull && !remote.vector.covers(local.vector)
        guard isPullDue else { return push(since: isPushDue ? remote.vector : nil) }
        state = .pulling(thenPushSince: isPushDue ? remote.vector : nil)
        return .pull(since: local.vector)
    }

    /// A side of which the other knows more than it does itself was restored
    /// from an older copy.
    private mutating func renew(_ side: Side) -> Action {
        guard !renewedSides.contains(side) else {
            return refuse(.damagedMetadata, "a replica that was given a new identity is known already")
        }
        state = .renewing
        return .renew(side)
    }

    private mutating func push(since vector: VersionVector?) -> Action {
        guard let vector else { return finish() }
        state = .pushing
        return .push(since: vector)
    }

    private mutating func finish() -> Action {
        state = .finished
        return .finish
    }

    private mutating func refuse(_ code: SyncError.Code, _ message: String) -> Action {
        state = .finished
        return .refuse(SyncError(code, message))
    }
}
