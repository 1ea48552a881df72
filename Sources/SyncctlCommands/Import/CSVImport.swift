import CipherStore
import Foundation
import SyncEngine

/// The import of a CSV file into a table, in one transaction.
struct CSVImport {
    /// What was imported.
    struct Summary {
        var rowCount: Int64 = 0
        var columns: [(name: String, type: String)] = []
        var keyColumn = ""
        var isNewTable = false
        /// The rows of the table afterwards.
        var totalRowCount: Int64 = 0
    }

    let path: String
    let delimiter: UInt8
    let table: String
    /// The column that is the key, when the user named one.
    let keyColumn: String?

    /// Reads the whole file once, to learn the types, before anything is written.
    func inspect(progress: StepProgress) throws -> ColumnTypeInference {
        let reader = try CSVReader(path: path, delimiter: delimiter)
        var inference = ColumnTypeInference(columnCount: reader.header.count)
        try reader.forEachRecord { record in
            inference.observe(record)
            if inference.rowCount & 0x1FFF == 0 { try progress.update(reader.bytesRead, reader.fileSize) }
        }
        progress.finish()
        return inference
    }

    /// Writes the rows in the transaction that is open.
    func run(_ db: Database, _ inference: ColumnTypeInference, progress: StepProgress) throws -> Summary {
        let reader = try CSVReader(path: path, delimiter: delimiter)
        guard reader.header.count == inference.types.count else {
            throw Failure("\(path): the file changed while it was read", hints: ["import it again"])
        }
        var summary = Summary()
        summary.isNewTable = try !db.tableExists(table)
        guard try !db.viewExists(table) else {
            throw Failure("\(table) is a view, which takes no rows", hints: ["name a table with --table"])
        }
        let plan =
            try summary.isNewTable
            ? create(db, reader.header, inference) : match(db, reader.header, inference)
        summary.keyColumn = plan.key
        summary.columns = zip(reader.header, inference.types).map { ($0, $1.rawValue) }
        try insert(db, reader, inference, plan, &summary, progress)
        progress.finish()
        summary.totalRowCount =
            try Int64.fetchOne(db, sql: "SELECT count(*) FROM \(table.quotedDatabaseIdentifier)") ?? 0
        return summary
    }

    /// Where the key comes from.
    private struct Plan {
        let key: String
        /// The field that is the key, or nil when keys are made.
        let keyField: Int?
    }

    private func create(_ db: Database, _ header: [String], _ inference: ColumnTypeInference) throws -> Plan {
        let keyField = try keyField(header, inference)
        let key = keyField.map { header[$0] } ?? newKeyName(header)
        var columns = keyField == nil ? ["\(key.quotedDatabaseIdentifier) BLOB NOT NULL PRIMARY KEY"] : []
        for (index, name) in header.enumerated() {
            let isKey = index == keyField
            let type = isKey ? "TEXT NOT NULL PRIMARY KEY" : inference.types[index].rawValue
            columns.append("\(name.quotedDatabaseIdentifier) \(type)")
        }
        try db.execute(
            sql: "CREATE TABLE \(table.quotedDatabaseIdentifier) (\(columns.joined(separator: ", ")))")
        return Plan(key: key, keyField: keyField)
    }

    private func keyField(_ header: [String], _ inference: ColumnTypeInference) throws -> Int? {
        if let keyColumn {
            guard let index = header.firstIndex(where: { $0.lowercased() == keyColumn.lowercased() }) else {
                throw Failure.usage(
                    "\(path) has no column \(keyColumn)",
                    hints: ["its columns: \(header.joined(separator: ", "))"])
            }
            guard inference.isUUIDKey(index) else {
                throw Failure("column \(keyColumn) of \(path) does not hold a UUID in each row")
            }
            return index
        }
        let names = ["id", "uuid"]
        return header.indices.first { names.contains(header[$0].lowercased()) && inference.isUUIDKey($0) }
    }

    private func newKeyName(_ header: [String]) -> String {
        let taken = Set(header.map { $0.lowercased() })
        for name in ["id", "uuid", "row_id"] where !taken.contains(name) { return name }
        var number = 2
        while taken.contains("id_\(number)") { number += 1 }
        return "id_\(number)"
    }

    /// Matches the file with a table that is there.
    private func match(_ db: Database, _ header: [String], _ inference: ColumnTypeInference) throws -> Plan {
        let rows = try Row.fetchAll(db, sql: "PRAGMA table_info(\(table.quotedDatabaseIdentifier))")
        let names = try rows.map { try $0.decode(String.self, forColumn: "name") }
        let known = Set(names.map { $0.lowercased() })
        let unknown = header.filter { !known.contains($0.lowercased()) }
        guard unknown.isEmpty else {
            throw Failure(
                "table \(table) has no column \(unknown.joined(separator: ", "))",
                hints: ["import into another table with --table"])
        }
        let keys = try rows.filter { try $0.decode(Int.self, forColumn: "pk") > 0 }
        guard keys.count == 1, let key = try keys.first?.decode(String.self, forColumn: "name") else {
            throw Failure("table \(table) has no primary key of one column")
        }
        if let keyColumn, keyColumn.lowercased() != key.lowercased() {
            throw Failure.usage("the key of table \(table) is \(key), not \(keyColumn)")
        }
        if keyColumn != nil { _ = try keyField(header, inference) }
        let type = try keys.first?.decodeIfPresent(String.self, forColumn: "type") ?? ""
        guard
            header.contains(where: { $0.lowercased() == key.lowercased() })
                || !type.uppercased().contains("INT")
        else {
            throw Failure(
                "the key \(key) of table \(table) is an integer, and \(path) has no column of that name",
                hints: [
                    "give the table UUID keys with: syncctl track <store> \(CommandWords.quoted(table)) --convert-keys"
                ])
        }
        return Plan(key: key, keyField: header.firstIndex { $0.lowercased() == key.lowercased() })
    }

    private func insert(
        _ db: Database, _ reader: CSVReader, _ inference: ColumnTypeInference, _ plan: Plan,
        _ summary: inout Summary, _ progress: StepProgress
    ) throws {
        let names = (plan.keyField == nil ? [plan.key] : []) + reader.header
        // OR FAIL spares the journal that a trigger costs each statement; a
        // failure undoes the whole import either way.
        let statement: Statement
        do {
            statement = try db.makeStatement(
                sql: """
                    INSERT OR FAIL INTO \(table.quotedDatabaseIdentifier)
                    (\(names.map(\.quotedDatabaseIdentifier).joined(separator: ", ")))
                    VALUES (\(names.map { _ in "?" }.joined(separator: ", ")))
                    """)
        } catch let error as DatabaseError where error.message == "too many SQL variables" {
            throw Failure(
                "\(path): \(HumanFormat.count(names.count, "column")) are more than this SQLite takes in one row",
                hints: ["split the file by columns, into several tables"])
        }
        let raw = statement.sqliteStatement
        let types = inference.types
        let offset: CInt = plan.keyField == nil ? 2 : 1
        var count: Int64 = 0
        try reader.forEachRecord { record in
            RawStep.reset(raw)
            if plan.keyField == nil { _ = UUID.v7().bind(to: raw, at: 1) }
            for index in types.indices {
                let type = index == plan.keyField ? .text : types[index]
                record.withField(index) { bytes, isQuoted in
                    FieldValue.parse(field: bytes, isQuoted: isQuoted, as: type).bind(
                        raw, CInt(index) + offset)
                }
            }
            do {
                _ = try statement.step()
            } catch let error as DatabaseError
                where [.SQLITE_CONSTRAINT, .SQLITE_MISMATCH].contains(error.resultCode)
            {
                throw Failure(
                    "\(path):\(record.line): \(error.message ?? "a constraint stands against this row")")
            }
            count += 1
            if count & 0xFFF == 0 { try progress.update(count, Int64(inference.rowCount)) }
        }
        try progress.update(count, Int64(inference.rowCount))
        summary.rowCount = count
    }
}

extension FieldValue {
    fileprivate func bind(_ statement: SQLiteStatement, _ index: CInt) {
        switch self {
        case .null: _ = RawBinding.null(statement, index)
        case .integer(let value): _ = RawBinding.int64(statement, index, value)
        case .real(let value): _ = RawBinding.double(statement, index, value)
        case .text(let bytes): _ = RawBinding.text(statement, index, bytes)
        }
    }
}
