import CipherStore
import SyncWire

/// What becomes of the values of rows that are gone when two of their columns turn out to be one (see ``ColumnUnion``).
extension LastRows {
    /// The columns of which values are kept of rows of a table that are gone.
    ///
    /// All that is kept is read, which can be much. So who unites many columns asks once, and leaves those alone that
    /// are not among these.
    static func columns(_ db: Database, ofTable table: Int64) throws -> Set<Int> {
        let statement = try db.cachedStatement(
            sql: "SELECT l.vals FROM _sync_last AS l JOIN _sync_row AS r ON r.r = l.r WHERE r.tbl = ?")
        statement.reset()
        defer { statement.reset() }
        _ = RawBinding.int64(statement.sqliteStatement, 1, table)
        var columns: Set<Int> = []
        while try statement.step() {
            insertColumns(of: RawColumn.text(statement.sqliteStatement, 0), into: &columns)
        }
        return columns
    }

    /// Adds the columns of the values in a part.
    private static func insertColumns(of text: some Sequence<UInt8>, into columns: inout Set<Int>) {
        // Values have neither of the two separators.
        var number: Int? = 0
        for byte in text {
            switch byte {
            case UInt8(ascii: ","): number = 0
            case UInt8(ascii: "="):
                if let number { columns.insert(number) }
                number = nil
            default: number = number.map { $0 &* 10 &+ Int(byte &- UInt8(ascii: "0")) }
            }
        }
    }

    /// Takes what counters show out of the values of a row, and their bases and shares, where a part has these. What another
    /// column showed that counts only since then is what it begins with.
    ///
    /// - parameter text: The part with the bases and shares.
    static func removeCounters(
        of text: String, _ separate: SeparateColumns?, from values: inout [Int: OwnedValue]
    ) {
        var columns: Set<Int> = []
        insertColumns(of: text.utf8, into: &columns)
        let counters = Set(columns.compactMap { separate?.shown(for: $0) })
        values = values.filter { value in
            separate?.shown(for: value.key).map { !counters.contains($0) } ?? true
        }
    }

    /// Lets the values of a column be those of another one, also where the row has a value of that: what came under the name
    /// that was not here yet is what a peer wrote. When the two were written is not known any more.
    static func renumber(_ db: Database, column absent: Int, to column: Int, in table: Int64) throws {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT DISTINCT l.r, l.life, l.part = \(separatePart)
                FROM _sync_last AS l JOIN _sync_row AS r ON r.r = l.r
                WHERE r.tbl = ? AND instr(',' || l.vals, ',' || ? || '=') > 0
                """, arguments: [table, absent])
        for row in rows {
            // A column's value can be in another part than that of the other one. Bases have a part of their own.
            let parts = try Int64.fetchAll(
                db,
                sql: """
                    SELECT rowid FROM _sync_last WHERE r = ? AND life = ? AND (part = \(separatePart)) = ?
                    """,
                arguments: [
                    try row.decode(Int64.self, atIndex: 0), try row.decode(Int64.self, atIndex: 1),
                    try row.decode(Int64.self, atIndex: 2),
                ])
            for part in parts { try renumber(db, part: part, column: absent, to: column) }
        }
    }

    /// - parameter part: The rowid of a part of a row that has a value of the column, here or in another part.
    private static func renumber(_ db: Database, part: Int64, column absent: Int, to column: Int) throws {
        let text = try String.fetchOne(
            db, sql: "SELECT vals FROM _sync_last WHERE rowid = ?", arguments: [part])
        let (former, present) = ("\(absent)=", "\(column)=")
        let entries = (text ?? "").split(separator: ",").filter { !$0.hasPrefix(present) }
        let renamed = entries.map { entry in
            entry.hasPrefix(former) ? present + String(entry.dropFirst(former.count)) : String(entry)
        }
        try db.execute(
            sql: "UPDATE _sync_last SET vals = ? WHERE rowid = ?",
            arguments: [renamed.joined(separator: ","), part])
    }
}
