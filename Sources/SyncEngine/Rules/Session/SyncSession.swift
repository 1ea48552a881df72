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
        /// A side needs no new identity after all: what it said of itself was out of date.
        case stayed(Side)
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
        /// Find out in which rows of some tables the two sides differ, and repair that.
        case repair([[String]])
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
    /// The tables that are exchanged, each by its names; nil for all.
    private let tables: [[String]]?
    private var state = State.greeting
    private var renewedSides: [Side] = []
    /// The retired replicas whose changes this side is taking over, and those whose changes it has taken over.
    private var (takingOver, takenOver) = (Set<ReplicaID>(), Set<ReplicaID>())
    /// How often what a side said of itself was out of date.
    private var outdatedCount = 0
    private static let outdatedCountMax = 100
    /// What becomes of tables of which one side holds some rows only, once both have greeted.
    private(set) var rows: RowExchange?
    /// What can be compared, because both sides know the same of it afterwards.
    private var compared: Comparison?
    /// The tables that can't be compared, in lower case.
    private var uncomparable: Set<String> = []

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
            if takingOver.isEmpty { renewedSides.append(side) }
            takenOver.formUnion(takingOver)
            takingOver = []
            state = .greeting
            return .greet
        case (.renewing, .stayed):
            takingOver = []
            outdatedCount += 1
            guard outdatedCount <= Self.outdatedCountMax else {
                return refuse(.changedMeanwhile, "another process keeps synchronizing these replicas")
            }
            state = .greeting
            return .greet
        case (.pulling(let next), .pulled):
            return push(since: next)
        case (.pushing, .pushed):
            return compare()
        case (.comparing, .compared(let local, let remote)):
            guard let local, let remote else { return finish() }
            return repair(Comparison(local, remote, within: tables, except: uncomparable).differing)
        case (.repairing, .repaired):
            return finish()
        default:
            preconditionFailure("event \(event) does not belong in state \(state)")
        }
    }

    private mutating func meet(_ local: Greeting, _ remote: Greeting, _ found: [Fork]) -> Action {
        local.vector.assertInvariants()
        remote.vector.assertInvariants()
        guard local.store == remote.store else {
            return refuse(.otherStoreRemote)
        }
        guard local.replica != remote.replica || isOtherFile(local, remote) else {
            return refuse(.sameReplicaRemote)
        }
        let yielding = ForkOrder(local: local, remote: remote, found: found)
        if let action = retirement(local, remote, yielding) { return action }
        for side in [Side.local, .remote] {
            let forks = yielding.forks(of: side)
            if !forks.isEmpty { return renew(side, forks) }
        }
        let rows = RowExchange(local, remote, within: tables)
        if !rows.orphans.isEmpty { return takeOver(rows.orphans) }
        self.rows = rows
        let isPullDue =
            direction != .push && (!local.covers(remote, within: tables) || rows.isPullDue)
        let isPushDue =
            direction != .pull && (!remote.covers(local, within: tables) || rows.isPushDue)
        uncomparable = RowExchange.uncomparable(local, remote)
        compared = Comparison(
            local, remote, within: tables, except: uncomparable, isPullDue: isPullDue, isPushDue: isPushDue)
        assert(!isPullDue || direction != .push)
        assert(!isPushDue || direction != .pull)
        if !isPullDue && !isPushDue { return repair(compared?.differing ?? []) }
        guard isPullDue else { return push(since: remote.vector) }
        state = .pulling(thenPushSince: isPushDue ? remote.vector : nil)
        return .pull(since: local.vector)
    }

    /// Whether two sides of one identity are two files.
    private func isOtherFile(_ local: Greeting, _ remote: Greeting) -> Bool {
        if let place = local.facts.place, let other = remote.facts.place, place != other { return true }
        if local.vector != remote.vector { return true }
        // Each may have met another one of two files that both use a third one's identity.
        return local.facts.chains.contains { $1.first != remote.facts.chains[$0]?.first }
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
            var error = SyncError(
                .retiredReplica,
                side == .local
                    ? "this replica, \(name), was retired" : "the remote, replica \(name), was retired here")
            if side == .local { error.forks = yielding.forks(of: side) } else { error.isOfRemote = true }
            return refuse(error)
        }
        return nil
    }

    /// A side gets a new identity. That can be due more than once, because one side may not
    /// see a fork before the other is renewed.
    private mutating func renew(_ side: Side, _ forks: [Fork]) -> Action {
        guard renewedSides.filter({ $0 == side }).count < 2 else { return refuseIdentity() }
        return giveUp(side, forks)
    }

    /// This side takes over what retired replicas wrote, under a new identity.
    ///
    /// That is seen after all other reasons for a new one, and some of it only after the rest: the identity that is
    /// given up is one more replica that is retired. Each of them is taken over once.
    private mutating func takeOver(_ orphans: [Fork]) -> Action {
        takingOver = Set(orphans.map(\.replica)).subtracting(takenOver)
        return takingOver.isEmpty ? refuseIdentity() : giveUp(.local, orphans)
    }

    private mutating func refuseIdentity() -> Action {
        refuse(.damagedMetadata, "a replica that was given a new identity is known already")
    }

    private mutating func giveUp(_ side: Side, _ forks: [Fork]) -> Action {
        assert(state == .greeting, "an identity is given up because of a greeting")
        assert(!forks.isEmpty, "nothing has to move")
        state = .renewing
        return .renew(side, forks)
    }

    private mutating func push(since vector: VersionVector?) -> Action {
        guard let vector else { return compare() }
        assert(rows != nil, "changes go to a side that was met")
        state = .pushing
        return .push(since: vector)
    }

    private mutating func compare() -> Action {
        assert(state != .comparing, "what was compared is repaired, or equal")
        guard let compared, !compared.isEmpty else { return finish() }
        state = .comparing
        return .compare
    }

    private mutating func repair(_ differing: [[String]]) -> Action {
        assert(state == .greeting || state == .comparing, "what differs was not looked for")
        guard !differing.isEmpty else { return finish() }
        state = .repairing
        return .repair(differing)
    }

    private mutating func finish() -> Action {
        assert(state != .finished)
        state = .finished
        return .finish
    }

    private mutating func refuse(_ code: SyncError.Code, _ message: String) -> Action {
        refuse(SyncError(code, message))
    }

    private mutating func refuse(_ error: SyncError) -> Action {
        assert(state == .greeting || state == .renewing, "changes were exchanged by then")
        state = .finished
        return .refuse(error)
    }
}
