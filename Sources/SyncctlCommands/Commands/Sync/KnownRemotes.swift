import Foundation
import SyncEngine

/// A remote of a command: what names it, and where it is.
struct ChosenRemote: Equatable {
    /// What the store calls it: tables are chosen by this name.
    let name: String
    /// Where it is from here.
    private(set) var argument: RemoteArgument
    /// Whether somebody wrote the name, who may have meant a file.
    let isNamed: Bool

    /// A remote that the command line names.
    ///
    /// - parameter options: How a bucket is reached.
    init(given name: String, _ options: BucketOptions = BucketOptions()) {
        argument = options.applied(to: RemoteArgument(name))
        isNamed = true
        if case .bucket(let bucket) = argument { self.name = bucket.name } else { self.name = name }
    }

    /// A server that the store is enrolled with.
    init(server name: String, isNamed: Bool = false) {
        (self.name, argument, self.isNamed) = (name, .server(name), isNamed)
    }

    /// A relay that the store knows.
    init(relay name: String) { (self.name, argument, isNamed) = (name, .relay(name), true) }

    /// A remote that the store remembers. Its name may be relative to another folder than this one.
    init(_ remembered: RememberedRemote) {
        let isHere = RemoteArgument(remembered.name).location == remembered.location
        name = remembered.name
        argument = RemoteArgument(isHere ? remembered.name : remembered.location)
        isNamed = true
    }

    /// A remote that the command line names. A word may be the name of a relay, and a bucket is reached as it was the last
    /// time in what was not said, so the store is opened when it may know that.
    init(given name: String, _ options: BucketOptions, _ store: ExchangedStore) throws {
        self.init(given: name, options)
        if case .server(let name) = argument, NetworkSupport.access != nil,
            try store.synchronizer().isRelay(name)
        {
            self.init(relay: name)
            return
        }
        guard case .bucket(let bucket) = argument, NetworkSupport.access != nil,
            let known = try store.synchronizer().rememberedRemotes().first(where: { $0.name == bucket.name }),
            let remembered = BucketArgument(known.location)
        else { return }
        argument = .bucket(bucket.completed(by: remembered))
    }

    /// The same remote in another way.
    func reached(as argument: RemoteArgument) -> ChosenRemote {
        var remote = self
        remote.argument = argument
        return remote
    }

    /// Does something with the remote. When it is the remote that was retired, and not the store here, the hint names it.
    func namedIfRetired<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as SyncError where error.isOfRemote {
            let store: String? = if case .file(let path) = argument { CommandWords.path(path) } else { nil }
            throw Failure.refused(error.message, hints: [Failure.renewalHint(store: store)])
        }
    }

    /// What the store remembers of it; nil for servers and relays, of which it has keys.
    var remembered: RememberedRemote? {
        argument.location.map { RememberedRemote(name: name, location: $0) }
    }
}

extension Synchronizer {
    /// Whether the store knows a relay by a name, and no server.
    fileprivate func isRelay(_ name: String) throws -> Bool {
        try relayNames().contains(name) && !serverNames().contains(name)
    }

    /// The command that synchronizes a store with whatever it knows: without a name it takes one remote only.
    func synchronizationCommand(store: String) throws -> String {
        let servers = Set(try serverNames())
        let relays = try relayNames().filter { !servers.contains($0) }
        let count = try servers.count + relays.count + rememberedRemotes().count
        return "syncctl sync \(CommandWords.path(store))" + (count > 1 ? " --all" : "")
    }

    /// The remotes that are meant when none is named.
    ///
    /// - parameters:
    ///   - all: Whether all are meant.
    ///   - options: How one is reached.
    ///   - takesAll: Whether the command has `--all`.
    /// - throws: A ``Failure`` where it is not clear which one is, or where an option does not go with it.
    func knownRemotes(
        all: Bool, store: String, _ options: RemoteOptions, takesAll: Bool = true
    ) throws -> [ChosenRemote] {
        let servers = try serverNames()
        let known = try allRemotes(servers)
        if all {
            guard known.isEmpty else { return known }
            throw Failure.usage(
                "the store remembers no remote",
                hints: ["what is synchronized with once is remembered: --remote <store>"])
        }
        let byDefault = ChosenRemote(server: RemoteArgument.defaultServer)
        // Without any remote, the words for a missing server say what can be done.
        if servers.contains(RemoteArgument.defaultServer) || known.isEmpty {
            return [try options.applied(to: byDefault)]
        }
        guard known.count == 1 else {
            throw Failure.usage(
                "no remote is named, and the store knows several: \(known.map(\.name).joined(separator: ", "))",
                hints: [
                    "name one with --remote" + (takesAll ? ", or take all with --all" : ""),
                    "see: syncctl remote list \(CommandWords.path(store))",
                ])
        }
        return try known.map(options.applied)
    }

    /// The relays, folders and buckets that the store knows, where what is said of members goes.
    ///
    /// - parameter options: How one is reached, where there is only one.
    /// - throws: A ``Failure`` where an option does not go with it.
    func knownPlaces(_ options: RemoteOptions) throws -> [ChosenRemote] {
        let places = try allRemotes(serverNames()).filter { SharedPlace($0.argument) != nil }
        return places.count == 1 ? try places.map(options.applied) : places
    }

    private func allRemotes(_ servers: [String]) throws -> [ChosenRemote] {
        let relays = try relayNames().filter { !servers.contains($0) }
        return try servers.map { ChosenRemote(server: $0) } + relays.map { ChosenRemote(relay: $0) }
            + rememberedRemotes().map { ChosenRemote($0) }
    }
}
