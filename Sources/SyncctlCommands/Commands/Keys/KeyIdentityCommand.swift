import ArgumentParser
import CipherStore

/// Makes the identity of a recipient of archives and bundles.
struct KeyIdentityCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "identity",
        abstract: "Make a private key for archives and bundles, and print the recipient to make them for.",
        usage: "syncctl key identity --to <file> [<options>]",
        discussion: """
            A machine that makes backups needs the recipient only, which is not secret. The file opens \
            all archives and bundles that are made for it: keep it elsewhere.

            EXAMPLE:
              syncctl key identity --to backup.key
              syncctl export notes.db --to backup.csa --recipient csr1-…
              syncctl init notes.db --from backup.csa --identity backup.key
            """)

    @Option(help: ArgumentHelp("The new file.", valueName: "file"), completion: .file())
    var to: String

    @OptionGroup var global: GlobalOptions

    private struct Document: Encodable {
        let to: String
        let recipient: String
    }

    func run() throws {
        try CommandContext.run(global) { context in
            try StoreFileCheck.requirePlace(of: to)
            let recipient = try ArchiveIdentity.make(file: to).recipient.description
            try context.print(Document(to: to, recipient: recipient), text: recipient)
            context.note("whoever reads \(to) opens the archives that are made for it")
            return .success
        }
    }
}
