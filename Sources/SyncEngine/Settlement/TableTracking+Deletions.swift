import CipherStore

/// How rows go that peers deleted while their tables were not tracked.
extension TableTracking {
    /// Deletes rows that peers deleted.
    ///
    /// The actions of foreign keys must find what peers wrote, and not what was here: a child that peers gave another
    /// parent would go with the former one, lose the new one, or keep the former one.
    ///
    /// - parameters:
    ///     - tables: The tables that are tracked again.
    ///     - deletedHere: Which rows `p` wait only because they were deleted here, as SQL: they go as if they had stayed.
    func delete(
        _ rows: [(table: SyncedTable, key: DatabaseValue)], of tables: [SyncedTable], but deletedHere: String
    ) throws {
        guard !rows.isEmpty else { return }
        guard try Bool.fetchOne(db, sql: "PRAGMA foreign_keys") == true else {
            // No action runs, and what peers wrote could hide rows that are about to go.
            let protected = try ProtectedRows(db, but: deletedHere)
            defer { protected.forget() }
            try RefusableDeletions(db: db, rows: rows, protected: protected).run()
            return
        }
        let doomed = try DoomedRows(db, rows)
        defer { doomed.forget() }
        try FoldedStore.fold(db, environment)
        for table in tables {
            try Parking.adoptMissingRows(db, of: table, since: environment.milliseconds())
        }
        let protected = try ProtectedRows(db, but: deletedHere)
        defer { protected.forget() }
        try unpark()
        var rest = try RefusableDeletions(db: db, rows: rows, protected: protected).run()
        // A child may have waited for a value that one of the rows held which are gone now.
        while try !rest.isEmpty && unpark() > 0 {
            rest = try RefusableDeletions(db: db, rows: rest, protected: protected).run()
        }
    }
}
