import CipherStore
import SyncWire

/// What is told to whoever gets the same said of all tables, as those that read a mailbox.
extension Coverage {
    /// What is told to the receiver of a bundle.
    static func load(_ db: Database, _ metadata: StoreMetadata, for request: TransferRequest) throws
        -> Coverage
    {
        let coverage = try load(db, metadata)
        return try request.isOfAllTables ? coverage.leavingOutBareClaims(db) : coverage
    }

    /// The same without what is known of a table beyond what is known of all, where nothing in the table comes of that.
    ///
    /// A merge takes the last write of each row and column. Where none of these is beyond the vector of all tables, the table
    /// holds what the merge of the changes up to there is, and no more need be said of it. A deletion that was forgotten is in no
    /// row, so where such a one may be beyond that vector, all stays as it is.
    func leavingOutBareClaims(_ db: Database) throws -> Coverage {
        let all = whole.known
        var parts: [Int64: Part] = [:]
        for (table, part) in self.parts {
            guard try all.covers(part.floor) && !Self.hasWrites(db, table) else {
                parts[table] = part
                continue
            }
            guard part.floor != whole.floor else { continue }
            parts[table] = Part(known: all, floor: part.floor)
        }
        let coverage = Coverage(whole: whole, parts: parts, partials: partials)
        assert(
            coverage.parts.allSatisfy { self[$0.key].known.covers($0.value.known) },
            "more is claimed than is known")
        return coverage
    }

    /// Removes the same from a store that others begin from, so that they claim no more than its tables hold.
    static func removeBareClaims(_ db: Database) throws {
        let coverage = try load(db, StoreMetadata.require(db))
        let told = try coverage.leavingOutBareClaims(db)
        for (table, part) in coverage.parts where told[table] != part {
            try db.execute(
                sql: """
                    UPDATE _sync_coverage
                    SET oseq = min(oseq, coalesce(
                        (SELECT p.oseq FROM _sync_replica AS p WHERE p.sid = _sync_coverage.sid), 0))
                    WHERE tbl = ?
                    """, arguments: [table])
        }
        try normalize(db)
    }

    /// Whether a row of a table, or a column of one, was written last by a change beyond what is known of all tables.
    private static func hasWrites(_ db: Database, _ table: Int64) throws -> Bool {
        try Bool.fetchOne(
            db,
            sql: """
                SELECT EXISTS(
                    SELECT 1 FROM _sync_replica AS p
                    CROSS JOIN _sync_row AS r ON r.sid = p.sid AND r.oseq > p.oseq WHERE r.tbl = ?1)
                OR EXISTS(
                    SELECT 1 FROM _sync_replica AS p
                    CROSS JOIN _sync_cell AS c ON c.sid = p.sid AND c.oseq > p.oseq
                    CROSS JOIN _sync_row AS s ON s.r = c.r WHERE s.tbl = ?1)
                """, arguments: [table]) != false
    }
}
