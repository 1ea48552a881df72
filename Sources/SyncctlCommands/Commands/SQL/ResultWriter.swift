import CipherStore

/// Where the rows of statements go.
protocol ResultWriter: AnyObject {
    /// A statement with rows begins.
    func begin(_ columns: [String]) throws
    /// One of its rows.
    func row(_ values: [DatabaseValue]) throws
    /// Its rows are over.
    func end() throws
    /// A statement without rows has changed so many.
    func changed(_ rowCount: Int) throws
    /// All statements have run.
    func finish() throws
}

extension ResultWriter {
    func changed(_ rowCount: Int) throws {}
    func finish() throws {}
}

/// CSV or JSON Lines, written as the rows come.
final class LinesResultWriter: ResultWriter {
    private let isCSV: Bool
    private let terminal: Terminal
    private let care: RowText.CSVCare
    private var names: [String] = []
    private var buffer = ""
    private var hasRows = false

    init(isCSV: Bool, terminal: Terminal) {
        (self.isCSV, self.terminal) = (isCSV, terminal)
        care = RowText.CSVCare(isForTerminal: terminal.outputIsTerminal)
    }

    func begin(_ columns: [String]) throws {
        names = columns
        guard isCSV else { return }
        // A blank line stands between the results of two statements.
        buffer += (hasRows ? "\n" : "") + RowText.csvHeader(columns, care)
        hasRows = true
    }

    func row(_ values: [DatabaseValue]) throws {
        buffer += isCSV ? RowText.csv(values, care) : RowText.json(names, values)
        if buffer.utf8.count > 1 << 16 { try flush() }
    }

    func end() throws { try flush() }

    private func flush() throws {
        try terminal.writeOutput(buffer, terminator: "")
        buffer = ""
    }
}

/// One JSON document with the results of all statements, which is printed when all have run.
final class JSONResultWriter: ResultWriter {
    private let store: String
    private let terminal: Terminal
    private var results: [String] = []
    private var columns = ""
    private var rows: [String] = []

    init(store: String, terminal: Terminal) { (self.store, self.terminal) = (store, terminal) }

    func begin(_ columns: [String]) throws {
        self.columns = columns.map(JSONText.quoted).joined(separator: ",")
        rows = []
    }

    func row(_ values: [DatabaseValue]) throws {
        rows.append("[\(values.map(RowText.jsonValue).joined(separator: ","))]")
    }

    func end() throws {
        results.append("{\"columns\":[\(columns)],\"rows\":[\(rows.joined(separator: ","))]}")
        rows = []
    }

    func changed(_ rowCount: Int) throws { results.append("{\"changes\":\(rowCount)}") }

    func finish() throws {
        try terminal.writeOutput(
            "{\"results\":[\(results.joined(separator: ","))],\"store\":\(JSONText.quoted(store))}")
    }
}
