import Foundation
import SyncEngine
import Testing

@testable import SyncctlCommands

@Suite struct FoundFolderTests {
    @Test(arguments: [true, false]) func itIsMadeOnceAtMost(isMade: Bool) throws {
        let folder = try TemporaryFolder()
        let path = folder.file("shared")
        let file = MailboxPath(folder: String(repeating: "0", count: 32), name: "head")
        let found = FoundFolder(path: path, isMade: isMade)
        if !isMade {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        }
        #expect(try found.folders().isEmpty)
        try found.write(file, replacing: true) { _ in }
        #expect(try found.folders().count == 1)
        try FileManager.default.removeItem(atPath: path)
        #expect(throws: MailboxError.self) { try found.folders() }
        #expect(throws: MailboxError.self) { try found.write(file, replacing: true) { _ in } }
        #expect(!FileManager.default.fileExists(atPath: path))
    }
}
