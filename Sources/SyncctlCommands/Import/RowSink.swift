import CipherStore
import Foundation

/// Writes the rows of an import: it inserts them, or updates those whose key is there.
final class RowSink {
    private(set) var rowCount: Int64 = 0
    private(set) var insertedCount: Int64 = 0
    private(set) var updatedCount: Int64 = 0
    /// By column of the file, the values that became NULL.
    private(set) var nullCounts: [Int64]

    private let db: Database
    private let plan: ImportPlan
    private let insert: Statement
    private let lookup: Statement?
    private let update: Statement?
    /// What the parameters of the statements that have all columns begin after.
    private let offset: CInt

    /// Above this, a condition on all columns would be too deep for SQLite.
    private static let maximumComparedColumns = 500

    init(_ db: Database, _ plan: ImportPlan) throws {
        (self.db, self.plan) = (db, plan)
        nullCounts = plan.columns.map { _ in 0 }
        let table = plan.table.quotedDatabaseIdentifier
        let names = (plan.keyField == nil ? [plan.key] : []) + plan.columns
        // OR FAIL spares the journal that a trigger costs each statement; a
        // failure undoes the whole import either way.
        insert = try db.makeStatement(
            sql: """
                INSERT OR FAIL INTO \(table) (\(names.map(\.quotedDatabaseIdentifier).joined(separator: ", ")))
                VALUES (\(names.map { _ in "?" }.joined(separator: ", ")))
                """)
        offset = plan.keyField == nil ? 2 : 1
        guard plan.updates, let keyField = plan.keyField else {
            (lookup, update) = (nil, nil)
            return
        }
        let key = plan.key.quotedDatabaseIdentifier
        lookup = try db.makeStatement(sql: "SELECT 1 FROM \(table) WHERE \(key) = ?1")
        let others = plan.columns.indices.filter { $0 != keyField }
        guard !others.isEmpty else {
            update = nil
            return
        }
        let assignments = others.map { "\(plan.columns[$0].quotedDatabaseIdentifier) = ?\($0 + 1)" }
        let differences = others.map { "\(plan.columns[$0].quotedDatabaseIdentifier) IS NOT ?\($0 + 1)" }
        let condition =
            others.count > Self.maximumComparedColumns
            ? "" : " AND (\(differences.joined(separator: " OR ")))"
        update = try db.makeStatement(
            sql: """
                UPDATE OR FAIL \(table) SET \(assignments.joined(separator: ", "))
                WHERE \(key) = ?\(keyField + 1)\(condition)
                """)
    }

    /// Begins a row.
    func begin() {
        RawStep.reset(insert.sqliteStatement)
        if plan.keyField == nil { _ = UUID.v7().bind(to: insert.sqliteStatement, at: 1) }
        if let lookup { RawStep.reset(lookup.sqliteStatement) }
        if let update { RawStep.reset(update.sqliteStatement) }
    }

    /// Sets the value of a column of the file.
    @inline(__always)
    func set(_ value: FieldValue, _ column: Int) {
        if case .null = value { nullCounts[column] += 1 }
        value.bind(insert.sqliteStatement, CInt(column) + offset)
        if let update { value.bind(update.sqliteStatement, CInt(column) + 1) }
        if let lookup, column == plan.keyField { value.bind(lookup.sqliteStatement, 1) }
    }

    /// Writes the row.
    ///
    /// - throws: ``Failure`` that names the line, when a constraint stands against the row.
    func write(line: Int) throws {
        do {
            if let lookup, try lookup.step() {
                RawStep.reset(lookup.sqliteStatement)
                try writeOver()
            } else {
                _ = try insert.step()
                insertedCount += 1
            }
        } catch let error as DatabaseError
            where error.resultCode == .SQLITE_CONSTRAINT || error.resultCode == .SQLITE_MISMATCH
        {
            let words =
                error.resultCode == .SQLITE_MISMATCH
                ? "the key of table \(plan.table) is an integer, and this row has another"
                : error.message ?? "a constraint stands against this row"
            let isKey = words.hasPrefix("UNIQUE") && words.hasSuffix(".\(plan.key)") && !plan.updates
            throw Failure(
                "\(plan.path):\(line): \(words)",
                hints: isKey && plan.keyField != nil
                    ? ["write over rows whose key is there with --update"] : [])
        }
        rowCount += 1
    }

    private func writeOver() throws {
        guard let update else { return }
        let before = db.totalChangesCount
        _ = try update.step()
        if db.totalChangesCount != before { updatedCount += 1 }
    }
}

extension FieldValue {
    fileprivate func bind(_ statement: SQLiteStatement, _ index: CInt) {
        switch self {
        case .null: _ = RawBinding.null(statement, index)
        case .integer(let value): _ = RawBinding.int64(statement, index, value)
        case .real(let value): _ = RawBinding.double(statement, index, value)
        case .text(let bytes): _ = RawBinding.text(statement, index, bytes)
        case .blob(let data): _ = data.databaseValue.bind(to: statement, at: index)
        }
    }
}
