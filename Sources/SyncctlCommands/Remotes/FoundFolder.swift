import Foundation
import SyncEngine
import Synchronization

/// A folder that was there when a command began, or was made by it, and is made by nobody afterwards: where it is gone, its drive is.
final class FoundFolder: Mailbox {
    private let folder: Mutex<LocalFolder>

    /// Makes a mailbox.
    ///
    /// - parameters:
    ///     - path: The folder.
    ///     - isMade: Whether the first write makes the folder, where it is not there yet.
    init(path: String, isMade: Bool) { folder = Mutex(LocalFolder(path: path, isMade: isMade)) }

    private var current: LocalFolder { folder.withLock { $0 } }

    var name: String { current.name }
    var location: String { current.location }
    func folders() throws -> [String] { try current.folders() }
    func files(in folder: String) throws -> [MailboxFile] { try current.files(in: folder) }
    func open(_ path: MailboxPath) throws -> any MailboxReader { try current.open(path) }
    func remove(_ path: MailboxPath) throws { try current.remove(path) }

    func write(
        _ path: MailboxPath, replacing: Bool,
        _ body: (_ sink: @escaping (Data) throws -> Void) throws -> Void
    ) throws {
        let current = self.current
        try current.write(path, replacing: replacing, body)
        folder.withLock { $0 = LocalFolder(path: current.path, isMade: false) }
    }
}
