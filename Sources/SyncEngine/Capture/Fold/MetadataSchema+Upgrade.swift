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
            return
        }
        if metadata.format < 2 { try db.execute(sql: addedInVersion2) }
        try db.execute(sql: addedInVersion3)
        try Parking.adoptParkedRows(db)
        try StoreMetadata.setFormat(db, version)
        try debugAssert(StoreMetadata.load(db)?.format == version)
        try OutlivedCells(db: db).remove()
    }
}
