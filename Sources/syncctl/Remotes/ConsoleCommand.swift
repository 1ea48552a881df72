import ArgumentParser
import CipherStore
import Foundation
import SyncEngine
import SyncHTTP
import SyncctlCommands

/// Shows a served store to a person, in a browser.
struct ConsoleCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "console",
        abstract: "Make a link to the page of a store that is served.",
        usage: "syncctl console <store> [--address <host:port>] [--expires <time>] [--revoke] [<options>]",
        discussion: """
            The server, which has to be running, shows devices, how far they are behind, throughput, \
            conflicts and rows that wait, with values of rows; conflicts can be resolved there. The link opens \
            it once; whoever has it first sees it. The browser stays in for up to 12 hours, one hour after the page was closed, or until \
            the server ends.

            A server with a certificate of its own makes the browser warn. Compare the certificate's \
            SHA-256 with the one that is printed here before you go on.

            EXAMPLES:
              syncctl console hub.db
              syncctl console hub.db --address hub.example:7443 --expires 2m
              syncctl console hub.db --revoke               # ends sessions and links
            """)

    @OptionGroup var options: StoreOptions

    @Option(
        help: ArgumentHelp(
            "Where the browser reaches the server (default: what the server noted when it started).",
            valueName: "host:port"))
    var address: String?

    @Option(help: ArgumentHelp("How long the link can be opened: 90s, 10m or 2h.", valueName: "time"))
    var expires = "10m"

    @Flag(help: "End all sessions and links, and make none.")
    var revoke = false

    @Flag(
        name: .customLong("qr"), help: "Print the link as a QR code, too, for the camera of another device.")
    var showsQRCode = false

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard let time = InviteCommand.milliseconds(expires), time <= 86_400_000 else {
            throw ValidationError("--expires takes a time up to a day, such as 90s, 10m or 2h")
        }
        if let address, ServerAddress.split(address) == nil {
            throw ValidationError("--address takes host:port, such as hub.example:7443")
        }
        if revoke && (address != nil || showsQRCode) {
            throw ValidationError("--revoke makes no link, so it has no --address and no --qr")
        }
    }

    private struct Document: Encodable {
        let store: String
        let link: String
        let expires: String
        let fingerprint: String?
        let answers: Bool
    }

    private struct RevocationDocument: Encodable {
        let store: String
        let revokedLinks: Int
    }

    func run() throws {
        try CommandContext.run(global) { context in
            let synchronizer = try Synchronizer(existing: context.open(options))
            let register = try ConsoleRegister(synchronizer)
            if revoke {
                let count = try register.revoke()
                try context.print(
                    RevocationDocument(store: options.store, revokedLinks: count),
                    text: "ended all sessions, and \(HumanFormat.count(count, "link"))")
                return .success
            }
            guard let address = try DeviceRegister(synchronizer).address(authority: address) else {
                throw Failure(
                    "\(options.store) was never served, so its address and certificate are not known",
                    hints: ["start the server first: syncctl serve \(CommandWords.path(options.store))"])
            }
            let time = InviteCommand.milliseconds(expires) ?? 600_000
            let link = try register.makeLink(expiresAfter: time, address: address)
            let end = Int64(Date().timeIntervalSince1970 * 1000) + time
            let answers = RunningServer.check(address, of: options.store, context)
            try context.print(
                Document(
                    store: options.store, link: link.description, expires: HumanFormat.timestamp(end),
                    fingerprint: link.certificateFingerprint, answers: answers),
                text: link.description)
            if showsQRCode { try context.printQRCode(of: link.description) }
            context.note(
                "opens once, until \(HumanFormat.timestamp(end, style: .minute)), while the server runs")
            if let fingerprint = link.certificateFingerprint {
                context.note("the browser will warn; the certificate's SHA-256 has to be")
                context.note("  \(fingerprint)")
            }
            return .success
        }
    }
}
