import ArgumentParser
import CipherStore
import SyncEngine

/// Tells the versions of the program, its libraries and its formats.
struct VersionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "version",
        abstract: "Show the versions of the program, of SQLCipher and SQLite, and of the formats.",
        usage: "syncctl version [<options>]",
        discussion: """
            EXAMPLE:
              syncctl version --json
            """)

    @OptionGroup var global: GlobalOptions

    private struct Document: Encodable {
        struct Formats: Encodable {
            let wire: Int
            let bundle: Int
            let metadata: Int
            let keyring: Int
            let archive: Int
            let folder: Int
        }
        let version: String
        let sqlcipher: String?
        let sqlite: String
        let formats: Formats
    }

    func run() throws {
        try CommandContext.run(global) { context in
            let features = EngineFeatures.current
            let document = Document(
                version: CommandLineProgram.version, sqlcipher: features.cipherVersion,
                sqlite: Self.sqliteVersion(features.sqliteVersionNumber),
                formats: .init(
                    wire: SyncFormats.greeting, bundle: SyncFormats.bundle, metadata: SyncFormats.metadata,
                    keyring: FileFormats.keyring, archive: FileFormats.archive, folder: SyncFormats.folder))
            try context.print(document, text: text(document, context))
            return .success
        }
    }

    /// The number that SQLite makes of its version, taken apart.
    private static func sqliteVersion(_ number: Int) -> String {
        "\(number / 1_000_000).\(number / 1000 % 1000).\(number % 1000)"
    }

    private func text(_ document: Document, _ context: CommandContext) -> String {
        var table = Table([.text(""), .text("")])
        let formats = document.formats
        for (name, version) in [
            (RootCommand.name, document.version), ("SQLCipher", document.sqlcipher ?? "none"),
            ("SQLite", document.sqlite), ("wire", "\(formats.wire)"), ("bundle", "\(formats.bundle)"),
            ("metadata", "\(formats.metadata)"), ("keyring", "\(formats.keyring)"),
            ("archive", "\(formats.archive)"), ("folder", "\(formats.folder)"),
        ] {
            table.addRow([.init(name), .init(version)])
        }
        return table.text(style: context.terminal.outputStyle)
    }
}
