import CipherStore

/// What a store knows of its rows, as SQL for modules that show it.
package enum RowKnowledge {
    /// What is folded, and what was written since then: for a row with such a write, that is what counts. The log has no index of
    /// rows, so its tail is read once, and not for each row.
    package static let sql = """
        SELECT tbl.name COLLATE NOCASE AS recordType, \(keyText("known.pk")) AS recordPrimaryKey, known.isDeleted AS isDeleted,
            known.ms AS userModificationTime
        FROM (
            SELECT tbl, pk, cl % 2 = 0 AS isDeleted,
                max(hlc, coalesce((SELECT max(hlc) FROM _sync_cell WHERE r = _sync_row.r), 0)) >> 16 AS ms
            FROM _sync_row
            WHERE r NOT IN (
                SELECT written.r FROM _sync_log AS log
                CROSS JOIN _sync_row AS written ON written.tbl = log.tbl AND written.pk = log.pk
                WHERE log.seq > (SELECT folded FROM _sync_state) AND log.op <> 0)
            UNION ALL
            SELECT tbl, pk, op & 15 = 3, ms FROM _sync_log
            WHERE op <> 0 AND seq IN (
                SELECT max(seq) FROM _sync_log
                WHERE seq > (SELECT folded FROM _sync_state) AND op <> 0 GROUP BY tbl, pk)
        ) AS known JOIN _sync_table AS tbl ON tbl.tbl = known.tbl
        """

    /// The text of a key that is stored as text or as 16 bytes: a UUID in lower case, and other texts as they are,
    /// for two of them that differ in case are keys of two rows.
    ///
    /// - parameter key: An expression.
    package static func keyText(_ key: String) -> String {
        let hex = "lower(hex(\(key)))"
        let parts = [(1, 8), (9, 4), (13, 4), (17, 4), (21, 12)].map { "substr(\(hex), \($0), \($1))" }
        return """
            CASE WHEN typeof(\(key)) = 'blob' THEN \(parts.joined(separator: " || '-' || "))
            WHEN \(TableDefinition.isUUID(key)) THEN lower(\(key)) ELSE CAST(\(key) AS TEXT) END
            """
    }

    /// The text of a key as `keyText(_:)` has it.
    ///
    /// - parameter text: The key, with the letters of a UUID in any case.
    /// - returns: The key to compare with.
    package static func normalizedKey(_ text: String) -> String {
        let groups = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        let isUUID =
            groups.map(\.count) == [8, 4, 4, 4, 12]
            && groups.allSatisfy { $0.allSatisfy { byte in Character(UnicodeScalar(byte)).isHexDigit } }
        // All of it is ASCII.
        return isUUID ? text.identifierKey : text
    }

    /// An expression that is true while the changes of another replica are written.
    package static let isApplyingSQL = "(SELECT applying FROM _sync_state)"

    /// The number of the last change of this side that has no version yet; nil when all have one.
    static func lastUnfoldedChange(_ db: Database) throws -> Int64? {
        try Int64.fetchOne(
            db, sql: "SELECT max(seq) FROM _sync_log WHERE seq > (SELECT folded FROM _sync_state) AND op <> 0"
        )
    }

    /// The number of the last write of this side, by whatever program.
    ///
    /// - throws: A `DatabaseError` when the database was never synchronized.
    package static func lastEntry(_ db: Database) throws -> Int64 {
        try Int64.fetchOne(db, sql: "SELECT max(seq) FROM _sync_log") ?? 0
    }
}
