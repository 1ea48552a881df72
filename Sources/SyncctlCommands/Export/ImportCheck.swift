import CipherStore

/// Why `import` refuses what was exported.
struct ImportRefusal: Encodable, Equatable {
    enum Reason: String, Encodable {
        /// A value is longer than a field of CSV may be.
        case fieldTooLong
        /// The row is longer than a line may be.
        case recordTooLong
        /// The table has more columns than a file may have, or than the SQLite that runs takes.
        case tooManyColumns
        /// A column has no name, or one of spaces.
        case emptyColumnName
    }

    let table: String
    let reason: Reason
    /// The number of the row in the file, from 1, where the header is not counted; absent when the whole file is refused.
    var row: Int64?
    /// The row's primary key, as people read it; absent without one.
    var key: String?
    /// The column of the value.
    var column: String?
    /// How many bytes the value or the row has.
    var byteCount: Int?
}

/// Finds the rows of an export that `import` refuses, because it reads files within bounds.
struct ImportCheck {
    /// How much `import` takes in.
    struct Limits {
        var fieldByteCount = CSVReader.maximumFieldBytes
        var recordByteCount = CSVReader.maximumRecordBytes
        var columnCount = CSVReader.maximumColumns
    }

    let table: String
    let names: [String]
    let isCSV: Bool
    let care: RowText.CSVCare
    let limits: Limits
    /// Where the columns of the primary key stand among the columns.
    private let keys: [Int]

    /// So much of a key is told.
    private static let keyLengthMax = 80

    /// Prepares the check of a table's rows.
    ///
    /// - parameters:
    ///     - names: The columns, in their order in the file.
    ///     - isCSV: Whether the file is CSV; else it is JSON Lines.
    ///     - care: What is changed in the texts of CSV.
    ///     - limits: How much `import` takes in.
    /// - throws: ``DatabaseError``.
    init(
        _ db: Database, _ table: String, _ names: [String], isCSV: Bool, _ care: RowText.CSVCare,
        _ limits: Limits
    ) throws {
        (self.table, self.names, self.isCSV, self.care) = (table, names, isCSV, care)
        var limits = limits
        limits.columnCount = Swift.min(limits.columnCount, ImportPlan.columnCountMax(db))
        self.limits = limits
        let keyNames = try Row.fetchAll(
            db, sql: "PRAGMA main.table_info(\(table.quotedDatabaseIdentifier))"
        ).filter { try $0.decode(Int.self, forColumn: "pk") > 0 }.map {
            try $0.decode(String.self, forColumn: "name")
        }
        keys = keyNames.compactMap { name in names.firstIndex { $0.isSameIdentifier(as: name) } }
    }

    /// Why the whole file is refused; nil when it isn't.
    var refusal: ImportRefusal? {
        if names.count > limits.columnCount { return ImportRefusal(table: table, reason: .tooManyColumns) }
        let unnamed = names.first { $0.utf8.allSatisfy { $0 == UInt8(ascii: " ") } }
        return unnamed.map { ImportRefusal(table: table, reason: .emptyColumnName, column: $0) }
    }

    /// Why a row is refused; nil for one that isn't.
    ///
    /// - parameters:
    ///     - values: The row.
    ///     - byteCount: The bytes of its line, with the line feed.
    ///     - row: The number of the row in the file.
    func refusal(of values: [DatabaseValue], byteCount: Int, row: Int64) -> ImportRefusal? {
        // A field is no longer than its line.
        if isCSV && byteCount > limits.fieldByteCount {
            for (name, value) in zip(names, values) {
                let count = RowText.csvByteCount(value, care)
                guard count > limits.fieldByteCount else { continue }
                return ImportRefusal(
                    table: table, reason: .fieldTooLong, row: row, key: key(of: values), column: name,
                    byteCount: count)
            }
        }
        guard byteCount > limits.recordByteCount else { return nil }
        return ImportRefusal(
            table: table, reason: .recordTooLong, row: row, key: key(of: values), byteCount: byteCount)
    }

    private func key(of values: [DatabaseValue]) -> String? {
        guard !keys.isEmpty else { return nil }
        let text = keys.filter { $0 < values.count }.map { ValueText.plain(values[$0]) }.joined(
            separator: ", ")
        return String(text.prefix(Self.keyLengthMax))
    }
}
