import SyncEngine
import Synchronization

/// The file that was read last: the engine opens a bundle twice.
///
/// One that waits on the disk is let go as soon as it was read, since nobody sees what takes up the room there.
package final class LastSpool: Sendable {
    private let kept = Mutex<(path: MailboxPath, tag: String, spool: Spool)?>(nil)

    /// Holds nothing yet.
    package init() {}

    /// Keeps a file instead of the one before.
    package func keep(_ spool: Spool, of path: MailboxPath, tag: String) {
        kept.withLock { $0 = (path, tag, spool) }
    }

    /// The bytes of a version of a file; nil when it is another one that is kept.
    package func content(of path: MailboxPath, tag: String) -> Spool? {
        kept.withLock { kept in kept.flatMap { $0.path == path && $0.tag == tag ? $0.spool : nil } }
    }

    /// Lets go of a file on the disk.
    ///
    /// - parameter spool: The only file that is meant; nil for whichever is kept.
    package func release(_ spool: Spool? = nil) {
        kept.withLock { kept in
            guard let held = kept?.spool, held.isOnDisk, spool == nil || held === spool else { return }
            kept = nil
        }
    }

    /// Reads a file, and lets go of it at its end.
    package func reader(of spool: Spool) -> SpoolReader {
        SpoolReader(spool) { [self] in release(spool) }
    }
}
