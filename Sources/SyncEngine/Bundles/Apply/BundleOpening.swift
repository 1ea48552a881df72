import CipherStore
import SyncWire

/// Turns the header of a bundle into what its rows are applied with: checks it, matches its names, and finds out what
/// it says of which table.
struct BundleOpening {
    let stores: ApplyingStores
    let policies: MergePolicies?

    private var db: Database { stores.db }
    private var environment: SyncEnvironment { stores.environment }

    /// Opens a bundle.
    ///
    /// - parameter onAdmission: Called with the header when the sender may bring it, before it is compared with what is
    ///   known here.
    /// - throws: ``RenewalRequired``, ``SyncError``.
    func open(_ given: BundleHeader, onAdmission: (BundleHeader) -> Void) throws -> AppliedRecords {
        let present = try StoreMetadata.require(db)
        guard given.store == present.store else {
            throw SyncError(.otherStore, "the bundle belongs to another database")
        }
        try Admission.check(given)
        var header = given
        if let access = stores.access {
            try access.check(header, KnownNames(db), Coverage.load(db, present))
            header = access.restricted(header)
        }
        onAdmission(header)
        let admission = BundleAdmission(store: stores.folded, header: header)
        let formerReplica = try admission.renewIfNeeded()
        let renewed = try StoreMetadata.require(db)
        let before = try Coverage.load(db, renewed)
        // A claim of which nothing comes may be unfounded: a row that is missing here would count as deleted by it.
        let told = try stores.terms.isOfMailbox ? before.leavingOutBareClaims(db) : before
        try admission.admit(renewed, isRenewed: formerReplica != nil)
        let metadata = try StoreMetadata.require(db)
        var records = BundleRecords(adoptionBound: environment.adoptionBound)
        try records.begin(header, metadata, db)
        assert(records.replicas.count == header.replicas.count)
        // Rows whose deletion was forgotten lose in the name of the sender, which may have written nothing yet.
        let sender = try ReplicaRegister(db: db).number(of: header.sender, at: environment.milliseconds())
        stores.versions.replicas = Dictionary(
            metadata.replicas.map { ($0.sid, $0.id) } + [(sender, header.sender)]
                + records.replicas.filter { $0.number > 0 }.map { ($0.number, $0.id) },
            uniquingKeysWith: { first, _ in first })
        let names = try match(header, metadata)
        assert(names.tables.count <= header.tables.count)
        try stores.uploads?.begin(stores.versions)
        let settlement = try Settlement(
            stores.folded, stores.parking, requireTime: stores.clock.requireTimeForOthers)
        let parts = try AppliedParts(
            db, admission, tables: names.tables.map(\.table.number), before: told,
            isRenewed: formerReplica != nil, isLimited: stores.access != nil)
        let resync = try Self.isResync(parts) ? Resync(db) : nil
        let deletions = forgottenDeletions(header, settlement, resync, names.separate)
        let rows = try restrictedRows(parts, before, settlement, resync)
        let lost = try LostValues.loadAll(db, before.partials)
        stores.versions.digests = try digests()
        // What was written here before is folded and summed by now: that was others' work, and a bundle that is refused undoes it.
        stores.clock.start()
        return AppliedRecords(
            stores,
            BundleContext(
                header: header, admission: admission, own: try metadata.replicaID(), before: before,
                formerReplica: formerReplica, names: names, parts: parts, settlement: settlement,
                deletions: deletions, rows: rows, lost: lost,
                partialTables: BundleContext.partialTables(of: header)), records)
    }

    private func match(_ header: BundleHeader, _ metadata: StoreMetadata) throws -> BundleContext.Names {
        let matching = try NameMatching(db, environment, NameDeclarations(header))
        let before = matching.columns()
        let named = try matching.learn(header)
        let separate = try SeparateCells.ifNeeded(db)
        stores.journal.separate = separate
        let merges = try CustomMerges.ifNeeded(
            db, policies, own: metadata.replicaID(), now: environment.milliseconds())
        // What is learnt from one table can concern another, so all are learnt first.
        let triggers = try PresentTriggers(db)
        let tables = try named.map {
            let (table, columns) = try matching.match($0)
            return try AppliedTable(
                db, table, columns: columns, names: $0.columns, givenName: $0.name, triggers: triggers)
        }
        return .init(
            tables: tables, separate: separate, merges: merges,
            hasUnitedColumns: !matching.columns().isSuperset(of: before))
    }

    private static func isResync(_ parts: AppliedParts) -> Bool {
        parts.byTable.contains(where: \.isResync) || parts.rows.contains(where: \.isFull)
            || !parts.emptied.isEmpty
    }

    private func forgottenDeletions(
        _ header: BundleHeader, _ settlement: Settlement, _ resync: Resync?, _ separate: SeparateCells?
    ) -> ForgottenDeletions {
        let end = Stamp(
            timestamp: HybridTimestamp(milliseconds: environment.milliseconds()), replica: header.sender,
            sequence: 0)
        let deletions = ForgottenDeletions(
            versions: stores.versions, journal: stores.journal, parking: stores.parking,
            settlement: settlement, resync: resync, end: end,
            requireTime: stores.clock.requireTimeForOthers)
        deletions.separate = separate
        return deletions
    }

    private func restrictedRows(
        _ parts: AppliedParts, _ before: Coverage, _ settlement: Settlement, _ resync: Resync?
    ) throws -> AppliedRows? {
        guard !parts.rows.isEmpty else { return nil }
        let rows = AppliedRows(
            db, parts.rows, before.partials, stores.versions, stores.parking, settlement, mentioned: resync,
            requireTime: stores.clock.requireTimeForOthers)
        try rows.begin()
        return rows
    }

    /// The sums, with everything in them that was here before the bundle.
    private func digests() throws -> DigestLedger {
        let digests = try DigestLedger(db, StoreMetadata.require(db))
        try digests.catchUp()
        return digests
    }
}

/// What the header of a bundle says, in the terms of this store.
struct BundleContext {
    /// What the names of a bundle mean.
    struct Names {
        let tables: [AppliedTable]
        let separate: SeparateCells?
        let merges: CustomMerges?
        /// Whether two columns turned out to be one, so that values may have found their place.
        let hasUnitedColumns: Bool
    }

    let header: BundleHeader
    let admission: BundleAdmission
    /// This replica.
    let own: ReplicaID
    /// What was known before the bundle.
    let before: Coverage
    /// The identity that this replica had, when the bundle showed that it needs another one.
    let formerReplica: ReplicaID?
    let names: Names
    let parts: AppliedParts
    let settlement: Settlement
    let deletions: ForgottenDeletions
    /// The rows of tables of which this replica holds some; nil when the bundle brings none.
    let rows: AppliedRows?
    /// The values that are gone here of tables that are held in part.
    let lost: [Int64: LostValues]
    /// The tables of which the sender holds some rows only, by their indexes. It is asked for each row.
    let partialTables: Set<Int>

    /// Whether the bundle repairs a divergence: all of some rows, and nothing new.
    var isRepair: Bool { header.facts.isRepair }

    /// Whether the sender holds some rows of a table only.
    func isPartial(_ table: Int) -> Bool { partialTables.contains(table) }

    /// The tables of a bundle of which the sender holds some rows only, by their indexes.
    static func partialTables(of header: BundleHeader) -> Set<Int> {
        let names = Set(header.facts.partials.flatMap(\.names).map(\.identifierKey))
        guard !names.isEmpty else { return [] }
        return Set(header.tables.indices.filter { names.contains(header.tables[$0].name.identifierKey) })
    }
}
