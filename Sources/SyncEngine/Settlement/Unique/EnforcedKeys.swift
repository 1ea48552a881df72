import CipherStore
import SyncWire

/// The foreign keys of a table while SQLite enforces them.
///
/// A deferred one lets a row in whose parent is missing, and refuses the commit, with everything that was written. So each row
/// that was written is looked at: it must not stay then.
struct EnforcedKeys {
    /// The tables that the keys refer to.
    private let parents: [String]
    /// Finds the first of the keys whose parent is missing.
    private let selection: Statement

    /// Reads the foreign keys of a table.
    ///
    /// - returns: nil when it has none.
    init?(_ db: Database, _ table: SyncedTable) throws {
        let name = table.storageName.quotedDatabaseIdentifier
        let rows = try Row.fetchAll(db, sql: "PRAGMA main.foreign_key_list(\(name))")
        let keys = try Dictionary(grouping: rows) { try $0.decode(Int.self, forColumn: "id") }
        var parents: [String] = []
        var cases: [String] = []
        for (_, columns) in keys.sorted(by: { $0.key < $1.key }) {
            // SQLite refuses to write any value when the table is not there.
            guard let parent = try columns.first?.decode(String.self, forColumn: "table"),
                try db.tableExists(parent, in: "main")
            else { continue }
            cases.append("WHEN \(try Self.isOrphan(db, columns, of: parent)) THEN \(parents.count)")
            parents.append(parent)
        }
        guard !parents.isEmpty else { return nil }
        self.parents = parents
        let key = "c.\(table.key.quotedDatabaseIdentifier)"
        selection = try db.makeStatement(
            sql: """
                SELECT CASE \(cases.joined(separator: " ")) END FROM \(table.qualifiedName) AS c
                WHERE \(key) = ?1 AND \(key) = ?1 COLLATE BINARY
                """)
    }

    /// The condition that a row `c` has no parent, as ``ForeignKey/isOrphan`` has it. One that is about to go is none.
    ///
    /// - parameters:
    ///     - columns: What SQLite says of the key, a row for each of its columns.
    ///     - parent: The table that the key refers to.
    private static func isOrphan(_ db: Database, _ columns: [Row], of parent: String) throws -> String {
        let primary = try db.primaryKey(parent, in: "main").columns
        var isSet: [String] = []
        var matches: [String] = []
        for (index, row) in columns.enumerated() {
            let from = try row.decode(String.self, forColumn: "from").quotedDatabaseIdentifier
            let named: String? = try row.decodeIfPresent(forColumn: "to")
            let to = named ?? (index < primary.count ? primary[index] : "rowid")
            isSet.append("c.\(from) IS NOT NULL")
            matches.append("p.\(to.quotedDatabaseIdentifier) = +c.\(from)")
        }
        return try """
        \(isSet.joined(separator: " AND ")) AND NOT EXISTS (
            SELECT 1 FROM main.\(parent.quotedDatabaseIdentifier) AS p
            WHERE \(matches.joined(separator: " AND ")) AND \(DoomedRows.excludes(db, in: parent)))
        """
    }

    /// Looks at a row that was written.
    ///
    /// - returns: What stands against it: a parent that is missing.
    func failure(_ key: RowKey) throws -> ConstraintFailure? {
        selection.reset()
        defer { selection.reset() }
        key.value.bind(selection.sqliteStatement, 1)
        guard try selection.step(), case .integer(let index) = WireValue(selection.sqliteStatement, 0) else {
            return nil
        }
        return ConstraintFailure(.missingParent, "no parent in \(parents[Int(index)])")
    }
}
