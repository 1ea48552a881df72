import SyncWire

/// What two replicas do about tables of which one of them holds some rows only. Pure.
struct RowExchange {
    /// A table that the local replica holds in part.
    struct Table {
        let names: [String]
        /// Whether it may be asked for.
        let mayPull: Bool
        let isPullDue: Bool
        let isPushDue: Bool
        /// Why nothing can be exchanged now; nil when it can.
        let obstacle: String?
    }

    /// The tables that are exchanged and that the local replica holds in part.
    let tables: [Table]
    /// The tables that the remote holds in part: nothing is sent of them unless it asks.
    let remoteTables: [[String]]

    /// - parameter chosen: The tables that are exchanged, each by its names; nil for all.
    init(_ local: Greeting, _ remote: Greeting, within chosen: [[String]]?) {
        let chosen = chosen.map { Set($0.joined().map { $0.identifierKey }) }
        remoteTables = remote.facts.partials.map(\.names)
        tables = local.facts.partials.filter { partial in
            chosen.map { chosen in partial.names.contains { chosen.contains($0.identifierKey) } } != false
        }.map { Self.table($0, local, remote) }
        assert(tables.allSatisfy { !$0.isPullDue || $0.mayPull }, "what may not be asked for is not due")
        assert(
            tables.allSatisfy { !$0.mayPull || $0.obstacle == nil }, "there is no obstacle to what may come")
    }

    private static func table(
        _ partial: ReplicaFacts.Partial, _ local: Greeting, _ remote: Greeting
    ) -> Table {
        let known = remote.known(of: partial.names)
        var needed = partial.since
        needed.join(partial.dropped)
        var obstacle: String?
        if remote.facts.partials.find(partial.names) != nil {
            obstacle = "the remote too holds some rows of it only"
        } else if !known.covers(needed) {
            obstacle = "the remote does not know all changes that are known here yet"
        }
        let mayExchange = obstacle == nil
        var mayPull = mayExchange
        if mayPull, partial.wantsEverything {
            // From then on, what is known of all tables stands for this one too.
            var after = known
            after.join(partial.own)
            mayPull = after.covers(local.vector)
            if !mayPull { obstacle = "the remote does not know all of it that is to come" }
        }
        let mayPush =
            mayExchange || (partial.isWhole && remote.facts.partials.find(partial.names) == nil)
        return Table(
            names: partial.names, mayPull: mayPull,
            isPullDue: mayPull && (partial.isDue || !partial.known.covers(known)),
            isPushDue: mayPush && !known.covers(partial.known), obstacle: obstacle)
    }

    var isPullDue: Bool { tables.contains(where: \.isPullDue) }
    var isPushDue: Bool { tables.contains(where: \.isPushDue) }

    /// The tables that can't be compared, because one of the two does not hold all of them.
    static func uncomparable(_ local: Greeting, _ remote: Greeting) -> Set<String> {
        let partials = local.facts.partials + remote.facts.partials
        return Set(partials.flatMap(\.names).map { $0.identifierKey })
    }
}
