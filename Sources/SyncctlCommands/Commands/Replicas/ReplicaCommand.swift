import ArgumentParser
import CipherStore
import Foundation
import SyncEngine
import SyncWire

/// The replicas of a database.
struct ReplicaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replica",
        abstract: "List the replicas of a database, and retire those that do not come back.",
        discussion: """
            Deletions are remembered until every replica knows them. A replica that does not come \
            back, such as one on a lost device, is retired, so that nobody waits for it.

            EXAMPLES:
              syncctl replica list notes.db
              syncctl replica retire notes.db 8c1f
              syncctl replica renew notes.db
            """,
        subcommands: [
            ReplicaListCommand.self, ReplicaRetireCommand.self, ReplicaForgetCommand.self,
            ReplicaRenewCommand.self,
        ])
}

/// Lists the replicas that a store knows.
struct ReplicaListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the replicas that this store knows.",
        usage: "syncctl replica list <store> [<options>]")

    @OptionGroup var options: StoreOptions
    @OptionGroup var global: GlobalOptions

    private struct Document: Encodable {
        struct Replica: Encodable {
            let replica: String
            let local: Bool
            let name: String
            let changes: Int64
            let lastSeen: String?
            let upToDate: Bool
            let retired: String?
        }
        let store: String
        let replicas: [Replica]
    }

    func run() throws {
        try CommandContext.run(global) { context in
            let replicas = try Synchronizer(existing: context.openForReading(options)).replicas()
            let document = Document(
                store: options.store,
                replicas: replicas.map {
                    .init(
                        replica: $0.replica.description, local: $0.isLocal, name: $0.name,
                        changes: $0.sequence,
                        lastSeen: $0.lastSeenMilliseconds.map { HumanFormat.timestamp($0) },
                        upToDate: $0.isUpToDate, retired: $0.retirement?.rawValue)
                })
            try context.print(document, text: text(replicas, context))
            return .success
        }
    }

    private func text(_ replicas: [ReplicaInformation], _ context: CommandContext) -> String {
        let now = Int64(Date().timeIntervalSince1970 * 1000)
        var table = Table([.text("REPLICA"), .text("LAST SEEN"), .text("STATE"), .text("REMOTE")])
        for replica in replicas {
            let seen = replica.lastSeenMilliseconds.map { HumanFormat.age(of: $0, now: now) } ?? "-"
            let state =
                switch replica.retirement {
                case .unseen: "retired: not seen for long"
                case .requested: "retired"
                case .renewed: "retired: its file has a new identity"
                case nil: replica.isLocal ? "this one" : replica.isUpToDate ? "up to date" : "behind"
                }
            table.addRow([
                .init(replica.replica.shortDescription), .init(replica.isLocal ? "-" : seen), .init(state),
                .init(replica.name),
            ])
        }
        return table.text(style: context.terminal.outputStyle)
    }
}

/// Retires a replica.
struct ReplicaRetireCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retire", abstract: "Say that a replica does not come back.",
        usage: "syncctl replica retire <store> <replica> [<options>]",
        discussion: """
            The others learn it when they synchronize. Should it come back, it is refused until \
            "syncctl replica renew" gives it a new identity; nothing that it wrote is lost.
            """)

    @OptionGroup var options: StoreOptions

    @Argument(help: "The replica, or the first digits of its identifier.")
    var replica: String

    @OptionGroup var global: GlobalOptions

    func run() throws {
        try ReplicaChoice.run(options, global, replica, told: "retired") { try $0.retire($1) }
    }
}

/// Forgets a retired replica.
struct ReplicaForgetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget", abstract: "Forget how a retired replica was reached, and what it knew.",
        usage: "syncctl replica forget <store> <replica> [<options>]",
        discussion: "What it wrote stays, so lists show its identifier and its changes still.")

    @OptionGroup var options: StoreOptions

    @Argument(help: "The replica, or the first digits of its identifier.")
    var replica: String

    @OptionGroup var global: GlobalOptions

    func run() throws {
        try ReplicaChoice.run(
            options, global, replica, told: "forgot how to reach, and what was known by,"
        ) { try $0.forget($1) }
    }
}

/// Gives a store a new replica identity.
struct ReplicaRenewCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "renew", abstract: "Give this store a new identity, after it was retired.",
        usage: "syncctl replica renew <store> [--without-lost-values] [<options>]",
        discussion: """
            What it wrote so far stays, and is sent as usual. Values of its own that another program took \
            away with their column, and that no other replica is known to have, are given up. \
            --without-lost-values gives up those of all replicas, for when none has them any more: each \
            row of such a table counts as written here without them.
            """)

    @OptionGroup var options: StoreOptions

    @Flag(help: "Give up all values that another program took away with their column.")
    var withoutLostValues = false

    @OptionGroup var global: GlobalOptions

    func run() throws {
        try CommandContext.run(global) { context in
            let synchronizer = try Synchronizer(existing: context.open(options))
            if withoutLostValues { try synchronizer.abandonLostValues() }
            let replica = try synchronizer.renewIdentity()
            try context.print(
                ReplicaDocument(store: options.store, replica: replica.description),
                text: "\(options.store) is replica \(replica.shortDescription) now")
            return .success
        }
    }
}

/// What the commands print that concern one replica.
private struct ReplicaDocument: Encodable {
    let store: String
    let replica: String
}

/// Finds replicas by the first digits of their identifiers.
private enum ReplicaChoice {
    /// Does something to a replica, and says what was done.
    static func run(
        _ options: StoreOptions, _ global: GlobalOptions, _ digits: String, told verb: String,
        _ body: (Synchronizer, ReplicaID) throws -> Void
    ) throws {
        try CommandContext.run(global) { context in
            let synchronizer = try Synchronizer(existing: context.open(options))
            let found = try find(digits, in: synchronizer, of: options.store)
            try body(synchronizer, found)
            try context.print(
                ReplicaDocument(store: options.store, replica: found.description),
                text: "\(verb) replica \(found.shortDescription)")
            return .success
        }
    }

    private static func find(
        _ digits: String, in synchronizer: Synchronizer, of store: String
    ) throws -> ReplicaID {
        guard !digits.isEmpty else {
            throw Failure.usage(
                "no replica is named", hints: ["see: syncctl replica list \(CommandWords.path(store))"])
        }
        let replicas = try synchronizer.replicas().map(\.replica)
        let found = replicas.filter { $0.description.hasPrefix(digits.lowercased()) }
        guard let replica = found.first else {
            throw SyncError(.noSuchReplica, "no replica whose identifier begins with \(digits) is known here")
        }
        guard found.count == 1 else {
            throw Failure.usage(
                "\(found.count) replicas begin with \(digits)", hints: ["give more digits of the identifier"])
        }
        return replica
    }
}
