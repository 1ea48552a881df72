import CipherStore
import SyncEngine

/// Replicas that come, are copied, migrate, and lose their clocks and links.
extension SimulationRun {
    func clone(_ random: inout SimulationRandom) throws {
        guard replicas.count < replicaCountMax, let source = random.element(of: replicas) else { return }
        let number = replicas.count
        note("replica \(number) is cloned from replica \(source.name)")
        try source.synchronizer.clone(
            to: world.factory.path("\(number)"), passphrase: world.factory.secret())
        try source.observe(now: world.clock.now(source.number))
        try source.markCommitted()
        world.clock.setSkew(source.skew, of: number)
        let clone = try SimulatedReplica(world, number: number)
        clone.skew = source.skew
        clone.appVersion = source.appVersion
        var expected = source.model.vector
        expected[clone.model.id] = 0
        guard clone.model.vector == expected, clone.rows == source.rows else {
            throw SimulationViolation(.progress, "replica \(number) differs from what it is a clone of")
        }
        replicas.append(clone)
    }

    /// A plain copy of a file is not a replica: it is refused.
    func meetCopy(_ replica: SimulatedReplica, _ random: inout SimulationRandom) throws {
        note("replica \(replica.name) meets a plain copy of itself")
        try StoreFiles(path: world.factory.path(replica.name)).write(path: world.factory.path("copy"))
        let transport = StoreTransport(
            path: world.factory.path("copy"), configuration: world.factory.configuration)
        do {
            _ = try replica.synchronizer.run(.both, transport)
            throw SimulationViolation(.progress, "a plain copy was not refused")
        } catch let error as SyncError where error.code == .sameReplica {
            try replica.observe(now: world.clock.now(replica.number))
            try replica.markCommitted()
        }
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

    func changeLinks(_ random: inout SimulationRandom) {
        downLinks = random.oneIn(2) ? [] : Set((0..<4).map { _ in random.number(below: 36) })
        note("links are down: \(downLinks.sorted().map { "\($0 / 6)-\($0 % 6)" }.joined(separator: " "))")
    }
}
