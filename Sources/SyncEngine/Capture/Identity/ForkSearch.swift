import CipherStore
import SyncWire

/// Finds forks by comparing what a peer says about replicas with what is known here.
struct ForkSearch {
    let db: Database

    /// The forks that a greeting shows.
    ///
    /// Of the two sides, the one that knows more of a replica finds the fork: what the other
    /// knows has to be a point of the chain here.
    func forks(in greeting: Greeting) throws -> [Fork] {
        let metadata = try StoreMetadata.require(db)
        let chain = ReplicaChain(db: db)
        var forks: [Fork] = []
        let (here, there) = (try Coverage.load(db, metadata).reach, greeting.reach)
        for replica in metadata.replicas {
            let points = greeting.facts.chains[replica.id] ?? []
            let (known, told) = (here[replica.id], there[replica.id])
            let isRestored = replica.id == greeting.replica && known > greeting.ownSequence
            guard told > 0, told <= known || isRestored else { continue }
            var isFork = isRestored
            if let top = points.first, top.sequence == told {
                if try chain.find(top, of: replica.sid) == .fork { isFork = true }
            } else if try !chain.passes(told, of: replica.sid) {
                isFork = true
            }
            guard isFork else { continue }
            forks.append(Fork(replica: replica.id, common: try common(points, of: replica, upTo: known)))
        }
        assert(forks.allSatisfy { $0.common <= here[$0.replica] }, "what is not here can't be common")
        return forks
    }

    /// The forks that the header of a bundle shows. Nobody can be asked, so each side that
    /// differs counts, whichever knows more.
    func forks(in header: BundleHeader) throws -> [Fork] {
        try forks(facts: header.facts, reach: header.reach)
    }

    /// The forks that a replica shows by what it says and knows, whichever side knows more.
    func forks(facts: ReplicaFacts, reach there: VersionVector) throws -> [Fork] {
        let metadata = try StoreMetadata.require(db)
        let own = try metadata.replicaID()
        let chain = ReplicaChain(db: db)
        var forks: [Fork] = []
        let here = try Coverage.load(db, metadata).reach
        // A copy of a file that wrote nothing yet may have written.
        for replica in metadata.replicas where here[replica.id] > 0 || replica.id == own {
            let points = facts.chains[replica.id] ?? []
            let (known, told) = (here[replica.id], there[replica.id])
            guard told > 0 else { continue }
            var isFork = replica.id == own && told > known
            if told <= known {
                if let top = points.first, top.sequence == told {
                    if try chain.find(top, of: replica.sid) == .fork { isFork = true }
                }
            } else if let next = points.last(where: { $0.sequence >= known }) {
                let here = try chain.point(of: replica.sid, at: known)
                if next.sequence > known && next.previous < known { isFork = true }
                if let here, next.sequence == known, next.hash != here.hash { isFork = true }
            }
            guard isFork else { continue }
            forks.append(Fork(replica: replica.id, common: try common(points, of: replica, upTo: known)))
        }
        assert(forks.allSatisfy { here[$0.replica] > 0 || $0.replica == own })
        return forks
    }

    /// The last point that both chains have.
    private func common(
        _ points: [ChainPoint], of replica: StoreMetadata.Replica, upTo known: Int64
    ) throws -> Int64 {
        let chain = ReplicaChain(db: db)
        for point in points where point.sequence <= known {
            let here = try chain.point(of: replica.sid, at: point.sequence)
            assert(here == nil || here?.sequence == point.sequence)
            if here?.hash == point.hash { return point.sequence }
        }
        return 0
    }
}
