import CipherStore
import SyncEngine
import SyncWire

/// A served store as one of its devices sees it, which may have a part of it only.
struct HubDevice: ServedPeer {
    let hub: HubStore
    let device: Device
    private var synchronizer: Synchronizer { hub.synchronizer }

    func greet() throws -> Greeting {
        let greeting = try synchronizer.localPeer.greet()
        let access = try hub.access(device)
        try hub.requireUnchanged(device)
        hub.state.withLock { state in
            state.marks[device.id] = access == nil ? SharedMakings.mark(of: greeting) : nil
        }
        return access?.restricted(greeting) ?? greeting
    }

    /// How the tables are made that a device may exchange.
    func definitions() throws -> [SharedTable] {
        let definitions = try synchronizer.definitions(ofTables: device.bounds?.tables)
        try hub.requireUnchanged(device)
        return definitions
    }

    /// Takes in what a device says of itself.
    func meet(_ greeting: Greeting) throws -> [Fork] {
        guard greeting.store == hub.store else {
            throw SyncError(.otherStore, "the device is a replica of another database")
        }
        try hub.register.bind(device, to: greeting.replica)
        if !device.isReadOnly && device.bounds == nil {
            let shown = try synchronizer.forks(in: greeting)
            hub.state.withLock { $0.shown[device.id] = shown }
            return try synchronizer.meet(greeting, ofDevice: device.id)
        }
        // What it says of others would change what is known here about them.
        var facts = ReplicaFacts()
        facts.chains = greeting.facts.chains
        facts.place = greeting.facts.place
        facts.acknowledged = greeting.facts.acknowledged.filter { $0.key == greeting.replica }
        return try synchronizer.meet(
            Greeting(
                store: greeting.store, replica: greeting.replica, vector: greeting.vector,
                ownSequence: greeting.ownSequence, facts: facts), ofDevice: device.id)
    }

    /// Gives this replica a new identity, because it was copied: only when the device's last greeting shows that
    /// here too. A request that comes again does nothing.
    func renewIdentity(_ renewal: Message.Renewal) throws -> Bool {
        try HubStore.requireWriting(device)
        guard device.bounds == nil else {
            throw SyncError(
                .forkedReplica,
                """
                the device knows more of the server's replica than the server does, and may not give it a new \
                identity because it may exchange some tables or rows only; if the server's file was put back from a copy, run there: \
                syncctl replica renew
                """)
        }
        guard renewal.forks.count <= 1000 else { throw RemoteError(.tooLarge, "there are over 1000 forks") }
        guard let request = renewal.request else {
            throw RemoteError(.malformed, "the request has no number")
        }
        _ = try Message.identifier(request)
        let forks = try Message.Forks(items: renewal.forks).values()
        guard !hub.state.withLock({ $0.renewals.contains(request) }) else { return true }
        guard let shown = hub.state.withLock({ $0.shown[device.id] }) else {
            throw RemoteError(.notFound, "the device has not greeted since the server started")
        }
        let own = try synchronizer.identity().replica
        let commons = Dictionary(shown.forks.map { ($0.replica, $0.common) }, uniquingKeysWith: max)
        let due = forks.compactMap { fork in
            if let common = commons[fork.replica] {
                return Fork(replica: fork.replica, common: max(common, fork.common))
            }
            return shown.isRetired && fork.replica == own ? fork : nil
        }
        guard !due.isEmpty else {
            throw RemoteError(.malformed, "nothing here calls for a new identity of the server's replica")
        }
        try synchronizer.renewIdentity(due, shownByDevice: device.id)
        hub.state.withLock { state in
            // What was shown is about the identity before.
            (state.shown, state.marks) = ([:], [:])
            state.renewals.append(request)
            if state.renewals.count > HubStore.renewalCountMax { state.renewals.removeFirst() }
        }
        hub.logger.notice(
            "the server's replica has a new identity",
            metadata: ["device": "\(LogText.printable(device.label))"])
        return true
    }

    /// Remembers what a device knows.
    func remember(_ knowledge: Message.Knowledge) throws {
        guard let replica = device.replica else {
            throw RemoteError(.malformed, "the device has not said yet which replica it is")
        }
        try synchronizer.remember(replica, knowing: knowledge.known(), ofDevice: device.id)
        hub.noteTaken(by: device)
    }

    /// What this store holds, as digests; nil when it can't be compared now.
    func state(_ kind: StateKind) throws -> ReplicaState? {
        try hub.comparing {
            try synchronizer.state(kind, within: hub.bounds(of: device, isWriting: false))
        }
    }

    /// Answers a question about rows.
    func answer(_ question: StateQuestion) throws -> StateAnswer {
        try hub.comparing {
            try synchronizer.answer(question, within: hub.bounds(of: device, isWriting: false))
        }
    }
}
