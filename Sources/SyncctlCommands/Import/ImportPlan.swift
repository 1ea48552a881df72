import CipherStore
import Foundation

/// Where the columns of a file go: a table that is there, or one that is made.
struct ImportPlan {
    let path: String
    let table: String
    /// The columns of the file, and how their fields are read.
    let columns: [String]
    private(set) var types: [ColumnType]
    /// Whether the user asked for the type, so that a field that is none of it is an error.
    let isRequired: [Bool]
    /// Whether the column holds bytes, so that the text of a UUID means 16 of them.
    private(set) var readsUUIDs: [Bool]
    private(set) var key = ""
    /// The column of the file that is the key; nil when keys are made.
    private(set) var keyField: Int?
    let isNewTable: Bool
    let updates: Bool

    private let keyColumn: String?
    private let isUUIDKey: [Bool]

    /// Makes the table when it is not there.
    ///
    /// - throws: ``Failure`` for a file that does not fit the table.
    init(
        _ db: Database, path: String, table: String, settings: TableImport.Settings,
        inspection: TableImport.Inspection
    ) throws {
        (self.path, self.table) = (path, table)
        (columns, types, isUUIDKey) = (inspection.columns, inspection.types, inspection.isUUIDKey)
        isRequired = columns.map { column in
            settings.types.contains { $0.column.isSameIdentifier(as: column) }
        }
        readsUUIDs = columns.map { _ in false }
        (keyColumn, updates) = (settings.keyColumn, settings.updates)
        guard try !db.viewExists(table) else {
            throw Failure("\(table) is a view", hints: ["name a table with --table"])
        }
        isNewTable = try !db.tableExists(table)
        try checkCount(db)
        if isNewTable { try create(db) } else { try match(db, settings.format) }
        if updates && keyField == nil {
            throw Failure.usage(
                "--update needs the key of each row, and \(path) has no column \(key)",
                hints: ["its columns: \(columns.joined(separator: ", "))"])
        }
    }

    /// How many columns a file may have for the library that runs: a statement takes so many values, each row is one, and
    /// one more value is for a key that is made.
    static func columnCountMax(_ db: Database) -> Int { db.maximumStatementArgumentCount - 1 }

    private func checkCount(_ db: Database) throws {
        let limit = Self.columnCountMax(db)
        guard columns.count > limit else { return }
        throw Failure(
            "\(path) has \(HumanFormat.count(columns.count)) columns, and this SQLite takes rows of \(HumanFormat.count(limit))",
            hints: ["split the file into tables of fewer columns, or install a newer SQLCipher"])
    }

    private mutating func create(_ db: Database) throws {
        keyField = try findKeyField()
        key = keyField.map { columns[$0] } ?? newKeyName()
        var definitions = keyField == nil ? ["\(key.quotedDatabaseIdentifier) BLOB NOT NULL PRIMARY KEY"] : []
        for (index, name) in columns.enumerated() {
            if index == keyField {
                // The text of a UUID stays a text, unless the user wants the bytes.
                if types[index] != .blob { types[index] = .text }
                definitions.append(
                    "\(name.quotedDatabaseIdentifier)\(types[index].declaration) NOT NULL PRIMARY KEY")
            } else {
                definitions.append("\(name.quotedDatabaseIdentifier)\(types[index].declaration)")
            }
        }
        try db.execute(
            sql: "CREATE TABLE \(table.quotedDatabaseIdentifier) (\(definitions.joined(separator: ", ")))")
    }

    private func findKeyField() throws -> Int? {
        if let keyColumn {
            guard let index = columns.firstIndex(where: { $0.isSameIdentifier(as: keyColumn) }) else {
                throw Failure.usage(
                    "\(path) has no column \(keyColumn)",
                    hints: ["its columns: \(columns.joined(separator: ", "))"])
            }
            guard isUUIDKey[index] else {
                throw Failure("column \(keyColumn) of \(path) does not hold a UUID in each row")
            }
            return index
        }
        let names = ["id", "uuid"]
        return columns.indices.first { names.contains(columns[$0].identifierKey) && isUUIDKey[$0] }
    }

    private func newKeyName() -> String {
        let taken = Set(columns.map { $0.identifierKey })
        for name in ["id", "uuid", "row_id"] where !taken.contains(name) { return name }
        var number = 2
        while taken.contains("id_\(number)") { number += 1 }
        return "id_\(number)"
    }

    /// Matches the file with a table that is there.
    private mutating func match(_ db: Database, _ format: ImportFormat) throws {
        let rows = try Row.fetchAll(db, sql: "PRAGMA table_info(\(table.quotedDatabaseIdentifier))")
        let declared = try Dictionary(
            rows.map {
                (
                    try $0.decode(String.self, forColumn: "name").identifierKey,
                    try $0.decode(String.self, forColumn: "type").uppercased()
                )
            }, uniquingKeysWith: { first, _ in first })
        let unknown = columns.filter { declared[$0.identifierKey] == nil }
        guard unknown.isEmpty else {
            throw Failure(
                "table \(table) has no column \(unknown.joined(separator: ", "))",
                hints: ["import into another table with --table"])
        }
        let keys = try rows.filter { try $0.decode(Int.self, forColumn: "pk") > 0 }
        guard keys.count == 1, let name = try keys.first?.decode(String.self, forColumn: "name") else {
            throw Failure("table \(table) has no primary key of one column")
        }
        key = name
        if let keyColumn, !keyColumn.isSameIdentifier(as: key) {
            throw Failure.usage("the key of table \(table) is \(key), not \(keyColumn)")
        }
        if keyColumn != nil { _ = try findKeyField() }
        keyField = columns.firstIndex { $0.isSameIdentifier(as: name) }
        if keyField == nil, declared[key.identifierKey] == "INTEGER" {
            throw Failure(
                "the key of table \(table) is an integer, \(key), and \(path) has no column of that name",
                hints: [
                    "import into another table with --table, or give the rows UUIDs with: syncctl track --convert-keys"
                ])
        }
        for index in columns.indices {
            let type = declared[columns[index].identifierKey] ?? ""
            if index == keyField, !isRequired[index] { types[index] = .text }
            guard !isRequired[index] else { continue }
            readsUUIDs[index] = type.contains("BLOB") && (index == keyField || format == .jsonLines)
            // JSON has no infinite numbers, and their texts are meant as such where numbers are.
            if format == .jsonLines, ["REAL", "DOUBLE", "FLOAT"].contains(type) { types[index] = .real }
        }
    }
}
