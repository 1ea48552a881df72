import CipherStore
import SyncWire

/// The rows of a table that may have to go.
struct RowCandidates {
    let db: Database
    let table: AppliedTable
    let partial: PartialTable
    let parking: Parking

    /// Whether there may be some: something was written here since there were none, or others were chosen.
    func mayExist() throws -> Bool {
        if partial.swept == 0 || partial.hasLeftRows { return true }
        return try partial.swept < SettlementMark.lastSequence(db)
    }

    /// The keys of rows that left, of rows with another value in the table, and of all rows of which
    /// something waits, or whose value others wrote otherwise than the table shows it.
    func keys() throws -> [OwnedValue] {
        let number = partial.number
        var keys = try DatabaseValue.fetchSet(
            db,
            sql: """
                SELECT pk FROM _sync_left WHERE tbl = ?1 UNION SELECT pk FROM _sync_shadow WHERE tbl = ?1
                UNION \(Self.rowsWithOriginals(db))
                """, arguments: [number, partial.column])
        let column = table.table.columns.first { $0.number == partial.column && $0.isPresent }
        guard !partial.wantsEverything, table.table.hasRows, let column else {
            return keys.map(OwnedValue.make)
        }
        // Only numbers and texts of the column's own type are compared here, by their bytes.
        let name = column.name.quotedDatabaseIdentifier
        try db.execute(
            sql: """
                DROP TABLE IF EXISTS temp._sync_wanted;
                CREATE TEMP TABLE _sync_wanted (val);
                INSERT INTO temp._sync_wanted SELECT val FROM _sync_partial_value WHERE tbl = \(number) AND wanted;
                """)
        defer { try? db.execute(sql: "DROP TABLE IF EXISTS temp._sync_wanted") }
        keys.formUnion(
            try DatabaseValue.fetchSet(
                db,
                sql: """
                    SELECT \(table.table.key.quotedDatabaseIdentifier) FROM \(table.table.qualifiedName) AS t
                    WHERE NOT EXISTS (
                        SELECT 1 FROM temp._sync_wanted AS w
                        WHERE w.val IS +t.\(name) COLLATE BINARY AND typeof(w.val) = typeof(t.\(name)))
                    """))
        return keys.map(OwnedValue.make)
    }

    /// Up to how many originals, of all tables, are read to find those of one.
    static let originalsReadMax = 1000

    /// Selects the keys of rows of a table, the first argument, with an original of a column, the second one.
    ///
    /// There is no index of tables in the originals. So a few are read, and of many each row of the table looks for its own.
    static func rowsWithOriginals(_ db: Database) throws -> String {
        let count = try Int.fetchOne(
            db, sql: "SELECT count(*) FROM (SELECT 1 FROM _sync_original LIMIT \(originalsReadMax + 1))")
        let source =
            (count ?? 0) > originalsReadMax
            ? "_sync_row AS r CROSS JOIN _sync_original AS o ON o.r = r.r"
            : "_sync_original AS o CROSS JOIN _sync_row AS r ON r.r = o.r"
        return "SELECT r.pk FROM \(source) WHERE r.tbl = ?1 AND o.col = ?2"
    }

    /// Whether a row is not among those that are held. One that left by what somebody else wrote, and
    /// that was written into the held ones here, waits for the remote to say where it is.
    func isOutside(_ key: RowKey, _ version: RowVersion) throws -> Bool {
        let reader = table.reader
        try reader.load(key: key, hasParkedValues: parking.isInUse)
        defer { reader.finish() }
        let ordinal = table.table.columns.firstIndex { $0.number == partial.column }
        let value = ordinal.map { reader.hasValue($0) ? reader.value($0) : .null } ?? .null
        if !partial.wantsEverything, ScopeValue(value).map(partial.wanted.contains) != true {
            return true
        }
        guard try partial.hasLeft(db, key) else { return false }
        let scope = version.stamp(ofColumn: partial.column)
        return partial.since.contains(scope)
    }
}
