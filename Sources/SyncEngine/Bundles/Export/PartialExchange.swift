import CipherStore
import SyncWire

/// What becomes of tables in a bundle of which the sender or the receiver holds some rows only.
///
/// - A receiver gets of such a table what it asks for, when the sender holds all rows and knows all
///   that the receiver knows of them; and nothing else. What it knows of all tables does not concern it.
/// - A sender sends its own changes to a receiver that knows all that it took into account. What the
///   sender knows of all tables says nothing of such a table, so the receiver may take that for
///   everything only when it knows as much of the table.
struct PartialExchange {
    /// The tables that are left out.
    let excluded: Set<Int64>
    /// The tables that the receiver holds in part: its vector of all tables does not concern them.
    let ignored: Set<Int64>

    private let requests: [Int64: RowRequest]
    /// What the receiver knows of the tables that are held in part here.
    private let known: [Int64: VersionVector]

    /// - parameter lacking: Tables whose rows lack values here.
    init(
        _ coverage: Coverage, _ request: TransferRequest, _ names: TableNames,
        _ known: [Int64: VersionVector], lacking: Set<Int64>
    ) throws {
        var requests: [Int64: RowRequest] = [:]
        var excluded: Set<Int64> = []
        for rows in request.rows {
            guard let number = names.number(of: rows.partial.names) else { continue }
            requests[number] = rows
            let own = coverage[number].known
            if coverage.partials[number] != nil || !own.covers(rows.partial.needed) {
                excluded.insert(number)
            }
        }
        // Whoever asks for whole rows takes what comes for all of them.
        excluded.formUnion(
            request.wholeRows.compactMap { names.number(of: $0.table) }.filter(lacking.contains))
        let leftOut = Set(request.leftOut.compactMap(names.number))
        var knownByPeer: [Int64: VersionVector] = [:]
        for (number, partial) in coverage.partials {
            let vector = known[number] ?? request.base
            knownByPeer[number] = vector
            guard !partial.isWhole, !partial.isDominated(by: vector) else { continue }
            excluded.insert(number)
        }
        self.requests = requests
        self.known = knownByPeer
        self.excluded = excluded.union(leftOut)
        ignored = leftOut.union(requests.keys)
    }

    /// Whether a receiver that knows what is sent knows as much of the tables that are held in part here
    /// as of all tables. Own changes of such a table are not claimed unless it is sent: those in rows that
    /// were taken out are not here any more.
    ///
    /// - parameter sent: The tables of the bundle.
    func isComplete(_ coverage: Coverage, _ request: TransferRequest, sending sent: Set<Int64>) -> Bool {
        coverage.partials.allSatisfy { number, partial in
            if ignored.contains(number) { return true }
            var after = known[number] ?? request.base
            if sent.contains(number) { after.join(partial.known) }
            return after.covers(coverage.whole.known)
        }
    }

    /// The group of a table that one of the two holds in part; nil for another one.
    func group(
        _ db: Database, _ metadata: StoreMetadata, _ table: SyncedTable, _ coverage: Coverage,
        _ request: TransferRequest
    ) throws -> ExportedParts.Group? {
        if let rows = requests[table.number] {
            let part = coverage[table.number]
            let isFull = rows.values == nil || !rows.partial.known.covers(part.floor)
            let base = isFull ? VersionVector() : rows.partial.since
            var group = ExportedParts.Group(
                tables: [table.number], base: base, target: part.known, floor: part.floor)
            group.rows = try ExportedRows(table, NameAliases(db), rows, metadata, base: base)
            return group
        }
        guard let partial = coverage.partials[table.number] else { return nil }
        return ExportedParts.Group(
            tables: [table.number], base: known[table.number] ?? request.base, target: partial.shown,
            floor: VersionVector())
    }
}
