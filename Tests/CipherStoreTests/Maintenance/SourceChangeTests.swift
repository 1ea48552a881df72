import Foundation
import Testing

@testable import CipherStore

/// Copies of a store that others change meanwhile.
@Suite struct SourceChangeTests {
    let folder: TemporaryFolder
    let path: String
    let queue: DatabaseQueue

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("notes.db")
        queue = try DatabaseQueue(path: path, configuration: .keyed("secret"))
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE note (body BLOB)")
            for _ in 0..<40 { try db.execute(sql: "INSERT INTO note VALUES (randomblob(3000))") }
        }
    }

    /// What is done by the checkpoint of a VACUUM.
    @Test func aFileThatIsCutOffWhileItsPagesAreReadEndsThere() throws {
        try queue.inDatabase { db in
            let key = try #require(db.encryptionKey)
            let size = key.settings.pageSize
            let file = try DatabaseFile(db.handle)
            let count = try file.byteCount() / size
            try #require(count > 20)
            var numbers: [Int] = []
            try file.forEachPage(size: size) { page, number in
                #expect(page?.count == size)
                numbers.append(number)
                // Another descriptor would drop the locks of the connection.
                if number == 5 { #expect(truncate(path, off_t(10 * size)) == 0) }
            }
            #expect(numbers == Array(1...10))
            let suspects = try StoreVerification.unauthenticPages(of: db, key: key, among: [3, 10, 11, count])
            #expect(suspects.isEmpty)
        }
    }

    @Test func onlyThePagesThatAreAskedForAreRead() throws {
        try queue.inDatabase { db in
            let size = try #require(db.encryptionKey).settings.pageSize
            var numbers: [Int] = []
            try DatabaseFile(db.handle).forEachPage(size: size, among: [9, 2, 1_000_000]) { _, number in
                numbers.append(number)
            }
            #expect(numbers == [2, 9])
        }
    }

    @Test func anErrorOfReadingIsNotCalledOneOfWriting() throws {
        for code in [ResultCode.SQLITE_IOERR_READ, .SQLITE_IOERR_SHORT_READ] {
            let error = StoreError.explaining(DatabaseError(resultCode: code), path: path)
            #expect((error as? StoreError)?.code == .cannotRead)
        }
        let error = StoreError.explaining(DatabaseError(resultCode: .SQLITE_IOERR_WRITE), path: path)
        #expect((error as? StoreError)?.code == .cannotWrite)
    }
}
