import CipherStore
import SyncEngine
import SyncWire

/// An older state of a replica's file.
struct SimulatedBackup {
    let files: StoreFiles
    let place: StorePlace?
    let model: ModelReplica
    let rows: ModelRows
    let appVersion: Int
}

/// Files that are copied or put back, and the identities that they get.
extension SimulatedReplica {
    /// Takes note of a new identity, and of which changes moved to it.
    ///
    /// That is read from the stamps of the store. Whether it was right shows in what others hold
    /// afterwards: a change that should have moved, and did not, hides another one.
    ///
    /// - parameter transfer: What came with the new identity.
    /// - returns: The replicas of which changes moved.
    func followIdentity(
        _ observation: StoreObservation, _ transfer: SimulatedTransfer?, now: Int64
    ) throws -> Set<ReplicaID> {
        guard world.allowsCopies else {
            throw SimulationViolation(.progress, "replica \(name) has another identity")
        }
        if let last = model.pending.last?.sequence,
            observation.vector[model.id] >= last || observation.folded > last
        {
            fold(now: now)
        }
        let name = observation.replica.shortDescription
        guard model.pending.isEmpty, observation.folded > model.folded else {
            world.note("replica \(self.name) goes on as \(name)")
            model.renew(as: observation.replica, folded: nil)
            return []
        }
        let commons = try commonSequences(observation, transfer)
        let forks = commons.map { "\($0.shortDescription) beyond \($1)" }.sorted()
        world.note(
            "replica \(self.name) goes on as \(name), with what it has of \(forks.joined(separator: ", "))")
        let bound = (now + ModelReplica.skewMillisecondsMax) << 16
        model.adopt(
            move(commons, to: observation.replica, as: observation.folded).filter { $0 <= bound }.max() ?? 0)
        for (replica, common) in commons { model.vector[replica] = min(model.vector[replica], common) }
        model.renew(as: observation.replica, folded: observation.folded)
        return Set(commons.keys)
    }

    /// What is left of changes beyond the common ones becomes one change of the new identity, and
    /// counts as written just after it was.
    ///
    /// - returns: When that was.
    private func move(_ commons: [ReplicaID: Int64], to replica: ReplicaID, as number: Int64) -> [Int64] {
        func isMoved(_ stamp: Stamp) -> Bool { commons[stamp.replica].map { stamp.sequence > $0 } ?? false }
        func stamp(_ timestamp: Int64) -> Stamp {
            Stamp(timestamp: HybridTimestamp(rawValue: timestamp), replica: replica, sequence: number)
        }
        let known = model.known
        var changes: [MergedState.Change] = []
        for (key, row) in state().rows {
            func add(_ stamp: Stamp, _ content: MergedState.Change.Content) {
                changes.append(.init(key: key, life: row.life, stamp: stamp, content: content, known: known))
            }
            let base = isMoved(row.base) ? stamp(row.base.timestamp.rawValue + 1) : row.base
            if base != row.base {
                let values = row.cells.filter { $1.stamp == row.base }.mapValues(\.value)
                add(base, row.isAlive ? .row(values) : .deletion)
            }
            for (name, cell) in row.cells where cell.stamp != row.base {
                var time = cell.stamp.timestamp.rawValue + (isMoved(cell.stamp) ? 1 : 0)
                let isOvertaken = base != row.base && time <= base.timestamp.rawValue
                if isOvertaken { time = base.timestamp.rawValue + 1 }
                if isOvertaken || isMoved(cell.stamp) { add(stamp(time), .column(name, cell.value)) }
            }
            for (name, share) in row.shares where isMoved(share.stamp) {
                add(
                    stamp(share.stamp.timestamp.rawValue + 1),
                    .count(
                        share.column, share: Self.movedName(of: share, name, to: replica),
                        Array(share.increments)))
            }
        }
        for index in known.numbers where isMoved(world.changes[index].stamp) {
            model.known.remove(index)
            // Nothing of a deletion that was forgotten moved: whoever still has it tells of it again.
            if model.forgotten.contains(index) {
                model.forgotten.remove(index)
                world.withdrawn.insert(index)
            } else {
                world.renamed.insert(index)
            }
        }
        for index in world.add(changes) { model.known.insert(index) }
        return changes.map(\.stamp.timestamp.rawValue)
    }

    /// The share that a share becomes that moves to another identity: of its own one a file makes one that
    /// the other file has no part in.
    private static func movedName(
        of share: MergedState.Share, _ name: String, to replica: ReplicaID
    ) -> String {
        guard name == "\(share.column)+\(share.stamp.replica)" else { return name }
        var hash = ChainHash(after: share.stamp.replica)
        hash.add(replica.bytes)
        return "\(share.column)+\(hash.value)"
    }

    /// For each replica of which changes moved, the last that did not.
    private func commonSequences(
        _ observation: StoreObservation, _ transfer: SimulatedTransfer?
    ) throws -> [ReplicaID: Int64] {
        var commons: [ReplicaID: Int64] = [:]
        for (replica, sequence) in model.vector.sequences where observation.vector[replica] < sequence {
            commons[replica] = observation.vector[replica]
        }
        let versions = try queue.read { db in try observation.versions(db) }
        let state = state()
        for (key, row) in state.rows {
            guard let version = versions[key] else { continue }
            let found = Set(version.cells.values).union([version.base])
            for stamp in row.stamps where !found.contains(stamp) {
                let moved = Stamp(
                    timestamp: HybridTimestamp(rawValue: stamp.timestamp.rawValue + 1),
                    replica: observation.replica, sequence: observation.folded)
                guard found.contains(moved), !isOvertaken(stamp, row, version) else { continue }
                commons[stamp.replica] = min(commons[stamp.replica] ?? .max, stamp.sequence - 1)
            }
            // What was counted at the same moment in the other file has the same stamp.
            for (name, share) in row.shares {
                let moved = Self.movedName(of: share, name, to: observation.replica)
                guard moved != name, row.shares[moved] == nil, version.cells[moved] != nil else { continue }
                let stamp = share.stamp
                commons[stamp.replica] = min(commons[stamp.replica] ?? .max, stamp.sequence - 1)
            }
        }
        // The first changes beyond a common one may have been replaced since, so that nothing of them moved.
        // That the other file's came, under numbers that counted as known, shows that they are no common ones.
        for number in transfer?.known.subtracting(model.known).numbers ?? [] {
            let (key, stamp) = (world.changes[number].key, world.changes[number].stamp)
            guard key.table != partialTable, model.vector.contains(stamp), let version = versions[key],
                version.base == stamp || version.cells.values.contains(stamp),
                state.rows[key]?.stamps.contains(stamp) != true
            else { continue }
            commons[stamp.replica] = min(commons[stamp.replica] ?? .max, stamp.sequence - 1)
        }
        return commons
    }

    /// Whether a column was written in the moment to which the write of the whole row moved: then it
    /// goes after that under the new identity, whoever wrote it.
    private func isOvertaken(
        _ stamp: Stamp, _ row: MergedState.Row, _ version: StoreObservation.Version
    ) -> Bool {
        stamp != row.base && version.base != row.base
            && stamp.timestamp.rawValue == row.base.timestamp.rawValue + 1
    }

    /// Takes a copy of the file, to put it back later.
    func backUp() throws -> SimulatedBackup {
        let path = world.factory.path(name)
        return SimulatedBackup(
            files: try StoreFiles(path: path), place: world.clock.places.place(of: path), model: model,
            rows: rows, appVersion: appVersion)
    }

    /// The file is put back to what it was.
    ///
    /// - parameter isSeen: Whether the store can see that.
    func restore(_ backup: SimulatedBackup, isSeen: Bool) throws {
        try abandon(keeping: backup.model.known)
        let path = world.factory.path(name)
        world.clock.places.put(isSeen ? nil : backup.place, at: path)
        try reopen(backup.files, backup.model, backup.rows)
        appVersion = backup.appVersion
        try readSchema()
        try readRows()
        try observe(now: environment.milliseconds())
        try markCommitted()
    }

    /// The file, or a part of what it holds, goes away.
    func abandon(keeping kept: ChangeSet = ChangeSet()) throws {
        world.abandoned.formUnion(model.known.subtracting(kept))
        let journal = try queue.read { db in try StoreObservation(db).journal(db) }
        world.abandonedJournal.formUnion(journal)
    }
}
