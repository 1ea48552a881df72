import SyncEngine
import SyncWire

/// How the model follows a replica that holds some rows of a table.
///
/// What it knows of each row follows from what a replica said that has all rows: of one that exists
/// and is wanted, or is deleted, everything; of another one nothing new. A row goes when it is not wanted
/// and somebody else has all that was written to it here, and not before.
extension SimulatedReplica {
    /// What a model has to know of the table of which rows are chosen.
    private var scope: SimulatedApp.RowScope? { world.app.rowScope }

    /// The table of which it holds some rows only.
    var partialTable: String? { model.partial == nil ? nil : scope?.table }

    /// The tables of which it holds all rows.
    func wholeTables(with other: SimulatedReplica) -> [String] {
        world.app.tables.filter { $0 != partialTable && $0 != other.partialTable }
    }

    /// Takes note of what was chosen; nil for all rows.
    func noteChoice(_ values: [ScopeValue]?) throws {
        guard let scope else { return }
        let observation = try queue.read { try StoreObservation($0) }
        let revision = observation.partials[scope.table]
        model.parts[scope.table] = revision == nil ? observation.part(of: scope.table) : nil
        model.partial = revision.map {
            .init(
                wanted: values.map { Set($0.map(ModelValue.init)) }, revision: $0,
                left: model.partial?.left ?? [])
        }
    }

    /// Whether it got the last of the rows that it did not hold.
    func becomesWhole(_ observation: StoreObservation) -> Bool {
        guard let table = partialTable, observation.partials[table] == nil else { return false }
        model.partial = nil
        return true
    }

    /// Brings the model up to the rows that came and went.
    ///
    /// - parameter transfer: What was to be merged; the store may have refused it.
    func followRows(_ observation: StoreObservation, _ transfer: SimulatedTransfer?) throws {
        guard let table = partialTable, let partial = model.partial,
            let revision = observation.partials[table]
        else { return }
        let applied = revision == partial.revision ? nil : transfer
        model.partial?.revision = revision
        let theirs = world.restrict(applied?.known ?? ChangeSet(), to: [table])
        let sender = world.state(of: theirs)
        let mine = state()
        let versions = try queue.read { try observation.versions($0) }
        for key in Set(sender.rows.keys).union(mine.rows.keys).sorted() where key.table == table {
            let other = sender.rows[key]
            let isSent = other.map { !$0.isAlive || isWanted($0) } ?? false
            var changes = ChangeSet()
            for number in model.known.numbers where world.changes[number].key == key {
                changes.insert(number)
            }
            if isSent {
                for number in theirs.numbers where world.changes[number].key == key {
                    changes.insert(number)
                }
            }
            let row = world.state(of: changes).rows[key]
            guard let row, versions[key] == nil else {
                if let row, let other, row.isAlive, !isSent, other.isAlive,
                    row.stamps.allSatisfy(other.stamps.union(known(applied)).contains)
                {
                    throw SimulationViolation(
                        .shownRows, "replica \(name) keeps \(key), which left the rows that it holds")
                }
                model.known.formUnion(changes)
                if isSent {
                    model.partial?.left.remove(key)
                } else if row?.isAlive == true, other?.isAlive == true {
                    model.partial?.left.insert(key)
                }
                continue
            }
            // It is not here.
            model.known = model.known.subtracting(changes)
            let hasLeft = model.partial?.left.remove(key) != nil
            guard row.isAlive, mine.rows[key] != nil || isSent else { continue }
            let mayGo = hasLeft || (other.map { !isWanted($0) } ?? false) || !isWanted(row)
            guard mayGo, world.isKnownElsewhere(self, table, mine.rows[key]?.stamps ?? []) else {
                throw SimulationViolation(
                    .shownRows, "replica \(name) lacks \(key), which is among the rows that it holds")
            }
        }
        let bound = world.newestTimestamp(of: transfer?.known ?? ChangeSet())
        if observation.clock > model.clock, observation.clock <= bound { model.adopt(observation.clock) }
    }

    /// The stamps of what somebody knows.
    private func known(_ transfer: SimulatedTransfer?) -> Set<Stamp> {
        Set((transfer?.known ?? ChangeSet()).numbers.map { world.changes[$0].stamp })
    }

    /// Whether a row is among those that were chosen.
    func isWanted(_ row: MergedState.Row) -> Bool {
        guard let scope, let wanted = model.partial?.wanted else { return true }
        return wanted.contains(row.shown[scope.column] ?? .null)
    }
}

extension ModelValue {
    init(_ value: ScopeValue) {
        switch value {
        case .null: self = .null
        case .integer(let number): self = .integer(number)
        case .text(let text): self = .text(Array(text.utf8))
        case .blob(let bytes): self = .blob(bytes)
        }
    }
}
