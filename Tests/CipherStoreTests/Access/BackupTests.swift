import CipherStore
import Foundation
import Testing

/// Backups, and the pairs of databases that SQLCipher would spoil.
@Suite struct BackupTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let hasVersion4 = EngineFeatures.current.supportsFormat4

    /// A database with a table of some pages.
    private func queue(
        _ name: String, value: String, _ setUp: @escaping @Sendable (Database) throws -> Void = { _ in }
    ) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.prepareDatabase(setUp)
        let queue = try DatabaseQueue(path: folder.file(name), configuration: configuration)
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE t (a); CREATE TABLE filler (a)")
            try db.execute(sql: "INSERT INTO t VALUES (?)", arguments: [value])
            try db.execute(sql: "INSERT INTO filler VALUES (zeroblob(50000))")
        }
        return queue
    }

    private func value(_ queue: DatabaseQueue) throws -> String? {
        try queue.read { try String.fetchOne($0, sql: "SELECT a FROM t") }
    }

    static func key(_ settings: String...) -> @Sendable (Database) throws -> Void {
        { db in
            try db.execute(sql: "PRAGMA key = 'k'")
            for setting in settings { try db.execute(sql: "PRAGMA \(setting)") }
        }
    }

    /// Source and destination of each pair that must be refused.
    static let refused: [(String, @Sendable (Database) throws -> Void, @Sendable (Database) throws -> Void)] =
        [
            ("encrypted to plaintext", { try $0.usePassphrase("p") }, { _ in }),
            ("plaintext to encrypted", { _ in }, { try $0.usePassphrase("p") }),
            ("keyed by a pragma to plaintext", key(), { _ in }),
            ("plaintext to keyed by a pragma", { _ in }, key()),
            ("pages of 4096 to 8192", key("cipher_page_size = 4096"), key("cipher_page_size = 8192")),
            ("MACs to none", key(), key("cipher_use_hmac = OFF")),
        ]
        + (hasVersion4
            ? [
                (
                    "format 3 to 4", key("cipher_compatibility = 3", "cipher_page_size = 4096"),
                    key("cipher_compatibility = 4")
                ), ("salt in the file to a plain header", key(), key("cipher_plaintext_header_size = 32")),
            ] : [])

    @Test(arguments: refused.indices) func pairsThatCannotBeCopiedAreRefused(index: Int) throws {
        let (name, sourceSetUp, destinationSetUp) = Self.refused[index]
        let source = try queue("a.db", value: "source", sourceSetUp)
        let destination = try queue("b.db", value: "destination", destinationSetUp)
        let before = try Data(contentsOf: URL(fileURLWithPath: destination.path))
        let error = #expect(throws: StoreError.self, "\(name)") { try source.backup(to: destination) }
        #expect(error?.code == .encryptionMismatch)
        #expect(try Data(contentsOf: URL(fileURLWithPath: destination.path)) == before)
        #expect(try value(destination) == "destination")
        #expect(try value(source) == "source")
    }

    static let copied: [(@Sendable (Database) throws -> Void, @Sendable (Database) throws -> Void)] = [
        (key(), key()), ({ try $0.usePassphrase("one") }, { try $0.usePassphrase("two") }),
        ({ _ in }, { _ in }),
    ]

    @Test(arguments: copied.indices) func otherPairsAreCopied(index: Int) throws {
        let (sourceSetUp, destinationSetUp) = Self.copied[index]
        let source = try queue("a.db", value: "source", sourceSetUp)
        let destination = try queue("b.db", value: "destination", destinationSetUp)
        try source.backup(to: destination)
        #expect(try value(destination) == "source")
        try destination.close()
        var configuration = Configuration()
        configuration.prepareDatabase(destinationSetUp)
        let reopened = try DatabaseQueue(path: folder.file("b.db"), configuration: configuration)
        #expect(try value(reopened) == "source")
        let check = try reopened.read { try String.fetchOne($0, sql: "PRAGMA integrity_check") }
        #expect(check == "ok")
    }

    @Test func aCancelledBackupLeavesTheDestinationAsItWas() throws {
        struct Stop: Error {}
        let source = try queue("a.db", value: "source") { try $0.usePassphrase("one") }
        let destination = try queue("b.db", value: "destination") { try $0.usePassphrase("two") }
        var steps = 0
        #expect(throws: Stop.self) {
            try source.backup(to: destination, pagesPerStep: 4) { progress in
                steps += 1
                #expect(progress.completedPageCount == 4 * steps)
                if steps == 3 { throw Stop() }
            }
        }
        #expect(steps == 3)
        #expect(try value(destination) == "destination")
        // An error after the last page comes too late.
        try source.backup(to: destination) { progress in
            #expect(progress.isCompleted)
            throw Stop()
        }
        #expect(try value(destination) == "source")
    }

    @Test func aDestinationInATransactionIsLeftAlone() throws {
        let source = try queue("a.db", value: "source")
        let destination = try queue("b.db", value: "destination")
        try source.read { sourceDb in
            try destination.write { destinationDb in
                _ = #expect(throws: DatabaseError.self) { try sourceDb.backup(to: destinationDb) }
            }
        }
        #expect(try value(destination) == "destination")
    }

    @Test func aPoolIsCopiedAsOfOneMomentWhileItIsWritten() throws {
        let pool = try DatabasePool(path: folder.file("a.db"), configuration: .keyed("one"))
        try pool.write { db in
            try db.execute(sql: "CREATE TABLE t (a); CREATE TABLE u (a)")
            for index in 0..<200 {
                try db.execute(
                    sql: "INSERT INTO t VALUES (?)", arguments: [String(repeating: "x", count: 500)])
                try db.execute(sql: "INSERT INTO u VALUES (?)", arguments: [index])
            }
        }
        let destination = try DatabasePool(path: folder.file("b.db"), configuration: .keyed("two"))
        var steps = 0
        try pool.backup(to: destination, pagesPerStep: 5) { _ in
            steps += 1
            try pool.write { try $0.execute(sql: "INSERT INTO t VALUES (1); INSERT INTO u VALUES (1)") }
        }
        #expect(steps > 3)
        let counts = try destination.read { db in
            try Row.fetchOne(db, sql: "SELECT (SELECT count(*) FROM t), (SELECT count(*) FROM u)")
        }
        #expect(counts?.databaseValues == [200.databaseValue, 200.databaseValue])
    }

    /// SQLCipher gives zeros for the last page when its MAC is wrong.
    @Test func aDamagedSourceIsReported() throws {
        let path = folder.file("a.db")
        let source = try DatabaseQueue(path: path, configuration: .keyed("one"))
        try source.write { db in
            try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (zeroblob(40000))")
        }
        try source.close()
        for isLast in [true, false] {
            var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
            let page = isLast ? bytes.count - 4096 : bytes.count - 3 * 4096
            for index in page..<(page + 4096) { bytes[index] ^= 0x55 }
            try bytes.write(to: URL(fileURLWithPath: path))
            let damaged = try DatabaseQueue(path: path, configuration: .keyed("one"))
            let destination = try DatabaseQueue(
                path: folder.file("\(isLast).db"), configuration: .keyed("two"))
            let error = #expect(throws: DatabaseError.self) { try damaged.backup(to: destination) }
            if isLast { #expect(error?.storeError?.code == .damaged) }
            try damaged.close()
        }
    }
}
