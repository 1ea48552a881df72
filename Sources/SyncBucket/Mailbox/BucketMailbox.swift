import Foundation
import SyncEngine
import Synchronization

/// A bucket of an S3-compatible storage as a `Mailbox`: no server of one's own is needed.
///
/// ```swift
/// let address = try BucketAddress(bucket: "my-bucket", prefix: "notes", endpoint: "https://s3.example.com")
/// let credentials = CredentialSource.usual(environment: ProcessInfo.processInfo.environment)
/// let transport = MailboxTransport(
///     mailbox: BucketMailbox(address, credentials: credentials), passphrase: passphrase)
/// let report = try await synchronizer.sync(through: transport)
/// ```
///
/// `folders()` looks at the whole bucket, at one moment; `files(in:)` tells what it found, and asks again only when
/// something is known to have changed. Files are read once for each of their versions. So a synchronization that finds
/// nothing new is one request for each 1,000 files in the bucket. ``requestCounts`` says what was asked.
///
/// It does not trust the bucket, and neither does the engine. It may be used from several threads at once.
public struct BucketMailbox: Mailbox {
    /// How a bucket is used.
    public struct Options: Sendable {
        /// How long a connection may take to come about, in seconds.
        public var connectSeconds: Int64 = 10
        /// How long the server may be silent in the midst of a request, in seconds.
        public var silenceSeconds: Int64 = 60
        /// The most attempts at one request.
        public var attemptCountMax = 6
        /// A file of certificates in PEM that servers' chains may end in, instead of those of the system.
        public var trustRootsFile: String?
        /// Where heads are kept, sealed as they are, so that the next process need not read them again; nil to keep them
        /// in memory only.
        public var cacheFolder: String?
        /// Where larger files wait on their way, sealed as they are and without a name. There has to be room for the
        /// largest bundle.
        public var spoolFolder = NSTemporaryDirectory()
        /// Called before each request and several times a second while one waits; an error that it throws cancels.
        public var check: @Sendable () throws -> Void = {}
        /// Time and randomness.
        public var environment = SyncEnvironment.system

        /// Makes the default options.
        public init() {}
    }

    let state: BucketState
    var check: @Sendable () throws -> Void

    /// Makes a mailbox. Nothing is asked before it is used.
    ///
    /// - parameters:
    ///     - address: The bucket, and what names of files in it begin with.
    ///     - credentials: Who the user is.
    ///     - options: How it is used.
    public init(_ address: BucketAddress, credentials: CredentialSource, options: Options = Options()) {
        let carrier = HTTPCarrier(
            connectSeconds: options.connectSeconds, silenceSeconds: options.silenceSeconds,
            trustRootsFile: options.trustRootsFile)
        var retry = RequestRetry(random: options.environment.random)
        retry.attemptCountMax = max(1, options.attemptCountMax)
        self.init(address, credentials, carrier, retry, options)
    }

    init(
        _ address: BucketAddress, _ credentials: CredentialSource, _ carrier: any BucketCarrier,
        _ retry: RequestRetry, _ options: Options
    ) {
        let client = BucketClient(
            address, credentials: credentials, carrier: carrier, retry: retry,
            milliseconds: options.environment.milliseconds)
        state = BucketState(
            client: client,
            cache: SealedFileCache(
                folder: options.cacheFolder,
                identity: "\(address.origin)\n\(address.basePath)\n\(address.prefix)"),
            spoolFolder: options.spoolFolder)
        check = options.check
    }

    /// As `syncctl` spells it: `s3://my-bucket/notes`.
    public var name: String { state.client.address.name }

    /// The same.
    public var location: String { name }

    /// The requests that were sent, repetitions included.
    public var requestCounts: BucketRequestCounts { state.client.requestCounts }

    /// Looks at the bucket, and tells the names of the folders.
    ///
    /// - throws: ``BucketError``; `MailboxError`: `unreachable`, `failed`.
    public func folders() throws -> [String] { Array(try refresh().folders.keys) }

    /// The files of a folder, as the last ``folders()`` found them, with what was written and removed here since.
    ///
    /// - throws: As ``folders()``, when the bucket was not looked at yet.
    public func files(in folder: String) throws -> [MailboxFile] {
        let known = state.listing.flatMap { $0.isStale ? nil : $0 }
        return (try known ?? refresh()).folders[folder, default: [:]].map { name, file in
            MailboxFile(name: name, byteCount: file.byteCount, version: file.tag)
        }
    }

    /// Opens a file: all of it is here then, in one version.
    ///
    /// - throws: ``BucketError``; `MailboxError`: `missing`, `notPermitted`, `unreachable`, `failed`.
    public func open(_ path: MailboxPath) throws -> any MailboxReader {
        SpoolReader(try Download(state: state, path: path, check: check).spool())
    }

    /// Writes a file.
    ///
    /// - throws: ``BucketError``; `MailboxError`: `exists`, `full`, `unreachable`, `failed`; what `body` throws.
    public func write(
        _ path: MailboxPath, replacing: Bool,
        _ body: (_ sink: @escaping (Data) throws -> Void) throws -> Void
    ) throws {
        let spool = Spool(folder: state.spoolFolder)
        try body { try spool.append($0) }
        try Upload(state: state, path: path, replacing: replacing, check: check).send(spool)
    }

    /// Removes a file.
    ///
    /// - throws: ``BucketError``; `MailboxError`: `unreachable`, `failed`.
    public func remove(_ path: MailboxPath) throws { try Removal(state: state, check: check).remove(path) }

    /// Removes files, up to 1,000 in a request where the server can do that.
    ///
    /// - throws: As ``remove(_:)-(MailboxPath)``.
    public func remove(_ paths: [MailboxPath]) throws {
        try Removal(state: state, check: check).remove(paths)
    }

    /// Lists the bucket, page by page.
    private func refresh() throws -> BucketListing {
        let start = state.beginListing()
        var listing = BucketListing()
        var token: String?
        var seen: Set<String> = []
        repeat {
            let page = try page(after: token)
            for entry in page.entries { listing.add(entry, prefix: state.client.address.keyPrefix) }
            token = page.continuation
            // A server that hands out the same page for ever is not asked for ever.
            guard seen.count < Self.pageCountMax, token.map({ seen.insert($0).inserted }) ?? true else {
                throw MailboxError(
                    .failed, "its listing has no end, or over \(Self.pageCountMax * 1000) files",
                    location: name)
            }
        } while token != nil
        let isWhole = state.keep(listing, from: start)
        // Another listing, or a write, may know of files that this one has not found.
        if isWhole { state.cache.forgetAll { listing[$0] != nil } }
        return listing
    }

    private static let pageCountMax = 500

    private func page(after token: String?) throws -> ListingPage {
        var request = BucketRequest(kind: .list, method: "GET")
        request.query = [("list-type", "2"), ("max-keys", "1000"), ("encoding-type", "url")]
        if !state.client.address.keyPrefix.isEmpty {
            request.query.append(("prefix", state.client.address.keyPrefix))
        }
        if let token { request.query.append(("continuation-token", token)) }
        request.answerByteCountMax = 8 << 20
        let answer = try state.client.send(request, check: check).answer
        guard let page = ListingPage(answer.body) else {
            throw MailboxError(
                .failed,
                "\(state.client.address.host) does not list it as S3 does: is the endpoint that of a storage?",
                location: name)
        }
        return page
    }
}

extension BucketMailbox: CancellableMailbox {
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
final class BucketState: Sendable {
    let client: BucketClient
    let cache: SealedFileCache
    let spoolFolder: String
    private let known = Mutex(KnownListing())
    /// The file that was read last: the engine opens a bundle twice.
    let last = Mutex<(path: MailboxPath, tag: String, spool: Spool)?>(nil)
    /// What the server has turned out not to know.
    let lacks = Mutex<Set<ServerAbility>>([])

    init(client: BucketClient, cache: SealedFileCache, spoolFolder: String) {
        self.client = client
        self.cache = cache
        self.spoolFolder = spoolFolder.hasSuffix("/") ? String(spoolFolder.dropLast()) : spoolFolder
    }

    func key(of path: MailboxPath) -> String { client.address.keyPrefix + path.description }

    /// What the bucket holds; nil before it was looked at.
    var listing: BucketListing? { known.withLock { $0.listing } }

    /// Notes that a file is there, or is not.
    func note(_ file: BucketListing.File?, at path: MailboxPath) {
        known.withLock { known in
            known.changeCount += 1
            known.listing?[path] = file
        }
    }

    /// Notes that nobody knows what is there now.
    func doubt() {
        known.withLock { known in
            known.changeCount += 1
            known.listing?.isStale = true
        }
    }

    /// Notes that the bucket is being looked at.
    ///
    /// - returns: What ``keep(_:from:)`` takes.
    func beginListing() -> KnownListing.Start { known.withLock { $0.begin() } }

    /// Keeps what was found in the bucket.
    ///
    /// - returns: Whether what was not found is not there.
    func keep(_ listing: BucketListing, from start: KnownListing.Start) -> Bool {
        known.withLock { $0.keep(listing, from: start) }
    }

    func has(_ ability: ServerAbility) -> Bool { lacks.withLock { !$0.contains(ability) } }
}

/// What not all servers can do.
enum ServerAbility: Sendable {
    /// To write a file only when there is none.
    case conditionalWrite
    /// To remove many files at once.
    case batchRemoval
}
