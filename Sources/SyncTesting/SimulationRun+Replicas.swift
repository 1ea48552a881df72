import CipherStore
import SyncEngine

/// Replicas that come, are copied, migrate, and lose their clocks and links.
extension SimulationRun {
    func clone(_ random: inout SimulationRandom) throws {
        guard replicas.count < replicaCountMax, let source = random.element(of: replicas) else { return }
        let number = newNumber()
        note("replica \(number) is cloned from replica \(source.name)")
        let isForging = simulation.sabotage == .forgesChains
        if isForging { try source.stopForging() }
        try source.synchronizer.clone(
            to: world.factory.path("\(number)"), passphrase: world.factory.secret())
        try source.observe(now: world.clock.now(source.number))
        try source.markCommitted()
        world.clock.setSkew(source.skew, of: number)
        let clone = try SimulatedReplica(world, number: number, from: source.model)
        clone.skew = source.skew
        clone.appVersion = source.appVersion
        var expected = source.model.vector
        expected[clone.model.id] = 0
        guard clone.model.vector == expected, clone.rows == source.rows else {
            throw SimulationViolation(.progress, "replica \(number) differs from what it is a clone of")
        }
        replicas.append(clone)
        if isForging { for replica in [source, clone] { try replica.sabotage(.forgesChains) } }
    }

    /// A file is copied as any other file. The copy becomes a replica of its own: when it sees that
    /// it is one, or when it meets others.
    func copy(_ source: SimulatedReplica, _ random: inout SimulationRandom) throws {
        let stays = replicas.count < replicaCountMax && !random.oneIn(3)
        let number = stays ? newNumber() : passingNumber()
        let isSeen = random.oneIn(2)
        note(
            "replica \(number) is a plain copy of replica \(source.name)\(isSeen ? "" : ", and can't see it")\(stays ? "" : "; it goes soon")"
        )
        let path = world.factory.path("\(number)")
        try StoreFiles(path: world.factory.path(source.name)).write(path: path)
        world.clock.places.put(
            isSeen ? nil : world.clock.places.place(of: world.factory.path(source.name)), at: path)
        let copy = try SimulatedReplica(world, number: number, copyOf: source)
        if stays { return replicas.append(copy) }
        if random.oneIn(2) { try write(copy, isForeign: false, &random) }
        try exchange(copy, random.element(of: replicas) ?? source, .both, SyncFaults())
        try copy.abandon()
        try copy.close()
    }

    /// The number of a new replica that stays.
    private func newNumber() -> Int { replicas.count }

    /// The number of one that does not.
    private func passingNumber() -> Int {
        world.passingCount += 1
        return replicaCountMax + world.passingCount
    }

    /// A backup is made, or put back.
    func backUpOrRestore(_ replica: SimulatedReplica, _ random: inout SimulationRandom) throws {
        guard let backup = backups[replica.number], !random.oneIn(3) else {
            note("replica \(replica.name) is backed up")
            backups[replica.number] = try replica.backUp()
            return
        }
        let isSeen = random.oneIn(2)
        note("replica \(replica.name) is put back to its backup\(isSeen ? "" : ", and can't see it")")
        try replica.restore(backup, isSeen: isSeen)
        try replica.checkAgainstModel()
    }

    /// Deletions are forgotten that all are believed to know, and replicas retired.
    func compact(_ replica: SimulatedReplica, _ random: inout SimulationRandom) throws {
        var options = CompactionOptions()
        let hour: Int64 = 3_600_000
        options.leaseMilliseconds = random.element(of: [nil, hour, 24 * hour, 90 * 24 * hour]) ?? nil
        options.historyCount = random.oneIn(2) ? Int64(random.number(below: 20)) : nil
        options.reclaimsSpace = random.oneIn(4)
        let report = try replica.synchronizer.compact(options)
        note(
            "replica \(replica.name) forgets \(report.forgottenDeletionCount) deletions, retires \(report.retiredReplicas.count)"
        )
        try replica.observe(now: world.clock.now(replica.number))
        try replica.markCommitted()
        try replica.checkAgainstModel()
    }

    /// Brings a replica to the next version of the app.
    func migrate(_ replica: SimulatedReplica) throws {
        guard replica.appVersion + 1 < world.app.versionCount else { return }
        note("replica \(replica.name) migrates to version \(replica.appVersion + 1)")
        try replica.migrate(to: replica.appVersion + 1)
        try replica.checkAgainstModel()
    }

    func changeClock(_ replica: SimulatedReplica, _ random: inout SimulationRandom) {
        let day: Int64 = 86_400_000
        let skews: [Int64] = [0, 0, 500, -500, 5 * 60_000, -day, day, 3650 * day, -3650 * day, -20_000 * day]
        replica.skew = random.element(of: skews) ?? 0
        world.clock.setSkew(replica.skew, of: replica.number)
        note("the clock of replica \(replica.name) is off by \(replica.skew) ms")
    }

    /// Of some tables only, or of all, one replica and another one exchange changes from now on,
    /// when the first one asks for it.
    func chooseTables(_ replica: SimulatedReplica, _ random: inout SimulationRandom) throws {
        guard let other = partner(of: replica, &random) else { return }
        let tables = world.app.tables.filter { _ in !random.oneIn(3) }
        let scope: SyncScope = tables.isEmpty || random.oneIn(4) ? .everything : .tables(tables)
        note(
            "replica \(replica.name) chooses \(scope.tableNames?.joined(separator: ", ") ?? "all tables") for \(other.name)"
        )
        try replica.synchronizer.setScope(scope, ofRemote: other.name)
        try replica.observe(now: world.clock.now(replica.number))
        try replica.markCommitted()
    }

    /// All tables are exchanged over all links.
    func chooseEverything() throws {
        for replica in replicas {
            for other in replicas where other !== replica {
                try replica.synchronizer.setScope(.everything, ofRemote: other.name)
            }
        }
    }

    /// Whether two replicas know the same, of all tables and of each.
    func knowSame(_ left: SimulatedReplica, _ right: SimulatedReplica) -> Bool {
        left.partialTable == nil && right.partialTable == nil && left.model.vector == right.model.vector
            && Set(left.model.parts.keys).union(right.model.parts.keys).allSatisfy {
                left.model.vector(of: $0) == right.model.vector(of: $0)
            }
    }

    func changeLinks(_ random: inout SimulationRandom) {
        downLinks = random.oneIn(2) ? [] : Set((0..<4).map { _ in random.number(below: 36) })
        note("links are down: \(downLinks.sorted().map { "\($0 / 6)-\($0 % 6)" }.joined(separator: " "))")
    }
}
