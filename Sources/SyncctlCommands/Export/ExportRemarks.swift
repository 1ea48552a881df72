/// What whoever reads an export again has to know.
final class ExportRemarks {
    /// The tables, views, indexes and triggers in whose definitions line ends stand that SQLite's shell changes.
    private(set) var changedDefinitions: [String] = []

    /// Notes that there is a carriage return before a line feed in a name or a text of a definition.
    func noteLineEnds(inDefinitionOf name: String) { changedDefinitions.append(name) }

    /// The remarks, for people.
    var texts: [String] {
        guard !changedDefinitions.isEmpty else { return [] }
        let names = changedDefinitions.map(PrintableText.escaped).joined(separator: ", ")
        return [
            """
            SQLite's shell drops carriage returns before line feeds when it reads the dump, and these have some in a name or a text \
            of their definitions: \(names); export --plaintext keeps them
            """
        ]
    }
}
