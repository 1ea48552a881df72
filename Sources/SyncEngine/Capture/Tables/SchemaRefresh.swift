import CipherStore

/// Bringing the metadata and the triggers up to the schema.
extension TableTracking {
    /// Brings names, columns and triggers up to the schema, after somebody changed it.
    ///
    /// It runs in the transaction of each change that goes through CipherStore,
    /// and at the start of each synchronization for the changes of other programs.
    ///
    /// - returns: Whether anything had changed.
    @discardableResult
    func refresh() throws -> Bool {
        try MetadataSchema.upgrade(db)
        let mark = SchemaMark(db: db)
        guard try !droppedTables.isEmpty || !mark.isCurrent() else { return false }
        let captured = try CapturedSchema.loadAll(db)
        let replaced = try replacedVersions(captured)
        defer { replaced.drop() }
        var hasChanged = try followNames(captured, replaced)
        for table in try SyncedTable.loadAll(db) where table.isTracked {
            // What was done for one table may have changed the triggers of another.
            let schema =
                hasChanged ? try CapturedSchema.load(db, table: table.number) : captured[table.number]
            if try refresh(table, schema, replaced) { hasChanged = true }
        }
        for table in try SyncedTable.loadAll(db)
        where table.place == .dropped && droppedTables.contains(table.number) {
            if try attachIfRebuilt(table) { hasChanged = true }
        }
        try CaptureOrder(db: db).restore()
        try mark.note()
        return hasChanged
    }

    /// Does the same, whether or not anything is known to have changed: metadata are about to be repaired.
    func refreshAnyway() throws {
        try MetadataSchema.upgrade(db)
        try SchemaMark(db: db).forget()
        try refresh()
    }

    /// The versions before anything is done in tables that may be gone, or lack columns: those without triggers.
    private func replacedVersions(_ captured: [Int64: CapturedSchema]) throws -> ReplacedVersions {
        let tables = try SyncedTable.loadAll(db).filter { $0.isTracked && captured[$0.number] == nil }
        return try ReplacedVersions(
            db, of: tables.map(\.number), after: StoreMetadata.require(db).folded)
    }

    private func refresh(
        _ table: SyncedTable, _ captured: CapturedSchema?, _ replaced: ReplacedVersions
    ) throws -> Bool {
        guard let name = try captured?.table ?? (isTable(table.name) ? table.name : nil) else {
            // What was deleted stays deleted. An edit of a row that nobody knows would give it a version without values.
            try FoldedStore.fold(db, environment)
            // The rows of a table that is gone stay with the peers.
            try lose(table, replaced)
            return true
        }
        let definition = try TableDefinition.load(db, name)
        guard let captured else {
            try recapture(table, definition, replaced)
            return true
        }
        return try refreshColumns(of: table, definition, captured)
    }

    private func isTable(_ name: String) throws -> Bool {
        try Bool.fetchOne(
            db,
            sql:
                "SELECT EXISTS(SELECT 1 FROM main.sqlite_master WHERE type = 'table' AND lower(name) = lower(?))",
            arguments: [name]) == true
    }

    // MARK: Tables

    /// A tracked table, and the name that it has now.
    private typealias Renamed = (table: SyncedTable, name: String)

    /// Follows the new names of tables, which may be each other's old ones. Their histories stay, and peers that still use
    /// an old name mean the same table, unless another one has it now.
    ///
    /// Where a table that keeps its name has the new one, both have a history, so the renamed table goes on as that one.
    ///
    /// - returns: Whether a table had another name.
    private func followNames(
        _ captured: [Int64: CapturedSchema], _ replaced: ReplacedVersions
    ) throws -> Bool {
        var renamed: [Renamed] = try SyncedTable.loadAll(db).compactMap { table in
            guard table.isTracked, let name = captured[table.number]?.table,
                !name.hasSameBytes(as: table.name)
            else { return nil }
            return (table: table, name: name)
        }
        guard !renamed.isEmpty else { return false }
        try loseReplaced(by: renamed, captured, replaced)
        var others: [Renamed] = []
        // A table that goes on as another one gives up no name: that may stand against the next one.
        while let index = try renamed.firstIndex(where: { try isTaken($0.name, renamed) }) {
            others.append(renamed.remove(at: index))
        }
        try SyncedTable.renameAll(db, renamed) { _, name in
            // A peer's table that has the name, and of which no row is known.
            try SyncedTable.loadAll(db).first { $0.name.isSameIdentifier(as: name) }?.remove(db)
        }
        for (table, name) in others {
            try dropTriggers(table)
            try keepRows(of: table, in: name)
            try begin([name])
        }
        return true
    }

    /// Notes which tables are gone, because another program dropped them before it gave others their names.
    private func loseReplaced(
        by renamed: [Renamed], _ captured: [Int64: CapturedSchema], _ replaced: ReplacedVersions
    ) throws {
        let names = Set(renamed.map { $0.name.identifierKey })
        for table in try SyncedTable.loadAll(db)
        where table.isTracked && captured[table.number] == nil && names.contains(table.name.identifierKey) {
            try FoldedStore.fold(db, environment)
            try lose(table, replaced)
        }
    }

    /// Whether a table has a name, and rows or a history, and goes on having them; or its rows are asked for.
    ///
    /// - parameter renamed: The tables that get other names now.
    private func isTaken(_ name: String, _ renamed: [Renamed]) throws -> Bool {
        let other = try SyncedTable.loadAll(db).first { table in
            table.name.isSameIdentifier(as: name) && !renamed.contains { $0.table.number == table.number }
        }
        guard let other else { return false }
        let isUsed = try Bool.fetchOne(
            db, sql: "SELECT EXISTS(SELECT 1 FROM _sync_row WHERE tbl = ?)", arguments: [other.number])
        let isAskedFor = try PartialTable.loadAll(db, StoreMetadata.require(db))[other.number] != nil
        return isUsed != false || other.hasRows || isAskedFor
    }

    // MARK: Columns

    private func refreshColumns(
        of table: SyncedTable, _ definition: TableDefinition, _ captured: CapturedSchema
    ) throws -> Bool {
        guard !captured.isOf(table, definition) else {
            if try !captured.isUpToDate(CaptureTriggers.load(db, table)) { try createTriggers(table) }
            return false
        }
        // The entries so far are of the columns as they were.
        try FoldedStore.fold(db, environment)
        try checkKey(of: table, definition, captured)
        let folded = Set(definition.columns.map { $0.identifierKey })
        var renamed: [(column: SyncedTable.Column, name: String)] = []
        for column in table.presentColumns {
            guard let name = captured.columns[column.number], folded.contains(name.identifierKey) else {
                try table.setPlace(db, .dropped, of: column)
                continue
            }
            if !name.hasSameBytes(as: column.name) { renamed.append((column, name)) }
        }
        try rename(renamed, in: table)
        var table = try SyncedTable.load(db, number: table.number)
        let added = try updateColumns(of: table, definition)
        table = try SyncedTable.load(db, number: table.number)
        try createTriggers(table)
        try logValues(of: table, inColumns: added, definition)
        return true
    }

    /// Follows the new names of columns, which may be each other's old ones.
    private func rename(_ renamed: [(column: SyncedTable.Column, name: String)], in table: SyncedTable) throws
    {
        let numbers = Set(renamed.map(\.column.number))
        try table.rename(db, renamed) { column, name in
            let other = table.columns.first {
                $0.name.isSameIdentifier(as: name) && !numbers.contains($0.number)
            }
            // A peer renamed it before, and what it wrote since then is parked.
            if let other {
                try ColumnUnion(db: db, environment: environment)
                    .unite(other, into: column, named: name, of: table)
            }
        }
    }

    /// Follows a new name of the key, and refuses another key.
    func checkKey(
        of table: SyncedTable, _ definition: TableDefinition, _ captured: CapturedSchema?
    ) throws {
        guard !table.key.hasSameBytes(as: definition.key) else { return }
        let isRenamed =
            captured.map { $0.key.isSameIdentifier(as: definition.key) }
            ?? !definition.columns.contains { $0.isSameIdentifier(as: table.key) }
        guard isRenamed else {
            throw SyncError(
                .unsuitableKey,
                """
                the primary key of table \(definition.name) was \(table.key) and is \(definition.key) now; the rows of a \
                tracked table are known by their key, so make a new table with the other key and track that
                """)
        }
        try table.renameKey(db, to: definition.key)
    }

    // MARK: Triggers that are gone

    /// Tracks a table again that another program dropped and made anew, or whose
    /// triggers it dropped.
    ///
    /// Nobody knows whether the table is a copy with changes or another table of
    /// the same name. One that has none of the rows counts as another: peers must
    /// not lose theirs by it.
    private func recapture(
        _ table: SyncedTable, _ definition: TableDefinition, _ replaced: ReplacedVersions
    ) throws {
        try FoldedStore.fold(db, environment)
        try checkKey(of: table, definition, nil)
        var table = try SyncedTable.load(db, number: table.number)
        let known = "SELECT pk FROM _sync_row WHERE tbl = \(table.number) AND cl & 1"
        let isEmpty = try Bool.fetchOne(db, sql: "SELECT NOT EXISTS(\(known))") == true
        let isShared = try Bool.fetchOne(
            db,
            sql: "SELECT EXISTS(SELECT 1 FROM \(table.qualifiedName) WHERE \(table.keyAsBytes) IN (\(known)))"
        )
        guard isEmpty || isShared == true else {
            try dropTriggers(table)
            return try lose(table, replaced)
        }
        let names = Set(definition.columns.map { $0.identifierKey })
        let gone = isEmpty ? [] : table.presentColumns.filter { !names.contains($0.name.identifierKey) }
        let lost = try loseValues(of: gone, in: table, replaced)
        let added = try updateColumns(of: table, definition)
        table = try SyncedTable.load(db, number: table.number)
        try createTriggers(table)
        try reconcile(table)
        try logValues(of: table, inColumns: added, definition)
        guard !lost.isEmpty else { return }
        let own = try StoreMetadata.require(db).selfNumber
        try writeLost(lost, in: table, where: "r.sid = \(own) AND r.oseq > \(replaced.folded)")
    }

    /// Logs the rows that came or went while a table had no triggers.
    private func reconcile(_ table: SyncedTable) throws {
        let isKnown =
            "\(table.keyAsBytes) IN (SELECT pk FROM _sync_row WHERE tbl = \(table.number) AND cl & 1)"
        try log(table, ChangeLog.Operation.insert, mask: 0, where: "NOT \(isKnown)")
        try ChangeLog(db).appendDeletions(ofRowsMissingIn: table, at: environment.milliseconds())
    }
}
