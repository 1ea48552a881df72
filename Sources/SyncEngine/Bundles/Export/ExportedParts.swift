import CipherStore
import SyncWire

/// The tables of a bundle, in groups that build on the same vector and reach the same one.
///
/// Where everybody exchanges all tables, there is one group of all tables, and the header says
/// nothing of parts.
struct ExportedParts {
    /// Tables with one base and one target.
    struct Group {
        /// Their numbers.
        var tables: Set<Int64>
        let base: VersionVector
        let target: VersionVector
        let floor: VersionVector
        /// Whether the receiver gets all rows, and what is not among them was deleted.
        var isResync = false
        /// Which rows of the one table are sent; nil for all.
        var rows: ExportedRows?
    }

    /// The tables that the bundle names.
    let tables: [SyncedTable]
    /// Whether tables are left out.
    private let isFiltered: Bool
    /// The names of those of them of which this replica holds some rows only, and of those that are left
    /// out because it, or the receiver, does: of these, the vector of all tables says nothing.
    let partialNames: [String]
    /// The group that the header speaks of, whose tables are those that are in no other.
    private(set) var whole: Group
    /// The other groups.
    private(set) var others: [Group] = []

    /// - parameter request: What the receiver knows and wants.
    init(_ db: Database, _ metadata: StoreMetadata, _ request: TransferRequest) throws {
        let all = try SyncedTable.loadAll(db)
        let coverage = try Coverage.load(db, metadata, for: request)
        let names = TableNames(all, try NameAliases(db))
        let known = request.knownOfTables(names)
        let lacking: Set<Int64> =
            try request.wholeRows.isEmpty ? [] : Set(LostValues.loadAll(db, coverage.partials).keys)
        let partial = try PartialExchange(coverage, request, names, known, lacking: lacking)
        whole = Self.group(coverage.whole, knownByPeer: request.base)
        isFiltered = request.tables != nil || !partial.excluded.isEmpty
        let wanted = request.tables.map { Set($0.compactMap(names.number)) }
        // Of a table that is not here, and of which nobody sent a row, there is nothing to say.
        let empty = Set(
            try Int64.fetchAll(
                db, sql: "SELECT t.tbl FROM _sync_table AS t WHERE \(ImplausibleMetadata.isEmptyElsewhere)"))
        tables = all.filter {
            wanted?.contains($0.number) != false && !partial.excluded.contains($0.number)
                && !empty.contains($0.number)
        }
        let sent = Set(tables.map(\.number))
        if !partial.isComplete(coverage, request, sending: sent) {
            whole = Self.nothing
        } else if let wanted {
            let ignored = partial.ignored.union(coverage.partials.keys)
            let outside = all.filter { !wanted.contains($0.number) && !ignored.contains($0.number) }
            let isComplete = outside.allSatisfy { table in
                guard let part = coverage.parts[table.number] else { return true }
                return (known[table.number] ?? request.base).covers(part.floor)
            }
            // Nothing may be claimed of tables that are left out, unless there is nothing to bring of them.
            if try !isComplete || !request.base.covers(coverage.whole.floor)
                || Self.hasChanges(db, metadata, request.base, outside: wanted.union(ignored))
            {
                whole = Self.nothing
            }
        }
        // Where nothing is said of tables that are left out, nobody needs their names, and some may not hear them.
        let saysNothing = Self.isEqual(whole, Self.nothing)
        partialNames = all.filter { table in
            guard !sent.contains(table.number) else { return coverage.partials[table.number] != nil }
            return !saysNothing
                && (coverage.partials[table.number] != nil || partial.ignored.contains(table.number))
        }.map(\.name)
        for table in tables {
            if let group = try partial.group(db, metadata, table, coverage, request) {
                others.append(group)
                continue
            }
            let group = Self.group(
                coverage[table.number], knownByPeer: known[table.number] ?? request.base)
            guard !Self.isEqual(group, whole) else { continue }
            if let index = others.firstIndex(where: { $0.rows == nil && Self.isEqual(group, $0) }) {
                others[index].tables.insert(table.number)
            } else {
                var single = group
                single.tables = [table.number]
                others.append(single)
            }
        }
        whole.tables = sent.subtracting(others.flatMap(\.tables))
        assertInvariants()
    }

    /// Checks that the groups share the tables out.
    private func assertInvariants() {
        assert(all.reduce(0) { $0 + $1.tables.count } == tables.count, "a table is in no group, or in two")
        assert(others.allSatisfy { !$0.tables.isEmpty && $0.tables.isDisjoint(with: whole.tables) })
        assert(others.allSatisfy { $0.rows == nil || $0.tables.count == 1 }, "rows are chosen of one table")
    }

    /// The tables of rows that are sent to repair a divergence, as one group without a floor.
    ///
    /// - parameter numbers: The numbers of the tables.
    /// - throws: ``SyncError`` of code `changedMeanwhile` when more is known of some of them than of others.
    init(_ db: Database, _ metadata: StoreMetadata, repairing numbers: Set<Int64>) throws {
        tables = try SyncedTable.loadAll(db).filter { numbers.contains($0.number) }
        let coverage = try Coverage.load(db, metadata)
        let vectors = Set(tables.map { coverage[$0.number].known })
        guard vectors.count < 2 else { throw SyncError.changedMeanwhile }
        isFiltered = false
        partialNames = []
        whole = Group(
            tables: Set(tables.map(\.number)), base: VersionVector(),
            target: vectors.first ?? metadata.vector, floor: VersionVector())
    }

    /// All groups that can have rows.
    var all: [Group] { whole.tables.isEmpty ? others : [whole] + others }

    /// What selects the rows of a group, as SQL; nothing when it is all tables.
    func condition(_ group: Group) -> String {
        guard isFiltered || !others.isEmpty else { return "" }
        return "WHERE s.tbl IN (\(group.tables.sorted().map(String.init).joined(separator: ", ")))"
    }

    /// A group that claims nothing.
    private static let nothing = Group(
        tables: [], base: VersionVector(), target: VersionVector(), floor: VersionVector())

    /// A receiver that does not know a deletion that was forgotten needs all rows.
    private static func group(_ part: Coverage.Part, knownByPeer known: VersionVector) -> Group {
        let isResync = !known.covers(part.floor)
        return Group(
            tables: [], base: isResync ? VersionVector() : known, target: part.known, floor: part.floor,
            isResync: isResync)
    }

    private static func isEqual(_ group: Group, _ other: Group) -> Bool {
        group.base == other.base && group.target == other.target && group.floor == other.floor
    }

    /// What the header says of the groups beside the one that stands for all.
    var facts: [ReplicaFacts.Part] {
        others.map { group in
            ReplicaFacts.Part(
                tables: tables.filter { group.tables.contains($0.number) }.map { [$0.name] },
                base: group.base, target: group.target, floor: group.floor)
        }
    }

    /// Which rows of tables are sent, where it is not all of them.
    var restrictions: [ReplicaFacts.Restriction] { others.compactMap(\.rows?.restriction) }

    /// Whether tables that are left out have changes beyond a vector.
    private static func hasChanges(
        _ db: Database, _ metadata: StoreMetadata, _ base: VersionVector, outside tables: Set<Int64>
    ) throws -> Bool {
        let numbers = tables.map(String.init).joined(separator: ", ")
        for replica in metadata.replicas {
            let hasChanges = try Bool.fetchOne(
                db,
                sql: """
                    SELECT EXISTS(SELECT 1 FROM _sync_row WHERE sid = ?1 AND oseq > ?2 AND tbl NOT IN (\(numbers)))
                    OR EXISTS(
                        SELECT 1 FROM _sync_cell AS c CROSS JOIN _sync_row AS s ON s.r = c.r
                        WHERE c.sid = ?1 AND c.oseq > ?2 AND s.tbl NOT IN (\(numbers)))
                    """, arguments: [replica.sid, base[replica.id]])
            if hasChanges == true { return true }
        }
        return false
    }
}
