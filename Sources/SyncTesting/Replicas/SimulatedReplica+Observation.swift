import CipherStore
import SyncEngine
import SyncWire

/// How the model follows what a store does: folds and merges.
extension SimulatedReplica {
    /// Brings the model up to what the store has done since it was last looked at: a fold, a merge.
    ///
    /// - parameters:
    ///     - now: The time of the program that did it.
    ///     - transfer: What was to be merged; the store may have refused it.
    func observe(now: Int64, transfer: SimulatedTransfer? = nil) throws {
        let observation = try queue.read { try StoreObservation($0) }
        let forked =
            observation.replica == model.id ? nil : try followIdentity(observation, transfer, now: now)
        if observation.folded > model.folded { fold(now: now) }
        let isWhole = becomesWhole(observation)
        // A bundle may bring nothing but what it showed to be forked, which counts as known again then.
        let isRepeated = try forked != nil && transfer != nil && !newEntries(observation).isEmpty
        if isWhole || isRepeated || !observation.knowsSame(as: model) {
            guard let transfer else {
                throw SimulationViolation(
                    .progress,
                    "replica \(name) knows \(observation.vector.text), \(model.vector.text) is expected, and nobody told it more"
                )
            }
            try take(transfer, observation, forked: forked, now: now)
        } else if let transfer, observation.clock > model.clock {
            // A bundle that brings nothing new can still tell the time, to a clock that was behind
            // when it came first.
            adopt(transfer, now: now)
        }
        guard observation.folded == model.folded else {
            throw SimulationViolation(
                .progress,
                "replica \(name) folded up to \(observation.folded), and its log is known up to \(model.folded)"
            )
        }
        try followRows(observation, transfer)
        forgetDeletions(observation.floor)
        guard observation.clock == model.clock else {
            throw SimulationViolation(
                .progress,
                "the clock of replica \(name) is at \(observation.clock), and \(model.clock) is expected")
        }
        try readRows()
        let strays = try newEntries(observation)
        guard strays.isEmpty else {
            throw SimulationViolation(.capture, "replica \(name) logged \(strays[0]), which no user wrote")
        }
    }

    /// The entries of the log that the model does not know.
    func newEntries(_ observation: StoreObservation) throws -> [ModelReplica.Entry] {
        try queue.read { try observation.entries($0, after: model.pending.last?.sequence ?? model.folded) }
    }

    /// Takes in what a bundle brought.
    ///
    /// - parameter forked: When the store got another identity before, the replicas of which changes moved to it.
    private func take(
        _ transfer: SimulatedTransfer, _ observation: StoreObservation, forked: Set<ReplicaID>?, now: Int64
    ) throws {
        var joined = model.vector
        joined.join(transfer.target)
        for (replica, sequence) in joined.sequences where forked != nil {
            // How far it went back before the bundle came can't be seen.
            let found = observation.vector[replica]
            if found < sequence, found >= transfer.target[replica] { joined[replica] = found }
        }
        let known = world.restrict(transfer.known, to: tables(of: transfer))
        let sender = world.state(of: known.subtracting(transfer.forgotten))
        adopt(transfer, now: now)
        forgetDeletions(transfer.floor)
        if !model.vector.covers(transfer.floor) { takeOut(transfer, sender) }
        let halfKnown = halfKnownDeletions(sender, transfer)
        let repeated = halfKnownDeletions(sender, transfer, forked: forked ?? [])
        model.vector = joined
        for (table, part) in transfer.parts where table != partialTable {
            model.parts[table, default: VersionVector()].join(part.target)
        }
        model.forgotten.formUnion(forgottenThere(known.subtracting(model.known), sender, transfer))
        model.forgotten.formUnion(transfer.forgotten.subtracting(model.known))
        model.forgotten.formUnion(replacedBefore(known.subtracting(model.known), sender, transfer))
        model.forgotten.formUnion(endedBefore(known.subtracting(model.known), sender))
        model.known.formUnion(known)
        model.known.formUnion(world.claimed(transfer, partialTable: partialTable))
        try followDeletions(halfKnown, repeated, observation, now: now)
        guard observation.vector == model.vector else {
            throw SimulationViolation(
                .progress,
                "replica \(name) counts \(observation.vector.text) as known, and the bundle brought \(model.vector.text)"
            )
        }
        guard observation.knowsSame(as: model) else {
            throw SimulationViolation(
                .progress, "replica \(name) counts other changes of a table as known than the bundle brought")
        }
        guard let table = transfer.partialTable, transfer.tables?.contains(table) == true else { return }
        // What the sender took out again is known here, or it would not have sent anything.
        for (number, change) in world.changes.enumerated()
        where change.key.table == table && model.vector(of: table).contains(change.stamp) {
            model.known.insert(number)
        }
    }

    /// The tables of a bundle of which all rows are held here; nil for all.
    private func tables(of transfer: SimulatedTransfer) -> Set<String>? {
        guard let partialTable else { return transfer.tables }
        return (transfer.tables ?? Set(world.app.tables)).subtracting([partialTable])
    }

    /// Moves the clock by what is in a bundle.
    private func adopt(_ transfer: SimulatedTransfer, now: Int64) {
        let known = world.restrict(transfer.known, to: tables(of: transfer))
        let bound = (now + ModelReplica.skewMillisecondsMax) << 16
        model.adopt(
            world.state(of: known.subtracting(transfer.forgotten))
                .newestTimestamp(beyond: transfer.base(of:), upTo: bound))
    }

    /// The values that columns have until they are written, by table.
    func defaultValues() throws -> [String: [String: ModelValue]] {
        try queue.read { db in
            var defaults: [String: [String: ModelValue]] = [:]
            for table in tables {
                for column in try db.columns(in: table.name) {
                    guard let sql = column.defaultValueSQL,
                        let value = try DatabaseValue.fetchOne(db, sql: "SELECT \(sql)")
                    else { continue }
                    defaults[table.name.identifierKey, default: [:]][column.name.identifierKey] = ModelValue(
                        value)
                }
            }
            return defaults
        }
    }

    /// The log gets versions.
    func fold(now: Int64) {
        let changes = model.fold(
            state(), rows, columns: columns, counters: world.app.counters, now: now,
            increment: world.increment, writersKnown: world.writersKnown)
        for number in world.add(changes) { model.known.insert(number) }
    }
}

extension VersionVector {
    /// The vector as violations tell it.
    var text: String {
        sequences.map { "\($0.shortDescription):\($1)" }.sorted().joined(separator: " ")
    }
}
