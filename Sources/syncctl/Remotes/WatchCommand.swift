import ArgumentParser
import CipherStore
import Foundation
import SyncEngine
import SyncHTTP
import SyncctlCommands

/// Keeps a store and a server equal.
struct WatchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Synchronize with a server as soon as either side changes.",
        usage: "syncctl watch <store> [--remote <name>] [<options>]",
        discussion: """
            Runs until Ctrl-C or SIGTERM, and prints a line when it connects, when something was \
            exchanged, and when the connection broke; it connects anew by itself, later each time. What \
            other programs write to the store is noticed too. With --json, each line is a document.

            EXAMPLES:
              syncctl watch notes.db
              syncctl watch notes.db --json | jq .
            """)

    @OptionGroup var options: StoreOptions

    @Option(
        name: [.customShort("r"), .customLong("remote")],
        help: ArgumentHelp("The name of the server (default: default).", valueName: "name"))
    var givenRemote: String?

    private var remote: String { givenRemote ?? RemoteBook.defaultName }

    @OptionGroup var compression: CompressionOption

    @OptionGroup var global: GlobalOptions

    private struct Document: Encodable {
        let messageType: String
        let time: String
        let remote: String
        var pulled: Int64?
        var pushed: Int64?
        var conflicts: Int64?
        var parked: Int64?
        var refused: String?
        var reason: String?
        var retrySeconds: Double?

        init(_ messageType: String, _ remote: String) {
            self.messageType = messageType
            self.remote = remote
            time = HumanFormat.timestamp(Int64(Date().timeIntervalSince1970 * 1000))
        }
    }

    func run() throws {
        try CommandContext.run(global) { context in
            guard case .server = RemoteArgument(remote) else {
                throw Failure.usage(
                    "\(remote) is no name of a server; files and folders can't be watched",
                    hints: [
                        "the servers that the store knows: syncctl remote list \(CommandWords.path(options.store))"
                    ])
            }
            try StoreFileCheck.requireStore(options.store)
            let secret = try context.storeSecret(options)
            Interruption.listen()
            let synchronizer = try Synchronizer(existing: context.open(options.store, secret))
            let known = try ServerArgument.remote(
                remote, in: RemoteBook(synchronizer), isGiven: givenRemote != nil, store: self.options.store)
            var options = LiveSynchronization.Options()
            options.transport.compression = .init(compression.compression)
            let live = try LiveSynchronization(synchronizer, remote: known.name, options: options)
            Interruption.onRequest { live.stop() }
            try live.run { try report($0, context) }
            context.note("stopped")
            return .success
        }
    }

    private func report(_ event: LiveSynchronization.Event, _ context: CommandContext) throws {
        switch event {
        case .connected(let address):
            try context.print(Document("connected", remote), text: line("connected to \(address)"))
        case .synchronized(let report):
            var document = Document("synchronized", remote)
            document.pulled = report.pulled?.rowCount ?? 0
            document.pushed = report.pushed?.rowCount ?? 0
            document.conflicts = report.conflictCount
            document.parked = report.parkedCount
            document.refused = report.refusal?.message
            var parts = ExchangeText(direction: .both, pulled: report.pulled, pushed: report.pushed).parts
            if let refusal = report.refusal {
                parts.append("changes of here were not taken: \(refusal.message)")
            }
            try context.print(document, text: line(parts.joined(separator: ", ")))
        case .disconnected(let error, let milliseconds):
            let reason = Failure(explaining: error).message
            var document = Document("disconnected", remote)
            document.reason = reason
            document.retrySeconds = Double(milliseconds) / 1000
            let seconds = (Double(milliseconds) / 100).rounded() / 10
            try context.print(document, text: line("\(reason); trying again in \(seconds) s"))
        }
    }

    private func line(_ text: String) -> String {
        let now = Int64(Date().timeIntervalSince1970 * 1000)
        return "\(HumanFormat.timestamp(now, style: .second))  \(text)"
    }
}
