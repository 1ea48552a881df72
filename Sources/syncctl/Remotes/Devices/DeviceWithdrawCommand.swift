import ArgumentParser
import SyncEngine
import SyncHTTP
import SyncctlCommands

/// Withdraws an invitation that no device has used.
struct DeviceWithdrawCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "withdraw", abstract: "Withdraw an invitation that no device has used.",
        usage: "syncctl device withdraw <store> <label> [<options>]",
        discussion: """
            Its link lets nobody in any more, and another invitation can have its label.
            """)

    @OptionGroup var options: StoreOptions

    @Argument(help: "The label of the invitation.")
    var label: String

    @OptionGroup var global: GlobalOptions

    private struct Document: Encodable {
        let store: String
        let label: String
        let withdrawn: Int
    }

    func run() throws {
        try CommandContext.run(global) { context in
            let register = try DeviceRegister(Synchronizer(existing: context.open(options)))
            // Text that looks the same may have other bytes, and both are one label for people.
            let count = try register.withdrawInvitations { $0 == label }
            guard count > 0 else {
                throw Failure(
                    "there is no invitation with the label \(label) that nobody has used",
                    hints: [
                        "a device that was enrolled is refused with: syncctl device revoke \(CommandWords.path(options.store)) <device>"
                    ])
            }
            try context.print(
                Document(store: options.store, label: label, withdrawn: count),
                text: PrintableText.escaped("withdrew the invitation of \(label)"))
            return .success
        }
    }
}
