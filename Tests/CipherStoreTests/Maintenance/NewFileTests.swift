import Foundation
import Testing

@testable import CipherStore

/// Files that are built under a temporary name.
@Suite struct NewFileTests {
    let folder: TemporaryFolder
    let victim: String

    init() throws {
        folder = try TemporaryFolder()
        victim = folder.file("victim")
        try Data("kept".utf8).write(to: URL(fileURLWithPath: victim))
    }

    /// A new file that somebody with access to the folder took away, and put a link in its place.
    private func exchangedFile() throws -> FileReplacement {
        let file = try FileReplacement(destination: folder.file("new"), purpose: "test")
        try FileManager.default.removeItem(atPath: file.temporary)
        try FileManager.default.createSymbolicLink(atPath: file.temporary, withDestinationPath: victim)
        return file
    }

    private func requireUntouchedVictim() throws {
        let content = try Data(contentsOf: URL(fileURLWithPath: victim))
        #expect(content == Data("kept".utf8))
    }

    @Test func whatIsWrittenDoesNotGoWhereALinkInItsPlaceLeads() throws {
        let file = try exchangedFile()
        let error = #expect(throws: StoreError.self) {
            try OutputDescriptor(file).write(Data("lost".utf8))
        }
        #expect(error?.code == .cannotWrite)
        try requireUntouchedVictim()
    }

    @Test func thePagesOfARekeyDoNotGoWhereALinkInTheirPlaceLeads() throws {
        let queue = try DatabaseQueue(path: folder.file("a.db"), configuration: .keyed("secret"))
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        let file = try exchangedFile()
        try queue.inDatabase { db throws in
            let key = try #require(db.encryptionKey)
            let copy = try RekeyedCopy(of: db, to: file, from: key, to: key)
            let error = #expect(throws: StoreError.self) { try copy.write(progress: nil) }
            #expect(error?.code == .cannotWrite)
        }
        try requireUntouchedVictim()
    }

    /// A file system can be full for a new name, too.
    @Test(arguments: [ENOSPC, EDQUOT]) func aFullDiskIsToldFromOtherReasonsNotToMakeAFile(errorNumber: CInt) {
        #expect(StoreFile.creationError(errorNumber, path: victim).code == .full)
        #expect(StoreFile.creationError(EACCES, path: victim).code == .cannotWrite)
    }
}
