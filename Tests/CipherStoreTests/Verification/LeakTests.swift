import Foundation
import Testing

@testable import CipherStore

/// Secrets and rows that are planted must not be found in any file, trace or error.
@Suite struct LeakTests {
    static let row = "heron-8231-row"
    static let passphrases = ["heron-8231-first", "heron-8231-second", "heron-8231-archive"]

    let folder: TemporaryFolder
    let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("a.db")
    }

    /// The files of the folder in which a secret stands.
    private func leaks(_ recovery: [UInt8]? = nil) throws -> [String] {
        let secrets =
            ([Self.row] + Self.passphrases + ["SQLite format 3"]).map { Data($0.utf8) }
            + (recovery.map { [Data($0)] } ?? [])
        return try folder.contents().filter { name in
            let content = try Data(contentsOf: URL(fileURLWithPath: folder.file(name)))
            return secrets.contains { content.range(of: $0) != nil }
        }
    }

    @Test(arguments: [Configuration.JournalModeConfiguration.default, .wal]) func filesHoldNoSecrets(
        mode: Configuration.JournalModeConfiguration
    ) throws {
        var traced: [String] = []
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.usePassphrase(Self.passphrases[0]) }
        configuration.journalMode = mode
        configuration.cacheKibibytes = 16
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.writeWithoutTransaction { db in
            db.trace(options: [.statement, .profile]) { traced.append("\($0)") }
            try db.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT); CREATE INDEX i ON t (a)")
            // A large transaction spills into the file and the journal, which some engines are kept from; sorts and
            // temporary tables need room.
            try db.execute(sql: "PRAGMA cache_spill = 1")
            try db.inTransaction {
                for number in 0..<2000 {
                    try db.execute(
                        sql: "INSERT INTO t (a) VALUES (?)",
                        arguments: ["\(number) " + Self.row + String(repeating: "x", count: 100)])
                }
                try db.execute(sql: "UPDATE t SET a = a || 'y'")
                try db.execute(sql: "CREATE TEMP TABLE s AS SELECT * FROM t ORDER BY a DESC")
                #expect(try leaks() == [])
                let names = Set(try folder.contents())
                #expect(names.contains(mode == .wal ? "a.db-wal" : "a.db-journal"))
                return .commit
            }
            #expect(try leaks() == [])
            try db.restrictedToUntrustedSQL { () throws -> Void in
                _ = try? db.execute(sql: "ATTACH 'b.db' AS b KEY '\(Self.passphrases[1])'")
            }
            _ = try? db.execute(sql: "PRAGMA key = '\(Self.passphrases[1])'; SELECT")
        }
        try queue.close()
        #expect(traced.contains { $0.contains("INSERT INTO t") })
        let shown = traced.joined(separator: "\n")
        #expect(!Self.passphrases.contains { shown.contains($0) } && !shown.contains(Self.row))
        #expect(try leaks() == [])
    }

    @Test func keysArchivesAndChecksLeaveNoSecrets() throws {
        let queue = try DatabaseQueue(path: path, configuration: .keyed(Self.passphrases[0]))
        try queue.write {
            try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES ('\(Self.row)')")
        }
        try queue.close()
        try StoreRekey.makeKeyring(path: path, from: Passphrase(Self.passphrases[0]), cost: .minimum)
        let recovery = try RecoveryKey.generate()
        let text = try recovery.withText { Array($0) }
        let known = KeySlotSecret(try Passphrase(Self.passphrases[0]))
        try Keyring(store: path).add(KeySlotSecret(recovery), label: "paper", unlockingWith: known)
        try Keyring(store: path).changePassphrase(
            from: Passphrase(Self.passphrases[0]), to: Passphrase(Self.passphrases[1]), cost: .minimum)
        let again = try DatabaseQueue(path: path, configuration: .keyed(Self.passphrases[1]))
        let lock = ArchiveLock(passphrase: try Passphrase(Self.passphrases[2]), cost: .minimum)
        try again.writeWithoutTransaction {
            try StoreArchive.write(of: $0, to: folder.file("a.csa"), lock: lock)
        }
        try again.close()
        let report = try StoreCheck.run(
            path: path, opening: KeySlotSecret(Passphrase(Self.passphrases[1])), isDeep: true)
        #expect(report.problems == [])
        #expect(try leaks(text) == [])
        #expect(try folder.contents() == ["a.csa", "a.db", "a.db.keys", "a.db.keys.bak"])
    }

    @Test func errorsHoldNoSecrets() throws {
        let queue = try DatabaseQueue(path: path, configuration: .keyed(Self.passphrases[0]))
        try queue.close()
        var texts: [String] = []
        let attempts: [() throws -> Void] = [
            { _ = try DatabaseQueue(path: path, configuration: .keyed(Self.passphrases[1])) },
            {
                try StoreRekey.run(
                    path: path, from: Passphrase(Self.passphrases[1]), to: Passphrase(Self.passphrases[2]))
            },
            {
                _ = try StoreCheck.run(
                    path: path, opening: KeySlotSecret(Passphrase(Self.passphrases[1])), isDeep: true)
            },
        ]
        for attempt in attempts {
            do {
                try attempt()
                Issue.record("a wrong passphrase opened the store")
            } catch {
                texts += ["\(error)", String(reflecting: error), error.localizedDescription]
            }
        }
        #expect(!texts.contains { text in Self.passphrases.contains { text.contains($0) } })
    }
}
