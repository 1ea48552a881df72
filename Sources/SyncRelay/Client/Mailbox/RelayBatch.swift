import Foundation
import SyncBucket
import SyncEngine
import Synchronization

/// Changes of a channel that wait until they are made by one request.
final class RelayBatch: MailboxBatch {
    /// The most bytes that wait: their document has at most `RelayBounds.changesByteCountMax` bytes in base64.
    static let byteCountMax = 2 << 20

    private struct Waiting {
        var writes: [RelayChange.Write] = []
        var removed: [MailboxPath] = []
        /// What one request has no room for.
        var removedLater: [MailboxPath] = []

        var byteCount: Int { writes.reduce(0) { $0 + $1.spool.byteCount } }
        var room: Int { RelayBounds.changeCountMax - writes.count - removed.count }
    }

    private let mailbox: RelayMailbox
    private let change: RelayChange
    private let waiting = Mutex(Waiting())

    init(_ mailbox: RelayMailbox, _ change: RelayChange) { (self.mailbox, self.change) = (mailbox, change) }

    var name: String { mailbox.name }
    var location: String { mailbox.location }

    func folders() throws -> [String] { try mailbox.folders() }

    func files(in folder: String) throws -> [MailboxFile] { try mailbox.files(in: folder) }

    func open(_ path: MailboxPath) throws -> any MailboxReader { try mailbox.open(path) }

    func write(
        _ path: MailboxPath, replacing: Bool,
        _ body: (_ sink: @escaping (Data) throws -> Void) throws -> Void
    ) throws {
        let spool = Spool(folder: change.state.spoolFolder)
        try body { try spool.append($0) }
        _ = try change.state.name(of: path)
        let fits = waiting.withLock { waiting in
            guard spool.byteCount <= Self.byteCountMax - waiting.byteCount, waiting.room > 0 else {
                return false
            }
            waiting.writes.append(.init(path: path, isReplacing: replacing, spool: spool))
            return true
        }
        if fits { return }
        try commit()
        try change.write(spool, path, replacing: replacing)
    }

    func remove(_ path: MailboxPath) throws { try remove([path]) }

    /// Removes files together with what waits, and at once when nothing does.
    func remove(_ paths: [MailboxPath]) throws {
        // A name that a relay does not take would keep back the rest.
        for path in paths { _ = try change.state.name(of: path) }
        let waits = waiting.withLock { waiting in
            guard !waiting.writes.isEmpty else { return false }
            // What is written and removed again was never there: removals are made first.
            waiting.writes.removeAll { paths.contains($0.path) }
            let room = waiting.room
            waiting.removed += paths.prefix(room)
            waiting.removedLater += paths.dropFirst(room)
            return true
        }
        if !waits { try mailbox.remove(paths) }
    }

    func commit() throws {
        let waiting = waiting.withLock { waiting in
            defer { waiting = Waiting() }
            return waiting
        }
        try change.make(waiting.writes, removing: waiting.removed)
        // The changes are made: that must not read as a failure. What stays is removed the next time.
        if !waiting.removedLater.isEmpty { try? mailbox.remove(waiting.removedLater) }
    }
}
