import CipherStore
import SyncWire

/// The replica needs a new identity, and the bundle does not fit the one that it gets.
struct RenewalRequired: Error {}

/// What a bundle's header says about this replica and others, before and after its rows.
struct BundleAdmission {
    let store: FoldedStore
    let header: BundleHeader

    private var db: Database { store.db }
    private var environment: SyncEnvironment { store.environment }

    /// Gives this replica a new identity when the bundle shows that changes of two files were
    /// made under one, or that the replica was retired because nobody saw it.
    ///
    /// - returns: The identity that it had, when it got a new one.
    /// - throws: ``SyncError`` of code `retiredReplica` when somebody retired it, and `forkedReplica`
    ///   when it is the sender that needs another identity; `RenewalRequired` when both do.
    func renewIfNeeded() throws -> ReplicaID? {
        guard let forks = try forks() else { return nil }
        let own = try StoreMetadata.require(db).replicaID()
        // Were this replica to give way, it would have to do so again for the other file's next bundle.
        guard header.sender == own || !forks.contains(where: { $0.replica == header.sender }) else {
            // If it waited for that, and the other file for its bundle, neither would ever give way.
            guard !forks.contains(where: { $0.replica == own }) else { throw RenewalRequired() }
            throw Self.refusal(
                forks,
                """
                the sender's file, or one that it has its identity from, had been copied or restored; it gets a new \
                identity when it applies a bundle of this store, or meets it
                """)
        }
        try refuseOutdated(forks, own)
        assert(!forks.isEmpty, "the identity would go, and what was written under it stay")
        try ReplicaIdentity.renew(store, forks)
        return own
    }

    /// Refuses what a sender said under an identity that it gave up since: it says all of it under the new one. The old bundles
    /// may stay in a mailbox for good, and two of them that differ would have all others renew their identities by turns.
    private func refuseOutdated(_ forks: [Fork], _ own: ReplicaID) throws {
        guard !forks.contains(where: { $0.replica == own }) else { return }
        let isOutdated = try ReplicaRegister(db: db).retirements().contains {
            $0.replica == header.sender && $0.reason == .renewed
        }
        guard !isOutdated else {
            throw Self.refusal(
                forks,
                """
                the sender's file, or one that it has changes of, had been copied or restored; it has a new identity, and \
                says all of this again under that
                """)
        }
    }

    private static func refusal(_ forks: [Fork], _ message: String) -> SyncError {
        var error = SyncError(.forkedReplica, message)
        error.forks = forks
        return error
    }

    /// The forks for which a new identity is needed; nil when none is.
    private func forks() throws -> [Fork]? {
        let metadata = try StoreMetadata.require(db)
        guard header.store == metadata.store else { return nil }
        let own = try metadata.replicaID()
        let retirement = header.facts.retirements.first { $0.replica == own }
        var forks = try ForkSearch(db: db).forks(in: header)
        guard retirement?.reason != .requested else {
            var error = SyncError(.retiredReplica, "this replica, \(own.shortDescription), was retired")
            error.forks = forks
            throw error
        }
        if retirement != nil, !forks.contains(where: { $0.replica == own }) {
            forks.append(Fork(replica: own, common: header.target[own]))
        }
        return forks.isEmpty ? nil : forks
    }

    /// Renews the identity though the bundle can't be applied. What the sender has to move stays with it.
    ///
    /// - returns: What to tell the user.
    func renewWithoutBundle() throws -> SyncError {
        let own = try StoreMetadata.require(db).replicaID()
        let due = try forks()?.filter { header.sender == own || $0.replica != header.sender } ?? []
        if !due.isEmpty { try ReplicaIdentity.renew(store, due) }
        return Self.refusal(
            due,
            """
            this file or one of its replicas had been copied or restored, and has a new identity now; the bundle \
            was made for the old one: have another one made
            """)
    }

    /// Checks that the bundle follows what is known here of all tables, and takes its floor over.
    /// Parts come later, see ``AppliedParts``. A repair moves nothing.
    func admit(_ metadata: StoreMetadata, isRenewed: Bool) throws {
        guard !header.facts.isRepair else { return }
        guard !isRenewed || metadata.vector.covers(header.base) else { throw RenewalRequired() }
        // A floor above what is known here would have the next bundle of everybody else count as one that comes too late,
        // and take what they wrote for deleted.
        guard header.target.covers(header.facts.floor) else {
            throw SyncError(
                .invalidBundle, "the bundle says that all replicas know changes that its sender does not know"
            )
        }
        guard metadata.vector.covers(header.facts.floor) || header.base.sequences.isEmpty else {
            throw SyncError(
                .resyncRequired,
                """
                this replica was away for so long that deletions which it does not know were forgotten; it needs a \
                bundle of everything
                """)
        }
        guard metadata.vector.covers(header.base) else {
            throw SyncError(
                .invalidBundle, "the bundle builds on changes that are not here; synchronize again")
        }
        try refuseLate(unless: metadata.vector.covers(header.target))
        let vectors = header.facts.parts.flatMap { [$0.target, $0.floor] } + [header.facts.floor]
        for replica in Set(vectors.flatMap(\.sequences.keys)).sorted() {
            _ = try ReplicaRegister(db: db).number(of: replica, at: environment.milliseconds())
        }
        let numbered = try StoreMetadata.require(db)
        try Tombstones(db: db).raiseFloor(to: header.facts.floor, numbered)
    }

    /// Refuses what nobody here has seen of a sender that was retired: others may have seen it, before
    /// a deletion that nobody remembers.
    ///
    /// - parameter isKnown: Whether all of it is known here.
    func refuseLate(unless isKnown: Bool) throws {
        guard !isKnown else { return }
        let isLate = try ReplicaRegister(db: db).retirements().contains {
            $0.replica == header.sender && $0.reason != .renewed
        }
        guard !isLate else {
            var error = SyncError(
                .retiredReplica,
                """
                the sender, replica \(header.sender.shortDescription), was retired here; it gets a new identity when \
                it applies a bundle of this store, or meets it
                """)
            error.isOfSender = true
            throw error
        }
    }

    /// Takes over what the sender says, once its changes are here.
    func conclude() throws {
        let register = ReplicaRegister(db: db)
        let now = environment.milliseconds()
        try register.learn(header.facts, from: header.sender, knowing: header.target, at: now)
        let chain = ReplicaChain(db: db)
        let metadata = try StoreMetadata.require(db)
        let reach = try Coverage.load(db, metadata).reach
        for replica in metadata.replicas where replica.sid != metadata.selfNumber {
            guard let points = header.facts.chains[replica.id] else { continue }
            for point in points where point.sequence <= reach[replica.id] {
                try chain.insert(point, of: replica.sid)
            }
            try chain.thin(replica.sid)
        }
    }
}
