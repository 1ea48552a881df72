import SyncWire

/// Says which side has to give way in a fork.
struct ForkOrder {
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
        let (own, other) = (local.reach[replica], remote.reach[replica])
        if own != other { return own < other ? .local : .remote }
        if let hash = local.facts.chains[replica]?.first?.hash,
            let otherHash = remote.facts.chains[replica]?.first?.hash, hash != otherHash
        {
            return hash < otherHash ? .local : .remote
        }
        return isLocalBehind ? .local : .remote
    }

    /// Whether this side gives way where nothing of the replica itself tells the sides apart: two copies of a file
    /// that wrote nothing since. Both sides have to come to one answer, for the one that gives way checks it.
    private var isLocalBehind: Bool {
        if local.vector != remote.vector {
            if remote.vector.covers(local.vector) { return true }
            if local.vector.covers(remote.vector) { return false }
            let replicas = Set(local.vector.sequences.keys).union(remote.vector.sequences.keys).sorted()
            for replica in replicas where local.vector[replica] != remote.vector[replica] {
                return local.vector[replica] < remote.vector[replica]
            }
        }
        for replica in Set(local.facts.chains.keys).union(remote.facts.chains.keys).sorted() {
            let (own, other) = (local.facts.chains[replica]?.first, remote.facts.chains[replica]?.first)
            guard own != other else { continue }
            guard let own, let other else { return own == nil }
            return (own.sequence, own.hash) < (other.sequence, other.hash)
        }
        guard let place = local.facts.place, let other = remote.facts.place else { return false }
        return place < other
    }
}
