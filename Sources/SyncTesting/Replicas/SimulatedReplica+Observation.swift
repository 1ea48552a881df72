import CipherStore
import SyncEngine
import SyncWire

/// How the model follows what a store does: folds, merges, deletions that are forgotten.
extension SimulatedReplica {
    /// Brings the model up to what the store has done since it was last looked at: a fold, a merge.
    ///
    /// - parameters:
    ///     - now: The time of the program that did it.
    ///     - transfer: What was to be merged; the store may have refused it.
    func observe(now: Int64, transfer: SimulatedTransfer? = nil) throws {
        let observation = try queue.read { try StoreObservation($0) }
        let isRenewed = observation.replica != model.id
        if isRenewed { try followIdentity(observation, transfer, now: now) }
        if observation.folded > model.folded { fold(now: now) }
        let isWhole = becomesWhole(observation)
        if isWhole || !observation.knowsSame(as: model) {
            guard let transfer else {
                throw SimulationViolation(
                    .progress,
                    "replica \(name) knows \(observation.vector.text), \(model.vector.text) is expected, and nobody told it more"
                )
            }
            try take(transfer, observation, isRenewed: isRenewed, now: now)
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
        let strays = try queue.read {
            try observation.entries($0, after: model.pending.last?.sequence ?? model.folded)
        }
        guard strays.isEmpty else {
            throw SimulationViolation(.capture, "replica \(name) logged \(strays[0]), which no user wrote")
        }
    }

    /// Takes in what a bundle brought.
    private func take(
        _ transfer: SimulatedTransfer, _ observation: StoreObservation, isRenewed: Bool, now: Int64
    ) throws {
        var joined = model.vector
        joined.join(transfer.target)
        for (replica, sequence) in joined.sequences where isRenewed {
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
        try followDeletions(halfKnown, observation, now: now)
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

    /// The rows that one side has and the other side deleted, of which neither knew the other's: their deletion is
    /// re-issued.
    private func halfKnownDeletions(_ sender: MergedState, _ transfer: SimulatedTransfer) -> Set<ModelKey> {
        let local = state()
        return Set(
            sender.rows.filter { key, other in
                guard let row = local.rows[key], row.isAlive != other.isAlive,
                    key.table != partialTable, key.table != transfer.partialTable,
                    transfer.tables?.contains(key.table) != false
                else { return false }
                return row.isAlive == (row.life < other.life)
                    && !model.vector(of: key.table).contains(other.base)
                    && !transfer.target(of: key.table).contains(row.base)
            }.keys)
    }

    /// Takes note of deletions that were re-issued, and of a fold that followed.
    private func followDeletions(
        _ expected: Set<ModelKey>, _ observation: StoreObservation, now: Int64
    ) throws {
        let last = model.pending.last?.sequence ?? model.folded
        let entries = try queue.read { try observation.entries($0, after: last) }
        guard entries.allSatisfy({ $0.operation == .delete }), Set(entries.map(\.key)) == expected,
            entries.count == expected.count
        else {
            throw SimulationViolation(
                .capture,
                "replica \(name) told \(entries.map(\.key.description)) anew, and \(expected.map(\.description)) were half known"
            )
        }
        model.append(entries)
        if observation.folded > model.folded { fold(now: now) }
    }

    /// The changes of rows whose deletion the sender knew and has forgotten: what it tells of such a row is of an
    /// earlier life than the deletion, and new.
    private func forgottenThere(
        _ news: ChangeSet, _ sender: MergedState, _ transfer: SimulatedTransfer
    ) -> ChangeSet {
        let bases = Set(news.numbers.lazy.map { self.world.changes[$0].stamp })
        let gone = state().rows.filter { key, row in
            guard !row.isAlive, let other = sender.rows[key], other.isAlive else { return false }
            return other.life < row.life && transfer.target.contains(row.base) && bases.contains(other.base)
        }
        guard !gone.isEmpty else { return ChangeSet() }
        var forgotten = ChangeSet()
        for number in model.known.numbers where gone[world.changes[number].key] != nil {
            forgotten.insert(number)
        }
        return forgotten
    }

    /// Of changes that are new here, those that the sender does not tell, because what replaced them there is
    /// forgotten here: a deletion, or a write of a row that was deleted afterwards. Whoever wrote them did not know
    /// it: a row that is inserted after its deletion was forgotten begins at its first life again.
    private func replacedBefore(
        _ news: ChangeSet, _ sender: MergedState, _ transfer: SimulatedTransfer
    ) -> ChangeSet {
        let forgotten = Dictionary(
            grouping: model.forgotten.numbers.filter { transfer.known.contains($0) },
            by: { world.changes[$0].key })
        var replaced = ChangeSet()
        for number in news.numbers {
            let change = world.changes[number]
            guard sender.rows[change.key]?.stamps.contains(change.stamp) != true else { continue }
            let isReplaced = forgotten[change.key]?.contains { index in
                let other = world.changes[index]
                guard !change.known.contains(index) else { return false }
                guard other.life == change.life else { return other.life > change.life }
                return other.isWhole && other.stamp.isNewer(than: change.stamp)
            }
            if isReplaced == true { replaced.insert(number) }
        }
        return replaced
    }

    /// Of changes that are new here, those of a row whose deletion was forgotten here: nothing of them is
    /// taken in, also when the row is made again.
    private func endedBefore(_ news: ChangeSet, _ sender: MergedState) -> ChangeSet {
        let state = state()
        let bases = Dictionary(
            grouping: model.forgotten.numbers.filter { world.changes[$0].isWhole },
            by: { world.changes[$0].key }
        ).mapValues { Set($0.map { world.changes[$0].stamp }) }
        var ended = ChangeSet()
        for number in news.numbers {
            let change = world.changes[number]
            guard let row = sender.rows[change.key], change.life <= row.life,
                bases[change.key]?.contains(row.base) == true
            else { continue }
            let local = state.rows[change.key]
            let isForgotten =
                local.map {
                    row.life > $0.life || (row.life == $0.life && row.base.isNewer(than: $0.base))
                } ?? true
            if isForgotten, row.isAlive { ended.insert(number) }
        }
        return ended
    }

    /// Moves the clock by what is in a bundle.
    private func adopt(_ transfer: SimulatedTransfer, now: Int64) {
        let known = world.restrict(transfer.known, to: tables(of: transfer))
        let bound = (now + ModelReplica.skewMillisecondsMax) << 16
        model.adopt(
            world.state(of: known.subtracting(transfer.forgotten))
                .newestTimestamp(beyond: transfer.base(of:), upTo: bound))
    }

    /// Whoever was away while deletions were forgotten gets all rows, and those go that are not
    /// among them, or are of a life that ended for the sender.
    private func takeOut(_ transfer: SimulatedTransfer, _ sender: MergedState) {
        let gone = state().rows.filter { key, row in
            guard let other = sender.rows[key] else {
                return row.stamps.contains { transfer.target.contains($0) }
            }
            // No write of a whole row takes a share away, and none a newer cell: those that the sender knew
            // and lacks ended with a life.
            let hasEnded =
                row.shares.contains { other.shares[$0] == nil && transfer.target.contains($1.stamp) }
                || row.cells.contains { name, cell in
                    transfer.target.contains(cell.stamp)
                        && cell.stamp.isNewer(than: other.cells[name]?.stamp ?? other.base)
                }
            let wins =
                row.life > other.life
                || (row.life == other.life && (hasEnded || row.base.isNewer(than: other.base)))
            return wins && row.base != other.base && transfer.target.contains(row.base)
        }
        for number in model.known.numbers {
            let change = world.changes[number]
            // What the sender holds of the row is in the bundle.
            guard gone[change.key] != nil, sender.rows[change.key]?.stamps.contains(change.stamp) != true
            else { continue }
            model.forgotten.insert(number)
        }
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

    /// Of a row whose deletion lies below the floor, nobody remembers anything.
    private func forgetDeletions(_ floor: VersionVector) {
        guard !floor.sequences.isEmpty else { return }
        let dead = state().rows.filter { !$1.isAlive && floor.contains($1.base) }
        guard !dead.isEmpty else { return }
        for number in model.known.numbers {
            let change = world.changes[number]
            if let row = dead[change.key], change.life <= row.life { model.forgotten.insert(number) }
        }
    }
}

extension VersionVector {
    /// The vector as violations tell it.
    var text: String {
        sequences.map { "\($0.shortDescription):\($1)" }.sorted().joined(separator: " ")
    }
}
