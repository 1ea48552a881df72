import Foundation
import SyncBucket
import SyncEngine
import Synchronization

/// A channel of a relay as a `Mailbox`.
///
/// ```swift
/// let client = RelayClient(try RelayAddress(url: "https://relay.example:7444", fingerprint: fingerprint))
/// let transport = try channel.key.transport(through: RelayMailbox(channel, client: client))
/// let report = try await synchronizer.sync(through: transport)
/// ```
///
/// `folders()` asks for what changed since it was asked last: one request when nothing did. `files(in:)` tells what it
/// found, and asks again only when something is known to have changed. Files are read once for each of their versions.
/// ``requestCounts`` says what was asked, and ``takeEvents()`` what the relay did that had to be made up for.
///
/// It does not trust the relay, and neither does the engine. It may be used from several threads at once.
public struct RelayMailbox: Mailbox {
    /// How a channel is used.
    public struct Options: Sendable {
        /// Where heads are kept, sealed as they are, so that the next process need not read them again; nil to keep them
        /// in memory only.
        public var cacheFolder: String?
        /// Where larger files wait on their way, sealed as they are and without a name. There has to be room for the
        /// largest bundle.
        public var spoolFolder = NSTemporaryDirectory()
        /// The last moment of the channel that an earlier process saw; nil for none.
        public var seen: RelayMoment?

        /// Makes the default options.
        public init() {}
    }

    let state: RelayMailboxState
    private var check: @Sendable () throws -> Void

    /// Makes a mailbox. Nothing is asked before it is used.
    ///
    /// - parameters:
    ///     - channel: Which channel it is, and its key.
    ///     - client: What asks the relay.
    ///     - options: How it is used.
    public init(_ channel: RelayChannel, client: RelayClient, options: Options = Options()) {
        state = RelayMailboxState(channel, client, options)
        check = client.options.check
    }

    /// The address of the relay.
    public var name: String { state.client.address.url }

    /// The same.
    public var location: String { name }

    /// The requests that were sent, repetitions included.
    public var requestCounts: RelayRequestCounts { state.client.requestCounts }

    /// The last moment of the channel that was seen; nil before it was looked at.
    public var seen: RelayMoment? { state.look.withLock { $0.seen } }

    /// The moment up to which all is known; nil when the channel has to be looked at.
    public var known: RelayMoment? {
        state.look.withLock { look in look.directory.flatMap { $0.isStale ? nil : $0.moment } }
    }

    /// What the relay did that had to be made up for, since this was asked last.
    public func takeEvents() -> [RelayEvent] {
        state.events.withLock { events in
            defer { events = [] }
            return events
        }
    }

    /// Tells when somebody changes the channel, beginning after what is known.
    public func watch(_ options: RelayWatch.Options = RelayWatch.Options()) -> RelayWatch {
        RelayWatch(state.channel, client: state.client, after: known, options: options)
    }

    /// Looks at the channel, and tells the names of the folders.
    ///
    /// - throws: ``RelayError``; `MailboxError`: `unreachable`, `failed`.
    public func folders() throws -> [String] {
        Array(try RelayLook(state: state, check: check).run().folders.keys)
    }

    /// The files of a folder, as the last ``folders()`` found them, with what was written and removed here since.
    ///
    /// - throws: As ``folders()``, when the channel was not looked at yet.
    public func files(in folder: String) throws -> [MailboxFile] {
        let directory = try state.directory ?? RelayLook(state: state, check: check).run()
        // Without the epoch, which is another one after each start of the relay, though nobody has written any file.
        return directory.folders[folder, default: [:]].map { name, file in
            MailboxFile(
                name: name, byteCount: file.byteCount, modifiedMilliseconds: file.milliseconds,
                version: "\(file.position)")
        }
    }

    /// Opens a file: all of it is here then, in one version.
    ///
    /// - throws: ``RelayError``; `MailboxError`: `missing`, `unreachable`, `failed`.
    public func open(_ path: MailboxPath) throws -> any MailboxReader {
        SpoolReader(try RelayDownload(state: state, path: path, check: check).spool())
    }

    /// Writes a file.
    ///
    /// - throws: ``RelayError``; `MailboxError`: `exists`, `full`, `unreachable`, `failed`; what `body` throws.
    public func write(
        _ path: MailboxPath, replacing: Bool,
        _ body: (_ sink: @escaping (Data) throws -> Void) throws -> Void
    ) throws {
        let spool = Spool(folder: state.spoolFolder)
        try body { try spool.append($0) }
        try RelayChange(state: state, check: check).write(spool, path, replacing: replacing)
    }

    /// Removes a file.
    ///
    /// - throws: ``RelayError``; `MailboxError`: `unreachable`, `failed`.
    public func remove(_ path: MailboxPath) throws {
        try RelayChange(state: state, check: check).remove(path)
    }

    /// Removes files, up to 256 in a request. Those of one request are removed together.
    ///
    /// - throws: As ``remove(_:)-(MailboxPath)``.
    public func remove(_ paths: [MailboxPath]) throws {
        try RelayChange(state: state, check: check).remove(paths)
    }
}

extension RelayMailbox: CancellableMailbox, BatchingMailbox {
    package func batch() -> any MailboxBatch { RelayBatch(self, RelayChange(state: state, check: check)) }

    package func cancelled(by cancellation: SyncCancellation) -> any Mailbox {
        var mailbox = self
        let check = check
        mailbox.check = {
            try cancellation.check()
            try check()
        }
        return mailbox
    }
}

/// What all copies of a mailbox share.
final class RelayMailboxState: Sendable {
    let client: RelayClient
    let channel: RelayChannel
    let cache: SealedFileCache
    let spoolFolder: String
    let look: Mutex<Look>
    let events = Mutex<[RelayEvent]>([])
    /// The file that was read last: the engine opens a bundle twice.
    let last = Mutex<(path: MailboxPath, tag: String, spool: Spool)?>(nil)
    /// A relay that does nothing but lie fills no memory.
    private static let eventCountMax = 100

    init(_ channel: RelayChannel, _ client: RelayClient, _ options: RelayMailbox.Options) {
        (self.channel, self.client) = (channel, client)
        let folder = options.spoolFolder
        spoolFolder = folder.hasSuffix("/") ? String(folder.dropLast()) : folder
        cache = SealedFileCache(
            folder: options.cacheFolder, identity: "\(client.address.url)\n\(channel.id)")
        look = Mutex(Look(seen: options.seen))
    }

    /// What the channel holds; nil when it has to be looked at.
    var directory: RelayDirectory? {
        look.withLock { look in look.directory.flatMap { $0.isStale ? nil : $0 } }
    }

    /// Notes that nobody knows what is there now.
    func doubt() {
        look.withLock { look in
            look.changeCount += 1
            look.directory?.isStale = true
        }
    }

    /// Notes that a file is gone.
    func noteRemoval(of path: MailboxPath) {
        look.withLock { look in
            look.changeCount += 1
            look.directory?[path] = nil
        }
    }

    /// Notes a file that was written here.
    func note(_ file: RelayDirectory.File, at path: MailboxPath) {
        look.withLock { look in
            look.changeCount += 1
            guard let directory = look.directory else { return }
            // The next look finds out what became of the channel.
            guard file.position > directory.moment.position else {
                look.directory?.isStale = true
                return
            }
            look.directory?.note(file, at: path)
            if let seen = look.seen, seen.epoch == directory.moment.epoch, seen.position < file.position {
                look.seen = RelayMoment(epoch: seen.epoch, position: file.position)
            }
        }
    }

    /// Notes what was changed here by one request.
    ///
    /// - returns: The versions of the files; nil when the channel has to be looked at.
    func note(
        written: [(path: MailboxPath, byteCount: Int)], removed: [MailboxPath], upTo position: RelayPosition
    ) -> [RelayMoment]? {
        look.withLock { look in
            look.changeCount += 1
            guard look.directory?.isStale == false,
                let positions = look.directory?.note(written: written, removed: removed, upTo: position),
                let moment = look.directory?.moment
            else {
                look.directory?.isStale = true
                return nil
            }
            if let seen = look.seen, seen.epoch == moment.epoch, seen.position < position {
                look.seen = moment
            }
            return positions.map { RelayMoment(epoch: moment.epoch, position: $0) }
        }
    }

    func note(_ event: RelayEvent) {
        events.withLock { if $0.count < Self.eventCountMax { $0.append(event) } }
    }

    // MARK: Requests

    /// A request about the channel, or what follows its identifier.
    func request(_ kind: RelayRequest.Kind, _ method: String, _ suffix: String) -> RelayRequest {
        RelayRequest(
            kind: kind, method: method, path: "/v1/channels/\(channel.id)" + suffix,
            token: method == "GET" ? channel.key.readToken : channel.key.writeToken)
    }

    /// Sends a request. What may pass, and what concerns a file, is an error of mailboxes.
    func send(_ request: RelayRequest, check: () throws -> Void) throws -> RelayClient.Outcome {
        do {
            return try client.send(request, check: check)
        } catch let error as RelayError {
            switch error.code {
            case .unreachable: throw MailboxError(.unreachable, error.message)
            case .full: throw MailboxError(.full, error.message)
            case .conflict, .failed: throw MailboxError(.failed, error.message)
            default: throw error
            }
        }
    }

    /// The path of a file in requests.
    ///
    /// - throws: `MailboxError` of code `failed` for a name that a relay does not take.
    func suffix(of path: MailboxPath) throws -> String { "/files/\(try name(of: path))" }

    func name(of path: MailboxPath) throws -> RelayFileName {
        do {
            return try RelayFileName(folder: path.folder, name: path.name)
        } catch {
            throw MailboxError(.failed, "a relay takes no file of that name")
        }
    }
}
