import CipherStore
import SyncWire

/// What a bundle says of a group of its tables, and what was known of them before it.
final class AppliedPart {
    /// What the sender knew.
    let peer: VersionVector
    /// What was known here.
    let known: VersionVector
    let forgotten: ForgottenRows
    /// Whether rows that the bundle does not mention were deleted.
    let isResync: Bool
    /// How far the bundle's vector reaches, by the index of the replica.
    let targetSequences: [Int64]
    /// Whether the bundle has some rows of the table, because this replica holds some.
    let isRestricted: Bool

    /// The part of a repair. Of rows that differ though both sides know the same, each value that
    /// loses is kept, so neither side counts as knowing anything. No vector moves, so there may be no change in it that
    /// is not known here.
    init(repair header: BundleHeader, at here: VersionVector) {
        peer = VersionVector()
        known = VersionVector()
        isResync = false
        forgotten = ForgottenRows()
        isRestricted = false
        targetSequences = header.replicas.map { min(header.target[$0], here[$0]) }
    }

    /// The part of a table of which this replica holds some rows. The sender holds all of them, so
    /// no row comes from it that was deleted: one that is not here was outside.
    init(_ header: BundleHeader, restricted part: ReplicaFacts.Part, known: VersionVector, isResync: Bool) {
        peer = part.target
        self.known = known
        self.isResync = isResync
        forgotten = ForgottenRows()
        isRestricted = true
        targetSequences = header.replicas.map { part.target[$0] }
    }

    init(
        _ header: BundleHeader, target: VersionVector, floor: VersionVector, known: VersionVector,
        isResync: Bool
    ) {
        peer = target
        self.known = known
        self.isResync = isResync
        forgotten = ForgottenRows(header, floor: floor, vector: known)
        isRestricted = false
        targetSequences = header.replicas.map { target[$0] }
    }
}

/// The parts of a bundle that is being applied.
struct AppliedParts {
    /// The part of each table of the bundle, by the table's index.
    private(set) var byTable: [AppliedPart]
    private let raised: [(table: Int64, part: Coverage.Part)]
    /// What the bundle says of tables of which this replica holds some rows.
    private(set) var rows: [AppliedRows.Part] = []
    /// Tables that the bundle does not name, although it holds all rows: the sender has none of them any more.
    private(set) var emptied: [(table: SyncedTable, part: AppliedPart)] = []

    /// Checks that the parts follow what is known here, and takes their floors over.
    ///
    /// - parameters:
    ///     - tables: The bundle's tables, by their numbers here.
    ///     - before: What was known before the bundle.
    ///     - isLimited: Whether the sender is a device that may see some tables only.
    /// - throws: ``SyncError``, ``RenewalRequired``.
    init(
        _ db: Database, _ admission: BundleAdmission, tables: [Int64], before: Coverage, isRenewed: Bool,
        isLimited: Bool
    ) throws {
        let header = admission.header
        guard !header.facts.isRepair else {
            byTable = try Self.repair(header, tables, before)
            raised = []
            return
        }
        try Self.requireWhole(db, header, before)
        var parts: [AppliedPart?] = Array(repeating: nil, count: tables.count)
        var raised: [(table: Int64, part: Coverage.Part)] = []
        let indexes = Dictionary(
            header.tables.prefix(tables.count).enumerated().map { ($1.name.identifierKey, $0) },
            uniquingKeysWith: { first, _ in first })
        // Once for all tables: each has an entry for each replica.
        let here = try Coverage.load(db, StoreMetadata.require(db))
        for part in header.facts.parts {
            for name in part.tables.compactMap(\.first) {
                guard let index = indexes[name.identifierKey], parts[index] == nil else {
                    throw SyncError(.invalidBundle, "the bundle has a part of a table that it does not name")
                }
                if let partial = before.partials[tables[index]] {
                    try admission.refuseLate(unless: partial.known.covers(part.target))
                    rows.append(try AppliedRows.Part(db, header, part, name, partial, before))
                    parts[index] = AppliedPart(
                        header, restricted: part, known: partial.known, isResync: partial.wantsEverything)
                    continue
                }
                let known = before[tables[index]].known
                parts[index] = try Self.part(
                    part, named: name, tables[index], known: known, db, here, admission, isRenewed: isRenewed)
                raised.append((tables[index], Coverage.Part(known: part.target, floor: part.floor)))
            }
        }
        var whole: AppliedPart?
        byTable = try tables.enumerated().map { index, table in
            if let part = parts[index] { return part }
            guard before.partials[table] == nil else {
                throw AppliedRows.unsupported(header.tables[index].name)
            }
            let known = before[table].known
            let isOwn = before.parts[table] != nil
            if !isOwn, let whole { return whole }
            let part = AppliedPart(
                header, target: header.target, floor: here[table].floor, known: known,
                isResync: !known.covers(header.facts.floor))
            if !isOwn { whole = part }
            return part
        }
        assert(byTable.count == tables.count)
        assert(
            raised.allSatisfy { before.partials[$0.table] == nil },
            "no vector stands for a table held in part")
        self.raised = raised
        // A device that may see some tables only says nothing of the others.
        if !isLimited { emptied = try Self.emptied(db, header, tables, before, here) }
    }

    /// The tables here of which all rows went, and their deletions were forgotten, while this replica was away. A sender
    /// does not name a table that it does not have, and of which it knows no row.
    private static func emptied(
        _ db: Database, _ header: BundleHeader, _ sent: [Int64], _ before: Coverage, _ floors: Coverage
    ) throws -> [(table: SyncedTable, part: AppliedPart)] {
        guard header.base.sequences.isEmpty, !header.target.sequences.isEmpty,
            !header.facts.floor.sequences.isEmpty
        else { return [] }
        let all = try SyncedTable.loadAll(db)
        let names = TableNames(all, try NameAliases(db))
        let named = Set(sent).union(header.facts.partials.compactMap { names.number(of: $0.names) })
        return all.compactMap { table in
            let known = before[table.number].known
            guard !named.contains(table.number), before.partials[table.number] == nil,
                !known.covers(header.facts.floor)
            else { return nil }
            return (
                table,
                AppliedPart(
                    header, target: header.target, floor: floors[table.number].floor, known: known,
                    isResync: true)
            )
        }
    }

    /// What a bundle says of a table with a vector of its own.
    ///
    /// - parameters:
    ///     - known: What is known of it here, as far as the bundle is concerned.
    ///     - here: What is known of all tables.
    private static func part(
        _ part: ReplicaFacts.Part, named name: String, _ table: Int64, known: VersionVector, _ db: Database,
        _ here: Coverage, _ admission: BundleAdmission, isRenewed: Bool
    ) throws -> AppliedPart {
        guard !admission.header.facts.restrictions.contains(where: { $0.table.isSameIdentifier(as: name) })
        else {
            throw SyncError(
                .changedMeanwhile,
                "the choice of rows of table \(name) was changed meanwhile; synchronize again")
        }
        guard known.covers(part.base) else {
            if isRenewed { throw RenewalRequired() }
            throw SyncError(
                .invalidBundle,
                "the bundle builds on changes of table \(name) that are not here; synchronize again")
        }
        try admission.refuseLate(unless: known.covers(part.target))
        let isResync = !known.covers(part.floor)
        guard !isResync || part.base.sequences.isEmpty, part.target.covers(part.floor) else {
            throw SyncError(
                .resyncRequired,
                """
                deletions in table \(name) that are not known here were forgotten; it needs a bundle of \
                everything
                """)
        }
        try Tombstones(db: db).raiseFloor(ofTable: table, to: part.floor, here)
        var floor = here[table].floor
        floor.join(part.floor)
        return AppliedPart(
            admission.header, target: part.target, floor: floor, known: known, isResync: isResync)
    }

    /// Checks that a bundle whose vector says nothing of some tables, which it leaves out, was made for a
    /// replica of which the same holds. Another one would take changes for known that it never gets.
    private static func requireWhole(_ db: Database, _ header: BundleHeader, _ before: Coverage) throws {
        let sent = Set(header.tables.map { $0.name.identifierKey })
        let left = header.facts.partials.compactMap(\.names.first).filter { !sent.contains($0.identifierKey) }
        guard !left.isEmpty else { return }
        let names = TableNames(try SyncedTable.loadAll(db), try NameAliases(db))
        for name in left {
            let number = names.number(of: [name])
            if let number, before.partials[number] != nil { continue }
            guard (number.map { before[$0] } ?? before.whole).known.covers(header.target) else {
                throw SyncError(
                    .changedMeanwhile,
                    "the bundle was made for a replica that holds some rows of table \(name) only; synchronize again"
                )
            }
        }
    }

    /// A repair has no parts: it holds rows of tables of which both sides know the same.
    private static func repair(
        _ header: BundleHeader, _ tables: [Int64], _ before: Coverage
    ) throws -> [AppliedPart] {
        guard header.facts.parts.isEmpty else {
            throw SyncError(.invalidBundle, "the bundle repairs a divergence, and has parts")
        }
        guard tables.allSatisfy({ header.target.covers(before[$0].known) }) else {
            throw SyncError.changedMeanwhile
        }
        return tables.map { AppliedPart(repair: header, at: before[$0].known) }
    }

    /// Moves the vectors on, once all rows are here. That of all tables is moved already.
    func conclude(_ db: Database) throws {
        if !raised.isEmpty {
            let metadata = try StoreMetadata.require(db)
            try Coverage.load(db, metadata).raise(db, raised, metadata)
        }
        try Coverage.normalize(db)
    }
}
