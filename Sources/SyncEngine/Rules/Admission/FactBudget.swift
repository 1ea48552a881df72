import SyncWire

/// Keeps what a store says about other replicas within a bound, so that it has its place in a greeting and in a header
/// however many replicas there are.
///
/// What is left out is said another time, because it begins elsewhere in the list each time that something was written
/// here. It is there to forget deletions early and to find copies of files, and nothing is lost without it.
struct FactBudget {
    /// The replica that speaks: what it says of itself is never left out.
    let own: ReplicaID
    /// Where to begin.
    let rotation: Int64

    private static let byteCountMax = AdmissionLimits.factByteCountMax

    func trim(_ facts: inout ReplicaFacts) {
        facts.chains = kept(facts.chains, upTo: Self.byteCountMax / 2) { $0.count * 36 + 20 }
        facts.known = kept(facts.known, upTo: Self.byteCountMax / 4) { $0.sequences.count * 28 + 8 }
        facts.acknowledged = kept(facts.acknowledged, upTo: Self.byteCountMax / 4) {
            $0.sequences.count * 28 + 8
        }
    }

    /// The entries that have their place, by the most bytes that each can take.
    private func kept<Value>(
        _ entries: [ReplicaID: Value], upTo limit: Int, _ byteCount: (Value) -> Int
    ) -> [ReplicaID: Value] {
        guard entries.values.reduce(0, { $0 + byteCount($1) }) > limit else { return entries }
        let order = entries.keys.sorted()
        let start = Int(rotation.magnitude % UInt64(order.count))
        var kept: [ReplicaID: Value] = [:]
        var rest = limit
        for replica in [own] + order[start...] + order[..<start] where kept[replica] == nil {
            guard let value = entries[replica] else { continue }
            rest -= byteCount(value)
            guard rest >= 0 || replica == own else { break }
            kept[replica] = value
        }
        assert((kept[own] == nil) == (entries[own] == nil), "what a store says of itself is never left out")
        return kept
    }
}
