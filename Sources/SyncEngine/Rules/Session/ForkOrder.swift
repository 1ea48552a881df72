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
        guard let hash = local.facts.chains[replica]?.first?.hash,
            let otherHash = remote.facts.chains[replica]?.first?.hash
        else { return .remote }
        return hash < otherHash ? .local : .remote
    }
}
