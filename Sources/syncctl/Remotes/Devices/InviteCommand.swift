import ArgumentParser
import CipherStore
import Foundation
import SyncEngine
import SyncHTTP
import SyncctlCommands

/// Invites a device to a store that is served.
struct InviteCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "invite",
        abstract: "Invite one device to a store that is served.",
        usage: "syncctl invite <store> --label <name> [<options>]",
        discussion: """
            Prints a link with the server's address, the fingerprint of its certificate and a secret that \
            enrols one device. Whoever has the link first gets in, so send it a way that others do not see. A label has one \
            open invitation; one that was lost is withdrawn with: syncctl device withdraw.

            With --tables, the server exchanges these tables only with the device: it sends nothing of \
            others, not even their names, and refuses what the device sends for others. With --rows, it \
            exchanges of a table only the rows that have one of some values in a column, and refuses a \
            write to any other, and a write that moves a row elsewhere. Such a device begins without a \
            snapshot, with its tables as they are here. What a device may exchange is changed with: \
            syncctl device scope.

            EXAMPLES:
              syncctl invite hub.db --label phone
              syncctl invite hub.db --label phone --qr
              syncctl invite hub.db --label kiosk --read-only --expires 2h
              syncctl invite hub.db --label till --tables sale,article
              syncctl invite hub.db --label phone --rows note.team=red,blue
            """)

    @OptionGroup var options: StoreOptions

    @Option(help: "What the device is called in lists.")
    var label: String

    @Option(
        help: ArgumentHelp(
            "How long the invitation is valid: 90s, 15m, 2h or 7d, up to 366d.", valueName: "time"))
    var expires = "15m"

    @Flag(help: "Refuse changes of the device.")
    var readOnly = false

    @OptionGroup var scope: DeviceScopeOptions

    @Option(
        help: ArgumentHelp(
            "Where the device reaches the server (default: what the server noted when it started).",
            valueName: "host:port"))
    var address: String?

    @Flag(name: .customLong("qr"), help: "Print the link as a QR code, too, for the camera of the device.")
    var showsQRCode = false

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard let time = Self.milliseconds(expires), DeviceRegister.expiries.contains(time) else {
            throw ValidationError("--expires takes a time such as 90s, 15m, 2h or 7d, up to 366d")
        }
        guard DeviceRegister.isLabel(label) else {
            throw ValidationError(
                "--label takes 1 to \(DeviceRegister.labelByteCountMax) bytes and no control characters")
        }
        if let address, ServerAddress.split(address) == nil {
            throw ValidationError("--address takes host:port, such as hub.example:7443")
        }
    }

    private struct Document: Encodable {
        let store: String
        let label: String
        let link: String
        let expires: String
        let readOnly: Bool
        let tables: [String]?
        let rows: [String]?
        let answers: Bool
    }

    func run() throws {
        try CommandContext.run(global) { context in
            let synchronizer = try Synchronizer(existing: context.open(options))
            let register = try DeviceRegister(synchronizer)
            guard let address = try register.address(authority: address) else {
                throw Failure(
                    "\(options.store) was never served, so its address and certificate are not known",
                    hints: ["start the server first: syncctl serve \(CommandWords.path(options.store))"])
            }
            try refuseSecond(register)
            let time = Self.milliseconds(expires) ?? 900_000
            let link = try register.invite(
                label: label, expiresAfter: time, isReadOnly: readOnly, scope: scope.scope,
                address: address)
            let end = Int64(Date().timeIntervalSince1970 * 1000) + time
            let answers = RunningServer.check(address, of: options.store, context)
            try context.print(
                Document(
                    store: options.store, label: label, link: link.description,
                    expires: HumanFormat.timestamp(end), readOnly: readOnly, tables: scope.tables?.names,
                    rows: scope.rows.isEmpty ? nil : scope.scope.rows.map(RowList.text), answers: answers),
                text: link.description)
            if showsQRCode { try context.printQRCode(of: link.description) }
            context.note(
                "valid for one device until \(HumanFormat.timestamp(end, style: .minute)); on it, run:")
            context.note("  syncctl init <store> --join -     (and give it the link)")
            return .success
        }
    }

    /// Of two links for one label the second would be refused only where it is used.
    private func refuseSecond(_ register: DeviceRegister) throws {
        guard try register.isInvited(label) else { return }
        throw Failure(
            "an invitation with the label \(label) can still be used",
            hints: [
                "withdraw it with: syncctl device withdraw \(CommandWords.path(options.store)) \(CommandWords.quoted(label))",
                "or give the device another label",
            ])
    }

    /// A time in milliseconds; nil for what is none.
    static func milliseconds(_ text: String) -> Int64? {
        let units: [Character: Int64] = ["s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000]
        guard let unit = text.last.flatMap({ units[$0] }), let count = Int64(text.dropLast()), count > 0,
            count <= 1_000_000
        else { return nil }
        return count * unit
    }
}
