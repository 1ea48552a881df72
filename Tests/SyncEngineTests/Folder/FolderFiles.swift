import Foundation

@testable import SyncEngine

extension FolderPaths {
    /// The size of a regular file; nil when there is none.
    static func byteCount(_ path: String) -> Int? {
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: path),
            attributes[.type] as? FileAttributeType == .typeRegular
        else { return nil }
        return (attributes[.size] as? NSNumber)?.intValue
    }
}

extension FolderHead {
    /// Reads a head by its place in the file system.
    static func read(_ path: String, _ folder: FolderTransport) throws -> FolderHead {
        let url = URL(fileURLWithPath: path)
        return try read(
            MailboxPath(
                folder: url.deletingLastPathComponent().lastPathComponent, name: url.lastPathComponent),
            folder.transport)
    }
}

/// A folder in which something else happens before a bundle is written, once.
final class InterruptedFolder: Mailbox, @unchecked Sendable {
    private let folder: LocalFolder
    /// Used by the thread of one synchronization.
    var interruption: (() throws -> Void)?

    init(folder: LocalFolder) { self.folder = folder }

    var name: String { folder.name }
    var location: String { folder.location }
    func folders() throws -> [String] { try folder.folders() }
    func files(in name: String) throws -> [MailboxFile] { try folder.files(in: name) }
    func open(_ path: MailboxPath) throws -> any MailboxReader { try folder.open(path) }

    func write(
        _ path: MailboxPath, replacing: Bool,
        _ body: (_ sink: @escaping (Data) throws -> Void) throws -> Void
    ) throws {
        if path.name.hasSuffix(".bundle"), let interruption {
            self.interruption = nil
            try interruption()
        }
        try folder.write(path, replacing: replacing, body)
    }

    func remove(_ path: MailboxPath) throws { try folder.remove(path) }
}
