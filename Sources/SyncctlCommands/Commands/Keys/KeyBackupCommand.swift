import ArgumentParser
import CipherStore

/// Copies the keyring's file.
struct KeyBackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copy the key slots into a file; no passphrase is needed.",
        usage: "syncctl key backup <store> --to <file> [<options>]",
        discussion: """
            Without the keyring's file nothing opens the store. The copy is as secret as its weakest \
            passphrase. To restore it, put it beside the store: notes.db.keys.

            EXAMPLE:
              syncctl key backup notes.db --to /media/usb/notes.db.keys
            """)

    @Argument(help: "The file of the store.", completion: .file())
    var store: String

    @Option(help: ArgumentHelp("The new file.", valueName: "file"), completion: .file())
    var to: String

    @OptionGroup var global: GlobalOptions

    private struct Document: Encodable {
        let store: String
        let to: String
        let generation: UInt64
    }

    func run() throws {
        try CommandContext.run(global) { context in
            let keyring = try context.keyring(of: store)
            try StoreFileCheck.requirePlace(of: to)
            try keyring.backUp(to: to)
            try context.print(
                Document(store: store, to: to, generation: keyring.information().generation),
                text: "copied \(keyring.path) to \(to)")
            return .success
        }
    }
}
