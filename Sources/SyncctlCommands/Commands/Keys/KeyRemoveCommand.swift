import ArgumentParser
import CipherStore

/// Removes a slot.
struct KeyRemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove a slot; another one must open the store.",
        usage: "syncctl key remove <store> <slot> [<options>]",
        discussion: """
            Who has an old copy of the keyring's file and what opened the slot can still open the \
            store, until its data key is changed: syncctl rekey --data-key.

            EXAMPLE:
              syncctl key remove notes.db 5c65e1d2a7f0b393
            """)

    @OptionGroup var options: StoreOptions

    @Argument(help: "The slot, as \"syncctl key list\" shows it; its first digits are enough.")
    var slot: String

    @OptionGroup var global: GlobalOptions

    private struct Document: Encodable {
        let store: String
        let removed: SlotDocument
    }

    func run() throws {
        try CommandContext.run(global) { context in
            let keyring = try context.keyring(of: options.store)
            let slots = try keyring.information().slots.filter {
                $0.id.description.hasPrefix(slot.lowercased())
            }
            guard let removed = slots.first, !slot.isEmpty else {
                throw Failure(
                    "there is no slot \(slot)",
                    hints: ["slots are shown by: syncctl key list \(CommandWords.path(options.store))"])
            }
            guard slots.count == 1 else { throw Failure("several slots begin with \(slot)") }
            try keyring.remove(removed.id, unlockingWith: context.storeSecret(options))
            try context.print(
                Document(store: options.store, removed: SlotDocument(removed)),
                text: "removed slot \(removed.id)  (\(removed.kind.name))")
            return .success
        }
    }
}
