import CipherStore

/// How the metadata of older programs come to the present version.
extension MetadataSchema {
    /// Brings the metadata of an older program to this version. Runs in the
    /// caller's transaction.
    ///
    /// - throws: ``SyncError`` when a newer program made it.
    static func upgrade(_ db: Database) throws {
        guard let metadata = try StoreMetadata.load(db) else { return }
        guard metadata.format < version else {
            // Stores of this version from before it had these tables.
            try LastRows.bringUpToDate(db)
            if try !db.tableExists("_sync_original") { try db.execute(sql: OriginalValues.schema) }
            if try !db.tableExists("_sync_statement") { try db.execute(sql: MembershipSchema.sql) }
            try ConstraintSchema.bringUpToDate(db)
            return try listRowsThatWereLeftOut(db)
        }
        if metadata.format < 2 { try db.execute(sql: addedInVersion2) }
        try db.execute(sql: addedInVersion3)
        try Parking.adoptParkedRows(db)
        try StoreMetadata.setFormat(db, version)
        try debugAssert(StoreMetadata.load(db)?.format == version)
        try OutlivedCells(db: db).remove()
        try listRowsThatWereLeftOut(db)
    }

    /// Lists rows as hidden that programs from before 29 November 2026 left out of their tables, once: whatever else is
    /// missing in a table that has lost its triggers was deleted.
    private static func listRowsThatWereLeftOut(_ db: Database) throws {
        guard try !Parking.listsMissingRows(db) else { return }
        if try Bool.fetchOne(db, sql: "SELECT EXISTS(SELECT 1 FROM _sync_shadow)") == true {
            // A row that was inserted here, or that got a value in a column which is here, was in its table.
            let isLeftOut = """
                r.sid <> (SELECT self FROM _sync_state) AND NOT EXISTS (
                    SELECT 1 FROM _sync_cell AS c
                    JOIN _sync_column AS n ON n.tbl = r.tbl AND n.col = c.col AND n.present = 1
                    WHERE c.r = r.r)
                """
            for table in try SchemaInspection(db: db).tables() {
                try Parking.adoptMissingRows(db, of: table, since: 0, where: isLeftOut)
            }
        }
        try Parking.noteMissingRowsAreListed(db)
    }
}
