import Foundation
import Testing

@testable import CipherStore

@Suite struct CipherInformationTests {
    @Test func theLibraryTellsWhatItIs() throws {
        let folder = try TemporaryFolder()
        let queue = try DatabaseQueue(path: folder.file("a.db"), configuration: .keyed("secret"))
        try queue.read { db in
            let version = try db.cipherVersion
            let provider = try db.cipherProvider
            let providerVersion = try db.cipherProviderVersion
            #expect(version == EngineFeatures.current.cipherVersion)
            #expect(provider?.isEmpty == false)
            #expect(providerVersion?.isEmpty == false)
        }
    }

    @Test func theLogGoesWhereItIsSentOrSaysThatThereIsNone() throws {
        let folder = try TemporaryFolder()
        let queue = try DatabaseQueue(path: folder.file("a.db"), configuration: .keyed("secret"))
        try queue.inDatabase { db in
            guard EngineFeatures.current.supportsFormat4 else {
                let error = #expect(throws: DatabaseError.self) {
                    try db.enableCipherLogging()
                }
                #expect(error?.resultCode == .SQLITE_MISUSE)
                return
            }
            try db.enableCipherLogging(logLevel: .error, target: .file(folder.file("it's a log.txt")))
            defer { try? db.enableCipherLogging(logLevel: .none, target: .stderr) }
            let contents = try folder.contents()
            #expect(contents.contains("it's a log.txt"))
        }
    }
}
