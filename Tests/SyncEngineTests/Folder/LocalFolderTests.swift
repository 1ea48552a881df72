import Foundation
import Testing

@testable import SyncEngine

@Suite struct LocalFolderTests {
    /// Whoever may write a file of the folder chooses its time.
    @Test(arguments: [9.3e15, -9.3e15, 1e300, .infinity, -.infinity, .nan])
    func aTimeThatIsNoNumberOfMillisecondsIsNone(seconds: Double) {
        #expect(LocalFolder.milliseconds(seconds) == nil)
    }

    @Test func timesAreWholeMilliseconds() {
        #expect(LocalFolder.milliseconds(1.5009) == 1500)
        #expect(LocalFolder.milliseconds(0) == 0)
        #expect(LocalFolder.milliseconds(-1) == -1000)
    }

    @Test func aFolderThatIsNotToBeMadeIsMissing() throws {
        let path = NSTemporaryDirectory() + "localfolder-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: path) }
        let file = MailboxPath(folder: String(repeating: "0", count: 32), name: "head")
        let found = LocalFolder(path: path, isMade: false)
        let listing = #expect(throws: MailboxError.self) { try found.folders() }
        let writing = #expect(throws: MailboxError.self) { try found.write(file, replacing: true) { _ in } }
        #expect(listing?.code == .missing && writing?.code == .missing)
        #expect(!FileManager.default.fileExists(atPath: path))
        let folder = LocalFolder(path: path)
        #expect(try folder.folders().isEmpty)
        try folder.write(file, replacing: true) { _ in }
        #expect(try found.folders().count == 1)
    }
}
