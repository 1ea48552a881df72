import Foundation
import Testing

@testable import CipherStore

/// Pragmas of SQLCipher on connections that are set up.
@Suite struct CipherPragmaTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    static let refused = [
        "PRAGMA cipher_use_hmac = OFF", "PRAGMA main.cipher_use_hmac = OFF", "pragma \"CIPHER_USE_HMAC\"(0)",
        "EXPLAIN PRAGMA cipher_use_hmac = OFF", "PRAGMA cipher_hmac_algorithm = HMAC_SHA1",
        "PRAGMA cipher_kdf_algorithm = PBKDF2_HMAC_SHA1", "PRAGMA cipher_plaintext_header_size = 32",
        "PRAGMA cipher_hmac_pgno = be", "PRAGMA fast_kdf_iter = 4", "PRAGMA kdf_iter = 4",
        "PRAGMA cipher_page_size = 1024", "PRAGMA cipher_compatibility = 3", "PRAGMA cipher_migrate",
        "PRAGMA cipher_salt = \"x'00112233445566778899aabbccddeeff'\"", "PRAGMA cipher = 'aes-128-cbc'",
        "PRAGMA page_size = 8192", "PRAGMA key = 'MARKER'", "PRAGMA hexkey = '4d41524b4552'",
        "PRAGMA rekey = 'MARKER'", "PRAGMA main.hexrekey = '4d41524b4552'",
    ]

    @Test(arguments: [false, true]) func noPragmaDamagesAStoreThatIsOpen(isPool: Bool) throws {
        let path = folder.file("a.db")
        let writer: any DatabaseWriter
        if isPool {
            writer = try DatabasePool(path: path, configuration: .keyed("secret"))
        } else {
            writer = try DatabaseQueue(path: path, configuration: .keyed("secret"))
        }
        try writer.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (zeroblob(20000))") }
        for sql in Self.refused {
            try writer.writeWithoutTransaction { db throws in
                let error = #expect(throws: DatabaseError.self, "\(sql)") { try db.execute(sql: sql) }
                #expect(error?.resultCode == .SQLITE_MISUSE, "\(sql)")
                #expect(error?.message?.contains("open") == true, "\(sql)")
                #expect(error.map { "\($0)".contains("MARKER") } == false, "\(sql)")
                // To prepare it is enough for SQLCipher.
                #expect(throws: DatabaseError.self, "\(sql)") { try db.makeStatement(sql: sql) }
                try db.execute(sql: "INSERT INTO t VALUES (1)")
                try db.execute(sql: "UPDATE t SET a = zeroblob(30000) WHERE rowid = 1")
            }
        }
        try writer.close()
        let again = try DatabaseQueue(path: path, configuration: .keyed("secret"))
        let count = try again.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
        #expect(count == 1 + Self.refused.count)
        let check = try again.read { try String.fetchOne($0, sql: "PRAGMA integrity_check") }
        #expect(check == "ok")
        let report = try StoreCheck.run(
            path: path, opening: KeySlotSecret(Passphrase("secret")), isDeep: false)
        #expect(report.problems == [])
    }

    @Test func aStoreWithAKeyringKeepsTheKeyThatItsSlotsGive() throws {
        let store = try KeyringStore()
        let queue = try DatabaseQueue(path: store.path, configuration: .keyed("first"))
        let error = #expect(throws: DatabaseError.self) {
            try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA rekey = 'another'") }
        }
        #expect(error?.message?.contains("changePassphrase") == true)
        try queue.close()
        #expect(try store.title(.keyed("first")) == "kept")
    }

    @Test func whatAsksIsAnsweredAndTheSizeThatIsThereCanBeSet() throws {
        let queue = try DatabaseQueue(path: folder.file("a.db"), configuration: .keyed("secret"))
        try queue.writeWithoutTransaction { db throws in
            try db.execute(sql: "CREATE TABLE t (a)")
            let version = try String.fetchOne(db, sql: "PRAGMA cipher_version")
            #expect(version == EngineFeatures.current.cipherVersion)
            for name in ["cipher_page_size", "page_size", "main.page_size"] {
                let size = try String.fetchOne(db, sql: "PRAGMA \(name)")
                #expect(size == "4096", "\(name)")
            }
            let problems = try String.fetchAll(db, sql: "PRAGMA cipher_integrity_check")
            #expect(problems == [])
            try db.execute(sql: "PRAGMA page_size = 4096; VACUUM; INSERT INTO t VALUES (1)")
        }
    }

    @Test func anAttachedFileIsMadeByPragmasOfItsOwn() throws {
        let queue = try DatabaseQueue(path: folder.file("a.db"), configuration: .keyed("secret"))
        let path = folder.file("b.db")
        try queue.writeWithoutTransaction { db throws in
            try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (7)")
            try db.execute(sql: "ATTACH DATABASE ? AS other KEY ?", arguments: [path, "another"])
            try db.execute(
                sql: """
                    PRAGMA other.kdf_iter = 4000;
                    PRAGMA other.cipher_page_size = 8192;
                    SELECT sqlcipher_export('other');
                    DETACH DATABASE other
                    """)
        }
        var configuration = Configuration()
        configuration.prepareDatabase { db throws in
            try db.usePassphrase("another")
            try db.execute(sql: "PRAGMA kdf_iter = 4000; PRAGMA cipher_page_size = 8192")
        }
        let other = try DatabaseQueue(path: path, configuration: configuration)
        let value = try other.read { try Int.fetchOne($0, sql: "SELECT a FROM t") }
        #expect(value == 7)
    }

    @Test func aDatabaseThatIsNotEncryptedGetsAnotherPageSize() throws {
        let queue = try DatabaseQueue(path: folder.file("plain.db"))
        let size = try queue.writeWithoutTransaction { db throws in
            try db.execute(sql: "CREATE TABLE t (a); PRAGMA page_size = 8192; VACUUM")
            return try Int.fetchOne(db, sql: "PRAGMA page_size")
        }
        #expect(size == 8192)
    }

    @Test func aConnectionWhoseKeyCameFromAPragmaIsGuardedToo() throws {
        var configuration = Configuration()
        configuration.prepareDatabase { db throws in
            let digits = String(repeating: "5a", count: 48)
            try db.execute(sql: "PRAGMA key = \"x'\(digits)'\"; PRAGMA cipher_page_size = 4096")
        }
        let queue = try DatabaseQueue(path: folder.file("a.db"), configuration: configuration)
        let error = #expect(throws: DatabaseError.self) {
            try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA cipher_use_hmac = OFF") }
        }
        #expect(error?.resultCode == .SQLITE_MISUSE)
    }
}
