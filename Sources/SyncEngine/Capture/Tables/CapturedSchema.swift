import CipherStore

/// A table as the triggers name it.
///
/// A trigger goes with its table, and its program follows when a column is
/// renamed, whichever program does it. So the triggers tell a renamed column from
/// one that was dropped and another that was added.
struct CapturedSchema {
    /// The table that has the triggers.
    let table: String
    let key: String
    /// The columns whose updates are logged, by number.
    let columns: [Int: String]
    /// Whether the triggers keep what is deleted, which those of older programs don't.
    let keepsLastRows: Bool

    /// Reads the triggers of a table.
    ///
    /// - returns: nil when some of them are gone.
    static func load(_ db: Database, table number: Int64) throws -> CapturedSchema? {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT name, tbl_name, sql FROM main.sqlite_master
                WHERE type = 'trigger' AND name GLOB '_sync_[iudk]*_\(number)'
                """)
        var programs: [String: String] = [:]
        var columns: [Int: String] = [:]
        var table: String?
        for row in rows {
            let name: String = try row.decode(atIndex: 0)
            let kind = String(name.dropFirst("_sync_".count).prefix { $0 != "_" })
            let sql: String = try row.decode(atIndex: 2)
            programs[kind] = sql
            table = try row.decode(atIndex: 1)
            guard kind.hasPrefix("u"), let group = Int(kind.dropFirst()) else { continue }
            for (bit, column) in CaptureTriggerNames.columns(in: sql) {
                columns[group * ChangeLog.columnsPerGroup + bit] = column
            }
        }
        guard let table, let insertion = programs["i"], let deletion = programs["d"],
            programs["k"] != nil, let key = CaptureTriggerNames.key(in: insertion)
        else { return nil }
        return CapturedSchema(
            table: table, key: key, columns: columns,
            keepsLastRows: columns.isEmpty || deletion.contains("_sync_last"))
    }
}
