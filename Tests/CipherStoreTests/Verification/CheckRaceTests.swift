import Foundation
import Testing

@testable import CipherStore

/// Checks of stores in which somebody begins to write meanwhile.
@Suite struct CheckRaceTests {
    let folder: TemporaryFolder
    let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("a.db")
    }

    private func bytes(_ path: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }

    /// A process that writes during the check and is killed leaves frames in the WAL. Whoever opens the
    /// store next copies them into the file; the check does not.
    @Test func aWALThatComesDuringTheCheckIsNotCopiedIntoTheFile() throws {
        let queue = try CheckedStore.make(path, rows: 60, isWAL: true)
        try queue.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
        let rest = try bytes(path)
        try queue.write { try $0.execute(sql: "CREATE TABLE late (a)") }
        let wal = try bytes(path + "-wal")
        try queue.close()
        try rest.write(to: URL(fileURLWithPath: path))
        func write(_: Database) throws -> [StoreProblem] {
            let file = try #require(FileHandle(forWritingAtPath: path + "-wal"))
            try file.write(contentsOf: wal)
            try file.close()
            return []
        }
        let report = try StoreCheck.run(
            path: path, opening: KeySlotSecret(Passphrase("secret")), isDeep: false, further: write)
        #expect(report.problems == [])
        #expect(try bytes(path) == rest)
        #expect(try bytes(path + "-wal") == wal)
        // The frames are as good as ever.
        let again = try DatabaseQueue(path: path, configuration: .keyed("secret"))
        #expect(try again.read { try $0.tableExists("late") })
    }

    /// What no connection could lock may be written at any time; the page is read again until it is whole.
    @Test func aPageThatIsBeingWrittenIsReadUntilItIsWhole() throws {
        let queue = try CheckedStore.make(path, rows: 60)
        let key = try #require(queue.inDatabase { $0.encryptionKey })
        try queue.close()
        let good = try bytes(path)
        var torn = good
        torn[3 * 4096 + 7] ^= 1
        try torn.write(to: URL(fileURLWithPath: path))
        let handle = try SQLiteHandle.open(path: path, readonly: true, creates: false, isURI: false)
        defer { SQLiteHandle.close(handle) }
        var pauses = 0
        let pages = try StorePages(handle: handle, path: path, key: key) { _ in
            pauses += 1
            guard pauses == 4, let file = FileHandle(forWritingAtPath: path) else { return }
            try? file.write(contentsOf: good)
            try? file.close()
        }
        // The writer comes after the check has begun.
        try Data([0]).write(to: URL(fileURLWithPath: path + "-journal"))
        var report = StoreCheckReport(limit: 10)
        #expect(try pages.check(&report, progress: nil) == [])
        #expect(pauses == 4)
        #expect(report.isSound)
    }
}
