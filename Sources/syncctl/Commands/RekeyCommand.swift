import ArgumentParser
import CipherStore

/// Changes the passphrase of a store.
struct RekeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rekey",
        abstract: "Change the passphrase of a store.",
        usage: "syncctl rekey <store> [<options>]",
        discussion: """
            The store is copied under the new key, the copy is checked, and then takes the old \
            file's place. Whatever happens meanwhile, the store opens with the old or with the new \
            passphrase. Nobody else may have the store open.

            EXAMPLE:
              syncctl rekey notes.db --passphrase-file pw --new-passphrase-file pw2
            """)

    @OptionGroup var options: StoreOptions

    @OptionGroup(title: "New passphrase")
    var newPassphrase: NewPassphraseOptions

    @OptionGroup var global: GlobalOptions

    private struct Document: Encodable {
        let store: String
        let rekeyed: Bool
    }

    func run() throws {
        try CommandContext.run(global) { context in
            try StoreFileCheck.requireExisting(options.store)
            let current = try context.storePassphrase(options.passphrase, for: options.store)
            guard let new = try context.passphrase(newPassphrase, for: options.store) else {
                throw Failure.usage("no new passphrase", hints: ["use --new-passphrase-file"])
            }
            guard !current.matches(new) else {
                throw Failure.usage("the new passphrase is the old one")
            }
            Interruption.listen()
            var progress = context.progress("copying", unit: .items("pages"))
            var phase = StoreProgress.Phase.copying
            try StoreRekey.run(path: options.store, from: current, to: new) { step in
                if step.phase != phase {
                    phase = step.phase
                    progress.finish()
                    progress = context.progress("checking", unit: .items("pages"))
                }
                try progress.update(Int64(step.completedPageCount), Int64(step.totalPageCount))
            }
            progress.finish()
            try context.print(
                Document(store: options.store, rekeyed: true),
                text: "\(options.store) opens with the new passphrase now")
            return .success
        }
    }
}
