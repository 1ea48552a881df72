import SyncWire

/// The tables of two replicas that can be compared: those that are exchanged, of which both know
/// the same. Of others, what they hold says nothing.
struct Comparison {
    private let tables: [StateComparison.Table]

    /// Compares what two replicas hold now.
    ///
    /// - parameters:
    ///     - chosen: The tables that are exchanged, each by its names; nil for all.
    ///     - excluded: Tables that one of the two does not hold all of, in lower case.
    init(
        _ local: ReplicaState, _ remote: ReplicaState, within chosen: [[String]]?,
        except excluded: Set<String>
    ) {
        tables = Self.tables(local.digest, remote.digest, chosen, excluded) {
            local.known(of: $0) == remote.known(of: $0)
        }
    }

    /// Compares what two replicas say that they hold, and that they will know the same of, when
    /// what is due was transferred; nil when one does not say it.
    init?(
        _ local: Greeting, _ remote: Greeting, within chosen: [[String]]?, except excluded: Set<String>,
        isPullDue: Bool, isPushDue: Bool
    ) {
        guard let digest = local.facts.digest, let other = remote.facts.digest else { return nil }
        tables = Self.tables(digest, other, chosen, excluded) { names in
            let (own, its) = (local.known(of: names), remote.known(of: names))
            return (isPullDue || own.covers(its)) && (isPushDue || its.covers(own))
        }
    }

    /// Whether there is nothing to compare.
    var isEmpty: Bool { tables.isEmpty }

    /// The tables in which the two differ, each by its names.
    var differing: [[String]] { tables.filter { !$0.isEqual }.map(\.names) }

    private static func tables(
        _ local: StateDigest, _ remote: StateDigest, _ chosen: [[String]]?, _ excluded: Set<String>,
        where isComparable: ([String]) -> Bool
    ) -> [StateComparison.Table] {
        let chosen = chosen.map { Set($0.joined().map { $0.identifierKey }) }
        return StateComparison(local, remote).tables.filter { table in
            !table.names.contains { excluded.contains($0.identifierKey) }
                && chosen.map { chosen in table.names.contains { chosen.contains($0.identifierKey) } }
                    != false
                && isComparable(table.names)
        }
    }
}
