import ArgumentParser
import CipherStore
import SyncEngine

/// The options of `track` that turn keys into UUIDs before tables are tracked.
struct KeyConversionOptions: ParsableArguments {
    @Flag(help: "Turn integer and other keys into UUIDs before, in the same transaction.")
    var convertKeys = false

    @Flag(help: "All tables of the store. With --convert-keys only.")
    var all = false

    @Flag(help: "Make the new keys text of 36 characters instead of blobs of 16 bytes.")
    var textKeys = false

    @Flag(help: "Keep the old key in a column old_<key>. One that is no integer is always kept.")
    var keepOldKeys = false

    @Flag(help: "Convert although triggers, views, checks or indexes may depend on what the keys were.")
    var acceptDependents = false

    @Option(
        help: ArgumentHelp(
            "The last integer key of a table that this file shares with copies of it: greater ones are this device's own.",
            valueName: "table=key"))
    var newSince: [String] = []

    @Option(
        help: ArgumentHelp(
            "A column that holds keys of another table without a foreign key.",
            valueName: "table.column=parent"))
    var reference: [String] = []

    @Option(
        help: ArgumentHelp("The name of the key for tables that get one more column.", valueName: "column"))
    var keyColumn = "id"

    @Option(
        help: ArgumentHelp("Copy the store there before, under its passphrase.", valueName: "file"),
        completion: .file())
    var backup: String?

    @Flag(help: "Show what would change, and change nothing.")
    var dryRun = false

    /// The options that are given and mean nothing without --convert-keys.
    private var details: [String] {
        let given: [(name: String, isGiven: Bool)] = [
            ("--all", all), ("--text-keys", textKeys), ("--keep-old-keys", keepOldKeys),
            ("--accept-dependents", acceptDependents), ("--new-since", !newSince.isEmpty),
            ("--reference", !reference.isEmpty), ("--key-column", keyColumn != "id"),
            ("--backup", backup != nil), ("--dry-run", dryRun),
        ]
        return given.filter(\.isGiven).map(\.name)
    }

    func validate() throws {
        if !details.isEmpty && !convertKeys {
            let verb = details.count == 1 ? "goes" : "go"
            throw ValidationError("\(details.joined(separator: ", ")) \(verb) with --convert-keys")
        }
        if backup != nil && dryRun { throw ValidationError("--backup and --dry-run exclude each other") }
        _ = try ownRows()
        _ = try undeclaredReferences()
    }

    /// What the options ask for.
    func migration(of tables: [String]) throws -> UUIDKeyMigration {
        var migration = UUIDKeyMigration(tables: all ? nil : tables)
        migration.keyForm = textKeys ? .text : .blob
        migration.newKeyColumn = keyColumn
        migration.keepsOldKeys = keepOldKeys
        migration.acceptsDependents = acceptDependents
        migration.rowsOfThisDevice = try ownRows()
        migration.references = try undeclaredReferences()
        return migration
    }

    private func ownRows() throws -> [String: Int64] {
        try newSince.reduce(into: [:]) { rows, text in
            guard let equals = text.lastIndex(of: "="), equals > text.startIndex,
                let key = Int64(text[text.index(after: equals)...])
            else { throw ValidationError("--new-since is given as <table>=<key>, such as note=1200") }
            rows[String(text[..<equals])] = key
        }
    }

    private func undeclaredReferences() throws -> [UUIDKeyMigration.UndeclaredReference] {
        try reference.map { text in
            let sides = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let names = sides[0].split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
            guard sides.count == 2, names.count == 2, !names[0].isEmpty, !names[1].isEmpty, !sides[1].isEmpty
            else {
                throw ValidationError(
                    "--reference is given as <table>.<column>=<parent>, such as note.folder=folder")
            }
            return .init(table: String(names[0]), column: String(names[1]), parent: String(sides[1]))
        }
    }
}

/// What a conversion changed, or would change, for the user.
struct KeyConversionReport: Encodable {
    struct Item: Encodable {
        let name: String
        let rows: Int64
        let from: String
        let key: String?
        let oldKey: String?
        let references: [String]
        let lastOldKey: Int64?
    }
    struct Missing: Encodable {
        let table: String
        let parent: String
        let rows: Int64
    }
    struct Dependent: Encodable {
        let kind: String
        let name: String
        let reason: String
    }

    let dryRun: Bool
    let namespace: String
    let tables: [Item]
    let unchanged: [String]
    let dangling: [Missing]
    let dependents: [Dependent]

    init(_ plan: UUIDKeyPlan, isDryRun: Bool) {
        dryRun = isDryRun
        namespace = plan.namespace.description
        tables = plan.tables.map {
            Item(
                name: $0.name, rows: $0.rowCount, from: $0.origin.rawValue, key: $0.keyColumn,
                oldKey: $0.oldKeyColumn, references: $0.references, lastOldKey: $0.lastOldKey)
        }
        unchanged = plan.unchangedTables
        dangling = plan.dangling.map { Missing(table: $0.table, parent: $0.parent, rows: $0.rowCount) }
        dependents = plan.dependents.map { Dependent(kind: $0.kind, name: $0.name, reason: $0.reason) }
    }

    func text(style: Style) -> String {
        var lines: [String] = []
        if tables.isEmpty {
            lines.append(dryRun ? "no key would change" : "no key had to change")
        } else {
            lines.append(dryRun ? "would change:" : "changed:")
            var table = Table(
                [.text("TABLE"), .number("ROWS"), .text("NEW KEY"), .text("OF"), .text("REFERENCES")],
                indent: 2)
            for item in tables {
                table.addRow([
                    .init(item.name), .init(HumanFormat.count(Int(item.rows))), .init(item.key ?? "-"),
                    .init(Self.words[item.from] ?? item.from), .init(item.references.joined(separator: ", ")),
                ])
            }
            lines += table.lines(style: style)
        }
        lines += unchanged.map { "\(PrintableText.escaped($0)) has UUIDs already" }
        lines += dangling.map {
            "\(HumanFormat.count(Int($0.rows), "row")) of \(PrintableText.escaped($0.table)) \($0.rows == 1 ? "refers" : "refer") to no row of \(PrintableText.escaped($0.parent)); that stays so"
        }
        if !dependents.isEmpty {
            lines.append(
                dryRun ? "to be looked at, or accepted by --accept-dependents:" : "accepted as they are:")
            lines += dependents.map {
                "  \(style.yellow($0.kind)) \(PrintableText.escaped($0.name)) \(PrintableText.escaped($0.reason))"
            }
        }
        return lines.joined(separator: "\n")
    }

    private static let words = [
        "column": "the old key", "shared": "the row it belongs to", "columns": "the columns of the old key",
        "rowid": "the rowid", "kept": "(keeps its key)",
    ]

    /// What the next device has to know, if a table had integer keys.
    var advice: String? {
        let keys = tables.compactMap { item in
            item.lastOldKey.map { key in
                // A name that begins with a dash would be taken for an option.
                let separator = item.name.utf8.first == UInt8(ascii: "-") ? "=" : " "
                return "--new-since\(separator)\(CommandWords.quoted(item.name))=\(key)"
            }
        }
        guard !keys.isEmpty else { return nil }
        return """
            Copies of this file that are converted get the same keys. Rows that they gave one old key become one row: if rows were \
            added to them separately, give each device the last old keys that all share, see docs/keys.md. Here the last ones are: \
            \(keys.joined(separator: " "))
            """
    }
}
