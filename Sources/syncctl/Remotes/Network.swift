import CipherStore
import Foundation
import SyncBucket
import SyncEngine
import SyncHTTP
import SyncRelay
import SyncctlCommands

/// Servers, relays, buckets, and stores that ssh reaches.
struct Network: NetworkAccess {
    func open(_ remote: RemoteArgument, _ request: RemoteRequest, _ context: CommandContext) throws
        -> OpenedRemote
    {
        switch remote {
        case .ssh(let address): try openSSH(address, request, context)
        case .server(let name): try openServer(name, request, context)
        case .file(let name), .folder(let name):
            throw Failure.usage("\(name) is no remote on another machine")
        case .bucket(let bucket): throw Failure.usage("\(bucket.name) is a bucket, and holds no store")
        case .relay(let name): throw Failure.usage("\(name) is a relay, and holds no store")
        }
    }

    private func openSSH(_ address: String, _ request: RemoteRequest, _ context: CommandContext) throws
        -> OpenedRemote
    {
        let remote = try SSHRemote(address, command: request.command)
        guard !request.hasPassphrase else {
            throw Failure.usage(
                "a passphrase is not sent over ssh: the other machine has to have it",
                hints: [
                    "for example: --remote-command 'syncctl serve --stdio --passphrase-file /etc/hub.pw'"
                ])
        }
        let synchronizer = try open(request, context)
        let isCompressed = request.compression != .never
        return OpenedRemote(
            synchronizer, remote.transport(for: request.store.store, isCompressed: isCompressed))
    }

    private func openServer(_ name: String, _ request: RemoteRequest, _ context: CommandContext) throws
        -> OpenedRemote
    {
        let synchronizer = try open(request, context)
        let book = try RemoteBook(synchronizer)
        guard try synchronizer.serverNames().contains(name) || !synchronizer.relayNames().contains(name)
        else {
            throw Failure.usage("\(name) is a relay: it holds changes, and no rows to compare with")
        }
        let known = try ServerArgument.remote(
            name, in: book, isGiven: request.isNamed, store: request.store.store)
        // Only of a server that is known: else the words for a missing one say what can be done.
        guard !request.hasPassphrase else {
            throw Failure.usage(
                "a server needs no passphrase: the store has a device key",
                hints: ["name another store with --remote <file>"])
        }
        var options = InviteArgument.options()
        options.compression = .init(request.compression)
        return OpenedRemote(synchronizer, try book.transport(known.name, options: options)) {
            try book.remote(known.name).isReadOnly
        }
    }

    private func open(_ request: RemoteRequest, _ context: CommandContext) throws -> Synchronizer {
        if let opened = request.opened { return opened }
        let secret = try context.storeSecret(request.store)
        Interruption.listen()
        return try Synchronizer(existing: context.open(request.store.store, secret))
    }

    func invitation(_ link: String) throws -> any Invitation {
        let text = link.trimmingCharacters(in: .whitespacesAndNewlines)
        if text.hasPrefix(RelayLink.scheme) { return try RelayJoining(text) }
        return ServerInvitation(link: try InviteArgument.link(text))
    }

    func failure(explaining error: any Error, store: String?) -> Failure? {
        switch error {
        case let error as RemoteError: Failure(error, store: store)
        case let error as RelayError: Failure(error, store: store)
        case let error as BucketError: Failure(error)
        case let error as MailboxError: Failure(error)
        default: nil
        }
    }
}

extension Network {
    /// Says that a store that joined has to synchronize again, and ends the command if it was the user who stopped it.
    ///
    /// - throws: The error of what the user cancelled.
    static func remark(_ error: any Error, joined path: String, _ context: CommandContext) throws {
        let repetition = "syncctl sync \(CommandWords.path(path))"
        if Failure(explaining: error, store: path).status == .cancelled {
            context.note("joined; what came after the snapshot is brought by: \(repetition)")
            throw error
        }
        context.note("joined, but the first synchronization failed: \(error); repeat it with: \(repetition)")
    }
}

/// An invitation to a served store.
struct ServerInvitation: Invitation {
    let link: InviteLink

    var url: String { link.address.url }

    /// Enrols this device, begins from the server's snapshot, and brings what came after it.
    func join(at path: String, passphrase: borrowing Passphrase, _ context: CommandContext) throws {
        Interruption.listen()
        let progress = PageProgress(context)
        let bytes = context.progress("fetching", unit: .bytes)
        try Synchronizer.join(
            link, at: path, passphrase: passphrase, options: InviteArgument.options(),
            progress: progress.update, onBytes: { try bytes.update($0, $1) })
        bytes.finish()
        progress.finish()
        // The store is whole, whatever becomes of this.
        let queue = try context.open(path, Secret(passphrase))
        let synchronizer = try Synchronizer(existing: queue)
        let book = try RemoteBook(synchronizer)
        do {
            let direction: SyncDirection = try book.remote().isReadOnly ? .pull : .both
            _ = try synchronizer.run(direction, book.transport(options: InviteArgument.options()))
        } catch {
            try Network.remark(error, joined: path, context)
        }
        try queue.close()
    }
}

extension HTTPTransport.Compression {
    /// What was chosen on the command line.
    init(_ choice: Compression) {
        switch choice {
        case .automatic: self = .automatic
        case .always: self = .always
        case .never: self = .never
        }
    }
}
