import Foundation
import Synchronization

@testable import SyncEngine

/// A folder that tells the versions of its files.
final class TellingFolder: Mailbox {
    private let folder: LocalFolder
    private let versions = Mutex<[MailboxPath: Int]>([:])

    init(path: String) { folder = LocalFolder(path: path) }

    var name: String { folder.name }
    var location: String { folder.location }
    func folders() throws -> [String] { try folder.folders() }

    func files(in name: String) throws -> [MailboxFile] {
        try folder.files(in: name).map { file in
            let path = MailboxPath(folder: name, name: file.name)
            let version = versions.withLock { $0[path] ?? 0 }
            return MailboxFile(name: file.name, byteCount: file.byteCount, version: "v\(version)")
        }
    }

    func open(_ path: MailboxPath) throws -> any MailboxReader { try folder.open(path) }

    func write(
        _ path: MailboxPath, replacing: Bool,
        _ body: (_ sink: @escaping (Data) throws -> Void) throws -> Void
    ) throws {
        try folder.write(path, replacing: replacing, body)
        changeVersion(of: path)
    }

    func remove(_ path: MailboxPath) throws { try folder.remove(path) }

    func changeVersion(of path: MailboxPath) { versions.withLock { $0[path, default: 0] += 1 } }
}
