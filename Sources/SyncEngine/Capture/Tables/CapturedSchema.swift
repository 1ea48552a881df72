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
    private let texts: Set<String>

    /// Whether the triggers and the table have the columns and the key that the metadata name, byte for byte.
    func isOf(_ table: SyncedTable, _ definition: TableDefinition) -> Bool {
        let known = Dictionary(
            table.presentColumns.map { ($0.number, Array($0.name.utf8)) },
            uniquingKeysWith: { first, _ in first })
        return known == columns.mapValues { Array($0.utf8) }
            && Set(known.values) == Set(definition.columns.map { Array($0.utf8) })
            && table.key.hasSameBytes(as: definition.key)
    }

    /// Whether the triggers are those that this program makes. Those of older ones are slower, or keep nothing of deleted rows.
    func isUpToDate(_ triggers: CaptureTriggers) -> Bool { texts == Set(triggers.storedStatements) }

    /// Reads the triggers of a table.
    ///
    /// - returns: nil when some of them are gone.
    static func load(_ db: Database, table number: Int64) throws -> CapturedSchema? {
        try programs(db, "_sync_[iudk]*_\(number)")[number].flatMap { CapturedSchema($0) }
    }

    /// Reads the triggers of all tables. The schema is read once, and not once for each table.
    ///
    /// - returns: Those that are complete, by the numbers of their tables.
    static func loadAll(_ db: Database) throws -> [Int64: CapturedSchema] {
        try programs(db, "_sync_[iudk]*_[0-9]*").compactMapValues { CapturedSchema($0) }
    }

    /// The triggers of one table.
    private struct Programs {
        var table: String
        /// By what stands in their names between `_sync_` and the number of the table.
        var texts: [String: String] = [:]
    }

    private static func programs(_ db: Database, _ pattern: String) throws -> [Int64: Programs] {
        var programs: [Int64: Programs] = [:]
        let triggers = try db.rows(
            "SELECT name, tbl_name, sql FROM main.sqlite_master WHERE type = 'trigger' AND name GLOB ?",
            [pattern]
        ) { row in
            (
                name: try row.decodeStrictly(String.self, atIndex: 0),
                table: try row.decodeStrictly(String.self, atIndex: 1),
                text: try row.decodeStrictly(String.self, atIndex: 2)
            )
        }
        for trigger in triggers {
            let kind = String(trigger.name.dropFirst("_sync_".count).prefix { $0 != "_" })
            let digits = trigger.name.dropFirst("_sync_".count + kind.count + 1)
            guard let number = Int64(digits), String(number) == digits else { continue }
            programs[number, default: Programs(table: trigger.table)].table = trigger.table
            programs[number]?.texts[kind] = trigger.text
        }
        return programs
    }

    private init?(_ programs: Programs) {
        guard let insertion = programs.texts["i"], programs.texts["d"] != nil,
            programs.texts["k"] != nil, let key = CaptureTriggerNames.key(in: insertion)
        else { return nil }
        var columns: [Int: String] = [:]
        for (kind, text) in programs.texts where kind.hasPrefix("u") {
            guard let group = Self.group(kind.dropFirst()) else { continue }
            for (bit, column) in CaptureTriggerNames.columns(in: text)
            where (0..<ChangeLog.columnsPerGroup).contains(bit) {
                columns[group * ChangeLog.columnsPerGroup + bit] = column
            }
        }
        table = programs.table
        self.key = key
        self.columns = columns
        texts = Set(programs.texts.values)
    }

    /// The group of columns that the name of a trigger says.
    ///
    /// - returns: nil for what this program does not name so. Files bring along triggers of any name, and of any text.
    private static func group(_ digits: Substring) -> Int? {
        let groups = 0..<(Int.max / ChangeLog.columnsPerGroup)
        guard let group = Int(digits), String(group) == digits, groups.contains(group) else { return nil }
        return group
    }
}
