import ArgumentParser
import CipherStore

/// Changes the passphrase of a slot.
struct KeyPasswdCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "passwd",
        abstract: "Change the passphrase of a slot, at once, however large the store is.",
        usage: "syncctl key passwd <store> [<options>]",
        discussion: """
            The store stays as it is, and may be in use. Who has an old copy of the keyring's file and \
            the old passphrase can still open the store, until its data key is changed: syncctl rekey \
            --data-key.

            EXAMPLE:
              syncctl key passwd notes.db --passphrase-file pw --new-passphrase-file pw2
            """)

    @OptionGroup var options: StoreOptions

    @OptionGroup(title: "New passphrase")
    var newPassphrase: NewPassphraseOptions

    @OptionGroup var cost: CostOptions
    @OptionGroup var global: GlobalOptions

    private struct Document: Encodable {
        let store: String
        let slot: SlotDocument
    }

    func run() throws {
        try CommandContext.run(global) { context in
            let keyring = try context.keyring(of: options.store)
            guard options.keyFile == nil else {
                throw Failure.usage(
                    "a key file has no passphrase",
                    hints: ["add a slot with: syncctl key add \(CommandWords.path(options.store))"])
            }
            let current = try context.storePassphrase(options, for: options.store)
            guard let new = try context.passphrase(newPassphrase, for: options.store) else {
                throw Failure.usage("no new passphrase", hints: ["use --new-passphrase-file"])
            }
            guard !current.matches(new) else { throw Failure.usage("the new passphrase is the old one") }
            try keyring.requireUnused(Secret(new))
            let slot = try keyring.changePassphrase(from: current, to: new, cost: cost.scrypt)
            try context.print(
                Document(store: options.store, slot: SlotDocument(slot)),
                text: "\(options.store) opens with the new passphrase now  (slot \(slot.id))")
            return .success
        }
    }
}
