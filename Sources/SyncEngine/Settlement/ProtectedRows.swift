import CipherStore

/// Rows that the deletion of others must neither delete nor change: those that waited before it for what peers wrote to them.
///
/// Who deleted the others did not know of that, or moved the rows away first. A row stays one of them once it is shown: it can
/// have come under a child of a row that is about to go.
struct ProtectedRows {
    private static let name = "_sync_protected"

    private let db: Database
    private let isEmpty: Bool

    /// Lists the rows that wait now, until ``forget()``.
    ///
    /// - parameter deletedHere: Which rows `p` wait only because they were deleted here, as SQL: no peer wrote to these.
    init(_ db: Database, but deletedHere: String) throws {
        self.db = db
        // The keys have no type, so that each of them stays what it is.
        try db.execute(
            sql: """
                DROP TABLE IF EXISTS temp.\(Self.name);
                CREATE TEMP TABLE \(Self.name) (tbl INTEGER, pk, PRIMARY KEY (tbl, pk)) WITHOUT ROWID;
                INSERT INTO temp.\(Self.name) (tbl, pk)
                SELECT p.tbl, p.pk FROM (
                    SELECT s.tbl AS tbl, s.pk AS pk FROM _sync_shadow AS s
                    JOIN _sync_table AS t ON t.tbl = s.tbl AND t.tracked = 1
                    LEFT JOIN _sync_column AS c ON c.tbl = s.tbl AND c.col = s.col
                    WHERE s.col = \(Parking.wholeRow) OR c.present = 1
                    UNION
                    SELECT h.tbl, h.pk FROM _sync_hidden AS h
                    JOIN _sync_table AS t ON t.tbl = h.tbl AND t.tracked = 1) AS p
                WHERE NOT \(deletedHere);
                """)
        isEmpty =
            try Bool.fetchOne(db, sql: "SELECT EXISTS(SELECT 1 FROM temp.\(Self.name))") != true
    }

    func forget() { try? db.execute(sql: "DROP TABLE IF EXISTS temp.\(Self.name)") }

    /// Runs a change, and looks for the rows among those that it logged.
    ///
    /// - returns: Whether it left all of them alone.
    func areSpared(by change: () throws -> Void) throws -> Bool {
        guard !isEmpty else {
            try change()
            return true
        }
        let last = try Int64.fetchOne(db, sql: "SELECT max(seq) FROM _sync_log") ?? 0
        try change()
        // The change logged few rows, while many may have waited.
        return try Bool.fetchOne(
            db,
            sql: """
                SELECT EXISTS(
                    SELECT 1 FROM _sync_log AS l
                    CROSS JOIN temp.\(Self.name) AS p ON p.tbl = l.tbl AND p.pk = l.pk
                    WHERE l.seq > ?)
                """, arguments: [last]) != true
    }
}
