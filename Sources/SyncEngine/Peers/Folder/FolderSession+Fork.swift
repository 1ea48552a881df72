import CipherStore
import SyncWire

/// Files that go on under one identity, and what a folder shows of them.
extension FolderSession {
    /// Whether this file was restored from an older copy, or another one goes on under its identity.
    func fork(_ contents: FolderContents, _ greeting: Greeting) throws -> Fork? {
        if let head = contents.heads[greeting.replica],
            let fork = try peer.fork(of: greeting.replica, from: head.points)
        {
            return fork
        }
        guard contents.sequence(of: greeting.replica) > greeting.ownSequence else { return nil }
        return Fork(replica: greeting.replica, common: 0)
    }

    /// Gives up the files that this file wrote under the identity that it just gave up because of a bundle: what they say
    /// goes on under the new one. They would show changes under numbers that it gave up, too, and others would give theirs up
    /// for them. They are removed when this session writes, if all of them is known here, and nobody has written there
    /// since.
    ///
    /// - parameters:
    ///     - former: The identity that it gave up.
    ///     - known: What it knew when the session began.
    mutating func abandon(_ former: ReplicaID, _ contents: FolderContents, knowing known: VersionVector) {
        let bundles = contents.bundles.filter { $0.replica == former }
        // An identity that was a copy's is the original's.
        guard let head = contents.heads[former], peer.formerReplica == nil,
            bundles.allSatisfy({ known.covers($0.target) }),
            head.bundles.allSatisfy({ known.covers($0.targetVector) })
        else { return }
        abandoned = (former, head.generation, Set(bundles.map(\.identity)))
    }

    /// Gives up the files under the identity that this file just gave up because another device claims it, as
    /// ``abandon(_:_:knowing:)`` does. What this file's device has signed there is taken in by nobody any more, so its head is
    /// not among those that were read. There may be files of the other device, which nobody has read yet.
    mutating func abandonClaimed(
        _ former: ReplicaID, _ contents: FolderContents, knowing known: VersionVector
    ) {
        guard contents.heads[former] == nil else { return abandon(former, contents, knowing: known) }
        let file = FolderPaths(former).file(FolderPaths.headName)
        guard peer.formerReplica == nil, let head = try? FolderHead.read(file, folder),
            head.bundles.allSatisfy({ known.covers($0.targetVector) })
        else { return }
        abandoned = (former, head.generation, [])
    }

    /// Removes the files that were given up. What replaces them is written.
    func removeAbandoned() {
        guard let abandoned else { return }
        let file = FolderPaths(abandoned.replica).file(FolderPaths.headName)
        guard let head = try? FolderHead.read(file, folder), head.generation == abandoned.generation else {
            return
        }
        // Who may not write has put nothing in their place.
        guard mayWrite || head.bundles.isEmpty else { return }
        removeFiles(of: abandoned.replica)
    }

    /// Finds replicas under whose identities several files made changes, by the chains that the heads tell: also where
    /// nothing is new by its number, and so no bundle is read.
    mutating func compareChains(_ contents: FolderContents, _ greeting: Greeting) throws {
        let others = contents.heads.filter { $0.key != greeting.replica }
        for fork in try peer.forks(from: others.mapValues(\.points)) {
            dispute([fork], by: fork.replica, contents, greeting)
        }
        var own = FolderHead(greeting)
        own.tell(greeting.vector, greeting.facts.chains)
        for (replica, head) in others {
            for told in head.lastPoints(unlike: own) where told.replica != replica {
                suspect(replica, contents, greeting, told)
            }
        }
        try suspectOwn(others, contents, greeting)
    }

    /// Finds what to read because another file has written under this one's identity, and no head of that identity shows it:
    /// the other file goes on under another one, or never came here. Others know its changes, and refuse those of this file,
    /// and when it has made as many, or more, nothing that they say is new by its number. What they say shows what both files
    /// have in common.
    private mutating func suspectOwn(
        _ others: [ReplicaID: FolderHead], _ contents: FolderContents, _ greeting: Greeting
    ) throws {
        let own = greeting.replica
        let told = try peer.foreign(others.compactMapValues { $0.lastPoint(of: own) })
        guard !told.isEmpty else { return }
        suspected.formUnion(
            contents.bundles.filter { bundle in
                // One that builds on the other file's changes would find this one without them, once it gave way.
                told[bundle.replica].map { bundle.base[own] < $0 && $0 <= bundle.target[own] } ?? false
            }.map(\.identity))
    }

    /// Finds what to read of a replica that knows as much of another one as this file, and means different changes by it.
    /// One of the two reads what the other says: the one that has not told it itself, or the one with the smaller hash.
    private mutating func suspect(
        _ teller: ReplicaID, _ contents: FolderContents, _ greeting: Greeting,
        _ told: (replica: ReplicaID, sequence: Int64, hash: Identifier128)
    ) {
        guard let own = greeting.facts.chains[told.replica]?.first, own.sequence == told.sequence,
            own.hash != told.hash
        else { return }
        let telling = contents.bundles.filter { $0.target[told.replica] >= told.sequence }
        guard own.hash < told.hash || !telling.contains(where: { $0.replica == greeting.replica }) else {
            return
        }
        suspected.formUnion(telling.filter { $0.replica == teller }.map(\.identity))
    }

    /// Notes the bundles of a forked replica, and of a sender, that say something of changes which two files made under one
    /// number. What they mean by it is not what this file knows.
    ///
    /// - parameter forks: The replicas, with the last changes that both files have.
    mutating func dispute(
        _ forks: [Fork], by sender: ReplicaID, _ contents: FolderContents, _ greeting: Greeting
    ) {
        let senders = Set(forks.map(\.replica) + [sender]).subtracting([greeting.replica])
        disputed.formUnion(
            contents.bundles.filter { bundle in
                senders.contains(bundle.replica)
                    && forks.contains { bundle.target[$0.replica] > $0.common }
            }.map(\.identity))
    }
}

extension StorePeer {
    /// Whether points of a replica's chain are of another file than the one whose changes are known here under that
    /// identity.
    ///
    /// - parameter points: The points, newest first.
    func fork(of replica: ReplicaID, from points: [ChainPoint]) throws -> Fork? {
        try forks(from: [replica: points]).first { $0.replica == replica }
    }

    /// Finds out which points that others know under this replica's identity are not of the chain of this file.
    ///
    /// - parameter points: The points, each with its number and hash, by the replicas that know them.
    /// - returns: The numbers of those that are of another file.
    func foreign(
        _ points: [ReplicaID: (sequence: Int64, hash: Identifier128)]
    ) throws -> [ReplicaID: Int64] {
        guard !points.isEmpty else { return [:] }
        return try database.read { db throws in
            let own = try StoreMetadata.require(db).selfNumber
            let chain = ReplicaChain(db: db)
            var foreign: [ReplicaID: Int64] = [:]
            for (replica, point) in points {
                let told = ChainPoint(
                    sequence: point.sequence, previous: point.sequence - 1, hash: point.hash)
                if try chain.find(told, of: own) == .fork { foreign[replica] = point.sequence }
            }
            return foreign
        }
    }

    /// The replicas of whose chains other files tell points than those whose changes are known here.
    ///
    /// - parameter chains: The points of each, newest first.
    func forks(from chains: [ReplicaID: [ChainPoint]]) throws -> [Fork] {
        var facts = ReplicaFacts()
        facts.chains = chains.filter { !$0.value.isEmpty }
        guard !facts.chains.isEmpty else { return [] }
        let reach = VersionVector(facts.chains.compactMapValues { $0.first?.sequence })
        return try database.read { try ForkSearch(db: $0).forks(facts: facts, reach: reach) }
    }
}
