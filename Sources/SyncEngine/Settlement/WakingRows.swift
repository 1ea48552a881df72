import CipherStore

/// Finds the hidden rows that may have a place now.
///
/// Looking at all of them each time would make a store slow that has many, so they
/// wait until something happens that concerns them.
struct WakingRows {
    let db: Database
    let tables: [SyncedTable]
    let references: [ForeignKey]
    let policies: OrphanPolicies

    /// All rows of which something waits that has a column here, and all that are listed as hidden: of these, nothing but values
    /// without a column here may wait. A row that is missing otherwise went unseen, and what it held went with it.
    func all() throws -> [Int64: [OwnedValue]] {
        var rows: [Int64: [OwnedValue]] = [:]
        for table in tables where table.hasRows {
            let numbers = table.presentColumns.map(\.number) + [Parking.wholeRow]
            let waiting = """
                SELECT DISTINCT pk FROM _sync_shadow
                WHERE tbl = \(table.number) AND col IN (\(numbers.map(String.init).joined(separator: ", ")))
                """
            rows[table.number] = try keys(
                isThere(table)
                    ? waiting + "\nUNION\nSELECT pk FROM _sync_hidden WHERE tbl = \(table.number)" : waiting)
        }
        return rows
    }

    /// Whether a tracked table is there, under its name and with its key: another program may have changed that since the metadata
    /// followed the schema.
    private func isThere(_ table: SyncedTable) throws -> Bool {
        guard try table.isTracked && db.tableExists(table.name, in: "main") else { return false }
        return try db.columns(in: table.name, in: "main").contains { $0.name.isSameIdentifier(as: table.key) }
    }

    /// The rows that wait for something in tables that changed.
    func rows(changed: Set<Int64>) throws -> [Int64: [OwnedValue]] {
        let concerned = tables.filter { concern(changed).contains($0.number) && $0.hasRows }
        defer { try? db.execute(sql: "DROP TABLE IF EXISTS temp._sync_woken") }
        try db.execute(
            sql: """
                DROP TABLE IF EXISTS temp._sync_woken;
                CREATE TEMP TABLE _sync_woken (tbl, pk, PRIMARY KEY (tbl, pk)) WITHOUT ROWID;
                """)
        for table in concerned {
            // Where rows can collide, orphans count too: their claims stand.
            let reasons: [ParkedRow.Reason] =
                try TableIndexes.load(db, table).canCollide
                ? [.unique, .missingParent, .trigger, .other] : [.unique, .trigger, .other]
            let list = reasons.map { "'\($0.rawValue)'" }.joined(separator: ", ")
            try wake("h.tbl = \(table.number) AND h.reason IN (\(list))")
        }
        try wakeChildren(of: concerned)
        var rows: [Int64: [OwnedValue]] = [:]
        for table in concerned {
            rows[table.number] = try keys("SELECT pk FROM temp._sync_woken WHERE tbl = \(table.number)")
        }
        return rows
    }

    /// The tables and all that refer to them, directly or through others.
    private func concern(_ changed: Set<Int64>) -> Set<Int64> {
        var found = changed
        while true {
            let children = references.filter { found.contains($0.parent.number) }.map(\.child.number)
            guard !found.isSuperset(of: children) else { return found }
            found.formUnion(children)
        }
    }

    /// Wakes orphans whose parent is there or awake, or was deleted where that means
    /// more than waiting.
    private func wakeChildren(of concerned: [SyncedTable]) throws {
        let numbers = Set(concerned.map(\.number))
        let concerned = references.filter { numbers.contains($0.child.number) }
        var hasWoken = true
        while hasWoken {
            hasWoken = false
            for reference in concerned where try wakeChildren(of: reference) { hasWoken = true }
        }
    }

    private func wakeChildren(of reference: ForeignKey) throws -> Bool {
        let parent = reference.parent
        var conditions = [
            "h.other_pk IS NULL",
            """
            h.other_tbl = \(parent.number) AND (
                EXISTS (SELECT 1 FROM \(parent.qualifiedName) AS p
                    WHERE p.\(parent.key.quotedDatabaseIdentifier) = h.other_pk)
                OR EXISTS (SELECT 1 FROM temp._sync_woken AS w
                    WHERE w.tbl = \(parent.number) AND w.pk = h.other_pk\(reference.collate)))
            """,
        ]
        if policies[reference.child.number] != .hold {
            conditions.append(
                """
                EXISTS (SELECT 1 FROM _sync_row AS r
                    WHERE r.tbl = h.other_tbl AND r.pk = h.other_pk\(reference.collate) AND r.cl & 1 = 0)
                """)
        }
        return try wake(
            """
            h.tbl = \(reference.child.number) AND h.reason = '\(ParkedRow.Reason.missingParent.rawValue)'
            AND (\(conditions.joined(separator: " OR ")))
            """)
    }

    @discardableResult
    private func wake(_ condition: String) throws -> Bool {
        try db.execute(
            sql: """
                INSERT OR IGNORE INTO temp._sync_woken SELECT h.tbl, h.pk FROM _sync_hidden AS h WHERE \(condition)
                """)
        return db.changesCount > 0
    }

    private func keys(_ sql: String) throws -> [OwnedValue] {
        try Row.fetchAll(db, sql: sql).map { OwnedValue.make(try $0.decode(atIndex: 0)) }
    }
}
