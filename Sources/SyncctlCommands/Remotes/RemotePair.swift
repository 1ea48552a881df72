import CipherStore
import SyncEngine

/// A store, and the way to another replica of it, for commands that look at both.
struct RemotePair {
    /// The store here.
    let synchronizer: Synchronizer
    /// The way to the other one.
    let transport: any Transport

    /// Opens the store, and prepares the way.
    ///
    /// - parameters:
    ///   - remote: Another store, a server or a store that ssh reaches.
    ///   - command: What ssh runs there; nil for what is usual.
    static func open(
        _ options: StoreOptions, _ remote: String, _ passphrase: some PassphraseOptions,
        command: String? = nil, _ context: CommandContext
    ) throws -> RemotePair {
        let named = RemoteArgument(remote)
        if named.isNetwork {
            let request = RemoteRequest(store: options, isNamed: true, command: command)
            let opened = try NetworkSupport.required().open(named, request, context)
            return RemotePair(synchronizer: opened.synchronizer, transport: opened.transport)
        }
        try StoreFileCheck.requireReplica(remote, of: options.store)
        let own = try context.storeSecret(options)
        let other = try context.secondSecret(
            passphrase, for: remote, own: own, isOwnAsked: context.asks(options))
        Interruption.listen()
        return RemotePair(
            synchronizer: try Synchronizer(existing: context.open(options.store, own)),
            transport: StoreTransport(path: remote, configuration: context.configuration(other)))
    }

    /// The tables that they exchange; nil for all.
    func tableNames() throws -> [String]? {
        try synchronizer.scope(ofRemote: transport.name).tableNames
    }
}
