import CipherStore
import SyncEngine
import SyncMembers

/// Stores that meet in a mailbox.
extension WitnessedRun {
    /// Takes a step that runs with a mailbox have.
    ///
    /// - parameter kind: A number below 100.
    /// - returns: Whether it is one.
    func takeInMailbox(_ store: WitnessedStore, _ kind: Int, _ random: inout SimulationRandom) throws -> Bool
    {
        place?.remember()
        switch kind {
        case 38..<64: try synchronizeInMailbox(store, &random)
        case 64..<67 where happens(.lyingPlaces): note(place?.lie(&random) ?? "")
        case 67..<69: try publishSnapshot(store)
        case 69..<76 where members != nil: try changeMembers(store, &random)
        case 64..<76: try synchronizeInMailbox(store, &random)
        default: return false
        }
        return true
    }

    private func synchronizeInMailbox(_ store: WitnessedStore, _ random: inout SimulationRandom) throws {
        let directions: [SyncDirection] = [.both, .both, .both, .pull, .push]
        let direction = random.element(of: directions) ?? .both
        let dies = happens(.crashes) && random.oneIn(4)
        if dies { store.life.end(after: random.number(below: 40)) }
        note("store \(store.name) synchronizes: \(direction.rawValue)\(dies ? ", and may die" : "")")
        try meet(store, direction)
    }

    /// Lets a store synchronize through the mailbox, and looks at what its user sees then.
    ///
    /// - returns: nil when a fault ended it.
    @discardableResult
    func meet(_ store: WitnessedStore, _ direction: SyncDirection) throws -> FolderReport? {
        let report = try withFaults(of: store) { transport in
            try store.synchronizer.run(direction, transport)
        }
        if let report {
            let name = "    store \(store.name) (\(report.local.shortDescription))"
            if let former = report.renewedReplica { note("\(name) was replica \(former.shortDescription)") }
            for line in report.notes { note("\(name): \(line)") }
        }
        if members != nil { try store.identify() }
        try sabotage(store)
        try see(store)
        return report
    }

    private func sabotage(_ store: WitnessedStore) throws {
        guard let sabotage = simulation.sabotage else { return }
        try store.sabotage(sabotage)
        guard sabotage == .tellsRemoved else { return }
        for other in stores where other !== store {
            _ = try? store.synchronizer.run(.pull, other.entrance.transport())
        }
    }

    /// Does something with the mailbox, which may fail as mailboxes do, or be the last that the process does.
    ///
    /// - returns: nil when a fault ended it.
    func withFaults<Result>(
        of store: WitnessedStore, _ body: (MailboxTransport) throws -> Result
    ) throws -> Result? {
        guard let place else { return nil }
        var result: Result?
        do {
            result = try body(try place.transport(of: store))
        } catch is InjectedFault {
        } catch let error as MailboxError where error.code == .unreachable {
            note("    \(error.message)")
        } catch let error as StoreError where error.code == .full {
            note("    \(error.message)")
        }
        guard let files = store.life.begin() else { return result }
        note("    its process died")
        try store.restart(files)
        return nil
    }

    private func publishSnapshot(_ store: WitnessedStore) throws {
        note("store \(store.name) publishes a snapshot")
        do {
            _ = try withFaults(of: store) { try store.synchronizer.publishSnapshot(in: $0) }
        } catch let error as SyncError where error.code == .notMember {
            note("    \(error.message)")
        }
    }

    // MARK: The end

    /// Ends a run with a mailbox: nothing goes wrong any more, whoever was not removed may write, and all synchronize until
    /// they come to rest.
    func endInMailbox() throws {
        place?.endFaults()
        for store in stores { _ = try store.migrate() }
        try comeToRestInMailbox()
        if members != nil {
            try readmit()
            try comeToRestInMailbox()
        }
        let active =
            try members == nil ? stores : stores.filter { try $0.role().map { $0 >= .writer } ?? false }
        for store in stores where !active.contains(where: { $0 === store }) {
            note("store \(store.name) is out")
            abandonedJournal.formUnion(try store.journal())
            history.abandon(store.number)
        }
        try requireEqual(active)
        try requireNothingLost(active)
        try requireSound()
        try requireOneMembership(active)
    }

    private func comeToRestInMailbox() throws {
        var quietCount = 0
        for _ in 0..<16 where quietCount < 2 {
            var rowCount: Int64 = 0
            for store in stores {
                clock.advance(1)
                let report = try meet(store, .both)
                rowCount += (report?.pulled?.rowCount ?? 0) + (report?.pushed?.rowCount ?? 0)
            }
            quietCount = rowCount == 0 ? quietCount + 1 : 0
        }
        guard quietCount == 2 else {
            throw SimulationViolation(.progress, "after sixteen rounds, something is new to somebody still")
        }
    }

    /// All say the same of the members.
    private func requireOneMembership(_ active: [WitnessedStore]) throws {
        guard let first = active.first else { return }
        let expected = try first.membership.state()
        for store in active.dropFirst() {
            let found = try store.membership.state()
            guard found?.members == expected?.members, found?.devices == expected?.devices,
                found?.currentEpoch == expected?.currentEpoch
            else {
                throw SimulationViolation(
                    .convergence, "stores \(first.name) and \(store.name) know other members")
            }
        }
    }
}
