import CipherStore
import SyncEngine
import SyncWire

/// How the model follows deletions: those that are re-issued, and those that are forgotten.
extension SimulatedReplica {
    /// The rows that one side has and the other side deleted, of which neither knew the other's: their deletion is
    /// re-issued.
    ///
    /// - parameter forked: Replicas of which nothing counts as known here.
    func halfKnownDeletions(
        _ sender: MergedState, _ transfer: SimulatedTransfer, forked: Set<ReplicaID> = []
    ) -> [ModelKey: Stamp] {
        let local = state()
        return
            sender.rows.filter { key, other in
                guard let row = local.rows[key], row.isAlive != other.isAlive,
                    key.table != partialTable, key.table != transfer.partialTable,
                    transfer.tables?.contains(key.table) != false
                else { return false }
                return row.isAlive == (row.life < other.life)
                    && (forked.contains(other.base.replica)
                        || !model.vector(of: key.table).contains(other.base))
                    && !transfer.target(of: key.table).contains(row.base)
            }.mapValues(\.base)
    }

    /// Takes note of deletions that were re-issued, and of a fold that followed.
    ///
    /// - parameters:
    ///     - expected: Those that have to be, with the stamps of the rows that were not known.
    ///     - repeated: Those that were, if all that was forked was not known. How much was can't be seen: what came
    ///       up to some change of a replica was, and what came later was not.
    func followDeletions(
        _ expected: [ModelKey: Stamp], _ repeated: [ModelKey: Stamp], _ observation: StoreObservation,
        now: Int64
    ) throws {
        let entries = try newEntries(observation)
        let told = Set(entries.map(\.key))
        let isDue = repeated.allSatisfy { key, stamp in
            expected[key] != nil || told.contains(key)
                || !repeated.contains { other, later in
                    told.contains(other) && expected[other] == nil && later.replica == stamp.replica
                        && later.sequence < stamp.sequence
                }
        }
        guard entries.allSatisfy({ $0.operation == .delete }), told.isSuperset(of: expected.keys),
            told.isSubset(of: repeated.keys), isDue, entries.count == told.count
        else {
            throw SimulationViolation(
                .capture,
                "replica \(name) told \(entries.map(\.key.description)) anew, and \(expected.keys.map(\.description)) were half known"
            )
        }
        model.append(entries)
        if observation.folded > model.folded { fold(now: now) }
    }

    /// The changes of rows whose deletion the sender knew and has forgotten: what it tells of such a row is of an
    /// earlier life than the deletion, and new.
    func forgottenThere(
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
    func replacedBefore(
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
    func endedBefore(_ news: ChangeSet, _ sender: MergedState) -> ChangeSet {
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

    /// Whoever was away while deletions were forgotten gets all rows, and those go that are not
    /// among them, or are of a life that ended for the sender.
    func takeOut(_ transfer: SimulatedTransfer, _ sender: MergedState) {
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

    /// Of a row whose deletion lies below the floor, nobody remembers anything.
    func forgetDeletions(_ floor: VersionVector) {
        guard !floor.sequences.isEmpty else { return }
        let dead = state().rows.filter { !$1.isAlive && floor.contains($1.base) }
        guard !dead.isEmpty else { return }
        for number in model.known.numbers {
            let change = world.changes[number]
            if let row = dead[change.key], change.life <= row.life { model.forgotten.insert(number) }
        }
    }
}
