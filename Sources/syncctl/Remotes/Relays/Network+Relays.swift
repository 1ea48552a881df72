import CipherStore
import Foundation
import SyncEngine
import SyncRelay
import SyncctlCommands
import Synchronization

extension Network {
    func relay(
        _ name: String, of synchronizer: Synchronizer, _ context: CommandContext
    ) throws -> OpenedRelay {
        try Self.opened(RelayBook(synchronizer).relay(name), of: synchronizer, context).relay
    }

    /// The way through a relay, and its mailbox.
    static func opened(
        _ known: KnownRelay, of synchronizer: Synchronizer, _ context: CommandContext
    ) throws -> (relay: OpenedRelay, mailbox: RelayMailbox) {
        let mailbox = mailbox(known, store: synchronizer.writer.path, context)
        let relay = OpenedRelay(try known.channel.key.transport(through: mailbox)) {
            mailbox.requestCounts.total
        } conclude: {
            try RelayBook(synchronizer).note(mailbox.seen, of: known)
            return mailbox.takeEvents().filter(\.isOfConcern).map(\.description)
        }
        return (relay, mailbox)
    }

    /// The files of a relay.
    ///
    /// - parameter store: The store that is synchronized through it, or will be.
    static func mailbox(_ known: KnownRelay, store: String, _ context: CommandContext) -> RelayMailbox {
        var options = RelayMailbox.Options()
        options.cacheFolder = cacheFolder(ProcessInfo.processInfo.environment, of: "relays")
        // There is room where the store is, or the store can't grow either.
        options.spoolFolder = URL(fileURLWithPath: store).deletingLastPathComponent().path
        options.seen = known.seen
        return RelayMailbox(known.channel, client: client(of: known.address, context), options: options)
    }

    /// So long an attempt and the pause after it are silent together at most, in seconds; what lasts longer is told.
    private static let toldSeconds = 3.0

    /// What asks a relay. Ctrl-C ends a request. The first long attempt that failed, or long pause before a repetition, is told.
    static func client(of address: RelayAddress, _ context: CommandContext) -> RelayClient {
        var options = RelayClient.Options()
        options.check = { try Interruption.check() }
        let note = context.noting
        let isTold = Atomic(false)
        options.onRetryAfter = { error, took, pause in
            guard took + pause >= toldSeconds, !isTold.exchange(true, ordering: .relaxed) else { return }
            note("\(error.message); trying again in \(max(1, Int(pause.rounded(.up)))) s")
        }
        return RelayClient(address, options: options)
    }
}

/// An invitation to a store that is shared through a relay.
struct RelayJoining: Invitation {
    /// How long a link can be used again that was given back, in seconds.
    private static let restoredSeconds: Int64 = 900

    let link: RelayLink

    /// Reads the text of a link.
    ///
    /// - throws: A ``Failure`` for what is none.
    init(_ text: String) throws {
        guard let link = RelayLink(text) else {
            throw Failure.usage(
                "that is no link of a relay, or it is not complete, or was not copied exactly",
                hints: ["copy all of the link that syncctl share printed: \(RelayLink.scheme)…"])
        }
        self.link = link
    }

    var url: String { link.address.url }

    /// Uses the link up, begins from the snapshot in the channel, and brings what came after it.
    func join(at path: String, passphrase: borrowing Passphrase, _ context: CommandContext) throws {
        Interruption.listen()
        let client = Network.client(of: link.address, context)
        let (channel, membership) = try client.takeWithMembership(link)
        do {
            try begin(channel, membership, at: path, passphrase: passphrase, context)
        } catch {
            release(channel, membership)
            throw error
        }
        // The store is whole, whatever becomes of this.
        let queue = try context.open(path, Secret(passphrase))
        let synchronizer = try Synchronizer(existing: queue)
        let book = RelayBook(synchronizer)
        try book.save(KnownRelay(name: RelayBook.defaultName, address: link.address, channel: channel))
        do {
            let (relay, _) = try Network.opened(book.relay(), of: synchronizer, context)
            let report = try synchronizer.run(.both, relay.transport)
            for remark in try report.notes + relay.conclude() { context.note(remark) }
        } catch {
            try Network.remark(error, joined: path, context)
        }
        try queue.close()
    }

    private func begin(
        _ channel: RelayChannel, _ membership: MembershipInvitation?, at path: String,
        passphrase: borrowing Passphrase, _ context: CommandContext
    ) throws {
        let known = KnownRelay(name: RelayBook.defaultName, address: link.address, channel: channel)
        let transport = try channel.key.transport(through: Network.mailbox(known, store: path, context))
        let progress = PageProgress(context)
        do {
            try Synchronizer.join(
                transport, at: path, passphrase: passphrase, invitation: membership, progress: progress.update
            )
        } catch let error as SyncError where error.code == .snapshotMissing {
            throw Failure(
                "the relay holds no snapshot that a replica could begin with",
                hints: ["who shares the store puts one there with: syncctl share <store> --snapshot"])
        }
        progress.finish()
    }

    /// Gives the link back, so that this can be repeated. Tried once.
    func release(_ channel: RelayChannel, _ membership: MembershipInvitation?) {
        var options = RelayClient.Options()
        options.attemptCountMax = 1
        options.connectSeconds = 5
        options.silenceSeconds = 5
        let client = RelayClient(link.address, options: options)
        try? client.leave(link, to: channel, seconds: Self.restoredSeconds, membership: membership)
    }
}
