import Foundation
import SyncEngine
import Synchronization

/// Files of a mailbox that need not be read again as long as its listing names the same version: in memory, and where a
/// folder is given there too, for the next process.
///
/// They are sealed, as they lie in the mailbox. Who changes them does no more than the mailbox can do. What can't be kept
/// is read again.
package final class SealedFileCache: Sendable {
    /// More bytes than any head has: 16 MiB of content, an eighth of padding, and the seals of its chunks.
    package static let headByteCountMax = 19 << 20
    /// Of other files only small ones are kept.
    private static let fileByteCountMax = 256 << 10
    /// The most that is kept in memory.
    private static let memoryByteCountMax = 64 << 20
    private static let mark = "cipherstore-bucket-cache 1"

    private struct Entry {
        let tag: String
        let content: Data
    }

    private struct State {
        var entries: [MailboxPath: Entry] = [:]
        var byteCount = 0
    }

    private let state = Mutex(State())
    private let folder: String?

    /// - parameters:
    ///     - folder: Where caches are; nil for none on the disk.
    ///     - identity: What tells the mailbox from others.
    package init(folder: String?, identity: String) {
        self.folder = folder.map { $0 + "/" + RequestSignature.digest(Data(identity.utf8)).prefix(32) }
    }

    /// Whether a file is kept: snapshots are read once, and so are bundles unless no head names them.
    package static func keeps(_ path: MailboxPath, _ byteCount: Int) -> Bool {
        if path.name == "head" { return byteCount <= headByteCountMax }
        return path.name.hasSuffix(".bundle") && byteCount <= fileByteCountMax
    }

    /// A version of a file; nil when it isn't kept.
    package func content(of path: MailboxPath, tag: String) -> Data? {
        if let entry = state.withLock({ $0.entries[path] }), entry.tag == tag { return entry.content }
        guard let content = read(path, tag) else { return nil }
        remember(path, Entry(tag: tag, content: content))
        return content
    }

    /// Keeps a version of a file instead of an earlier one.
    package func keep(_ content: Data, of path: MailboxPath, tag: String) {
        guard Self.keeps(path, content.count) else { return }
        remember(path, Entry(tag: tag, content: content))
        guard let folder, let file = file(path) else { return }
        let header = "\(Self.mark)\n\(tag)\n\(RequestSignature.digest(content))\n"
        let manager = FileManager.default
        try? manager.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try? (Data(header.utf8) + content).write(to: URL(fileURLWithPath: file), options: .atomic)
    }

    /// Forgets what is no longer in the mailbox.
    package func forgetAll(but isThere: (MailboxPath) -> Bool) {
        state.withLock { state in
            for (path, entry) in state.entries where !isThere(path) {
                state.entries[path] = nil
                state.byteCount -= entry.content.count
            }
        }
        guard let folder, let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
            return
        }
        for name in names {
            let parts = name.split(separator: "_", maxSplits: 1)
            guard parts.count == 2,
                isThere(MailboxPath(folder: String(parts[0]), name: String(parts[1])))
            else {
                try? FileManager.default.removeItem(atPath: folder + "/" + name)
                continue
            }
        }
    }

    private func remember(_ path: MailboxPath, _ entry: Entry) {
        state.withLock { state in
            state.byteCount -= state.entries[path]?.content.count ?? 0
            state.entries[path] = nil
            guard state.byteCount + entry.content.count <= Self.memoryByteCountMax else { return }
            state.entries[path] = entry
            state.byteCount += entry.content.count
        }
    }

    /// Where a file is kept; nil for one whose name is not that of a file of a replica.
    private func file(_ path: MailboxPath) -> String? {
        func isPlain(_ text: String) -> Bool {
            (1...64).contains(text.utf8.count) && !text.hasPrefix(".")
                && text.utf8.allSatisfy {
                    (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) || $0 == 0x2D || $0 == 0x2E
                }
        }
        guard let folder, isPlain(path.folder), isPlain(path.name) else { return nil }
        return "\(folder)/\(path.folder)_\(path.name)"
    }

    private func read(_ path: MailboxPath, _ tag: String) -> Data? {
        guard let file = file(path), let handle = FileHandle(forReadingAtPath: file) else { return nil }
        defer { try? handle.close() }
        guard let data = try? handle.read(upToCount: Self.headByteCountMax + 1024) else { return nil }
        let parts = data.split(separator: 0x0A, maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 4, parts[0].elementsEqual(Self.mark.utf8), parts[1].elementsEqual(tag.utf8)
        else {
            return nil
        }
        let content = Data(parts[3])
        guard parts[2].elementsEqual(RequestSignature.digest(content).utf8) else { return nil }
        return content
    }
}
