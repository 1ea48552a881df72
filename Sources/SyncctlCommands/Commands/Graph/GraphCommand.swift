import ArgumentParser
import CipherStore
import Foundation
import SyncEngine

/// Draws the replicas of a database, and who knows what.
struct GraphCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "graph",
        abstract: "Draw the replicas that a store knows, and which changes each of them has, as SVG.",
        usage: "syncctl graph <store> [--to <file>] [<options>]",
        discussion: """
            The picture shows this store in the middle, and the other replicas around it. A line leads to \
            those that it was synchronized with itself. Below, there is a row for each replica, and a column \
            for each that made changes: how many changes are missing there, as far as it is known here.

            EXAMPLES:
              syncctl graph notes.db --to replicas.svg
              syncctl graph notes.db --json
            """)

    @OptionGroup var options: StoreOptions

    @Option(help: .init("The new file; - or nothing is standard output.", valueName: "file"))
    var to: String?

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if to != nil && global.isJSON {
            throw ValidationError("--json goes to standard output: leave --to out")
        }
    }

    private struct Document: Encodable {
        struct Replica: Encodable {
            let replica: String
            let local: Bool
            let name: String
            let reached: Bool
            let lastSeen: String?
            let retired: String?
            /// The number of its last change.
            let changes: Int64
            /// The numbers of the last changes that it knows, by who made them.
            let known: [String: Int64]
        }
        let store: String
        let replicas: [Replica]
    }

    func run() throws {
        try CommandContext.run(global) { context in
            let path = to == "-" ? nil : to
            if let path {
                try StoreFileCheck.requirePlace(of: path)
                try StoreFileCheck.requireFree(path)
            }
            let queue = try context.openForReading(options, makesFiles: path != nil)
            let synchronizer = try Synchronizer(existing: queue)
            let replicas = try synchronizer.replicas()
            if global.isJSON {
                try context.print(document(replicas), text: "")
                return .success
            }
            let drawing = ReplicaDrawing(
                title: URL(fileURLWithPath: options.store).lastPathComponent, replicas: replicas,
                now: Repetition.now)
            let file = try OutputFile(path, context.terminal)
            try file.write(drawing.svg)
            try file.finish()
            if let path { context.note("drew \(HumanFormat.count(replicas.count, "replica")) in \(path)") }
            return .success
        }
    }

    private func document(_ replicas: [ReplicaInformation]) -> Document {
        Document(
            store: options.store,
            replicas: replicas.map { item in
                .init(
                    replica: item.replica.description, local: item.isLocal, name: item.name,
                    reached: item.isPeer,
                    lastSeen: item.lastSeenMilliseconds.map { HumanFormat.timestamp($0) },
                    retired: item.retirement?.rawValue, changes: item.sequence,
                    known: Dictionary(uniqueKeysWithValues: item.known.map { ($0.key.description, $0.value) })
                )
            })
    }
}
