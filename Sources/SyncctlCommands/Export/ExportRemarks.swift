/// What whoever reads an export again has to know.
final class ExportRemarks {
    /// The tables, views, indexes and triggers in whose definitions line ends stand that SQLite's shell changes.
    private(set) var changedDefinitions: [String] = []
    /// What `import` refuses, the first of it.
    private(set) var refusals: [ImportRefusal] = []
    /// How many rows and files `import` refuses.
    private(set) var refusalCount = 0

    /// So many refusals are kept.
    private static let refusalCountMax = 100
    /// So many refusals are told to people.
    private static let toldCountMax = 10

    /// Notes that there is a carriage return before a line feed in a name or a text of a definition.
    func noteLineEnds(inDefinitionOf name: String) { changedDefinitions.append(name) }

    /// Notes what `import` refuses.
    func note(_ refusal: ImportRefusal) {
        refusalCount += 1
        if refusals.count < Self.refusalCountMax { refusals.append(refusal) }
    }

    /// The remarks, for people.
    var texts: [String] {
        var texts: [String] = []
        if !changedDefinitions.isEmpty {
            let names = changedDefinitions.map(PrintableText.escaped).joined(separator: ", ")
            texts.append(
                """
                SQLite's shell drops carriage returns before line feeds when it reads the dump, and these have some in a name or a \
                text of their definitions: \(names); export --plaintext keeps them
                """)
        }
        guard refusalCount > 0 else { return texts }
        texts += refusals.prefix(Self.toldCountMax).map { "import refuses this: \(Self.text($0))" }
        if refusalCount > Self.toldCountMax {
            texts.append("import refuses \(HumanFormat.count(refusalCount - Self.toldCountMax)) more")
        }
        texts.append("--format sql and --plaintext have no such limits")
        return texts
    }

    private static func text(_ refusal: ImportRefusal) -> String {
        let table = "table \(PrintableText.escaped(refusal.table))"
        let key = refusal.key.map { " (\(PrintableText.escaped($0)))" } ?? ""
        let row = "\(table), row \(HumanFormat.count(Int(refusal.row ?? 0)))\(key)"
        let size = HumanFormat.bytes(refusal.byteCount ?? 0)
        switch refusal.reason {
        case .fieldTooLong:
            let column = PrintableText.escaped(refusal.column ?? "")
            return
                "\(row): column \(column) has \(size), and a field may have \(HumanFormat.bytes(CSVReader.maximumFieldBytes))"
        case .recordTooLong:
            return
                "\(row): its line has \(size), and may have \(HumanFormat.bytes(CSVReader.maximumRecordBytes))"
        case .tooManyColumns:
            return "\(table) has more columns than a file may have, or than this SQLite takes"
        case .emptyColumnName:
            return "\(table) has a column without a name"
        }
    }
}
