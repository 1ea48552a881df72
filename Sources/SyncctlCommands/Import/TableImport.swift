import CipherStore
import Foundation
import SyncEngine

/// The import of a file of rows into a table, in one transaction.
struct TableImport {
    /// What the user wants of it.
    struct Settings {
        var format = ImportFormat.csv(delimiter: UInt8(ascii: ","))
        var nulls = NullWords.standard
        /// The types of columns that the user named.
        var types: [(column: String, type: ColumnType)] = []
        /// The column that is the key, when the user named one.
        var keyColumn: String?
        /// Whether rows are written over whose key is there.
        var updates = false
    }

    /// What a first look at the whole file told.
    struct Inspection {
        let columns: [String]
        let types: [ColumnType]
        let isUUIDKey: [Bool]
        let rowCount: Int
    }

    /// What was imported.
    struct Summary {
        var rowCount: Int64 = 0
        /// Of the rows, those that were new, those that were written over, and those that were there already.
        var insertedCount: Int64 = 0, updatedCount: Int64 = 0, unchangedCount: Int64 = 0
        var columns: [(name: String, type: ColumnType, nullCount: Int64)] = []
        var keyColumn = ""
        var isNewTable = false
        /// The rows of the table afterwards.
        var totalRowCount: Int64 = 0
    }

    let source: ImportSource
    let table: String
    var settings = Settings()

    private var path: String { source.path }

    /// Reads the whole file once, to learn the types, before anything is written.
    func inspect(progress: StepProgress) throws -> Inspection {
        let (columns, inference) = try observe(progress)
        progress.finish()
        guard inference.rowCount > 0 || !columns.isEmpty else {
            throw CSVError(
                code: .empty, path: path, line: nil, message: "the file is empty",
                hint: "each line is an object, such as {\"title\":\"Books\"}")
        }
        var types = settings.format == .jsonLines ? inference.jsonTypes : inference.types
        for (name, type) in settings.types {
            guard let index = columns.firstIndex(where: { $0.isSameIdentifier(as: name) }) else {
                throw Failure.usage(
                    "\(path) has no column \(name)",
                    hints: ["its columns: \(columns.joined(separator: ", "))"])
            }
            types[index] = type
        }
        return Inspection(
            columns: columns, types: types, isUUIDKey: columns.indices.map(inference.isUUIDKey),
            rowCount: inference.rowCount)
    }

    private func observe(_ progress: StepProgress) throws -> ([String], ColumnTypeInference) {
        guard case .csv(let delimiter) = settings.format else {
            let reader = JSONLinesReader(source: source)
            var inference = ColumnTypeInference(columnCount: 0)
            try reader.forEachLine { _, values in
                inference.observe(values, columnCount: reader.columns.count)
                if inference.rowCount & 0x1FFF == 0 { try progress.update(reader.bytesRead, reader.fileSize) }
            }
            return (reader.columns, inference)
        }
        let reader = try CSVReader(source: source, delimiter: delimiter)
        var inference = ColumnTypeInference(columnCount: reader.header.count, nulls: settings.nulls)
        try reader.forEachRecord { record in
            inference.observe(record)
            if inference.rowCount & 0x1FFF == 0 { try progress.update(reader.bytesRead, reader.fileSize) }
        }
        return (reader.header, inference)
    }

    /// Writes the rows in the transaction that is open.
    func run(_ db: Database, _ inspection: Inspection, progress: StepProgress) throws -> Summary {
        let plan = try ImportPlan(db, path: path, table: table, settings: settings, inspection: inspection)
        let sink = try RowSink(db, plan)
        let total = Int64(inspection.rowCount)
        switch settings.format {
        case .csv(let delimiter): try writeCSV(delimiter, plan, sink, total, progress)
        case .jsonLines: try writeJSON(plan, sink, total, progress)
        }
        try progress.update(sink.rowCount, total)
        progress.finish()
        var summary = Summary()
        summary.rowCount = sink.rowCount
        (summary.insertedCount, summary.updatedCount) = (sink.insertedCount, sink.updatedCount)
        summary.unchangedCount = sink.rowCount - sink.insertedCount - sink.updatedCount
        summary.columns = plan.columns.indices.map { (plan.columns[$0], plan.types[$0], sink.nullCounts[$0]) }
        summary.keyColumn = plan.key
        summary.isNewTable = plan.isNewTable
        summary.totalRowCount =
            try Int64.fetchOne(db, sql: "SELECT count(*) FROM \(table.quotedDatabaseIdentifier)") ?? 0
        return summary
    }

    private func writeCSV(
        _ delimiter: UInt8, _ plan: ImportPlan, _ sink: RowSink, _ total: Int64, _ progress: StepProgress
    ) throws {
        let reader = try CSVReader(source: source, delimiter: delimiter)
        guard reader.header == plan.columns else { throw changed }
        let nulls = settings.nulls
        try reader.forEachRecord { record in
            sink.begin()
            for index in plan.columns.indices {
                let (type, isRequired) = (plan.types[index], plan.isRequired[index])
                try record.withField(index) { bytes, isQuoted in
                    if plan.readsUUIDs[index], WrittenBlob.isUUID(bytes) {
                        sink.set(.parse(field: bytes, isQuoted: true, as: .blob), index)
                    } else if isRequired, !nulls.contains(bytes, isQuoted: isQuoted) {
                        guard let value = FieldValue.parse(bytes, as: type) else {
                            throw refusal(
                                of: String(decoding: bytes, as: UTF8.self), plan, index, record.line)
                        }
                        sink.set(value, index)
                    } else {
                        sink.set(.parse(field: bytes, isQuoted: isQuoted, as: type, nulls: nulls), index)
                    }
                }
            }
            try sink.write(line: record.line)
            if sink.rowCount & 0xFFF == 0 { try progress.update(sink.rowCount, total) }
        }
    }

    private func writeJSON(
        _ plan: ImportPlan, _ sink: RowSink, _ total: Int64, _ progress: StepProgress
    ) throws {
        let reader = JSONLinesReader(source: source, columns: plan.columns)
        try reader.forEachLine { line, values in
            guard values.count == plan.columns.count else { throw changed }
            sink.begin()
            for index in plan.columns.indices {
                guard let value = values[index] else {
                    // Whether it is to become NULL or to stay what it is, nobody can tell.
                    if settings.updates {
                        throw Failure(
                            "\(path):\(line): the object has no \(PrintableText.quoted(plan.columns[index]))",
                            hints: ["with --update each object has all members; null empties a column"])
                    }
                    sink.set(.null, index)
                    continue
                }
                let isSet: Void? = value.withValue(
                    as: plan.types[index], isRequired: plan.isRequired[index],
                    readsUUIDs: plan.readsUUIDs[index]
                ) { sink.set($0, index) }
                guard isSet != nil else { throw refusal(of: value.description, plan, index, line) }
            }
            try sink.write(line: line)
            if sink.rowCount & 0xFFF == 0 { try progress.update(sink.rowCount, total) }
        }
    }

    private var changed: Failure {
        Failure("\(path): the file changed while it was read", hints: ["import it again"])
    }

    private func refusal(of text: String, _ plan: ImportPlan, _ index: Int, _ line: Int) -> Failure {
        let shown = text.count > 40 ? text.prefix(40) + "…" : text[...]
        let form = plan.types[index] == .blob ? " (hexadecimal digits, or a UUID)" : ""
        return Failure(
            "\(path):\(line): \(PrintableText.quoted(String(shown))) in column \(plan.columns[index]) is no \(plan.types[index].rawValue.lowercased())\(form)",
            hints: ["--type \(plan.columns[index])=any keeps each value as it is"])
    }
}
