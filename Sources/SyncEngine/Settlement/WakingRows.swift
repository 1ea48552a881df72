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
    /// Throws when the settlement takes longer than it may.
    var requireTime: () throws -> Void = {}

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
        guard !concerned.isEmpty else { return }
        let descendants = try WakingDescendants(db, concerned)
        defer { descendants.finish() }
        for reference in concerned {
            try wakeChildren(of: reference, changed)
            guard policies[reference.child.number] != .hold else { continue }
            try descendants.wakeOrphans(ofDeadRowsBy: reference)
        }
        try descendants.wake(requireTime)
    }

    /// Which orphans may have a parent of which nobody noted what it is, as SQL: it came, or got the values that they refer to, or
    /// waits and may be awake itself. A row that is written waits no more, so nothing else can give them one.
    private static func mayHaveAnyParent(in parent: SyncedTable, _ changed: Set<Int64>) -> String {
        let isUnnoted = "h.other_pk IS NULL"
        if changed.contains(parent.number) { return isUnnoted }
        return "\(isUnnoted) AND EXISTS (SELECT 1 FROM _sync_hidden AS p WHERE p.tbl = \(parent.number))"
    }

    /// Wakes orphans whose parent is not asleep itself.
    private func wakeChildren(of reference: ForeignKey, _ changed: Set<Int64>) throws {
        let parent = reference.parent
        var conditions = [
            Self.mayHaveAnyParent(in: parent, changed),
            """
            h.other_tbl = \(parent.number) AND EXISTS (
                SELECT 1 FROM \(parent.qualifiedName) AS p
                WHERE p.\(parent.key.quotedDatabaseIdentifier) = h.other_pk)
            """,
        ]
        // Where the key has a collation, no index finds the spellings of a dead row: see `wakeOrphans(ofDeadRowsBy:)`.
        if reference.collate.isEmpty, policies[reference.child.number] != .hold {
            conditions.append(
                """
                EXISTS (SELECT 1 FROM _sync_row AS r
                    WHERE r.tbl = h.other_tbl AND r.pk = h.other_pk AND r.cl & 1 = 0)
                """)
        }
        try wake(
            """
            \(Self.waits(in: reference.child, for: .missingParent)) AND (\(conditions.joined(separator: " OR ")))
            """)
    }

    private func wake(_ condition: String) throws {
        try db.execute(
            sql: """
                INSERT OR IGNORE INTO temp._sync_woken SELECT h.tbl, h.pk FROM _sync_hidden AS h WHERE \(condition)
                """)
    }

    private func keys(_ sql: String) throws -> [OwnedValue] {
        try Row.fetchAll(db, sql: sql).map { OwnedValue.make(try $0.decode(atIndex: 0)) }
    }
}

/// Wakes the children of rows that are awake, and the children of these: however deep they are, in one statement. One for each
/// generation would read all rows that wait as often as there are generations. Where parents' keys have a collation, it lists
/// the orphans by it, and wakes those of dead rows too.
private struct WakingDescendants {
    private static let keys = "_sync_waking_key"
    private static let orphans = "_sync_waking_orphan"

    private let db: Database
    /// The collations of the parents' keys, as SQL.
    private let collations: [String]

    /// Prepares it.
    ///
    /// - parameter references: The foreign keys by which rows are children.
    init(_ db: Database, _ references: [ForeignKey]) throws {
        self.db = db
        collations = Set(references.map(\.collate)).sorted()
        try db.execute(
            sql: """
                DROP TABLE IF EXISTS temp.\(Self.keys);
                CREATE TEMP TABLE \(Self.keys) (collation, parent, child, PRIMARY KEY (collation, parent, child)) WITHOUT ROWID;
                """)
        for reference in references {
            try db.execute(
                sql: "INSERT OR IGNORE INTO temp.\(Self.keys) VALUES (?, ?, ?)",
                arguments: [
                    collations.firstIndex(of: reference.collate), reference.parent.number,
                    reference.child.number,
                ])
        }
        for (number, collate) in collations.enumerated() where !collate.isEmpty {
            // The index of the rows that wait has none but the usual collation.
            try db.execute(
                sql: """
                    DROP TABLE IF EXISTS temp.\(Self.orphans)\(number);
                    CREATE TEMP TABLE \(Self.orphans)\(number) (
                        tbl, reason, other_pk, other_tbl, pk, PRIMARY KEY (tbl, reason, other_pk\(collate), other_tbl, pk)
                    ) WITHOUT ROWID;
                    INSERT OR IGNORE INTO temp.\(Self.orphans)\(number)
                    SELECT h.tbl, h.reason, h.other_pk, h.other_tbl, h.pk FROM temp.\(Self.keys) AS f
                    CROSS JOIN _sync_hidden AS h ON h.tbl = f.child AND \(Self.waits) AND h.other_tbl = f.parent
                    WHERE f.collation = \(number) AND h.other_pk IS NOT NULL;
                    """)
        }
    }

    private static let waits = "h.reason = '\(ParkedRow.Reason.missingParent.rawValue)'"

    func finish() {
        try? db.execute(sql: "DROP TABLE IF EXISTS temp.\(Self.keys)")
        for number in collations.indices {
            try? db.execute(sql: "DROP TABLE IF EXISTS temp.\(Self.orphans)\(number)")
        }
    }

    /// Wakes orphans of which a row was deleted that may be their parent, where the parent's key takes several spellings for
    /// the same. The rows that are known of the parent's table are read once, and none of them where no orphan waits.
    func wakeOrphans(ofDeadRowsBy reference: ForeignKey) throws {
        guard !reference.collate.isEmpty, let number = collations.firstIndex(of: reference.collate) else {
            return
        }
        let orphans = "temp.\(Self.orphans)\(number)"
        let (parent, child) = (reference.parent.number, reference.child.number)
        try db.execute(
            sql: """
                INSERT OR IGNORE INTO temp._sync_woken
                SELECT h.tbl, h.pk FROM (SELECT 1 FROM \(orphans) WHERE tbl = \(child) AND other_tbl = \(parent) LIMIT 1) AS any
                CROSS JOIN _sync_row AS r ON r.tbl = \(parent) AND r.cl & 1 = 0
                CROSS JOIN \(orphans) AS h
                ON h.tbl = \(child) AND \(Self.waits) AND h.other_pk = r.pk\(reference.collate) AND h.other_tbl = r.tbl
                """)
    }

    func wake(_ requireTime: () throws -> Void) throws {
        var hasWoken = true
        while hasWoken {
            hasWoken = false
            for (number, collate) in collations.enumerated() {
                try requireTime()
                if try wake(number, collate) { hasWoken = true }
            }
            // With one collation, all of them are awake by now.
            guard collations.count > 1 else { return }
        }
    }

    /// Wakes the descendants by the keys of one collation.
    ///
    /// - returns: Whether there were any.
    private func wake(_ number: Int, _ collate: String) throws -> Bool {
        try db.execute(
            sql: """
                WITH RECURSIVE woken (tbl, pk) AS (
                    SELECT tbl, pk FROM temp._sync_woken
                    UNION
                    SELECT h.tbl, h.pk FROM woken AS w
                    CROSS JOIN temp.\(Self.keys) AS f ON f.collation = \(number) AND f.parent = w.tbl
                    CROSS JOIN \(collate.isEmpty ? "_sync_hidden" : "temp.\(Self.orphans)\(number)") AS h
                    ON h.tbl = f.child AND \(Self.waits) AND h.other_pk = w.pk\(collate) AND h.other_tbl = w.tbl)
                INSERT OR IGNORE INTO temp._sync_woken SELECT tbl, pk FROM woken
                """)
        return db.changesCount > 0
    }
}
