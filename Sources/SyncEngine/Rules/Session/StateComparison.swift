import SyncWire

/// Matches the tables and columns of two replicas' digests, by all names that either side
/// knows for them, and says which differ. Pure.
struct StateComparison {
    /// A column of a table that at least one side has.
    struct Column {
        let names: [String]
        /// Whether both tables have it, so that its values can be compared.
        let isShared: Bool
        fileprivate let isEqual: Bool
    }

    /// A table that at least one side has.
    struct Table {
        let names: [String]
        let columns: [Column]
        /// Whether both sides hold the same versions.
        let isEqual: Bool

        /// What either side calls it; the first name is that of the side that compares.
        var name: String { names.first ?? "" }

        /// The question for the rows that differ.
        ///
        /// - parameter isDeep: Whether values are compared too.
        func question(isDeep: Bool, buckets: Set<UInt8> = []) -> StateQuestion {
            StateQuestion(
                table: names,
                columns: columns.map { .init(names: $0.names, includesValues: isDeep && $0.isShared) },
                buckets: buckets)
        }
    }

    let tables: [Table]

    /// The tables whose versions differ.
    var differing: [Table] { tables.filter { !$0.isEqual } }

    init(_ local: StateDigest, _ remote: StateDigest) {
        // A table of the remote that has a name of one here, which has another partner, is none that anybody has: each would
        // be one more scan of the one here.
        let own = Set(local.tables.compactMap { $0.names.first?.identifierKey })
        let pairs = Self.match(local.tables, remote.tables, names: \.names).filter { left, right in
            left != nil || right?.names.contains { own.contains($0.identifierKey) } != true
        }
        tables = pairs.map { left, right in
            let columns = Self.match(left?.columns ?? [], right?.columns ?? [], names: \.names).map {
                left, right in
                Column(
                    names: Self.union(left?.names, right?.names),
                    isShared: left?.isPresent == true && right?.isPresent == true,
                    isEqual: (left?.cells ?? DigestSum()) == (right?.cells ?? DigestSum()))
            }
            return Table(
                names: Self.union(left?.names, right?.names), columns: columns,
                isEqual: (left?.rows ?? DigestSum()) == (right?.rows ?? DigestSum())
                    && columns.allSatisfy(\.isEqual))
        }
    }

    private static func union(_ left: [String]?, _ right: [String]?) -> [String] {
        var seen: Set<String> = []
        return ((left ?? []) + (right ?? [])).filter { seen.insert($0.identifierKey).inserted }
    }

    /// Pairs what has one name; then, of the rest, what has any name in common.
    private static func match<Item>(
        _ left: [Item], _ right: [Item], names: (Item) -> [String]
    ) -> [(Item?, Item?)] {
        func own(_ item: Item) -> String { names(item).first?.identifierKey ?? "" }
        var partners: [Int: Int] = [:]
        var taken: Set<Int> = []
        let owners = Dictionary(
            right.enumerated().map { (own($1), $0) }, uniquingKeysWith: { first, _ in first })
        for (index, item) in left.enumerated() {
            guard let other = owners[own(item)], taken.insert(other).inserted else { continue }
            partners[index] = other
        }
        var known: [String: Int] = [:]
        for (index, item) in right.enumerated() where !taken.contains(index) {
            for name in names(item) where known[name.identifierKey] == nil {
                known[name.identifierKey] = index
            }
        }
        for (index, item) in left.enumerated() where partners[index] == nil {
            let other = names(item).compactMap { known[$0.identifierKey] }.first { !taken.contains($0) }
            guard let other else { continue }
            taken.insert(other)
            partners[index] = other
        }
        var pairs: [(Item?, Item?)] = left.enumerated().map { ($1, partners[$0].map { right[$0] }) }
        for (index, item) in right.enumerated() where !taken.contains(index) { pairs.append((nil, item)) }
        assert(partners.count == taken.count, "two have one partner")
        assert(pairs.count == left.count + right.count - partners.count, "one is in no pair, or in two")
        return pairs
    }
}
