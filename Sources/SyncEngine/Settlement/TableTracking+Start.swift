import CipherStore
import SyncWire

/// How the tracking of tables begins, and what that brings into them.
extension TableTracking {
    /// Tracks tables. Tables that are tracked already are left as they are.
    ///
    /// Rows that are there count as inserted now. Runs in the caller's transaction.
    func track(_ names: [String]) throws {
        try refresh()
        try begin(names)
    }

    func begin(_ names: [String]) throws {
        let known = try SyncedTable.loadAll(db)
        var untracked: [(kept: SyncedTable, definition: TableDefinition)] = []
        for name in names {
            let definition = try TableDefinition.load(db, name)
            if let table = try known.first(where: { $0.name.isSameIdentifier(as: name) })
                ?? dropped(known, alias: name)
            {
                if try isUntracked(table) {
                    guard !untracked.contains(where: { $0.kept.number == table.number }) else { continue }
                    untracked.append((table, definition))
                } else if !table.isTracked {
                    try adopt(table, definition)
                }
            } else {
                try definition.checkKeys(db)
                try definition.checkTriggers(db)
                let table = try SyncedTable.register(
                    db, name: definition.name, key: definition.key, columns: definition.columns,
                    isTracked: true)
                try start(table)
            }
        }
        try trackAgain(untracked)
    }

    /// A table that is not here, and that had a name, or has it at a peer.
    private func dropped(_ known: [SyncedTable], alias name: String) throws -> SyncedTable? {
        let number = try NameAliases(db).table(named: name)
        return known.first { $0.number == number && !$0.isTracked }
    }

    /// Tracks a table whose rows came from a peer before the table was there,
    /// or which was dropped and is there again.
    private func adopt(_ table: SyncedTable, _ definition: TableDefinition) throws {
        try definition.checkKeys(db)
        try definition.checkTriggers(db)
        if table.place == .dropped {
            try attach(table, definition, missingRows: .restored)
            // Before peers' values are written: a row that they hide would take along what was logged of it.
            try FoldedStore.fold(db, environment)
            return try showRows(ofTable: table.number)
        }
        try table.setTracked(db, name: definition.name, key: definition.key)
        try updateColumns(of: table, definition)
        let table = try SyncedTable.load(db, number: table.number)
        try start(table)
        try logValuesThatPeersLack(of: table, definition)
        // Nobody knows when the values here were written, and the peer's have
        // their times: the peer's win, and those that differ go to the journal.
        for column in table.presentColumns {
            try ConflictJournal.appendDifferences(db, of: column, in: table, at: environment.milliseconds())
        }
        try FoldedStore.fold(db, environment)
        try showRows(ofTable: table.number)
    }

    /// Logs what rows of peers hold here in columns of which these say nothing, because they lack them.
    private func logValuesThatPeersLack(of table: SyncedTable, _ definition: TableDefinition) throws {
        let isOfPeers = """
            EXISTS (SELECT 1 FROM _sync_shadow AS w WHERE w.tbl = \(table.number) AND w.pk = \(table.untypedKey()))
            """
        try logValues(
            of: table, inColumns: Set(definition.columns.map { $0.identifierKey }), definition,
            where: isOfPeers)
    }

    /// Writes the rows that came while a table was not tracked, also those of which no value has a column here.
    private func showRows(ofTable number: Int64) throws {
        try Parking.adoptMissingRows(
            db, of: SyncedTable.load(db, number: number), since: environment.milliseconds())
        try unpark()
    }

    /// Writes what was parked, now that there may be a place for it.
    ///
    /// Hidden rows of a table that was dropped in the open transaction wait on. Among the rows that were kept nothing
    /// stands against them, and the table that is made of a copy would seem to lack them: they would count as deleted.
    ///
    /// - returns: How many rows found their place, or values of rows.
    @discardableResult
    func unpark() throws -> Int64 {
        let parking = try Parking(db, now: environment.milliseconds())
        guard parking.isInUse else { return 0 }
        let muting = try Muting(db)
        let settlement = try Settlement(
            withinSchemaChange: db, environment, parking, leavingOut: droppedTables)
        try settlement.run(isFull: true, parking, muting)
        return parking.shownRowCount
    }

    /// Ends the tracking of tables.
    ///
    /// - throws: ``SyncError``: `noSuchTable` for one that is not tracked; `unsuitableScope` for one of which some rows
    ///   only are held.
    func untrack(_ names: [String]) throws {
        // What was written until now is sent still.
        let store = try FoldedStore.refresh(db, environment)
        let partial = try PartialTable.loadAll(db, store.metadata)
        for name in names {
            let tracked = try SyncedTable.loadAll(db).filter(\.isTracked)
            guard let table = tracked.first(where: { $0.name.isSameIdentifier(as: name) }) else {
                let names = tracked.map(\.name).joined(separator: ", ")
                throw SyncError(
                    .noSuchTable,
                    "table \(name) is not tracked; "
                        + (names.isEmpty ? "no table is" : "tracked are: \(names)"))
            }
            guard partial[table.number] == nil else {
                throw SyncError(
                    .unsuitableScope,
                    "some rows only of table \(table.name) are held here; choose all of its rows again first")
            }
            try keepRows(of: table)
            try copyKept(of: SyncedTable.load(db, number: table.number))
            try dropTriggers(table)
        }
        // Rows that a constraint of the table kept out have their place among those that are kept.
        try unpark()
    }
}
