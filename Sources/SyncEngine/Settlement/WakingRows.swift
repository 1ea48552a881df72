import CipherStore

/// Finds the hidden rows that may have a place now.
///
/// Looking at all of them each time would make a store slow that has many, so they
/// wait until something happens that concerns them.
struct WakingRows {
    /// Which of the rows are woken that wait for a UNIQUE value.
    enum Losers {
        /// All of them.
        case all
        /// Those of which nobody noted what they gave way to.
        case unnoted
        /// Those too that were written, or gave way to a row that was: by the open settlement, or by an entry of the log after
        /// this one.
        case written(after: Int64)
    }

    let db: Database
    let tables: [SyncedTable]
    let references: [ForeignKey]
    let policies: OrphanPolicies

    /// All rows of which something waits that has a column here, and all that are listed as hidden: of these, nothing but values
    /// without a column here may wait. A row that is missing otherwise went unseen, and what it held went with it.
    func all() throws -> [Int64: [OwnedValue]] {
        var rows: [Int64: [OwnedValue]] = [:]
        for table in tables where table.hasRows { rows[table.number] = try all(of: table) }
        return rows
    }

    /// The same of one table.
    func all(of table: SyncedTable) throws -> [OwnedValue] {
        let numbers = table.presentColumns.map(\.number) + [Parking.wholeRow]
        let waiting = """
            SELECT DISTINCT pk FROM _sync_shadow
            WHERE tbl = \(table.number) AND col IN (\(numbers.map(String.init).joined(separator: ", ")))
            """
        return try keys(
            isThere(table)
                ? waiting + "\nUNION\nSELECT pk FROM _sync_hidden WHERE tbl = \(table.number)" : waiting)
    }

    /// Whether a tracked table is there, under its name and with its key: another program may have changed that since the metadata
    /// followed the schema.
    private func isThere(_ table: SyncedTable) throws -> Bool {
        guard try table.isTracked && db.tableExists(table.name, in: "main") else { return false }
        return try db.columns(in: table.name, in: "main").contains { $0.name.isSameIdentifier(as: table.key) }
    }

    /// The rows that wait for something in tables that changed.
    func rows(changed: Set<Int64>, _ losers: Losers) throws -> [Int64: [OwnedValue]] {
        try rows(changed: changed) { concerned in
            for table in concerned {
                // Where rows can collide, orphans count too: their claims stand.
                let reasons: [ParkedRow.Reason] =
                    try TableIndexes.load(db, table).canCollide
                    ? [.missingParent, .trigger, .other] : [.trigger, .other]
                // One by one, or SQLite would take reading all rows that wait for the lesser work.
                for reason in reasons { try wake(Self.waits(in: table, for: reason)) }
                try wake(losers, in: table)
            }
            if case .written(let sequence) = losers { try wakeWrittenLosers(after: sequence) }
            try wakeChildren(concerned, changed)
        }
    }

    /// The orphans among these whose parent came into its table after they were looked for.
    func orphans(changed: Set<Int64>) throws -> [Int64: [OwnedValue]] {
        try rows(changed: changed) { try wakeChildren($0, changed) }
    }

    /// The rows that a block wakes in tables that changed, and in those that refer to them.
    private func rows(
        changed: Set<Int64>, _ wake: (_ concerned: [SyncedTable]) throws -> Void
    ) throws -> [Int64: [OwnedValue]] {
        let numbers = concern(changed)
        let concerned = tables.filter { numbers.contains($0.number) && $0.hasRows }
        defer { try? db.execute(sql: "DROP TABLE IF EXISTS temp._sync_woken") }
        try db.execute(
            sql: """
                DROP TABLE IF EXISTS temp._sync_woken;
                CREATE TEMP TABLE _sync_woken (tbl, pk, PRIMARY KEY (tbl, pk)) WITHOUT ROWID;
                """)
        try wake(concerned)
        var rows: [Int64: [OwnedValue]] = [:]
        for table in concerned {
            let woken = try keys("SELECT pk FROM temp._sync_woken WHERE tbl = \(table.number)")
            if !woken.isEmpty { rows[table.number] = woken }
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

    private static func waits(in table: SyncedTable, for reason: ParkedRow.Reason) -> String {
        "h.tbl = \(table.number) AND h.reason = '\(reason.rawValue)'"
    }

    private func wake(_ losers: Losers, in table: SyncedTable) throws {
        let isLoser = Self.waits(in: table, for: .unique)
        switch losers {
        case .all: try wake(isLoser)
        case .unnoted, .written: try wake("\(isLoser) AND h.other_pk IS NULL")
        }
    }

    /// Wakes rows that wait for a UNIQUE value and were written, or gave way to a row that was: its values, and whether it is
    /// there, are not what they were.
    private func wakeWrittenLosers(after sequence: Int64) throws {
        for (source, condition) in [
            ("temp.\(TouchedRows.name)", "1"), ("_sync_log", "w.seq > \(sequence)"),
        ] {
            for key in ["h.pk", "h.other_pk"] {
                try db.execute(
                    sql: """
                        INSERT OR IGNORE INTO temp._sync_woken
                        SELECT h.tbl, h.pk FROM \(source) AS w
                        CROSS JOIN _sync_hidden AS h ON h.tbl = w.tbl AND \(LoserLookup.isLoser) AND \(key) = w.pk
                        WHERE \(condition)
                        """)
            }
        }
    }

    /// Wakes orphans whose parent is there or awake, or was deleted where that means
    /// more than waiting.
    private func wakeChildren(_ concerned: [SyncedTable], _ changed: Set<Int64>) throws {
        let numbers = Set(concerned.map(\.number))
        let concerned = references.filter { numbers.contains($0.child.number) }
        var hasWoken = true
        while hasWoken {
            hasWoken = false
            for reference in concerned where try wakeChildren(of: reference, changed) { hasWoken = true }
        }
    }

    /// Which orphans may have a parent of which nobody noted what it is, as SQL: it came, or got the values that they refer to, or
    /// waits and may be awake itself. A row that is written waits no more, so nothing else can give them one.
    private static func mayHaveAnyParent(in parent: SyncedTable, _ changed: Set<Int64>) -> String {
        let isUnnoted = "h.other_pk IS NULL"
        if changed.contains(parent.number) { return isUnnoted }
        return "\(isUnnoted) AND EXISTS (SELECT 1 FROM _sync_hidden AS p WHERE p.tbl = \(parent.number))"
    }

    private func wakeChildren(of reference: ForeignKey, _ changed: Set<Int64>) throws -> Bool {
        let parent = reference.parent
        var conditions = [
            Self.mayHaveAnyParent(in: parent, changed),
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
            \(Self.waits(in: reference.child, for: .missingParent)) AND (\(conditions.joined(separator: " OR ")))
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
