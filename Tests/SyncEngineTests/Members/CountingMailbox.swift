import Foundation
import Synchronization

@testable import SyncEngine

/// A mailbox that counts what is opened, and can fail at a write as if the process had been killed there.
final class CountingMailbox: Mailbox {
    struct Killed: Error {}

    private let mailbox: any Mailbox
    let opened = Mutex<[MailboxPath]>([])
    let written = Mutex<[MailboxPath]>([])
    /// How many writes are left; nil for any number.
    let writesLeft = Mutex<Int?>(nil)

    init(_ mailbox: any Mailbox) { self.mailbox = mailbox }

    var name: String { mailbox.name }
    var location: String { mailbox.location }
    func folders() throws -> [String] { try mailbox.folders() }
    func files(in folder: String) throws -> [MailboxFile] { try mailbox.files(in: folder) }

    func open(_ path: MailboxPath) throws -> any MailboxReader {
        opened.withLock { $0.append(path) }
        return try mailbox.open(path)
    }

    func write(
        _ path: MailboxPath, replacing: Bool,
        _ body: (_ sink: @escaping (Data) throws -> Void) throws -> Void
    ) throws {
        let isLeft = writesLeft.withLock { left in
            guard let count = left else { return true }
            left = count - 1
            return count > 0
        }
        guard isLeft else { throw Killed() }
        try mailbox.write(path, replacing: replacing, body)
        written.withLock { $0.append(path) }
    }

    func remove(_ path: MailboxPath) throws { try mailbox.remove(path) }
}
