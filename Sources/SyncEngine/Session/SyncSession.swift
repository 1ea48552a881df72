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
        /// Both sides said what they hold; nil of one that can't say it now.
        case compared(local: ReplicaState?, remote: ReplicaState?)
        /// What differed was looked for, and repaired if it could be.
        case repaired
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
        /// Ask both sides what they hold.
        case compare
        /// Find out in which rows the two sides differ, and repair that.
        case repair
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
        case comparing
        case repairing
        case finished
    }

    private let direction: SyncDirection
    private var state = State.greeting
    private var renewedSides: [Side] = []
    /// Whether both sides know the same afterwards, and can tell what they hold.
    private var isComparable = false

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
        case (.greeting, .greeted(let local, let remote, let forks)):
            return meet(local, remote, forks)
        case (.renewing, .renewed(let side)):
            renewedSides.append(side)
            state = .greeting
            return .greet
        case (.pulling(let next), .pulled):
            return push(since: next)
        case (.pushing, .pushed):
            return compare()
        case (.comparing, .compared(let local, let remote)):
            guard let local, let remote, local.vector == remote.vector else { return finish() }
            return compare(local.digest, remote.digest)
        case (.repairing, .repaired):
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
        let yielding = ForkOrder(local: local, remote: remote, found: found)
        if let action = retirement(local, remote, yielding) { return action }
        for side in [Side.local, .remote] {
            let forks = yielding.forks(of: side)
            if !forks.isEmpty { return renew(side, forks) }
        }
        let isPullDue = direction != .push && !local.vector.covers(remote.vector)
        let isPushDue = direction != .pull && !remote.vector.covers(local.vector)
        isComparable = false
        if let digest = local.facts.digest, let other = remote.facts.digest {
            isComparable =
                (isPullDue || local.vector.covers(remote.vector))
                && (isPushDue || remote.vector.covers(local.vector))
            if isComparable && !isPullDue && !isPushDue { return compare(digest, other) }
        }
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
    /// for long goes on under a new identity, together with what it wrote and the other has not
    /// seen. Others may have seen that, before a deletion that nobody remembers by now.
    private mutating func retirement(
        _ local: Greeting, _ remote: Greeting, _ yielding: ForkOrder
    ) -> Action? {
        for (side, who, other) in [(Side.local, local, remote), (.remote, remote, local)] {
            guard let retirement = other.facts.retirements.first(where: { $0.replica == who.replica }) else {
                continue
            }
            guard retirement.reason == .requested else {
                // Another file may have used the id, and the other knows that one's changes.
                let common = yielding.common(of: who.replica) ?? other.vector[who.replica]
                let forks = yielding.forks(of: side).filter { $0.replica != who.replica }
                return renew(side, forks + [Fork(replica: who.replica, common: common)])
            }
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
        guard let vector else { return compare() }
        state = .pushing
        return .push(since: vector)
    }

    private mutating func compare() -> Action {
        guard isComparable else { return finish() }
        state = .comparing
        return .compare
    }

    private mutating func compare(_ local: StateDigest, _ remote: StateDigest) -> Action {
        guard !StateComparison(local, remote).differing.isEmpty else { return finish() }
        state = .repairing
        return .repair
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
        if remote.vector[local.replica] > local.ownSequence, commons[local.replica] == nil {
            commons[local.replica] = 0
        }
        if local.vector[remote.replica] > remote.ownSequence, commons[remote.replica] == nil {
            commons[remote.replica] = 0
        }
        if local.replica == remote.replica, commons[local.replica] == nil {
            // Two files that did not change since one was copied have everything in common.
            let isKnown = local.facts.chains[local.replica]?.first != nil
            commons[local.replica] = isKnown ? min(local.ownSequence, remote.ownSequence) : 0
        }
        self.commons = commons
    }

    /// The last change of a replica that both have in common; nil when it is not forked.
    func common(of replica: ReplicaID) -> Int64? { commons[replica] }

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
        let (own, other) = (local.vector[replica], remote.vector[replica])
        if own != other { return own < other ? .local : .remote }
        guard let hash = local.facts.chains[replica]?.first?.hash,
            let otherHash = remote.facts.chains[replica]?.first?.hash
        else { return .remote }
        return hash < otherHash ? .local : .remote
    }
}
