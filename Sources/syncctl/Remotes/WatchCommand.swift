import ArgumentParser
import CipherStore
import Foundation
import SyncEngine
import SyncHTTP
import SyncctlCommands

/// Keeps a store and a remote equal.
struct WatchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Synchronize as soon as either side changes.",
        usage: "syncctl watch <store> [--remote <store>] [<options>]",
        discussion: """
            Runs until Ctrl-C or SIGTERM, and prints a line when it has connected, when rows were \
            exchanged, and when the connection broke; it connects anew by itself, later each time. What \
            other programs write to the store is noticed too, and so is what is said there of members. With --json, each line is a document.

            A server and a relay tell of changes at once, and so does another store of this machine. A folder is \
            looked at every two seconds, a bucket and a store that ssh reaches twice a minute. Without --remote it \
            is the remote that "syncctl sync" takes.

            EXAMPLES:
              syncctl watch notes.db
              syncctl watch notes.db --remote stick/notes.db
              syncctl watch notes.db --remote relay
              syncctl watch notes.db --remote dir:/media/stick/notes
              syncctl watch notes.db --json | jq .
            """)

    @OptionGroup var options: StoreOptions
    @OptionGroup var remote: RemoteOptions

    @Option(
        help: ArgumentHelp(
            "Wait so long for a store that another process uses (default: 5).", valueName: "seconds"))
    var wait: Double?

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if let wait, !(wait >= 0 && wait <= 86_400) {
            throw ValidationError("--wait takes seconds, up to 86400")
        }
    }

    private struct Document: Encodable {
        let messageType: String
        let time: String
        let remote: String
        var pulled: Int64?
        var pushed: Int64?
        var conflicts: Int64?
        var parked: Int64?
        var refused: String?
        var unsent: Int64?
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
            var context = context
            if let wait { context.busySeconds = wait }
            try StoreFileCheck.requireStore(options.store)
            let choice = try WatchedRemote(options: options, remote: remote, global: global, context)
            switch choice.kind {
            case .server(let name): try watch(server: name, choice.synchronizer, context)
            case .other(let ready): try watch(ready, context)
            }
            ServiceReadiness.notify(.stopping)
            context.note("stopped")
            return .success
        }
    }

    private func watch(
        server name: String, _ synchronizer: Synchronizer, _ context: CommandContext
    ) throws {
        let known = try ServerArgument.remote(
            name, in: RemoteBook(synchronizer), isGiven: remote.given != nil, store: self.options.store)
        var options = LiveSynchronization.Options()
        options.transport.compression = .init(remote.compression.compression)
        let live = try LiveSynchronization(synchronizer, remote: known.name, options: options)
        Interruption.onRequest { live.stop() }
        try live.run { event in
            let isDue =
                switch event {
                case .connected: true
                case .synchronized(let report): report.pushed == nil
                case .disconnected: false
                }
            // A device that may only read pushes nothing. Others push what is written while they pull with the next exchange.
            let keepsAll = try isDue && RemoteBook(synchronizer).remote(known.name).isReadOnly
            let unsent = keepsAll ? try synchronizer.pendingCount(ofRemote: known.address.url) : 0
            try report(event, name, unsent, context)
        }
    }

    private func watch(_ ready: PreparedExchange, _ context: CommandContext) throws {
        let watch = PeerWatch(ready)
        let signal = watch.signal
        Interruption.onRequest { signal.stop() }
        var (isConnected, words) = (false, "watching")
        func connected() throws {
            guard !isConnected else { return }
            try context.print(Document("connected", ready.name), text: line("\(words) \(ready.name)"))
            ServiceReadiness.notify(.ready)
            (isConnected, words) = (true, "connected to")
        }
        try watch.run {
            // Nothing shows before that the remote is there.
            _ = try ready.run(.watched(onConnection: connected), context)
        } onConnection: {
            try connected()
        } onFailure: { failure, seconds in
            isConnected = false
            try reportBroken(failure.message, ready.name, seconds, context)
        }
    }

    private func reportBroken(
        _ reason: String, _ remote: String, _ seconds: Double, _ context: CommandContext
    ) throws {
        var document = Document("disconnected", remote)
        document.reason = reason
        document.retrySeconds = seconds
        try context.print(
            document, text: line("\(reason); trying again in \((seconds * 10).rounded() / 10) s"))
    }

    private func report(
        _ event: LiveSynchronization.Event, _ remote: String, _ unsent: Int64, _ context: CommandContext
    ) throws {
        switch event {
        case .connected(let address):
            ServiceReadiness.notify(.ready)
            var document = Document("connected", remote)
            var words = "connected to \(address)"
            if unsent > 0 {
                document.unsent = unsent
                words += "; \(ExchangeText.unsent(unsent))"
            }
            try context.print(document, text: line(words))
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
            if unsent > 0 {
                document.unsent = unsent
                parts.append(ExchangeText.unsent(unsent))
            }
            try context.print(document, text: line(parts.joined(separator: ", ")))
        case .disconnected(let error, let milliseconds):
            try reportBroken(
                Failure(explaining: error).message, remote, Double(milliseconds) / 1000, context)
        }
    }

    /// A line with the time before it. Its words may be the server's, so a terminal obeys none of them.
    private func line(_ text: String) -> String {
        let now = Int64(Date().timeIntervalSince1970 * 1000)
        return "\(HumanFormat.timestamp(now, style: .second))  \(PrintableText.escapedLines(text))"
    }
}
