import SyncEngine
import SyncWire

/// What a hostile device says about replicas.
extension HostileWords {
    /// Facts; of most things it says nothing.
    mutating func facts(_ view: HostileView, of device: ReplicaID, isGreeting: Bool) -> ReplicaFacts {
        var facts = ReplicaFacts()
        if random.oneIn(4) { facts.chains = chains(view, of: device) }
        if random.oneIn(6) { facts.floor = random.oneIn(2) ? view.vector : vector(view) }
        if random.oneIn(4) { facts.known = known(view) }
        if random.oneIn(5) { facts.acknowledged = known(view) }
        if random.oneIn(8) { facts.retirements = retirements(view) }
        if random.oneIn(6) { facts.place = identifier() }
        if random.oneIn(5) {
            facts.parts = (0..<(1 + random.number(below: 2))).map { _ in part(view, of: device) }
        }
        if random.oneIn(8) { facts.partials = [partial(view)] }
        if random.oneIn(12) { facts.restrictions = [restriction(view)] }
        if isGreeting, random.oneIn(4) { facts.digest = digest(view) }
        if !isGreeting, random.oneIn(12) { facts.isRepair = true }
        return facts
    }

    private mutating func chains(_ view: HostileView, of device: ReplicaID) -> [ReplicaID: [ChainPoint]] {
        var chains: [ReplicaID: [ChainPoint]] = [:]
        for _ in 0..<(1 + random.number(below: 2)) {
            let replica = random.oneIn(2) ? device : replica(view)
            var last: Int64 = 0
            chains[replica] = (0..<random.number(below: 4)).map { _ in
                let sequence = max(sequence(), last.addingReportingOverflow(1).partialValue)
                let previous = isOdd() ? self.sequence() : last
                last = sequence
                return ChainPoint(sequence: sequence, previous: previous, hash: identifier())
            }.reversed()
        }
        return chains
    }

    private mutating func known(_ view: HostileView) -> [ReplicaID: VersionVector] {
        // How many replicas a device can invent is bounded, and that bound is tried too.
        let many = DeviceBudgetEdge.strangers + 10
        let count = isOdd() && random.oneIn(20) ? many : 1 + random.number(below: 3)
        var known: [ReplicaID: VersionVector] = [:]
        for _ in 0..<count { known[count > 3 ? identifier() : replica(view)] = vector(view, countMax: 2) }
        return known
    }

    private mutating func retirements(_ view: HostileView) -> [ReplicaFacts.Retirement] {
        let reasons: [ReplicaFacts.Retirement.Reason] = [.unseen, .requested, .renewed]
        var said: Set<ReplicaID> = []
        return (0..<(1 + random.number(below: 2))).compactMap { _ in
            let replica = replica(view)
            guard said.insert(replica).inserted else { return nil }
            return .init(
                replica: replica, milliseconds: milliseconds(view.now),
                reason: random.element(of: reasons) ?? .unseen)
        }
    }

    private mutating func tableNames(_ view: HostileView) -> [String] {
        let table = random.element(of: view.tables)?.name ?? "nothing"
        return [name(like: table)] + (isOdd() ? [strangeName()] : [])
    }

    /// The names of a table, or of several, as if they were one.
    private mutating func listedNames(_ view: HostileView) -> [String] {
        var names = tableNames(view)
        while random.oneIn(2), names.count < 4 { names += tableNames(view) }
        return names
    }

    private mutating func part(_ view: HostileView, of device: ReplicaID) -> ReplicaFacts.Part {
        var target = random.oneIn(2) ? VersionVector() : vector(view)
        target[device] = sequence()
        var part = ReplicaFacts.Part(tables: [tableNames(view)], target: target)
        if isOdd() { part.tables.append(tableNames(view)) }
        if random.oneIn(4) { part.base = vector(view) }
        if random.oneIn(4) { part.floor = random.oneIn(2) ? view.vector : vector(view) }
        return part
    }

    private mutating func partial(_ view: HostileView) -> ReplicaFacts.Partial {
        var partial = ReplicaFacts.Partial(
            names: tableNames(view), since: vector(view), own: vector(view), dropped: vector(view))
        partial.isWhole = random.oneIn(2)
        partial.isDue = random.oneIn(2)
        partial.wantsEverything = random.oneIn(2)
        return partial
    }

    private mutating func restriction(_ view: HostileView) -> ReplicaFacts.Restriction {
        let table = random.element(of: view.tables)
        return ReplicaFacts.Restriction(
            table: name(like: table?.name ?? ""),
            column: name(like: table.flatMap { random.element(of: $0.columns) } ?? ""),
            values: random.oneIn(3) ? nil : (0..<random.number(below: 4)).map { _ in scopeValue() },
            receiver: random.oneIn(2) ? view.own : replica(view),
            revision: number(upTo: AdmissionLimits.sequenceMax))
    }

    private mutating func sum() -> DigestSum {
        DigestSum(count: number(upTo: .max), first: random.next(), second: random.next())
    }

    private mutating func digest(_ view: HostileView) -> StateDigest {
        StateDigest(
            tables: (0..<random.number(below: 3)).map { _ in
                let table = random.element(of: view.tables)
                return StateDigest.Table(
                    names: tableNames(view), rows: sum(),
                    columns: (table?.columns ?? []).prefix(4).map { column in
                        StateDigest.Column(
                            names: [name(like: column)], isPresent: random.oneIn(2), cells: sum())
                    })
            })
    }

    /// A greeting.
    mutating func greeting(_ view: HostileView, of device: ReplicaID) -> Greeting {
        var vector = vector(view)
        vector[device] = sequence()
        if random.oneIn(4) { vector[view.own] = 0 }
        return Greeting(
            store: isOdd() ? identifier() : view.store, replica: device, vector: vector,
            ownSequence: random.oneIn(2) ? vector[device] : sequence(),
            facts: facts(view, of: device, isGreeting: true))
    }

    /// A request for changes.
    mutating func request(_ view: HostileView, of device: ReplicaID) -> TransferRequest {
        var request = TransferRequest(base: vector(view))
        if random.oneIn(3) { request.parts = [part(view, of: device)] }
        if random.oneIn(2) { request.tables = (0..<random.number(below: 3)).map { _ in listedNames(view) } }
        if random.oneIn(3) { request.leftOut = [listedNames(view)] }
        if random.oneIn(3) { request.wholeRows = [StateRows(table: listedNames(view), keys: keys(view))] }
        guard random.oneIn(2), let table = random.element(of: view.tables) else { return request }
        var partial = partial(view)
        if !isOdd() { partial.names = random.oneIn(2) ? [table.name] : [table.name] + listedNames(view) }
        request.rows = [
            RowRequest(
                partial: partial, columns: [name(like: random.element(of: table.columns) ?? "")],
                values: random.oneIn(3) ? nil : (0..<random.number(below: 4)).map { _ in scopeValue() },
                heldValues: (0..<random.number(below: 3)).map { _ in scopeValue() }, receiver: device,
                revision: number(upTo: AdmissionLimits.sequenceMax))
        ]
        return request
    }

    /// A question about the rows of a table.
    mutating func question(_ view: HostileView) -> StateQuestion {
        let table = random.element(of: view.tables)
        let buckets = random.oneIn(2) ? 256 : random.number(below: 4)
        return StateQuestion(
            table: listedNames(view),
            columns: (table?.columns ?? []).prefix(5).map { column in
                .init(names: [name(like: column)], includesValues: random.oneIn(2))
            },
            buckets: Set((0..<buckets).map { buckets == 256 ? UInt8($0) : UInt8(random.number(below: 256)) }))
    }

    private mutating func keys(_ view: HostileView) -> [StateRowKey] {
        view.rows.filter { _ in random.oneIn(3) }.map { StateRowKey(bytes: $0.key, isText: $0.isTextKey) }
    }
}
