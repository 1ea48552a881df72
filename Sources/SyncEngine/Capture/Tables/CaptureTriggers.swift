import CipherStore

/// The SQL of the triggers that append to `_sync_log`.
///
/// The programs are plain SQL without functions of ours, so that every program
/// that writes to the file is tracked. Values are compared as bytes and by
/// type: `IS NOT` misses 'a' → 'A' on a NOCASE column, and 1 → 1.0. A column of
/// the affinity TEXT holds no numbers, and one of REAL no integers, so values
/// of two types differ there anyway, and two calls of a function are spared.
///
/// Those of insertions and updates use no conflict clause, because the outer statement's would override it. A deletion
/// has none. `OR ROLLBACK` spares it the statement journal, which SQLCipher 3 encrypts anew for each deletion, and never
/// comes to pass: no constraint of the log can fail there.
struct CaptureTriggers {
    /// The version of the statements, and of their place (``CaptureOrder``). A store that was brought up to another one gets
    /// its triggers anew where they differ, so each change of one of their texts needs a number that none had before, also one
    /// that puts a former text back.
    static let version = 4

    let table: SyncedTable
    /// The affinities of its columns, by lowercased name. A column without one is compared by type as well.
    let affinities: [String: ColumnAffinity]

    private static let now = "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"
    private static let orRollback = " OR ROLLBACK"
    private static let isLocal = "(SELECT applying FROM _sync_state) = 0"

    private var name: String { table.name.quotedDatabaseIdentifier }
    private var key: String { table.key.quotedDatabaseIdentifier }

    /// The names of the triggers that a table has.
    static func names(_ db: Database, table number: Int64) throws -> [String] {
        try String.fetchAll(
            db, sql: "SELECT name FROM sqlite_master WHERE type = 'trigger' AND name GLOB ?",
            arguments: ["_sync_[iudk]*_\(number)"])
    }

    /// The triggers of a table as it is in the file.
    static func load(_ db: Database, _ table: SyncedTable) throws -> CaptureTriggers {
        CaptureTriggers(table: table, affinities: try ColumnAffinity.loadAll(db, table: table.name))
    }

    /// The statements as SQLite keeps them, without the name of the schema.
    var storedStatements: [String] { statements.map(Self.stored) }

    /// The trigger for changed keys of some programs of 29 November 2026, as SQLite keeps it: they left out the types of
    /// keys of the affinities TEXT and REAL.
    var formerKeyTrigger: String { Self.stored(keyTrigger(affinities[table.key.identifierKey])) }

    private static func stored(_ statement: String) -> String {
        statement.replacing("CREATE TRIGGER main.", with: "CREATE TRIGGER ", maxReplacements: 1)
    }

    /// The statements that create the triggers.
    var statements: [String] {
        [insertTrigger, deleteTrigger, keyTrigger(nil)] + groups.map(updateTrigger)
    }

    private func append(
        _ operation: Int, _ key: String, mask: String = "0", condition: String? = nil,
        or conflictClause: String = ""
    ) -> String {
        ChangeLog.appendingStatement(
            conflictClause, table.number, operation, key: key, mask: mask, at: Self.now, condition: condition)
    }

    private var insertTrigger: String {
        """
        CREATE TRIGGER main._sync_i_\(table.number) AFTER INSERT ON \(name)
        WHEN \(Self.isLocal) AND NEW.\(key) IS NOT NULL BEGIN
            \(append(ChangeLog.Operation.insert, "NEW.\(key)"))
        END
        """
    }

    private var deleteTrigger: String {
        """
        CREATE TRIGGER main._sync_d_\(table.number) AFTER DELETE ON \(name)
        WHEN \(Self.isLocal) AND OLD.\(key) IS NOT NULL BEGIN
            \(append(ChangeLog.Operation.delete, "OLD.\(key)", or: Self.orRollback))\(keepLastRow(or: Self.orRollback))
        END
        """
    }

    /// A row whose key changes is another row.
    private func keyTrigger(_ affinity: ColumnAffinity?) -> String {
        """
        CREATE TRIGGER main._sync_k_\(table.number) AFTER UPDATE OF \(key) ON \(name)
        WHEN \(Self.isLocal) AND \(differs(table.key, affinity)) BEGIN
            \(append(ChangeLog.Operation.delete, "OLD.\(key)", condition: "OLD.\(key) IS NOT NULL"))\(keepLastRow())
            \(append(ChangeLog.Operation.insert, "NEW.\(key)", condition: "NEW.\(key) IS NOT NULL"))
        END
        """
    }

    /// Keeps the values of the row that goes, if others know it (see ``LastRows``). Of two deletions between two
    /// folds the first one counts: it ended what others know. A program that deletes very many rows does not pay for all
    /// of them: more than some are not kept anyway.
    private func keepLastRow(or conflictClause: String = "") -> String {
        groups.enumerated().map { index, group in
            let columns = group.columns.map { ($0.number, "OLD.\($0.name.quotedDatabaseIdentifier)") }
            let size = columns.map { "ifnull(length(CAST(\($0.1) AS BLOB)), 0)" }.joined(separator: " + ")
            let values = columns.map { "'\($0.0)=' || \(LastRows.encoding($0.1))" }
                .joined(separator: " || ',' || ")
            return "\n"
                + LastRows.keepingStatement(
                    conflictClause, table.number, key: "OLD.\(key)", part: group.number, isFirst: index == 0,
                    at: Self.now, size: size, values: values)
        }.joined()
    }

    private func differs(_ column: String, _ affinity: ColumnAffinity?) -> String {
        let name = column.quotedDatabaseIdentifier
        let types =
            switch affinity {
            case .text, .real: ""
            case .integer, .numeric, .blob, nil: " OR typeof(OLD.\(name)) <> typeof(NEW.\(name))"
            }
        return "(OLD.\(name) COLLATE BINARY IS NOT NEW.\(name) COLLATE BINARY\(types))"
    }

    private var groups: [(number: Int, columns: [SyncedTable.Column])] {
        Dictionary(grouping: table.presentColumns) { $0.number / ChangeLog.columnsPerGroup }
            .sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    private func updateTrigger(_ group: (number: Int, columns: [SyncedTable.Column])) -> String {
        assert(!group.columns.isEmpty, "a trigger on no column is none")
        let tests = group.columns.map { column in
            (
                column.number % ChangeLog.columnsPerGroup,
                differs(column.name, affinities[column.name.identifierKey])
            )
        }
        // SQLite's << and | have one precedence, hence all the parentheses.
        let mask = tests.map { "(\($0.1) << \($0.0))" }.joined(separator: " | ")
        let operation = ChangeLog.Operation.update | group.number << ChangeLog.Operation.groupShift
        let columns = group.columns.map(\.name.quotedDatabaseIdentifier).joined(separator: ", ")
        return """
            CREATE TRIGGER main._sync_u\(group.number)_\(table.number) AFTER UPDATE OF \(columns) ON \(name)
            WHEN \(Self.isLocal) AND NEW.\(key) IS NOT NULL AND OLD.\(key) COLLATE BINARY IS NEW.\(key) COLLATE BINARY
            AND (\(tests.map(\.1).joined(separator: " OR "))) BEGIN
                \(append(operation, "NEW.\(key)", mask: mask))
            END
            """
    }
}
