import SyncEngine
import SyncRelay
import SyncctlCommands

/// The relay through which a store is shared, and its channel.
extension ShareCommand {
    /// The relay that the store knows, or a new channel at the one that was named.
    ///
    /// - parameter prepare: What comes between a new channel and the store's knowing it.
    func relay(
        _ synchronizer: Synchronizer, _ admission: RelayToken?, _ context: CommandContext,
        _ prepare: () throws -> Void
    ) throws -> (known: KnownRelay, isNew: Bool) {
        let book = RelayBook(synchronizer)
        let known = try book.relays()
        let store = CommandWords.path(options.store)
        guard let url else {
            if let relay = known.first(where: { $0.name == name }) {
                return (relay, try makeAgain(relay, admission, context))
            }
            throw Failure.usage(
                known.isEmpty
                    ? "the store knows no relay yet" : "the store knows no relay \(name)",
                hints: [
                    "name one with: syncctl share \(store) --relay https://relay.example:7444",
                    "anybody can run one: syncctl relay --storage relay.db",
                ])
        }
        let address = try RelayAddress(
            url: url, fingerprint: fingerprint.flatMap(RelayAddress.fingerprint))
        if let relay = known.first(where: { $0.name == name }) {
            guard relay.address.url == address.url else {
                throw Failure(
                    "\(relay.name) is \(relay.address.url) already",
                    hints: [
                        "a second relay gets a name of its own: --name <name>",
                        "forget that one with: syncctl remote remove \(store) \(relay.name)",
                    ])
            }
            return try pinned(relay, address, book, admission, context)
        }
        guard try !synchronizer.serverNames().contains(name) else {
            throw Failure(
                "\(name) is a server already", hints: ["give the relay another name: --name <name>"])
        }
        let relay = KnownRelay(name: name, address: address, channel: .random())
        do {
            try Network.client(of: address, context).make(relay.channel, admission: admission)
        } catch let error as RelayError where error.code == .wrongCertificate {
            throw try untrusted(address, error)
        }
        try prepare()
        try book.save(relay)
        return (relay, true)
    }

    /// The relay that the store knows, by the certificate that was named: one that lost its storage made another one. The
    /// store's channel stays, with its key.
    ///
    /// Only a fingerprint that somebody has written takes the place of the one that is known, and only when whoever answers shows
    /// that certificate.
    private func pinned(
        _ relay: KnownRelay, _ address: RelayAddress, _ book: RelayBook, _ admission: RelayToken?,
        _ context: CommandContext
    ) throws -> (known: KnownRelay, isNew: Bool) {
        guard address.fingerprint != nil, address.fingerprint != relay.address.fingerprint else {
            return (relay, try makeAgain(relay, admission, context))
        }
        var renewed = KnownRelay(
            name: relay.name, address: address, channel: relay.channel, seen: relay.seen)
        let isNew = try makeAgain(renewed, admission, context)
        // The positions of a channel that was lost begin anew, which is nothing to tell.
        if isNew { renewed.seen = nil }
        try book.save(renewed)
        RelayPin.tell(relay.address, address, relay.name, context)
        return (renewed, isNew)
    }

    /// Makes a channel again that the relay has lost: it has the key that the replicas know, and they write again what they
    /// have.
    ///
    /// - returns: Whether it was lost.
    private func makeAgain(
        _ relay: KnownRelay, _ admission: RelayToken?, _ context: CommandContext
    ) throws -> Bool {
        let client = Network.client(of: relay.address, context)
        do {
            _ = try client.state(of: relay.channel)
            return false
        } catch let error as RelayError where error.code == .unauthorized {
            try client.make(relay.channel, admission: admission)
            return true
        }
    }

    /// Says how a certificate can be relied on that nobody vouches for. It is not trusted for being shown: whoever is in
    /// between shows one of his own.
    private func untrusted(_ address: RelayAddress, _ error: RelayError) throws -> Failure {
        let certificate = try address.shownCertificate(check: Interruption.check)
        guard let shown = certificate, shown.fingerprint != address.fingerprint else { return Failure(error) }
        // Nothing is known of the relay yet.
        let message =
            address.fingerprint == nil
            ? error.message : "\(address.authority) shows another certificate than the one of --fingerprint"
        // That of an authority can't be known by its fingerprint.
        guard shown.isSelfSigned else {
            return Failure(
                message,
                hints: ["let this system trust the authority that has signed it, if that is the relay's"],
                status: .remoteRefused)
        }
        let digits = shown.fingerprint.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        return Failure(
            message,
            hints: [
                "if syncctl relay printed this fingerprint there, name it: --fingerprint \(digits)",
                "if it printed another one, somebody is in between",
            ], status: .remoteRefused)
    }
}
