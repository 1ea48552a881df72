import SyncEngine

/// Stores that meet.
extension WitnessedRun {
    func synchronize(_ store: WitnessedStore, _ random: inout SimulationRandom) throws {
        guard let other = random.element(of: stores.filter({ $0 !== store })) else { return }
        let directions: [SyncDirection] = [.both, .both, .both, .pull, .push]
        let direction = random.element(of: directions) ?? .both
        let fault = chooseFault(&random)
        note("store \(store.name) synchronizes with \(other.name): \(direction.rawValue)\(text(of: fault))")
        try exchange(store, other, direction, fault)
    }

    private func chooseFault(_ random: inout SimulationRandom) -> WitnessedTransport.Fault? {
        let point = random.element(of: SyncFaults.CrashPoint.allCases) ?? .greeted
        let kept = random.oneIn(4) ? 1 : Double(random.number(below: 1000)) / 1000
        let dies = random.oneIn(2) ? WitnessedTransport.Victim.local : .remote
        if happens(.crashes), random.oneIn(5) { return .init(point: point, dies: dies, kept: kept) }
        if happens(.network), random.oneIn(5) { return .init(point: point, dies: nil, kept: kept) }
        return nil
    }

    private func text(of fault: WitnessedTransport.Fault?) -> String {
        guard let fault else { return "" }
        let who =
            switch fault.dies {
            case .local: "this one dies"
            case .remote: "the other one dies"
            case nil: "the connection breaks"
            }
        return " (\(who): \(fault.point))"
    }

    /// Users retire the replicas that are gone: those of files that were put back or copied, and went on as others.
    func retireWhoIsGone() throws {
        let known = try stores.map { try $0.synchronizer.replicas() }
        let living = Set(known.flatMap { $0.filter(\.isLocal).map(\.replica) })
        for (store, replicas) in zip(stores, known) {
            for replica in replicas where !living.contains(replica.replica) && replica.retirement == nil {
                note("replica \(replica.replica.shortDescription) is retired at store \(store.name)")
                try store.synchronizer.retire(replica.replica)
            }
        }
    }

    /// All meet the first one until nothing is new to anybody.
    func comeToRest() throws {
        var quietCount = 0
        for _ in 0..<12 where quietCount < 2 {
            var rowCount: Int64 = 0
            for store in stores.dropFirst() {
                let report = try exchange(store, stores[0], .both, nil)
                rowCount += (report?.pulled?.rowCount ?? 0) + (report?.pushed?.rowCount ?? 0)
            }
            quietCount = rowCount == 0 ? quietCount + 1 : 0
        }
        guard quietCount == 2 else {
            throw SimulationViolation(.progress, "after twelve rounds, something is new to somebody still")
        }
    }

    /// Synchronizes two stores, and looks at what their users see then.
    ///
    /// - returns: nil when a fault ended it.
    @discardableResult
    func exchange(
        _ one: WitnessedStore, _ other: WitnessedStore, _ direction: SyncDirection,
        _ fault: WitnessedTransport.Fault?
    ) throws -> SyncReport? {
        var report: SyncReport?
        let transport = WitnessedTransport(one, other, fault)
        var last: (any Error)?
        for _ in 0..<4 {
            last = nil
            do {
                let made = try one.synchronizer.run(direction, transport)
                for table in made.waitingTables { note("    \(table.name) waits: \(table.reason)") }
                report = made
            } catch let error as SyncError where [.forkedReplica, .retiredReplica].contains(error.code) {
                // It takes another identity then, and tries again; one that was retired does when it is told to.
                note("    \(error.message)")
                if error.code == .retiredReplica {
                    let isRemote = error.message.contains("the remote")
                    try (isRemote ? other : one).synchronizer.renewIdentity()
                }
                last = error
                continue
            } catch let error as SyncError where error.code == .sameReplica {
                note("    \(error.message)")
            } catch is InjectedFault {}
            break
        }
        if let last {
            throw SimulationViolation(
                .progress, "stores \(one.name) and \(other.name) can't synchronize: \(last)")
        }
        if let files = transport.files, let dies = fault?.dies {
            try (dies == .local ? one : other).restart(files)
        }
        if let sabotage = simulation.sabotage { try one.sabotage(sabotage) }
        for store in [one, other] { try see(store) }
        return report
    }

    // MARK: Scopes

    /// A store chooses other tables or rows than it has, or all, for one of the others.
    func choose(_ store: WitnessedStore, _ random: inout SimulationRandom) throws {
        guard store !== stores[0], let other = random.element(of: stores.filter({ $0 !== store })) else {
            return
        }
        let (scope, hub): (SyncScope, WitnessedStore)
        if happens(.rowScopes) {
            let places = WitnessedEdit.places.filter { _ in random.oneIn(2) }
            // One store holds all rows, as a rule of such scopes.
            hub = stores[0]
            scope =
                places.isEmpty || random.oneIn(4)
                ? .everything
                : .rows(
                    of: WitnessedStore.tableOfRows, where: WitnessedStore.placeColumn,
                    in: places.map { .text($0) })
            note("store \(store.name) chooses \(places.isEmpty ? "all" : "\(places)") rows")
        } else {
            let tables = WitnessedStore.tables.filter { _ in random.oneIn(2) }
            hub = other
            scope = tables.isEmpty ? .everything : .tables(tables)
            note("store \(store.name) chooses \(tables.isEmpty ? ["all"] : tables) for \(other.name)")
        }
        try store.synchronizer.setScope(scope, ofRemote: hub.name)
        try see(store)
    }
}
