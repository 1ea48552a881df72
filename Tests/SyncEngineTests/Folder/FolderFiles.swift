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
