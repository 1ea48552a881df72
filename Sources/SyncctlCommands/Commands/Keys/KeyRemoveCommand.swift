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
        let removed: SlotDocument?
    }

    func run() throws {
        try CommandContext.run(global) { context in
            let keyring = try context.keyring(of: options.store)
            let information = try keyring.information()
            let slots = (information.slots.map(\.id) + information.unknownSlots.map(\.id)).filter {
                $0.description.hasPrefix(slot.lowercased())
            }
            guard let id = slots.first, !slot.isEmpty else {
                throw Failure(
                    "there is no slot \(slot)",
                    hints: ["slots are shown by: syncctl key list \(CommandWords.path(options.store))"])
            }
            guard slots.count == 1 else { throw Failure("several slots begin with \(slot)") }
            try keyring.remove(id, unlockingWith: context.storeSecret(options))
            let removed = information.slots.first { $0.id == id }
            try context.print(
                Document(store: options.store, removed: removed.map { SlotDocument($0) }),
                text: "removed slot \(id)  (\(removed?.kind.name ?? "of a newer program"))")
            return .success
        }
    }
}
