import CipherStore
import SyncWire

/// Starts and maintains the tracking of tables.
struct TableTracking {
    let db: Database
    let environment: SyncEnvironment
    /// Tables that were dropped in the open transaction: one of the same name that has their rows stands in their place,
    /// and until then what is kept of them stays as it was.
    var droppedTables: Set<Int64> = []

    /// Logs the rows that are there, and creates the triggers.
    func start(_ table: SyncedTable) throws {
        let isKnown =
            "\(table.keyAsBytes) IN (SELECT pk FROM _sync_row WHERE tbl = \(table.number) AND cl & 1)"
        try log(table, ChangeLog.Operation.insert, mask: 0, where: "NOT \(isKnown)")
        // A row that is known and has nothing parked was here when the table was
        // tracked before; what was written to it since then had no trigger.
        let wasHere = """
            \(isKnown) AND NOT EXISTS (
                SELECT 1 FROM _sync_shadow AS s WHERE s.tbl = \(table.number) AND s.pk = \(table.untypedKey()))
            """
        for (group, columns) in Dictionary(grouping: table.presentColumns, by: Self.group) {
            let operation = ChangeLog.Operation.update | group << ChangeLog.Operation.groupShift
            try log(table, operation, mask: columns.reduce(0) { $0 | Self.bit($1) }, where: wasHere)
        }
        try createTriggers(table)
    }

    private static func group(_ column: SyncedTable.Column) -> Int {
        column.number / ChangeLog.columnsPerGroup
    }

    private static func bit(_ column: SyncedTable.Column) -> Int64 {
        1 << Int64(column.number % ChangeLog.columnsPerGroup)
    }

    /// Logs an operation for the rows that meet a condition.
    func log(_ table: SyncedTable, _ operation: Int, mask: Int64, where condition: String) throws {
        try ChangeLog(db).append(
            operation, ofRowsIn: table, mask: mask, at: environment.milliseconds(), where: condition)
    }

    /// Logs a write of one column for the rows that meet a condition.
    func log(
        _ table: SyncedTable, _ kind: Int, of column: SyncedTable.Column, where condition: String
    ) throws {
        let operation = kind | Self.group(column) << ChangeLog.Operation.groupShift
        try log(table, operation, mask: Self.bit(column), where: condition)
    }

    /// Creates the triggers of a table anew.
    func createTriggers(_ table: SyncedTable) throws {
        try dropTriggers(table)
        for statement in try CaptureTriggers.load(db, table).statements { try db.execute(sql: statement) }
        try db.execute(sql: "PRAGMA recursive_triggers = ON")
    }

    func dropTriggers(_ table: SyncedTable) throws {
        for name in try CaptureTriggers.names(db, table: table.number) {
            try db.execute(sql: "DROP TRIGGER main.\(name.quotedDatabaseIdentifier)")
        }
    }

    /// Brings the columns of the metadata up to a table, by names alone.
    ///
    /// - returns: The names of those that the table did not have.
    @discardableResult
    func updateColumns(of table: SyncedTable, _ definition: TableDefinition) throws -> Set<String> {
        let aliases = try NameAliases(db)
        let names = Set(definition.columns.map { $0.identifierKey })
        for column in table.columns where column.isPresent && !names.contains(column.name.identifierKey) {
            try table.setPlace(db, .dropped, of: column)
        }
        var added: Set<String> = []
        var table = table
        for name in definition.columns {
            let folded = name.identifierKey
            let alias = aliases.column(named: name, in: table.number)
            if let column = table.columns.first(where: { $0.name.identifierKey == folded }) {
                guard !column.isPresent else { continue }
                try table.setPlace(db, .table, of: column)
            } else if let column = table.columns.first(where: { $0.number == alias && !$0.isPresent }),
                !names.contains(column.name.identifierKey)
            {
                // A column that peers have by another name, and that is here now.
                try table.rename(db, column, to: name)
                try table.setPlace(db, .table, of: column)
            } else {
                table = try table.addingColumns(db, [name], place: .table)
            }
            added.insert(folded)
        }
        return added
    }

    /// Logs what was written to new columns before the triggers knew them.
    ///
    /// The default that ALTER gave each row is nobody's edit, and a parked value
    /// still has to be written. Nobody knows when the others were written, and
    /// mostly a migration filled the column, as it does on each replica: so an
    /// edit by a user, wherever it was made, wins over them.
    ///
    /// - parameter condition: Of which rows, as SQL.
    func logValues(
        of table: SyncedTable, inColumns names: Set<String>, _ definition: TableDefinition,
        where condition: String = "1"
    ) throws {
        let affinities = try ColumnAffinity.loadAll(db, table: table.name)
        for column in table.presentColumns where names.contains(column.name.identifierKey) {
            let value = "\(table.qualifiedName).\(column.name.quotedDatabaseIdentifier)"
            try log(
                table, ChangeLog.Operation.rewrite, of: column,
                where: """
                    \(condition) AND NOT \(Self.isDefault(value, of: column, definition, affinities))
                    AND NOT EXISTS (
                        SELECT 1 FROM _sync_shadow AS s WHERE s.tbl = \(table.number) AND s.col = \(column.number)
                          AND s.pk = \(table.untypedKey()))
                    """)
        }
    }

    /// Whether a value of a column that was added is its default, as SQL: nobody wrote it there.
    ///
    /// The two are compared as the triggers compare values (``CaptureTriggers``), byte for byte and by type.
    static func isDefault(
        _ value: String, of column: SyncedTable.Column, _ definition: TableDefinition,
        _ affinities: [String: ColumnAffinity]
    ) -> String {
        let name = column.name.identifierKey
        let standard = "(\(definition.defaults[name] ?? "NULL"))"
        // The collation that is written holds, and not that of the column, which still converts the default.
        let isEqual = "\(value) IS \(standard) COLLATE BINARY"
        let affinity = affinities[name] ?? .blob
        switch affinity {
        case .text, .real: return "(\(isEqual))"
        case .integer, .numeric, .blob:
            return "(\(isEqual) AND typeof(\(value)) = typeof(\(affinity.converted(standard))))"
        }
    }
}
