import CipherStore
import SyncEngine
import SyncWire

/// Replicas that meet, with what can go wrong between them.
extension SimulationRun {
    func partner(of replica: SimulatedReplica, _ random: inout SimulationRandom) -> SimulatedReplica? {
        let count = replicas.count
        let number = replica.number
        let numbers: [Int] =
            switch topology {
            case .star: number == 0 ? Array(1..<max(count, 1)) : [0]
            case .ring: [(number + 1) % count, (number + count - 1) % count]
            case .line: [number - 1, number + 1].filter { (0..<count).contains($0) }
            case .any: Array(0..<count)
            }
        let others = numbers.filter { $0 != number }
        return random.element(of: others).map { replicas[$0] }
    }

    func synchronize(_ replica: SimulatedReplica, _ random: inout SimulationRandom) throws {
        guard let partner = partner(of: replica, &random) else { return }
        let directions: [SyncDirection] = [.both, .both, .pull, .push]
        let direction = random.element(of: directions) ?? .both
        if downLinks.contains(replica.number * 6 + partner.number) {
            return note("replica \(replica.name) does not reach replica \(partner.name)")
        }
        let faults = chooseFaults(replica, partner, &random)
        let tables = try replica.synchronizer.scope(ofRemote: partner.name).tableNames
        let scope = tables.map { " of \($0.joined(separator: ", "))" } ?? ""
        note(
            "replica \(replica.name) synchronizes with \(partner.name): \(direction.rawValue)\(scope)\(faults)"
        )
        try exchange(replica, partner, direction, faults)
    }

    private func chooseFaults(
        _ local: SimulatedReplica, _ remote: SimulatedReplica, _ random: inout SimulationRandom
    ) -> SyncFaults {
        var faults = SyncFaults()
        func fault() -> DeliveryFault? {
            let fraction = Double(random.number(below: 10_000)) / 10_000
            return switch random.number(below: 8) {
            case 0: .loss
            case 1: .truncation(fraction)
            case 2, 3: .duplication
            case 4: .corruption(fraction)
            default: nil
            }
        }
        if features.contains(.network), random.oneIn(3) {
            faults.pull = fault()
            faults.push = fault()
            faults.breaksBetween = random.oneIn(6)
            faults.breaksBeforeNotes = random.oneIn(8)
        }
        if features.contains(.foreignWriters), random.oneIn(5) {
            var generator = SimulationRandom(seed: random.next())
            let isRemote = random.oneIn(2)
            let writing = isRemote ? remote : local
            let write = { [self] in
                note("  meanwhile another program writes to replica \(writing.name)")
                try self.write(writing, isForeign: true, &generator)
            }
            if isRemote { faults.remoteWrite = write } else { faults.localWrite = write }
        }
        if features.contains(.crashes), random.oneIn(7) {
            faults.crash = (
                random.element(of: SyncFaults.CrashPoint.allCases) ?? .greeted, random.oneIn(2),
                random.oneIn(5) ? 1 : Double(random.number(below: 1000)) / 1000
            )
        }
        return faults
    }

    /// Synchronizes two replicas, and holds both to the model afterwards.
    func exchange(
        _ local: SimulatedReplica, _ remote: SimulatedReplica, _ direction: SyncDirection,
        _ faults: SyncFaults
    ) throws {
        let now = world.clock.now(local.number)
        let transport = try SimulatedTransport(local, remote, faults, inner: remote.entrance.transport())
        var crashed: Bool?
        do {
            let report = try local.synchronizer.run(direction, transport)
            guard report.unrecordedReason == nil || faults.breaksBeforeNotes || faults.crash != nil else {
                throw SimulationViolation(.failure, "\(report.unrecordedReason ?? "")")
            }
            if let divergence = report.divergence {
                throw SimulationViolation(
                    .convergence,
                    "replicas \(local.name) and \(remote.name) know the same and differ: \(divergence)")
            }
            if transport.files != nil { crashed = faults.crash?.isLocal }
        } catch let error as SyncError where error.code == .sameReplica {
            // Of two files that are the same in all respects, one is no replica yet.
            guard local.model.vector == remote.model.vector, local.model.known == remote.model.known else {
                throw SimulationViolation(
                    .progress, "replicas \(local.name) and \(remote.name) differ, and are taken for one")
            }
        } catch let fault as InjectedFault {
            if case .crash(let isLocal) = fault { crashed = isLocal }
        } catch let error where transport.hasTampered && !(error is SimulationViolation) {
            note("  refused: \(error)")
        }
        if let crashed, let files = transport.files {
            note("  replica \((crashed ? local : remote).name) died")
            try (crashed ? local : remote).restart(
                files, now: now, transfer: crashed ? transport.pulled : transport.pushed)
        }
        if crashed != true { try local.observe(now: now, transfer: transport.pulled) }
        if crashed != false { try remote.observe(now: now, transfer: transport.pushed) }
        if crashed == nil, case .duplication = faults.pull, !transport.pulledFrames.isEmpty {
            try local.applyAgain {
                do {
                    try receive(transport.pulledFrames, local)
                } catch let error as SyncError where features.contains(.rowScopes) {
                    // Rows are asked for once.
                    guard error.code == .changedMeanwhile else { throw error }
                }
            }
        }
        for replica in [local, remote] { try replica.markCommitted() }
        if let sabotage = simulation.sabotage { try local.sabotage(sabotage) }
        if faults.isEmpty { try requireExchanged(local, remote, direction) }
        for replica in [local, remote] { try replica.checkAgainstModel() }
        // Until they met, two files may have written under one identity.
        if knowSame(local, remote), faults.isEmpty || !world.allowsCopies {
            try requireEqual(local, remote)
        }
    }

    private func requireExchanged(
        _ local: SimulatedReplica, _ remote: SimulatedReplica, _ direction: SyncDirection
    ) throws {
        func covers(_ one: SimulatedReplica, _ other: SimulatedReplica) throws -> Bool {
            let isPartial = local.partialTable != nil || remote.partialTable != nil
            let tables =
                try isPartial
                ? local.wholeTables(with: remote) : local.synchronizer.scope(ofRemote: remote.name).tableNames
            guard let tables else {
                return one.model.vector.covers(other.model.vector)
                    && other.model.parts.allSatisfy { one.model.vector(of: $0).covers($1) }
            }
            return tables.allSatisfy { table in
                one.model.vector(of: table).covers(other.model.vector(of: table))
            }
        }
        guard try direction == .push || covers(local, remote), try direction == .pull || covers(remote, local)
        else {
            throw SimulationViolation(
                .progress, "replicas \(local.name) and \(remote.name) synchronized, and one lacks changes")
        }
    }

    private func receive(_ frames: [[UInt8]], _ replica: SimulatedReplica) throws {
        let peer = try replica.entrance.transport().connect(replica.environment)
        defer { peer.close() }
        _ = try peer.receive { sink in try SimulatedTransport.hand(frames, to: sink) }
    }

    /// Delivers a bundle that was made earlier, for this replica or another one.
    func deliverLate(_ replica: SimulatedReplica, _ random: inout SimulationRandom) throws {
        guard let bundle = random.element(of: world.bundles) else { return }
        let isDue = bundle.transfer.isDue(for: replica.model, partialTable: replica.partialTable)
        var transfer: SimulatedTransfer? = bundle.transfer
        note("replica \(replica.name) gets an old bundle\(isDue ? "" : ", which is to be refused")")
        do {
            try receive(bundle.frames, replica)
            guard isDue else {
                throw SimulationViolation(
                    .progress,
                    "a bundle was applied that builds on \(bundle.transfer.base.text), and \(replica.model.vector.text) is known"
                )
            }
        } catch let error as SyncError where mayRefuse(error, isDue: isDue) {
            note("  refused: \(error)")
            if features.contains(.rowScopes) { transfer = nil }
        }
        try replica.observe(now: world.clock.now(replica.number), transfer: transfer)
        try replica.markCommitted()
        try replica.checkAgainstModel()
    }
}

extension SimulationRun {
    /// Whether an error says why a bundle from a file can't be applied.
    private func mayRefuse(_ error: SyncError, isDue: Bool) -> Bool {
        // What was sent for some rows is for one receiver, and once.
        let isOfRows = [.invalidBundle, .changedMeanwhile, .scopeUnsupported].contains(error.code)
        if isOfRows, features.contains(.rowScopes) { return true }
        return switch error.code {
        case .invalidBundle: !isDue
        case .forkedReplica: world.allowsCopies
        case .resyncRequired, .retiredReplica: features.contains(.compaction)
        default: false
        }
    }
}

extension SyncFaults: CustomStringConvertible {
    var description: String {
        var parts: [String] = []
        if let pull { parts.append("pull \(pull)") }
        if let push { parts.append("push \(push)") }
        if breaksBetween { parts.append("cut between the directions") }
        if breaksBeforeNotes { parts.append("cut before the notes") }
        if let crash { parts.append("\(crash.isLocal ? "this" : "the other") one dies: \(crash.point)") }
        return parts.isEmpty ? "" : " (\(parts.joined(separator: ", ")))"
    }
}
