import CipherStore
import SyncMembers
import SyncWire

/// Synchronizes through a ``Mailbox``: a place that keeps files, and that no replica has to trust.
///
/// ```swift
/// let transport = MailboxTransport(mailbox: LocalFolder(path: "/media/stick/notes"), passphrase: passphrase)
/// let report = try synchronizer.run(.both, transport)
/// ```
///
/// Each replica has a folder there, and writes only into it: encrypted bundles, which never change, and a
/// head that lists them. A file that is incomplete, not authentic, of another database or gone makes a
/// synchronization incomplete, but never wrong. After a synchronization, a new replica can learn from the
/// mailbox all that this one knows. `Schemas/folder/v1.md` describes the files.
public struct MailboxTransport: Sendable {
    /// When bundles are replaced by a fresh one of everything.
    public struct Compaction: Sendable {
        /// The number of bundles beside the one of everything.
        public var bundleCountMax = 64
        /// Their size in bytes, unless that of the bundle of everything is larger.
        public var byteCountMax = 1 << 20
        /// The size that a head may have with one more bundle. It lists vectors, so many replicas make it long.
        var headByteCountMax = FolderHead.byteCountMax / 4 * 3

        /// Makes the default: 64 bundles, or more bytes than 1 MiB and than the bundle of everything.
        public init() {}
    }

    /// Where the files are.
    public package(set) var mailbox: any Mailbox
    /// When bundles are replaced.
    public var compaction = Compaction()
    /// How long, in seconds, others may wait to hear that this replica has read their changes, when it has nothing else
    /// to say. Until then it writes nothing: where each file that is written or read costs something, `n` replicas read
    /// an edit with `n` files, and not with `n` times `n`. More than a day counts as a day.
    public var acknowledgementSeconds = 0.0

    /// What is added to the files of a synchronization: what the store remembers.
    var padding = SealedFilePadding.none

    private var passphrase: SharedPassphrase
    /// The epoch in which files are written, in a store with members.
    private var epoch: StatementID?

    /// Makes a transport.
    ///
    /// - parameters:
    ///     - mailbox: Where the files are.
    ///     - passphrase: What encrypts all of them; the same for all replicas.
    ///     - cost: What trying a passphrase costs. It is paid once for each transport.
    public init(mailbox: any Mailbox, passphrase: borrowing Passphrase, cost: ScryptCost = .standard) {
        self.mailbox = mailbox
        self.passphrase = SharedPassphrase(passphrase, cost: cost)
    }

    /// A name for status lines: the mailbox's.
    public var name: String { mailbox.name }

    /// The same, whose calls end with a synchronization that is cancelled, if the mailbox can do that.
    func cancelled(by cancellation: SyncCancellation?) -> MailboxTransport {
        guard let cancellation, let mailbox = mailbox as? any CancellableMailbox else { return self }
        var transport = self
        transport.mailbox = mailbox.cancelled(by: cancellation)
        return transport
    }

    var place: MailboxAccess { MailboxAccess(mailbox: mailbox) }

    var acknowledgementMilliseconds: Int64 {
        Int64(exactly: (max(0, acknowledgementSeconds) * 1000).rounded()) ?? .max
    }

    /// What opens the files.
    var secret: ArchiveSecret { ArchiveSecret(passphrase) }

    /// Says whose files matter: those of other databases can't keep them from being opened.
    func expectFiles(of store: StoreID) { passphrase.expect(group: store.bytes) }

    /// Whether files under further salts are not tried, because that takes long.
    var triesNoOthers: Bool { passphrase.isExhausted }

    /// What locks the files that are written.
    func lock(_ store: StoreID) -> ArchiveLock {
        guard let epoch else { return ArchiveLock(passphrase, group: store.bytes) }
        return ArchiveLock(passphrase, salt: epoch.fileSalt)
    }

    /// The same, which opens files of epochs, too. The transport that an app has opens none of
    /// them, although it remembers what was derived.
    func opening(_ epochs: SharedPassphrase.GroupSecrets) -> MailboxTransport {
        var transport = self
        transport.passphrase = SharedPassphrase(passphrase, groups: epochs)
        return transport
    }

    /// The same, which opens what is under the mailbox's own passphrase, of whichever database, and no files of epochs.
    func openingNoEpochs() -> MailboxTransport {
        var transport = self
        (transport.passphrase, transport.epoch) = (passphrase.withoutGroups, nil)
        return transport
    }

    /// The same, which writes in an epoch that it opens.
    func writing(in epoch: StatementID) -> MailboxTransport {
        var transport = self
        transport.epoch = epoch
        return transport
    }

    /// Whether a salt is that of the files under the mailbox's own passphrase.
    func isOwn(_ salt: [UInt8]?, _ store: StoreID) -> Bool {
        salt == nil || salt == SharedPassphrase.salt(ofFilesOf: store.bytes)
    }

    /// Opens a bundle.
    ///
    /// - throws: ``StoreError`` for the file; ``MailboxError`` of code `unreachable`.
    func open(_ bundle: MailboxPath) throws -> SealedFileReader {
        try open(bundle, digest: nil).reader
    }

    /// Opens a bundle whose bytes have to be those that were signed.
    ///
    /// - parameter digest: The SHA-256; nil when any bytes are right.
    func open(
        _ bundle: MailboxPath, digest: String?
    ) throws -> (reader: SealedFileReader, source: DigestedSource) {
        let source = DigestedSource(try place.open(bundle), expected: digest)
        let location = place.location(of: bundle)
        guard try SealedFileReader.isSealed(source) else {
            throw StoreError(
                .encryptionMismatch, "the file is not encrypted, or is no bundle", path: location)
        }
        return (
            try SealedFileReader(source, path: location, kind: BundleFile.kind, opening: secret), source
        )
    }
}
