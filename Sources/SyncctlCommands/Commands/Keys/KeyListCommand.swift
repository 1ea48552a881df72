import ArgumentParser
import CipherStore
import Foundation

/// Lists the slots of a store.
struct KeyListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the slots of a store; no passphrase is needed.",
        usage: "syncctl key list <store> [<options>]")

    @Argument(help: "The file of the store.", completion: .file())
    var store: String

    @OptionGroup var global: GlobalOptions

    private struct Document: Encodable {
        let store: String
        let generation: UInt64
        let rotating: Bool
        let slots: [SlotDocument]
        let unknownSlots: [String]?
    }

    func run() throws {
        try CommandContext.run(global) { context in
            let keyring = try context.keyring(of: store)
            let information = try keyring.information()
            let document = Document(
                store: store, generation: information.generation, rotating: information.isRotating,
                slots: information.slots.map { SlotDocument($0) },
                unknownSlots: information.unknownSlots.isEmpty
                    ? nil : information.unknownSlots.map(\.id.description))
            try context.print(document, text: text(information, context))
            if try !keyring.belongsToStore() {
                context.note(
                    "the keyring belongs to another file, or to another version of this one: none of its slots opens \(store)"
                )
            } else if information.slots.count == 1 {
                context.note(
                    "one slot only: if it is lost, so is the data; add one with: syncctl key add \(CommandWords.path(store))"
                )
            }
            if information.isRotating {
                context.note("a change of the data key was interrupted; opening the store settles it")
            }
            return .success
        }
    }

    private func text(_ information: Keyring.Information, _ context: CommandContext) -> String {
        var table = Table([.text("SLOT"), .text("TYPE"), .text("CREATED"), .number("MEMORY"), .text("LABEL")])
        for slot in information.slots {
            table.addRow([
                Table.Cell(slot.id.description), Table.Cell(slot.kind.name),
                Table.Cell(HumanFormat.timestamp(slot.createdMilliseconds, style: .minute)),
                Table.Cell(slot.cost.map { HumanFormat.bytes($0.memoryByteCount) } ?? "-"),
                Table.Cell(slot.label),
            ])
        }
        for slot in information.unknownSlots {
            table.addRow([
                Table.Cell(slot.id.description), Table.Cell("of a newer program"), Table.Cell("-"),
                Table.Cell("-"), Table.Cell(""),
            ])
        }
        return table.text(style: context.terminal.outputStyle)
    }
}
