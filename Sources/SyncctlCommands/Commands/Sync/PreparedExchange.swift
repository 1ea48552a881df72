import CipherStore
import SyncEngine

/// A remote that is ready to be synchronized with: passphrases are read, and the store here is open.
package struct PreparedExchange {
    /// What is printed of an exchange.
    package enum Output {
        /// A line.
        case once
        /// A line that begins with the time.
        case repeated
        /// The same, and nothing where no row was exchanged. The function is called before, when the exchange has come about.
        case watched(onConnection: () throws -> Void)
    }

    /// What the store calls the remote.
    package let name: String
    /// The store here.
    package let synchronizer: Synchronizer
    /// The other store, where it is a file of this machine: its path, and what opens it.
    package var file: (path: String, configuration: Configuration)?
    /// The folder, where it is one.
    package var folder: String?
    /// The relay, where it is one.
    package var relay: OpenedRelay?
    let remembered: RememberedRemote?
    /// Exchanges changes, and prints what was exchanged.
    package let exchange: (Output) throws -> ExitStatus
    let preview: () throws -> SyncPreview
    /// Makes the tables that are missing here, and says how many rows that had waited found their place.
    let createTables: () throws -> (names: [String], shownRowCount: Int64)

    /// Makes the tables that are missing here, and says so. Rows that wait for them may be many.
    func makeTables(_ context: CommandContext) throws {
        let line = ElapsedLine("tables", terminal: context.terminal)
        defer { line.finish() }
        let made = try createTables()
        line.finish()
        guard !made.names.isEmpty else { return }
        context.note("made and tracked: \(made.names.map(PrintableText.escaped).joined(separator: ", "))")
        guard made.shownRowCount > 0 else { return }
        let rows = HumanFormat.count(Int(made.shownRowCount), "row")
        context.note("\(rows) that waited found \(made.shownRowCount == 1 ? "its" : "their") place")
    }

    /// Exchanges changes, and remembers the remote when that succeeded.
    package func run(_ output: Output, _ context: CommandContext) throws -> ExitStatus {
        let status = try exchange(output)
        if let remembered {
            do {
                try synchronizer.remember(remote: remembered)
            } catch {
                context.note("the changes were exchanged, but the remote could not be noted: \(error)")
            }
        }
        return status
    }
}

/// The store of a command, which is opened when it is needed.
final class ExchangedStore {
    let options: StoreOptions
    let context: CommandContext
    private var known: Secret?
    /// The store, if it is open already.
    private(set) var opened: Synchronizer?

    init(_ options: StoreOptions, _ context: CommandContext) {
        (self.options, self.context) = (options, context)
    }

    /// What opens it.
    func secret() throws -> Secret {
        if let known { return known }
        let secret = try context.storeSecret(options)
        known = secret
        return secret
    }

    /// The store.
    func synchronizer() throws -> Synchronizer {
        if let opened { return opened }
        let secret = try secret()
        Interruption.listen()
        let synchronizer = try Synchronizer(existing: context.open(options.store, secret))
        opened = synchronizer
        return synchronizer
    }
}
