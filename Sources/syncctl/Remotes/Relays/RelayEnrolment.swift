import CipherStore
import SyncEngine
import SyncMembers
import SyncRelay
import SyncctlCommands

/// Lets a store that is there already into a channel, by the link that `share` printed for it.
struct RelayEnrolment {
    private let joining: RelayJoining
    /// What the store calls the relay.
    let name: String
    /// Whether what the store knows by that name is given up.
    let replaces: Bool
    /// Whether a member's store goes over to members who were founded apart from those that it knows.
    let replacesMembers: Bool

    /// Reads a link.
    ///
    /// - throws: A ``Failure`` for what is none.
    init(_ text: String, name: String, replaces: Bool, replacesMembers: Bool) throws {
        joining = try RelayJoining(text)
        (self.name, self.replaces, self.replacesMembers) = (name, replaces, replacesMembers)
    }

    /// Uses the link up, and synchronizes through the channel. The store knows the relay then.
    ///
    /// Once the store is a device of the member whom the link is for, the link is spent, and the store keeps the relay by which to say so:
    /// what fails after that is a remark, and what the user cancels ends the command. So it keeps the relay before it becomes that.
    ///
    /// - throws: ``Failure``, `RelayError`, `SyncError`. Unless it was a cancellation after that, what the store knew before stays, and
    ///   the link is given back.
    func enrol(
        _ synchronizer: Synchronizer, store: String, _ context: CommandContext
    ) throws -> KnownRelay {
        let book = RelayBook(synchronizer)
        let former = try refuseReplacement(in: book, synchronizer, store)
        Interruption.listen()
        let link = joining.link
        let (channel, membership) = try Network.client(of: link.address, context).takeWithMembership(link)
        let known = KnownRelay(name: name, address: link.address, channel: channel)
        let relay: OpenedRelay
        let isSpent: Bool
        var isSaved = false
        do {
            if let former, former.channel.id == channel.id, former.channel != channel {
                throw RelayError(
                    .forgedInvitation, "the link has another key for the channel that the store knows",
                    hint: "ask for a new link; if that fails too, the relay should not be relied on")
            }
            // One that has two names already gets no third: either of them may be replaced.
            if former?.channel.id != channel.id { try refuseSecondName(of: channel, in: book, store) }
            // A member's device stays what it is, so nothing else would find that out.
            if let membership {
                try synchronizer.membership.requireStore(of: membership)
                try refuseOtherMembers(membership, synchronizer, store)
            }
            relay = try Network.opened(known, of: synchronizer, context).relay
            try book.save(known)
            isSaved = true
            // What belongs to another database ends it here.
            isSpent = try accept(membership, synchronizer, relay, context)
            if !isSpent { try synchronize(synchronizer, relay, context) }
        } catch {
            joining.release(channel, membership)
            if isSaved { forget(former, in: book, store, context) }
            throw error
        }
        tell(former, known, context)
        do {
            if isSpent { try synchronize(synchronizer, relay, context) }
            for words in try relay.conclude() { context.note("\(name): \(words)") }
        } catch {
            try remark(error, store, context)
        }
        return known
    }

    /// Puts back what the store knew by the name before.
    private func forget(
        _ former: KnownRelay?, in book: RelayBook, _ store: String, _ context: CommandContext
    ) {
        do {
            if let former { try book.save(former) } else { try book.remove(name) }
        } catch {
            let removal = "syncctl remote remove \(CommandWords.path(store)) \(CommandWords.operand(name))"
            context.note(
                "the store keeps the relay though the link was not used: \(error); forget it with: \(removal)"
            )
        }
    }

    /// Says that the first synchronization has to be repeated, and ends the command if it was the user who stopped it.
    private func remark(_ error: any Error, _ store: String, _ context: CommandContext) throws {
        let repetition = "syncctl sync \(CommandWords.path(store)) --remote \(CommandWords.quoted(name))"
        if Failure(explaining: error, store: store).status == .cancelled {
            context.note("the relay is kept; synchronize with: \(repetition)")
            throw error
        }
        context.note("the first synchronization failed: \(error); repeat it with: \(repetition)")
    }

    private func synchronize(
        _ synchronizer: Synchronizer, _ relay: OpenedRelay, _ context: CommandContext
    ) throws {
        for remark in try synchronizer.run(.both, relay.transport).notes { context.note(remark) }
    }

    /// A relay that is there is not given up unasked, and neither is the certificate by which it is known.
    ///
    /// - returns: The relay whose place is taken.
    private func refuseReplacement(
        in book: RelayBook, _ synchronizer: Synchronizer, _ store: String
    ) throws -> KnownRelay? {
        guard try !synchronizer.serverNames().contains(name) else {
            throw Failure(
                "\(name) is a server already; the link was not used",
                hints: ["give the relay another name: --name <name>"])
        }
        guard let former = try book.relays().first(where: { $0.name == name }) else { return nil }
        guard replaces else {
            throw Failure(
                "\(name) is \(former.address.url) already; the link was not used",
                hints: [
                    "take its place, with the certificate and the channel that the link names: --replace",
                    "another relay gets another name: --name <name>; see: syncctl remote list \(CommandWords.path(store))",
                ])
        }
        return former
    }

    /// A channel that the store is in has a name already. With two of them, no remote would be the only one.
    private func refuseSecondName(of channel: RelayChannel, in book: RelayBook, _ store: String) throws {
        let others = try book.relays().filter { $0.name != name }
        guard let known = others.first(where: { $0.channel.id == channel.id }) else { return }
        throw Failure(
            "the store is in that channel already, by the name \(known.name); the link was not used",
            hints: [
                "take what the link says of the relay: --name \(CommandWords.quoted(known.name)) --replace",
                "see: syncctl remote list \(CommandWords.path(store))",
            ])
    }

    /// Two who have founded members of one database apart would meet in the channel, and exchange nothing.
    private func refuseOtherMembers(
        _ membership: MembershipInvitation, _ synchronizer: Synchronizer, _ store: String
    ) throws {
        guard !replacesMembers, try synchronizer.membership.isApart(from: membership) else { return }
        let options =
            (name == RelayBook.defaultName ? "" : " --name \(CommandWords.quoted(name))")
            + (replaces ? " --replace" : "")
        throw Failure(
            "this store is a member's device already, and the members whom the link is by were founded apart from those; the link was not used",
            hints: [
                "go over to them, if you know who they are: syncctl remote add \(CommandWords.path(store)) -\(options) --replace-members; nothing that was said here of members counts then",
                "or let them go over to the members of this store, by a link of syncctl share",
            ], status: .remoteRefused)
    }

    /// Makes the store a device of the member whom the link is for, unless it is a member's already.
    ///
    /// - returns: Whether it is that member's device now, so that nobody else can become one by the link.
    private func accept(
        _ membership: MembershipInvitation?, _ synchronizer: Synchronizer, _ relay: OpenedRelay,
        _ context: CommandContext
    ) throws -> Bool {
        guard let membership else { return false }
        // Of what is replaced nothing else is read: it may be damaged.
        if try replacesMembers && synchronizer.membership.knowsOthers(than: membership) {
            try synchronizer.membership.acceptAnew(membership, through: relay.transport)
            return true
        }
        // An earlier try may have ended before the store knew the relay.
        guard try !synchronizer.membership.hasAccepted(membership) else { return true }
        guard try synchronizer.membership.role() == nil else {
            context.note(
                "this store is a member's device already and stays that; nobody becomes the member whom the link is for"
            )
            return false
        }
        try synchronizer.membership.accept(membership, through: relay.transport)
        return true
    }

    private func tell(_ former: KnownRelay?, _ known: KnownRelay, _ context: CommandContext) {
        guard let former else { return }
        if former.channel != known.channel {
            context.note("the key of the channel that \(name) was before is forgotten")
        } else {
            RelayPin.tell(former.address, known.address, name, context)
        }
    }
}

/// By which certificate a relay is known.
enum RelayPin {
    /// Says that a relay is known by another certificate from now on.
    static func tell(
        _ former: RelayAddress, _ address: RelayAddress, _ name: String, _ context: CommandContext
    ) {
        guard former.fingerprint != address.fingerprint else { return }
        context.note(
            "\(name) is known by another certificate now: \(text(address)), in place of \(text(former))")
    }

    private static func text(_ address: RelayAddress) -> String {
        guard let fingerprint = address.fingerprint else { return "one that the system trusts" }
        return fingerprint.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
