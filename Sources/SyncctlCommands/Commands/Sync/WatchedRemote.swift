import SyncEngine

/// The remote that `watch` keeps a store equal with.
package struct WatchedRemote {
    /// How it is watched.
    package enum Kind {
        /// A server, by its name, which has a stream.
        case server(String)
        /// Something else, whose passphrases are read.
        case other(PreparedExchange)
    }

    /// How it is watched.
    package let kind: Kind
    /// The store here.
    package let synchronizer: Synchronizer

    /// Finds out what the command line means, and opens the store.
    package init(
        options: StoreOptions, remote: RemoteOptions, global: GlobalOptions, _ context: CommandContext
    ) throws {
        let store = ExchangedStore(options, context)
        let chosen =
            if let given = remote.given {
                try ChosenRemote(given: given, remote.bucket, store)
            } else {
                try store.synchronizer().knownRemotes(
                    all: false, store: options.store, remote, takesAll: false)[0]
            }
        if case .server(let name) = chosen.argument {
            kind = .server(name)
            synchronizer = try store.synchronizer()
            // The words for a server that is not known say what can be done.
            guard try synchronizer.serverNames().contains(name) else { return }
            guard !remote.isPassphraseGiven else {
                throw Failure.usage("a server needs no passphrase: the store has a device key")
            }
            guard !remote.scope.isGiven else {
                throw Failure.usage("what is exchanged with a server is chosen with syncctl sync")
            }
            return
        }
        let exchange = Exchange(
            direction: .both, options: options, remote: remote, global: global, repetition: nil)
        let ready = try exchange.prepare(chosen, store)
        kind = .other(ready)
        synchronizer = ready.synchronizer
    }
}
