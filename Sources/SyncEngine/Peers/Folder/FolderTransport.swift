import CipherStore
import SyncMembers
import SyncWire

/// Synchronizes through a folder that files go through: on a stick, or kept equal on several
/// machines by Syncthing, Dropbox or a network mount.
///
/// ```swift
/// let folder = FolderTransport(path: "/media/stick/notes", passphrase: passphrase)
/// let report = try synchronizer.run(.both, folder)
/// ```
///
/// Each replica has a subfolder, and writes only there: encrypted bundles, which never change, and a head
/// that lists them. The folder is not trusted: a file that is incomplete, not authentic, of another database
/// or gone makes a synchronization incomplete, but never wrong. After a synchronization, a new replica can
/// learn from the folder all that this one knows. `Schemas/folder/v1.md` describes the files.
public struct FolderTransport: Sendable {
    /// When the bundles of a folder are replaced by a fresh one of everything.
    public typealias Compaction = MailboxTransport.Compaction

    /// The folder.
    public let path: String
    /// The same in general terms, with a ``LocalFolder``.
    public private(set) var transport: MailboxTransport

    /// When bundles are replaced.
    public var compaction: Compaction {
        get { transport.compaction }
        set { transport.compaction = newValue }
    }

    /// Makes a transport.
    ///
    /// - parameters:
    ///     - path: The folder. The first synchronization makes it; the folder that it is in has to exist.
    ///     - passphrase: What encrypts all files of the folder; the same for all replicas.
    ///     - cost: What trying a passphrase costs. It is paid once for each transport.
    public init(path: String, passphrase: borrowing Passphrase, cost: ScryptCost = .standard) {
        self.path = path
        transport = MailboxTransport(
            mailbox: LocalFolder(path: path), passphrase: passphrase, cost: cost)
    }

    /// A name for status lines, as `syncctl` spells it.
    public var name: String { transport.name }
}

/// What a synchronization through a folder, or another mailbox, did.
public struct FolderReport: Equatable, Sendable {
    /// This replica.
    public internal(set) var local: ReplicaID
    /// What came from the folder, or nil when nothing did.
    public internal(set) var pulled: SyncReport.Transfer?
    /// What was put into the folder, or nil when nothing was missing there.
    public internal(set) var pushed: SyncReport.Transfer?
    /// The replicas whose files were in the folder before this synchronization wrote.
    public internal(set) var replicas: [ReplicaID] = []
    /// Whether the bundles of this replica were replaced by a fresh one of everything.
    public internal(set) var isCompacted = false
    /// Whether the snapshot of this replica lay damaged in the folder, or was gone, and was written again.
    public internal(set) var isSnapshotRenewed = false
    /// What the ``remarks`` say of the snapshot of this replica, when it has to be written again.
    var snapshotRemark: String?
    /// Files that could not be used, and why. They are tried again the next time.
    public internal(set) var remarks: [String] = []
    /// What this store may do; nil when the database has no members, or this store is none of them.
    public internal(set) var role: MemberRole?
    /// The replicas whose files were not taken in, because of who wrote them. Empty in a database without members.
    public internal(set) var refused: [RefusedFiles] = []
    /// Those of them whose member was removed, as it was told before.
    var toldRemovals: Set<ReplicaID> = []
    /// How many changes of this replica were not sent, because it may not or can't write, and why; nil when all were.
    public internal(set) var unsent: UnsentChanges?
    /// The former replica id of this store, if it turned out to be copied or restored and got a new id.
    public internal(set) var renewedReplica: ReplicaID?
    /// Whether ``renewedReplica`` stays with another device of the members, as after a recovery, so that the file is no copy.
    public internal(set) var isRenewedForMember = false
    /// Why the contact could not be noted for the status, although the changes were exchanged; nil when it was.
    public internal(set) var unrecordedReason: String?

    /// All that is to be said about it, in sentences: the ``remarks``, whose files were ``refused``, and what is ``unsent``. That a
    /// member was removed is said once of each of its replicas.
    public var notes: [String] {
        let news = refused.filter { $0.reason != .removed || !toldRemovals.contains($0.replica) }
        return remarks + news.map(\.description) + (unsent.map { [$0.description] } ?? [])
    }
}
