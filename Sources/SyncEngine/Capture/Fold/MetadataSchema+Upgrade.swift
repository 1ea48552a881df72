import CipherStore

/// How the metadata of older programs come to the present version.
extension MetadataSchema {
    /// Brings the metadata of an older program to this version. Runs in the
    /// caller's transaction.
    ///
    /// - throws: ``SyncError`` when a newer program made it.
    static func upgrade(_ db: Database) throws {
        guard let metadata = try StoreMetadata.load(db) else { return }
        guard metadata.format < version else { return try completeVersion3(db) }
        if metadata.format < 2 { try db.execute(sql: addedInVersion2) }
        try db.execute(sql: addedInVersion3)
        try Parking.adoptParkedRows(db)
        try StoreMetadata.setFormat(db, version)
        try debugAssert(StoreMetadata.load(db)?.format == version)
        try OutlivedCells(db: db).remove()
    }

    /// The last columns of tables of version 3 that got them after the tables were there, and their values in older rows.
    private static let lateColumns = [
        ("_sync_remote", "scope", "NULL"), ("_sync_device", "revision", "0"),
        ("_sync_partial", "revision", "0"),
    ]

    /// The statements of version 3, each with the table or index that it creates, if it creates one.
    private static let statements = addedInVersion3.split(separator: ";\n").map { text in
        let words = text.split(whereSeparator: \.isWhitespace)
        return (created: words.count > 2 && words[0] == "CREATE" ? String(words[2]) : nil, sql: String(text))
    }

    /// Adds what version 3 has to a store of the days in which it grew, 22 and 23 November 2026: programs of those days
    /// wrote the number 3 before there were all of the tables.
    private static func completeVersion3(_ db: Database) throws {
        let sql = "SELECT name FROM main.sqlite_master WHERE name LIKE '\\_sync\\_%' ESCAPE '\\'"
        let names = try String.fetchSet(db, sql: sql)
        let missing = statements.filter { statement in
            statement.created.map { !names.contains($0) } ?? false
        }
        guard !missing.isEmpty else { return }
        for (table, column, value) in lateColumns where names.contains(table) {
            guard try !db.columns(in: table).contains(where: { $0.name == column }),
                let definition = statements.first(where: { $0.created == table })?.sql
            else { continue }
            // The table is made anew: SQLite adds no column that can't be NULL without a default, and there is none.
            try db.execute(
                sql: """
                    CREATE TEMP TABLE _sync_late AS SELECT * FROM main.\(table);
                    DROP TABLE main.\(table);
                    \(definition);
                    INSERT INTO main.\(table) SELECT *, \(value) FROM temp._sync_late;
                    DROP TABLE temp._sync_late;
                    """)
        }
        // The journal of conflicts got its columns together with its index.
        if !names.contains("_sync_conflict_row") {
            for statement in statements where statement.sql.contains("ALTER TABLE") {
                try db.execute(sql: statement.sql)
            }
        }
        for statement in missing { try db.execute(sql: statement.sql) }
        // Programs of those days may have summed otherwise.
        try DigestLedger.invalidate(db)
        guard !names.contains("_sync_hidden") else { return }
        try Parking.adoptParkedRows(db)
        try OutlivedCells(db: db).remove()
    }
}
