import CipherStore
import SyncWire

extension Synchronizer {
    /// The bounds that a choice means, made of what this store has now.
    ///
    /// - returns: nil for everything.
    /// - throws: ``SyncError``: `noSuchTable`; `unsuitableScope` for a column or values that rows can't be chosen by.
    package func bounds(of scope: SyncScope) throws -> AccessBounds? {
        guard scope != .everything else { return nil }
        return try database.read { db in
            let store = ScopeStore(db: db)
            let tables = try scope.tableNames.map { Set(try store.resolve($0).map(\.number)).sorted() }
            let rows = try scope.rows.map { rows in
                let table = try store.resolve([rows.table])[0]
                guard tables?.contains(table.number) != false else {
                    throw SyncError(
                        .unsuitableScope,
                        "rows of table \(rows.table) were chosen, and the table itself was not")
                }
                let column = try RowChoice(db: db).column(rows, table)
                return AccessBounds.Rows(
                    table: table.number, column: column, values: Array(Set(rows.values)).sorted())
            }
            guard Set(rows.map(\.table)).count == rows.count else {
                throw SyncError(.unsuitableScope, "rows of one table were chosen twice")
            }
            return AccessBounds(tables: tables, rows: rows)
        }
    }

    /// What a server says that this store may exchange with it, by the names that this store uses.
    ///
    /// - returns: The scope, without tables that are not tracked here; and those that are not known here.
    package func ownScope(_ names: AccessNames) throws -> (found: SyncScope, missing: [[String]]) {
        try database.read { db in
            let all = try SyncedTable.loadAll(db)
            let aliases = try NameAliases(db)
            let known = TableNames(all, aliases)
            func table(_ names: [String]) -> SyncedTable? {
                let number = known.number(of: names)
                return all.first { $0.number == number && $0.place != .dropped }
            }
            var missing: [[String]] = []
            var scope = SyncScope.everything
            if let tables = names.tables {
                missing = tables.filter { table($0) == nil }
                scope = .tables(tables.compactMap { table($0)?.name })
            }
            for rows in names.rows {
                guard let table = table(rows.table) else {
                    if names.tables == nil { missing.append(rows.table) }
                    continue
                }
                let column = ExportedRows.column(rows.column, of: table, aliases)
                scope = scope.rows(
                    of: table.name, where: column?.name ?? rows.column.first ?? "", in: rows.values)
            }
            return (scope, missing)
        }
    }

    /// Makes tables that are not here under any of their names, and tracks them.
    ///
    /// - returns: Their names.
    /// - throws: ``SyncError``: `invalidBundle` for definitions that do anything else; `capacityExceeded` when there would
    ///   be more names than a store keeps. ``DatabaseError``.
    @discardableResult
    package func make(_ tables: [SharedTable]) throws -> [String] {
        guard !tables.isEmpty else { return [] }
        for table in tables { try table.checkNames() }
        return try database.write { db in
            let tracking = TableTracking(db: db, environment: environment)
            // Another program may have renamed a table here.
            try tracking.refresh()
            let own = try OwnTables(db)
            let missing = try own.find(tables).filter { $0.name == nil }.map(\.definition)
            guard !missing.isEmpty else { return [] }
            for table in missing {
                try table.create(db)
                try own.noteNames(of: table)
            }
            try tracking.track(missing.map(\.name))
            // Now something is known of all of them.
            let made = try OwnTables(db)
            for table in missing { try made.noteNames(of: table) }
            try Capacity(db).requireRoomForNames(db)
            return missing.map(\.name)
        }
    }

    /// What a device may exchange that has bounds.
    package func access(within bounds: AccessBounds) throws -> DeviceAccess {
        try database.read { try DeviceAccess($0, bounds) }
    }

    /// Throws when a bundle brings, or claims, what its device may not.
    ///
    /// - throws: ``SyncError`` of code `outsideScope`.
    package func check(_ header: BundleHeader, within bounds: AccessBounds) throws {
        try database.read { db in
            try DeviceAccess(db, bounds).check(
                header, KnownNames(db), Coverage.load(db, StoreMetadata.require(db)))
        }
    }

    /// Writes what lies beyond what a device knows, as far as the device may have it.
    ///
    /// - parameter bounds: Says in the snapshot that is sent what the device may get; nil for everything. It may throw.
    package func sendChanges(
        _ request: TransferRequest, within bounds: (Database) throws -> AccessBounds?,
        progress: SyncProgressHandler? = nil, to sink: @escaping (UnsafeRawBufferPointer) throws -> Void
    ) throws -> TransferSummary {
        try peer.send(request, within: bounds, progress: progress, to: sink)
    }

    /// Writes all of some rows, which repair a divergence, if a device may have all rows of their tables.
    ///
    /// - parameter bounds: As above.
    package func send(
        rows: [StateRows], within bounds: (Database) throws -> AccessBounds?,
        to sink: @escaping (UnsafeRawBufferPointer) throws -> Void
    ) throws -> TransferSummary {
        try peer.send(rows: rows, within: bounds, to: sink)
    }

    /// What this store holds, as digests, as far as a device may hear it; nil when it can't be compared now.
    ///
    /// - parameter bounds: As above.
    package func state(
        _ kind: StateKind, within bounds: (Database) throws -> AccessBounds?
    ) throws -> ReplicaState? {
        try peer.state(kind, within: bounds)
    }

    /// Answers a question about rows, if a device may have all rows of their table.
    ///
    /// - parameter bounds: As above.
    package func answer(
        _ question: StateQuestion, within bounds: (Database) throws -> AccessBounds?
    ) throws -> StateAnswer {
        try peer.answer(question, within: bounds)
    }

    /// Applies a bundle of a device: all of it, or nothing.
    ///
    /// - parameter terms: Says in the bundle's transaction what its device may bring. It may throw.
    package func applyUpload(
        on terms: (Database) throws -> UploadTerms,
        _ frames: ((UnsafeRawBufferPointer) throws -> Void) throws -> Void
    ) throws -> ApplySummary {
        try peer.receiveStored(on: terms) { _, sink in try frames(sink) }
    }

    /// Takes in what a device says of itself, see ``SyncPeer/meet(_:)``.
    ///
    /// - parameter device: Its number.
    package func meet(_ greeting: Greeting, ofDevice device: Int64) throws -> [Fork] {
        try peer.meet(greeting, ofDevice: device)
    }

    /// Remembers what a device knows, see ``SyncPeer/remember(_:name:knowing:)``.
    ///
    /// - parameter device: Its number.
    /// - throws: ``SyncError`` of code `capacityExceeded` when the device named too many replicas by now.
    package func remember(_ replica: ReplicaID, knowing vector: VersionVector, ofDevice device: Int64) throws
    {
        try peer.remember(
            replica, name: "", knowing: vector, at: environment.milliseconds(), ofDevice: device)
    }

    /// Gives this replica a new identity because of forks that a device showed.
    ///
    /// - parameter device: Its number.
    /// - throws: ``SyncError`` of code `capacityExceeded` when the device called for that too often.
    package func renewIdentity(_ forks: [Fork], shownByDevice device: Int64) throws {
        try peer.renewIdentity(forks, shownByDevice: device)
    }
}
