import ArgumentParser
import CipherStore
import SyncEngine

/// What is written into a folder, a bucket or a relay beside changes, and how.
struct PlaceOptions: ParsableArguments {
    /// What is added to files.
    enum Padding: String, ExpressibleByArgument, CaseIterable {
        case none
        case padme

        /// The same in the library's terms.
        var value: SealedFilePadding { self == .padme ? .padme : .none }
    }

    @Flag(help: "Put a snapshot into the folder, bucket or relay, from which new replicas can begin.")
    var snapshot = false

    @Option(
        help: ArgumentHelp(
            "Make files there longer, from now on, so that their sizes say little of what is in them: padme, or none (the default). The store remembers it.",
            valueName: "kind"))
    var padding: Padding?

    /// Throws when they do not go with a remote.
    ///
    /// - parameter name: What the command line names; nil for what the store remembers.
    func validate(with name: String?) throws {
        // Only the store knows what it remembers, and a word may be the name of a relay.
        guard let name else { return }
        let named = RemoteArgument(name)
        let mayBeRelay = if case .server = named { true } else { false }
        guard !mayBeRelay, SharedPlace(named) == nil else { return }
        if snapshot {
            throw ValidationError("--snapshot goes with a folder, a bucket or a relay: --remote dir:<folder>")
        }
        if padding != nil {
            throw ValidationError("--padding goes with a folder, a bucket or a relay: --remote dir:<folder>")
        }
    }

    /// Throws where a remote turns out to be a server or a store.
    func refuse() throws {
        if snapshot { throw Failure.usage("--snapshot goes with a folder, a bucket or a relay") }
        if padding != nil { throw Failure.usage("--padding goes with a folder, a bucket or a relay") }
    }

    /// Sets what a store remembers, where something was said.
    func remember(_ synchronizer: Synchronizer) throws {
        if let padding { try synchronizer.setFilePadding(padding.value) }
    }
}
