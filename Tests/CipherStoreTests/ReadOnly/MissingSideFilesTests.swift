import Foundation
import Testing

@testable import CipherStore

/// What an opening that failed leaves beside a database goes, unless it is of use to somebody.
@Suite struct MissingSideFilesTests {
    private let folder: TemporaryFolder
    private var path: String { folder.file("a.db") }

    init() throws {
        folder = try TemporaryFolder()
        let queue = try open()
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
        try queue.close()
    }

    private func open() throws -> DatabaseQueue {
        var configuration = Configuration.keyed("secret")
        configuration.journalMode = .wal
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    private func write(_ content: Data, _ suffix: String) throws {
        try content.write(to: URL(fileURLWithPath: path + suffix))
    }

    @Test(arguments: [0, 3]) func filesWithoutContentAreRemoved(indexByteCount: Int) throws {
        let link = folder.file("link.db")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        for name in [path, link] {
            let missing = MissingSideFiles(name)
            try write(Data(), "-wal")
            try write(Data(count: indexByteCount), "-shm")
            missing.removeUnused()
            #expect(try folder.contents() == ["a.db", "link.db"])
        }
        let queue = try open()
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 1)
        try queue.close()
    }

    @Test func whatWasThereOrHasContentStays() throws {
        var missing = MissingSideFiles(path)
        try write(Data([1]), "-wal")
        try write(Data(), "-shm")
        missing.removeUnused()
        #expect(try folder.contents() == ["a.db", "a.db-shm", "a.db-wal"])
        try write(Data(), "-wal")
        missing = MissingSideFiles(path)
        missing.removeUnused()
        #expect(try folder.contents() == ["a.db", "a.db-shm", "a.db-wal"])
    }

    @Test func whatAnotherConnectionUsesStays() throws {
        let missing = MissingSideFiles(path)
        let queue = try open()
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 1)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path + "-wal")).isEmpty)
        missing.removeUnused()
        #expect(try folder.contents() == ["a.db", "a.db-shm", "a.db-wal"])
        try queue.write { try $0.execute(sql: "INSERT INTO t VALUES (2)") }
        try queue.close()
        let again = try open()
        #expect(try again.read { try Int.fetchOne($0, sql: "SELECT max(a) FROM t") } == 2)
        try again.close()
    }
}
