import CipherStore
import SyncWire

/// A replica whose file is open in this process.
final class StorePeer: SyncPeer {
    let database: any DatabaseWriter
    let environment: SyncEnvironment
    private let closes: Bool
    private let policies: MergePolicies?
    /// The replica id that the store had before it turned out to be a copy.
    private(set) var formerReplica: ReplicaID?

    /// - parameter policies: The functions of custom merge policies.
    init(
        _ database: any DatabaseWriter, _ environment: SyncEnvironment, closes: Bool,
        policies: MergePolicies? = nil
    ) {
        self.policies = policies
        self.database = database
        self.environment = environment
        self.closes = closes
    }

    /// The database that it is a replica of.
    func store() throws -> StoreID { try database.read { try StoreMetadata.require($0).store } }

    func greet() throws -> Greeting {
        var events: [SyncEvent] = []
        let (first, isDue) = try database.write { db in
            try MetadataSchema.upgrade(db)
            let fence = StoreFence(db: db, environment: environment)
            try fence.check()
            let before = try StoreMetadata.require(db)
            formerReplica = try fence.takeFormerReplica() ?? formerReplica
            let store = try FoldedStore.refresh(db, environment)
            if store.hasNewSchema { events.append(.schemaChanged) }
            let entryCount = store.summary.entryCount
            if entryCount > 0 { events.append(.folded(entryCount: entryCount)) }
            let ownSequence = before.vector[try before.replicaID()]
            let isComparable = entryCount <= Self.comparedEntryCountMax
            return (
                try self.greeting(store, ownSequence, isComparable: isComparable),
                try SettlementMark.isDue(db)
            )
        }
        let greeting = isDue ? try settle(first) : first
        for event in events { environment.log(event, ["replica": "\(greeting.replica)"]) }
        return greeting
    }

    /// Settles what the fold or a schema change left to be decided, and greets anew.
    private func settle(_ greeting: Greeting) throws -> Greeting {
        try database.settle(environment, isFull: false)
        return try database.write { db in
            // What the settlement wrote by a policy has no versions yet.
            return try self.greeting(
                FoldedStore.fold(db, environment), greeting.ownSequence,
                isComparable: greeting.facts.digest != nil)
        }
    }

    func state(_ kind: StateKind) throws -> ReplicaState? { try state(kind, within: { _ in nil }) }

    func answer(_ question: StateQuestion) throws -> StateAnswer {
        try answer(question, within: { _ in nil })
    }

    /// After a fold of more entries, such as an import, what is new is summed at the next greeting:
    /// the other side does not have it anyway.
    private static let comparedEntryCountMax: Int64 = 10_000

    private func greeting(_ store: FoldedStore, _ ownSequence: Int64, isComparable: Bool) throws -> Greeting {
        try greeting(store.db, store.metadata, ownSequence, isComparable ? StateReader(store: store) : nil)
    }

    /// What this replica says of itself.
    ///
    /// - parameter reader: What sums up what it holds, which takes a fold; nil for a greeting without that.
    func greeting(
        _ db: Database, _ metadata: StoreMetadata, _ ownSequence: Int64, _ reader: StateReader? = nil
    ) throws -> Greeting {
        let coverage = try Coverage.load(db, metadata)
        var facts = try ReplicaRegister(db: db).facts(metadata, peer: nil, coverage)
        facts.parts = try coverage.facts(db)
        facts.partials = try coverage.partialFacts(db)
        facts.place = try StoreFence(db: db, environment: environment).fingerprint()
        facts.digest = try reader?.greetedDigest()
        return Greeting(
            store: metadata.store, replica: try metadata.replicaID(), vector: metadata.vector,
            ownSequence: ownSequence, facts: facts)
    }

    func meet(_ greeting: Greeting) throws -> [Fork] { try meet(greeting, ofDevice: nil) }

    /// The same of a device, by its number, which may name so many others.
    func meet(_ greeting: Greeting, ofDevice device: Int64?) throws -> [Fork] {
        try database.write { db in
            let budget = try device.map { try DeviceBudget(db, device: $0) }
            let metadata = try StoreMetadata.require(db)
            guard metadata.store == greeting.store else { return [] }
            try Admission.check(greeting)
            // What it says of what others know can be true only of a replica that is what it says.
            let forks = try ForkSearch(db: db).forks(in: greeting)
            guard forks.isEmpty else { return forks }
            try ReplicaRegister(db: db).learn(
                greeting.facts, from: greeting.replica, knowing: greeting.vector,
                at: environment.milliseconds())
            try budget?.charge()
            return []
        }
    }

    func receive(
        _ frames: ((UnsafeRawBufferPointer) throws -> Void) throws -> Void
    ) throws -> ApplySummary {
        try receiveStored { _, sink in try frames(sink) }
    }

    /// Applies the frames that `frames` hands out, which may read them from the store itself.
    ///
    /// - parameter terms: Says in the transaction what the sender may bring.
    func receiveStored(
        on terms: (Database) throws -> UploadTerms = { _ in .unbounded },
        _ frames: (Database, @escaping (UnsafeRawBufferPointer) throws -> Void) throws -> Void
    ) throws -> ApplySummary {
        try database.writeWithoutTransaction { db in
            var summary = ApplySummary()
            var applier: BundleApplier?
            do {
                try db.withoutForeignKeys {
                    try db.inTransaction(.immediate) {
                        let terms = try terms(db)
                        let budget = try terms.device.map { try DeviceBudget(db, device: $0) }
                        let current = try BundleApplier(
                            FoldedStore.refresh(db, environment), on: terms, policies: policies)
                        applier = current
                        try frames(db) { try current.consume($0) }
                        summary = try current.finish()
                        try budget?.charge()
                        return .commit
                    }
                }
            } catch let error as SyncError where error.code == .retiredReplica && !error.forks.isEmpty {
                try db.inTransaction(.immediate) {
                    try RetirementForks.note(db, error.forks)
                    return .commit
                }
                throw error
            } catch is RenewalRequired {
                guard let header = applier?.header else {
                    throw SyncError(.invalidBundle, "there is no header")
                }
                var error: SyncError?
                try db.inTransaction(.immediate) {
                    let budget = try terms(db).device.map { try DeviceBudget(db, device: $0) }
                    let store = try FoldedStore.fold(db, environment)
                    error = try BundleAdmission(store: store, header: header).renewWithoutBundle()
                    try budget?.charge()
                    return .commit
                }
                if let error { throw error }
            }
            return summary
        }
    }

    func renewIdentity(_ forks: [Fork]) throws { try renewIdentity(forks, shownByDevice: nil) }

    /// The same because of what a device showed, by its number. The identity before stays known for ever, so it counts as
    /// a replica that the device brought.
    func renewIdentity(_ forks: [Fork], shownByDevice device: Int64?) throws {
        try database.write { db in
            let budget = try device.map { try DeviceBudget(db, device: $0) }
            try ReplicaIdentity.renew(FoldedStore.fold(db, environment), forks)
            try budget?.charge()
        }
        // A new identity is another winner of rows of the same moment.
        try database.settle(environment, isFull: true)
    }

    func renewIdentity(
        _ forks: [Fork], shownBy greeting: Greeting, to replica: ReplicaID
    ) throws -> Bool {
        let isDue = try database.write { db in
            let store = try FoldedStore.fold(db, environment)
            let due = try shown(forks, by: greeting, to: replica, store)
            guard !due.isEmpty else { return false }
            try ReplicaIdentity.renew(store, due)
            return true
        }
        if isDue { try database.settle(environment, isFull: true) }
        return isDue
    }

    func note(_ forks: [Fork]) throws { try database.write { try RetirementForks.note($0, forks) } }

    /// The forks that a greeting shows of this replica as it is by now. Its file may have been replaced, or have met the
    /// other one, since it greeted.
    private func shown(
        _ forks: [Fork], by greeting: Greeting, to replica: ReplicaID, _ store: FoldedStore
    ) throws -> [Fork] {
        let own = try store.metadata.replicaID()
        guard own == replica else { return [] }
        let current = try self.greeting(store, store.metadata.vector[own], isComparable: false)
        let found = try ForkSearch(db: store.db).forks(in: greeting)
        var due = ForkOrder(local: current, remote: greeting, found: found).forks(of: .local)
        // Of other replicas, and of one that was retired, this one's own state does not say everything.
        let isRetired = greeting.facts.retirements.contains { $0.replica == own }
        let known = try Coverage.load(store.db, store.metadata).reach
        for fork in forks {
            let index = due.firstIndex { $0.replica == fork.replica }
            guard index != nil || fork.replica != own || isRetired else { continue }
            // What is common to both, the one that knows more of the replica has found out.
            guard !found.contains(where: { $0.replica == fork.replica }) else { continue }
            if let index { due.remove(at: index) }
            due.append(Fork(replica: fork.replica, common: min(fork.common, known[fork.replica])))
        }
        return due
    }

    func remember(_ peer: ReplicaID, name: String, knowing vector: VersionVector) throws {
        try remember(peer, name: name, knowing: vector, at: environment.milliseconds())
    }

    /// Remembers what another replica said at some time, unless a later contact is known.
    ///
    /// - parameter device: The number of the device that it is, if it is one of a server.
    func remember(
        _ peer: ReplicaID, name: String, knowing vector: VersionVector, at milliseconds: Int64,
        ofDevice device: Int64? = nil
    ) throws {
        try database.write { db in
            let budget = try device.map { try DeviceBudget(db, device: $0) }
            let metadata = try StoreMetadata.require(db)
            let own = try metadata.replicaID()
            try PeerRegister(db: db).note(
                peer, name: name, at: milliseconds, acknowledged: min(vector[own], metadata.vector[own]))
            guard peer != own else { return }
            try ReplicaRegister(db: db).note(vector, of: peer, at: milliseconds)
            try budget?.charge()
        }
    }

    func rowRequests() throws -> [RowRequest] { try database.read { try RowRequest.loadAll($0) } }

    func takeOutRows(acknowledged: [(names: [String], known: VersionVector)]) throws {
        try RowSweep(database: database, environment: environment).run(acknowledged)
    }

    /// Whether all tables are exchanged with a remote.
    func exchangesAllTables(with remote: String) throws -> Bool {
        try database.read { try ScopeStore(db: $0).tables(of: remote) == nil }
    }

    /// Notes the last local change of the tables that are exchanged with a replica that it has.
    func noteAcknowledged(_ sequence: Int64, by replica: ReplicaID) throws {
        try database.write {
            try PeerRegister(db: $0).raiseAcknowledged(to: sequence, by: replica)
        }
    }

    func close() {
        if closes { try? database.close() }
    }
}
