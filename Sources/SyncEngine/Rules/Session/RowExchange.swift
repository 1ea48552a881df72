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
        /// How far the remote knows of replicas that are gone, and of which more is known here. Nobody else tells it that.
        var orphans: [Fork] = []
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
        let needed = partial.needed
        var obstacle: String?
        var lacking: [ReplicaID] = []
        let isRemotePartial = remote.facts.partials.find(partial.names) != nil
        if isRemotePartial {
            obstacle =
                partial.wantsEverything
                ? "the remote too lacks rows of it, or values" : "the remote too holds some rows of it only"
        } else if !known.covers(needed) {
            lacking = needed.beyond(known)
            obstacle = "the remote does not know all changes that are known here yet\(text(lacking, local))"
        }
        let mayExchange = obstacle == nil
        var mayPull = mayExchange
        if !isRemotePartial, partial.wantsEverything {
            // From then on, what is known of all tables stands for this one too.
            var after = known
            after.join(partial.own)
            mayPull = mayPull && after.covers(local.vector)
            if mayExchange, !mayPull {
                let further = local.vector.beyond(after)
                obstacle = "the remote does not know all of it that is to come\(text(further, local))"
                lacking += further
            }
        }
        let mayPush =
            mayExchange || (partial.isWhole && remote.facts.partials.find(partial.names) == nil)
        return Table(
            names: partial.names, mayPull: mayPull,
            isPullDue: mayPull && (partial.isDue || !partial.known.covers(known)),
            isPushDue: mayPush && !known.covers(partial.known), obstacle: obstacle,
            orphans: orphans(among: lacking, of: partial, known, local, remote))
    }

    /// How many identities a file may have had, beyond one for each retired replica that it knows, to take something over.
    /// Between two servers that do not meet it would do that each time. (Proofs/sessions/partial.pml)
    private static let spareIdentityCount = 16

    /// Of some replicas those that are retired: what is known of them here, and not there, nobody brings there any more. No
    /// replica passes a part of a table on, so the rows here would wait for ever.
    private static func orphans(
        among lacking: [ReplicaID], of partial: ReplicaFacts.Partial, _ known: VersionVector,
        _ local: Greeting, _ remote: Greeting
    ) -> [Fork] {
        guard !lacking.isEmpty else { return [] }
        let retired = Set((local.facts.retirements + remote.facts.retirements).map(\.replica))
        let others = retired.filter { partial.since[$0] > 0 && partial.own[$0] == 0 }
        let mayTakeOver = partial.own.sequences.count < spareIdentityCount + others.count
        // Of a former identity, all that is known is own until it is taken over, so that happens once; then it may come
        // again from somebody else.
        let isOwn = { partial.own[$0] > 0 && partial.own[$0] >= partial.since[$0] }
        return lacking.filter {
            retired.contains($0) && $0 != local.replica && $0 != remote.replica && (mayTakeOver || isOwn($0))
        }
        .map { Fork(replica: $0, common: known[$0]) }
    }

    private static func text(_ replicas: [ReplicaID], _ local: Greeting) -> String {
        guard !replicas.contains(local.replica) else {
            return """
                 (of this replica, in rows that are not here any more: let who has them meet the remote, or give this \
                replica a new identity)
                """
        }
        let names = replicas.prefix(3).map(\.shortDescription).joined(separator: ", ")
        return names.isEmpty
            ? "" : " (of replica \(names): let it meet the remote, or retire it if it is gone)"
    }

    /// What this side takes over of replicas that are gone, as changes of its own: then it can be sent.
    var orphans: [Fork] {
        let all = tables.flatMap(\.orphans)
        return Dictionary(all.map { ($0.replica, $0.common) }, uniquingKeysWith: min)
            .map { Fork(replica: $0.key, common: $0.value) }.sorted { $0.replica < $1.replica }
    }

    var isPullDue: Bool { tables.contains(where: \.isPullDue) }
    var isPushDue: Bool { tables.contains(where: \.isPushDue) }

    /// The tables that can't be compared, because one of the two does not hold all of them.
    static func uncomparable(_ local: Greeting, _ remote: Greeting) -> Set<String> {
        let partials = local.facts.partials + remote.facts.partials
        return Set(partials.flatMap(\.names).map { $0.identifierKey })
    }
}

extension VersionVector {
    /// The replicas of which more is known than another vector says.
    fileprivate func beyond(_ other: VersionVector) -> [ReplicaID] {
        sequences.filter { $0.value > other[$0.key] }.map(\.key).sorted()
    }
}
