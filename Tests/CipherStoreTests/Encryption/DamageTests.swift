import CipherStore
import Foundation
import Testing

/// Damaged stores: whatever copies them must not give wrong bytes a valid MAC.
@Suite struct DamageTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A store whose last page, the end of a large value, was changed.
    private func damagedStore(byZeros: Bool) throws -> String {
        let path = folder.file("a.db")
        let queue = try DatabaseQueue(path: path, configuration: .keyed("old"))
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE t (id BLOB PRIMARY KEY, a BLOB)")
            try db.execute(
                sql: "INSERT INTO t VALUES (?, ?)", arguments: [UUID.v7(), Data(repeating: 7, count: 40_000)])
        }
        try queue.close()
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        for index in (bytes.count - 4096)..<bytes.count { bytes[index] = byZeros ? 0 : bytes[index] ^ 0x55 }
        try bytes.write(to: URL(fileURLWithPath: path))
        return path
    }

    @Test(arguments: [false, true]) func rekeyRefusesADamagedStore(byZeros: Bool) throws {
        let path = try damagedStore(byZeros: byZeros)
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        let error = #expect(throws: StoreError.self) {
            try StoreRekey.run(path: path, from: Passphrase("old"), to: Passphrase("new"))
        }
        #expect(error?.code == .damaged)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
        #expect(try folder.contents() == ["a.db"])
    }

    @Test(arguments: [false, true]) func aCopyOfADamagedStoreIsRefused(byZeros: Bool) throws {
        let path = try damagedStore(byZeros: byZeros)
        let queue = try DatabaseQueue(path: path, configuration: .keyed("old"))
        let error = #expect(throws: StoreError.self) {
            try queue.writeWithoutTransaction {
                try StoreCopy.make(of: $0, at: folder.file("copy.db"), passphrase: Passphrase("new"))
            }
        }
        #expect(error?.code == .damaged)
        #expect(try folder.contents() == ["a.db"])
    }

    @Test func aRekeyThatIsCancelledLeavesTheJournalModeAndOtherFilesAlone() throws {
        let path = folder.file("w.db")
        var configuration = Configuration.keyed("old")
        configuration.journalMode = .wal
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.write { try $0.execute(sql: "CREATE TABLE t (x)") }
        try queue.close()
        try Data("mine".utf8).write(to: URL(fileURLWithPath: path + ".rekey-notes.txt"))
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            try StoreRekey.run(path: path, from: Passphrase("old"), to: Passphrase("new")) { _ in throw Stop()
            }
        }
        let again = try DatabaseQueue(path: path, configuration: .keyed("old"))
        #expect(try again.read { try String.fetchOne($0, sql: "PRAGMA journal_mode") } == "wal")
        #expect(FileManager.default.fileExists(atPath: path + ".rekey-notes.txt"))
    }

    /// A counter and a date are hexadecimal, too.
    @Test(arguments: ["copy", "rekey", "import"]) func aRekeyRemovesWhatAKilledOneLeftAndNoBackup(
        purpose: String
    ) throws {
        let path = folder.file("n.db")
        let queue = try DatabaseQueue(path: path, configuration: .keyed("old"))
        try queue.write { try $0.execute(sql: "CREATE TABLE t (x)") }
        try queue.close()
        let mine = ["1", "20261130", "20261130-wal", "1796011200000000"].map { path + ".\(purpose)-\($0)" }
        let leftover = path + ".\(purpose)-0123456789abcdef"
        for name in mine + [leftover] { try Data("mine".utf8).write(to: URL(fileURLWithPath: name)) }
        try StoreRekey.run(path: path, from: Passphrase("old"), to: Passphrase("new"))
        for name in mine { #expect(FileManager.default.fileExists(atPath: name)) }
        #expect(!FileManager.default.fileExists(atPath: leftover))
        #expect(StoreLeftovers.find(beside: path) == [])
        let found = StoreLeftovers.doubtful(beside: path).map { URL(fileURLWithPath: $0).lastPathComponent }
        #expect(found == mine.map { URL(fileURLWithPath: $0).lastPathComponent }.sorted())
    }

    @Test(arguments: ["join", "vacuum", "archive", "copy"])
    func aSecondNameThatAKillLeftDoesNotOutliveARekey(purpose: String) throws {
        let path = folder.file("n.db")
        let queue = try DatabaseQueue(path: path, configuration: .keyed("old"))
        try queue.write { try $0.execute(sql: "CREATE TABLE t (x)") }
        try queue.close()
        let second = path + ".\(purpose)-0123456789abcdef"
        let mine = folder.file("backup.db")
        let mineByNumber = path + ".\(purpose)-1"
        for name in [second, mine, mineByNumber] {
            try FileManager.default.linkItem(atPath: path, toPath: name)
        }
        // One of another file, which somebody may be making.
        let other = path + ".join-00000000000000ab"
        try Data("other".utf8).write(to: URL(fileURLWithPath: other))
        try StoreRekey.run(path: path, from: Passphrase("old"), to: Passphrase("new"))
        #expect(!FileManager.default.fileExists(atPath: second))
        // A hard link of another name is somebody's backup.
        for name in [mine, mineByNumber, other] { #expect(FileManager.default.fileExists(atPath: name)) }
        let again = try DatabaseQueue(path: path, configuration: .keyed("new"))
        #expect(try again.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 0)
    }

    @Test func twoConnectionsToANewFileShareItsKey() throws {
        let one = try DatabaseQueue(path: folder.file("new.db"), configuration: .keyed("same"))
        let two = try DatabaseQueue(path: folder.file("new.db"), configuration: .keyed("same"))
        try one.write { try $0.execute(sql: "CREATE TABLE t (x)") }
        try two.write { try $0.execute(sql: "INSERT INTO t VALUES (1)") }
        #expect(try one.read { try Int.fetchOne($0, sql: "SELECT x FROM t") } == 1)
    }
}
