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
        /// Both sides said who they are, and which forks they found in what the other said.
        case greeted(local: Greeting, remote: Greeting, forks: [Fork] = [])
        /// A side got a new identity.
        case renewed(Side)
        /// The remote's changes are here.
        case pulled
        /// Our changes are at the remote.
        case pushed
    }

    /// What is to be done next.
    enum Action: Equatable {
        /// Ask both sides who they are, and tell each what the other said.
        case greet
        /// Give a side a new replica id, and all that it has of forks beyond their common part.
        case renew(Side, [Fork])
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
    /// The tables that are exchanged, each by its names; nil for all.
    private let tables: [[String]]?
    private var state = State.greeting
    private var renewedSides: [Side] = []

    init(_ direction: SyncDirection, tables: [[String]]? = nil) {
        self.direction = direction
        self.tables = tables
    }

    /// The first action.
    var start: Action { .greet }

    /// Takes an event.
    ///
    /// - returns: The next action.
    mutating func handle(_ event: Event) -> Action {
        switch (state, event) {
        case (.greeting, .greeted(let local, let remote, let forks)):
            return meet(local, remote, forks)
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

    private mutating func meet(_ local: Greeting, _ remote: Greeting, _ found: [Fork]) -> Action {
        guard local.store == remote.store else {
            return refuse(.otherStore, "the remote is a replica of another database")
        }
        guard local.replica != remote.replica || isOtherFile(local, remote) else {
            return refuse(
                .sameReplica,
                "the remote has the same identity: it is this file itself, or a plain copy of it")
        }
        if let refusal = retirement(local, remote) { return refusal }
        let yielding = ForkOrder(local: local, remote: remote, found: found)
        for side in [Side.local, .remote] {
            let forks = yielding.forks(of: side)
            if !forks.isEmpty { return renew(side, forks) }
        }
        let isPullDue = direction != .push && !local.covers(remote, within: tables)
        let isPushDue = direction != .pull && !remote.covers(local, within: tables)
        guard isPullDue else { return push(since: isPushDue ? remote.vector : nil) }
        state = .pulling(thenPushSince: isPushDue ? remote.vector : nil)
        return .pull(since: local.vector)
    }

    /// Whether two sides of one identity are two files.
    private func isOtherFile(_ local: Greeting, _ remote: Greeting) -> Bool {
        if let place = local.facts.place, let other = remote.facts.place, place != other { return true }
        return local.vector != remote.vector
            || local.facts.chains[local.replica]?.first != remote.facts.chains[remote.replica]?.first
    }

    /// What becomes of a side that the other knows as retired: one that was only not seen
    /// for long goes on under a new identity.
    private mutating func retirement(_ local: Greeting, _ remote: Greeting) -> Action? {
        for (side, who, other) in [(Side.local, local, remote), (.remote, remote, local)] {
            guard let retirement = other.facts.retirements.first(where: { $0.replica == who.replica }) else {
                continue
            }
            guard retirement.reason == .requested else { return renew(side, []) }
            let name = who.replica.shortDescription
            return refuse(
                .retiredReplica,
                side == .local
                    ? "this replica, \(name), was retired" : "the remote, replica \(name), was retired here")
        }
        return nil
    }

    /// A side gets a new identity. That can be due more than once, because one side may not
    /// see a fork before the other is renewed.
    private mutating func renew(_ side: Side, _ forks: [Fork]) -> Action {
        guard renewedSides.filter({ $0 == side }).count < 2 else {
            return refuse(.damagedMetadata, "a replica that was given a new identity is known already")
        }
        state = .renewing
        return .renew(side, forks)
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

/// Says which side has to give way in a fork.
private struct ForkOrder {
    let local: Greeting
    let remote: Greeting
    private let commons: [ReplicaID: Int64]

    init(local: Greeting, remote: Greeting, found: [Fork]) {
        self.local = local
        self.remote = remote
        var commons = Dictionary(found.map { ($0.replica, $0.common) }, uniquingKeysWith: max)
        // Whoever knows less of itself than others do was restored from an older copy.
        if remote.reach[local.replica] > local.ownSequence, commons[local.replica] == nil {
            commons[local.replica] = 0
        }
        if local.reach[remote.replica] > remote.ownSequence, commons[remote.replica] == nil {
            commons[remote.replica] = 0
        }
        if local.replica == remote.replica, commons[local.replica] == nil {
            // Two files that did not change since one was copied have everything in common.
            let isKnown = local.facts.chains[local.replica]?.first != nil
            commons[local.replica] = isKnown ? min(local.ownSequence, remote.ownSequence) : 0
        }
        self.commons = commons
    }

    func forks(of side: SyncSession.Side) -> [Fork] {
        commons.filter { yielding($0.key) == side }.map { Fork(replica: $0.key, common: $0.value) }
            .sorted { $0.replica < $1.replica }
    }

    /// A file that uses the id gives way; of two that only know of it, or both use it, the one
    /// that knows less: less has to move.
    private func yielding(_ replica: ReplicaID) -> SyncSession.Side {
        if local.replica != remote.replica {
            if replica == local.replica { return .local }
            if replica == remote.replica { return .remote }
        }
        let (own, other) = (local.reach[replica], remote.reach[replica])
        if own != other { return own < other ? .local : .remote }
        guard let hash = local.facts.chains[replica]?.first?.hash,
            let otherHash = remote.facts.chains[replica]?.first?.hash
        else { return .remote }
        return hash < otherHash ? .local : .remote
    }
}
