import CipherStore
import SyncWire

/// The rows that an application touched, and the orphans among them.
///
/// Only rows that were touched, or whose parent was, are looked at: orphans that
/// the user made with foreign keys off are the user's.
final class TouchedRows {
    private struct Reference {
        let child: SyncedTable
        let parent: SyncedTable
        /// Pairs of child and parent columns.
        let columns: [(from: String, to: String)]
    }

    private let db: Database
    private let references: [Reference]
    private let insertion: Statement

    /// Makes the record when there are foreign keys between tracked tables.
    static func ifNeeded(_ db: Database, tables: [SyncedTable]) throws -> TouchedRows? {
        let tracked = tables.filter(\.isTracked)
        let references = try tracked.flatMap { try self.references(db, of: $0, to: tracked) }
        guard !references.isEmpty else { return nil }
        return try TouchedRows(db, references)
    }

    private init(_ db: Database, _ references: [Reference]) throws {
        self.db = db
        self.references = references
        try db.execute(
            sql: """
                DROP TABLE IF EXISTS temp._sync_touched;
                CREATE TEMP TABLE _sync_touched (tbl, pk, PRIMARY KEY (tbl, pk)) WITHOUT ROWID;
                """)
        insertion = try db.makeStatement(sql: "INSERT OR IGNORE INTO temp._sync_touched VALUES (?, ?)")
    }

    private static func references(
        _ db: Database, of child: SyncedTable, to tables: [SyncedTable]
    ) throws -> [Reference] {
        let rows = try Row.fetchAll(
            db, sql: "PRAGMA foreign_key_list(\(child.name.quotedDatabaseIdentifier))")
        let groups = Dictionary(grouping: rows) { $0["id"] as Int }
        return groups.sorted { $0.key < $1.key }.compactMap { _, rows in
            let name: String = rows[0]["table"]
            guard let parent = tables.first(where: { $0.name.lowercased() == name.lowercased() }) else {
                return nil
            }
            return Reference(
                child: child, parent: parent,
                columns: rows.map { (from: $0["from"], to: ($0["to"] as String?) ?? parent.key) })
        }
    }

    /// Notes a row.
    func add(_ table: Int64, _ key: RowKey) throws {
        insertion.reset()
        _ = RawBinding.int64(insertion.sqliteStatement, 1, table)
        key.value.bind(insertion.sqliteStatement, 2)
        while try insertion.step() {}
        insertion.reset()
    }

    /// Moves orphans out of the user's tables until there are none: taking one
    /// out can orphan another.
    func parkOrphans(_ parking: Parking) throws {
        defer { try? db.execute(sql: "DROP TABLE IF EXISTS temp._sync_touched") }
        var hasMoved = true
        while hasMoved {
            hasMoved = false
            for reference in references {
                for row in try orphans(of: reference) {
                    let key = OwnedValue.make(try row.decode(atIndex: 0))
                    try withExtendedLifetime(key) { try park(reference, RowKey(key.value), parking) }
                    hasMoved = true
                }
            }
        }
        insertion.reset()
    }

    private func orphans(of reference: Reference) throws -> [Row] {
        let child = reference.child.qualifiedName
        let parent = reference.parent.qualifiedName
        let childKey = reference.child.key.quotedDatabaseIdentifier
        let isSet = reference.columns.map { "c.\($0.from.quotedDatabaseIdentifier) IS NOT NULL" }
        let matches = reference.columns.map {
            "p.\($0.to.quotedDatabaseIdentifier) = c.\($0.from.quotedDatabaseIdentifier)"
        }
        let isOrphan = """
            \(isSet.joined(separator: " AND "))
            AND NOT EXISTS (SELECT 1 FROM \(parent) AS p WHERE \(matches.joined(separator: " AND ")))
            """
        var sql = """
            SELECT c.\(childKey) FROM temp._sync_touched AS t CROSS JOIN \(child) AS c ON c.\(childKey) = t.pk
            WHERE t.tbl = \(reference.child.number) AND \(isOrphan)
            """
        if let single = reference.columns.first, reference.columns.count == 1,
            single.to.lowercased() == reference.parent.key.lowercased()
        {
            sql += """
                 UNION SELECT c.\(childKey) FROM \(child) AS c
                WHERE c.\(single.from.quotedDatabaseIdentifier) IN
                    (SELECT pk FROM temp._sync_touched WHERE tbl = \(reference.parent.number)) AND \(isOrphan)
                """
        } else {
            // What the parent's columns held before is not known, so all children are looked at.
            sql += """
                 UNION SELECT c.\(childKey) FROM \(child) AS c
                WHERE EXISTS (SELECT 1 FROM temp._sync_touched WHERE tbl = \(reference.parent.number)) AND \(isOrphan)
                """
        }
        return try Row.fetchAll(db, sql: sql)
    }

    private func park(_ reference: Reference, _ key: RowKey, _ parking: Parking) throws {
        let table = reference.child
        let reader = try ExportedTable(db, table)
        try reader.load(key: key, hasParkedValues: parking.isInUse)
        var values: [Int: OwnedValue] = [:]
        for (ordinal, column) in table.columns.enumerated() where reader.hasValue(ordinal) {
            values[column.number] = OwnedValue(copying: reader.value(ordinal))
        }
        reader.finish()
        try parking.park(
            table.number, key, values.mapValues(\.value), why: "no parent in \(reference.parent.name)")
        withExtendedLifetime(values) {}
        try AppliedTable(db, table, columns: table.columns).delete(key)
        try add(table.number, key)
    }
}
