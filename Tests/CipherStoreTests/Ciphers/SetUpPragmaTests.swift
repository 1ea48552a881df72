import Foundation
import Testing

@testable import CipherStore

/// Set-up functions with pragmas about the key and pragmas that read, in any order.
@Suite struct SetUpPragmaTests {
    /// What opens a store.
    enum Kind: CaseIterable {
        case passphrase, rawKey, keyring
    }

    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let hasVersion4 = EngineFeatures.current.supportsFormat4

    /// With each of them SQLite reads the first page.
    static let reading = ["synchronous = NORMAL", "cache_size = -4000", "journal_mode = WAL"]

    private static let aboutTheKey = [
        "kdf_iter = 64000", "kdf_iter = 7000", "cipher_page_size = 8192", "cipher_compatibility = 3",
    ]

    private static func configuration(_ kind: Kind, _ pragmas: [String]) -> Configuration {
        var configuration = Configuration()
        configuration.prepareDatabase { db throws in
            switch kind {
            case .passphrase, .keyring: try db.usePassphrase("secret")
            case .rawKey: try db.useRawKey(RawKey(data: Data(repeating: 7, count: 32)))
            }
            for pragma in pragmas { try db.execute(sql: "PRAGMA \(pragma)") }
        }
        return configuration
    }

    private func makeStore(_ kind: Kind) throws -> String {
        let path = folder.file("a.db")
        if kind == .keyring {
            _ = try Keyring.make(
                forNewStore: path, secret: .text("secret"), label: "laptop", cost: .minimum)
        }
        let queue = try DatabaseQueue(path: path, configuration: Self.configuration(kind, []))
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (zeroblob(20000))") }
        try queue.close()
        return path
    }

    /// Opens a store, reads its rows and adds one.
    private func use(_ path: String, _ configuration: Configuration) throws -> CipherSettings? {
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        let length = try queue.read { try Int.fetchOne($0, sql: "SELECT max(length(a)) FROM t") }
        #expect(length == 20_000)
        try queue.write { try $0.execute(sql: "INSERT INTO t VALUES (zeroblob(9000))") }
        let check = try queue.read { try String.fetchOne($0, sql: "PRAGMA integrity_check") }
        #expect(check == "ok")
        let settings = try queue.read { $0.cipherSettings }
        try queue.close()
        return settings
    }

    // MARK: Stores that exist

    @Test(arguments: Kind.allCases, reading) func aStoreOpensWhicheverPragmaComesFirst(
        kind: Kind, reading: String
    ) throws {
        let path = try makeStore(kind)
        for pragma in Self.aboutTheKey {
            for pragmas in [[pragma, reading], [reading, pragma]] {
                let settings = try use(path, Self.configuration(kind, pragmas))
                #expect(settings == .default, "\(pragmas)")
            }
        }
        #expect(try use(path, Self.configuration(kind, [])) == .default)
    }

    @Test(arguments: reading) func aFileOfOtherRoundsOpensWhenAPragmaReadsNext(reading: String) throws {
        let path = folder.file("a.db")
        let made = try DatabaseQueue(
            path: path, configuration: Self.configuration(.passphrase, ["kdf_iter = 7000"]))
        try made.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (zeroblob(20000))") }
        try made.close()
        let settings = try use(path, Self.configuration(.passphrase, ["kdf_iter = 7000", reading]))
        #expect(settings?.kdfIterations == 7000)
    }

    @Test(arguments: reading) func whatReadsTooEarlyIsToldFromAWrongFile(reading: String) throws {
        let path = folder.file("a.db")
        let made = try DatabaseQueue(
            path: path, configuration: Self.configuration(.passphrase, ["kdf_iter = 7000"]))
        try made.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        try made.close()
        var keyless = Configuration()
        keyless.prepareDatabase { try $0.execute(sql: "PRAGMA \(reading)") }
        let early = Self.configuration(.passphrase, [reading, "kdf_iter = 7000"])
        let cases = [(early, StoreError.Code.wrongPassphrase), (keyless, StoreError.Code.keyRequired)]
        for (configuration, code) in cases {
            let error = #expect(throws: DatabaseError.self) {
                try DatabaseQueue(path: path, configuration: configuration)
            }
            #expect(error?.resultCode == .SQLITE_NOTADB)
            #expect(error?.storeError?.code == code)
            #expect(error?.storeError?.message.contains("what reads comes after") == true)
        }
    }

    /// Pragmas about the connection, the process or the library, with which SQLite reads no page. Those that would change
    /// the process ask.
    private static let quiet = [
        "analysis_limit", "automatic_index = ON", "busy_timeout = 5000", "cache_spill = 100000",
        "cell_size_check = ON", "checkpoint_fullfsync = OFF", "cipher_default_compatibility",
        "cipher_default_hmac_algorithm", "cipher_default_kdf_algorithm", "cipher_default_kdf_iter",
        "cipher_default_page_size", "cipher_default_plaintext_header_size", "cipher_default_settings",
        "cipher_default_use_hmac", "cipher_fips_status", "cipher_log_level = NONE", "cipher_memory_security",
        "cipher_provider", "cipher_provider_version", "cipher_settings", "cipher_status", "cipher_version",
        "compile_options", "defer_foreign_keys = OFF", "foreign_keys = ON", "fullfsync = OFF",
        "hard_heap_limit", "ignore_check_constraints = OFF", "journal_size_limit = -1", "legacy_alter_table",
        "locking_mode = NORMAL", "mmap_size = 0", "page_size", "query_only = OFF", "read_uncommitted = OFF",
        "recursive_triggers = ON", "reverse_unordered_selects = OFF", "secure_delete = ON",
        "soft_heap_limit", "temp_store = MEMORY", "threads", "trusted_schema = OFF", "wal_autocheckpoint",
    ]

    /// SQLCipher would say that the file is no database, had it used the key of other rounds for a page.
    @Test func pragmasThatReadNoPageLeaveTheKeyToThoseThatFollow() throws {
        let path = folder.file("a.db")
        let made = try DatabaseQueue(
            path: path, configuration: Self.configuration(.passphrase, ["kdf_iter = 7000"]))
        try made.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (zeroblob(20000))") }
        try made.close()
        let settings = try use(path, Self.configuration(.passphrase, Self.quiet + ["kdf_iter = 7000"]))
        #expect(settings?.kdfIterations == 7000)
        for pragma in Self.quiet { #expect(CipherPragmas.readsNoPage("PRAGMA \(pragma)"), "\(pragma)") }
        for pragma in Self.reading { #expect(!CipherPragmas.readsNoPage("PRAGMA \(pragma)"), "\(pragma)") }
    }

    /// Half of the group is no format that a store has.
    @Test(.enabled(if: EngineFeatures.current.supportsFormat4))
    func pragmasThatReadNoPageDivideNoGroup() throws {
        let path = folder.file("a.db")
        let pragmas =
            ["kdf_iter = 7000", "cipher_hmac_algorithm = HMAC_SHA1"] + Self.quiet
            + ["cipher_kdf_algorithm = PBKDF2_HMAC_SHA1"]
        let configuration = Self.configuration(.passphrase, pragmas)
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (zeroblob(20000))") }
        try queue.close()
        let settings = try use(path, configuration)
        #expect(settings?.format == .version3)
        #expect(settings?.kdfIterations == 7000)
    }

    // MARK: Other keys

    static let ofOtherKeys = [
        "cipher_migrate", "rekey = 'MARKER'", "main.rekey = 'MARKER'", "hexrekey = '4d41524b4552'",
        "key = 'MARKER'", "hexkey = '4d41524b4552'",
    ]

    @Test(arguments: Kind.allCases, ofOtherKeys) func theSetUpGivesNoOtherKeyThanItsFirst(
        kind: Kind, pragma: String
    ) throws {
        let path = try makeStore(kind)
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        let error = #expect(throws: DatabaseError.self) {
            try DatabaseQueue(path: path, configuration: Self.configuration(kind, [pragma]))
        }
        #expect(error?.resultCode == .SQLITE_MISUSE)
        let advice = pragma == "cipher_migrate" ? "StoreCopy.makeStore" : "changePassphrase"
        #expect(error?.message?.contains(advice) == true)
        #expect(error.map { "\($0)".contains("MARKER") } == false)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
        #expect(try use(path, Self.configuration(kind, [])) == .default)
    }

    @Test func aFileOfVersion3IsNotMigratedInItsPlace() throws {
        let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../Fixtures/v3.db")
        let path = folder.file("old.db")
        try FileManager.default.copyItem(atPath: source.path, toPath: path)
        #expect(throws: DatabaseError.self) {
            try DatabaseQueue(path: path, configuration: Self.configuration(.passphrase, ["cipher_migrate"]))
        }
        let queue = try DatabaseQueue(path: path, configuration: Self.configuration(.passphrase, []))
        let count = try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
        #expect(count == 1)
        try queue.writeWithoutTransaction { db throws in
            try StoreCopy.makeStore(of: db, at: folder.file("new.db"), passphrase: Passphrase("secret"))
        }
        try queue.close()
        let moved = try DatabaseQueue(
            path: folder.file("new.db"), configuration: Self.configuration(.passphrase, []))
        let settings = try moved.read { $0.cipherSettings }
        #expect(settings == .default)
    }

    // MARK: Stores that are made

    @Test(arguments: reading) func aNewStoreHasWhatWasAskedForBeforeTheFirstRead(reading: String) throws {
        let path = folder.file("a.db")
        let pragmas = ["kdf_iter = 7000", "cipher_page_size = 8192", reading]
        let pool = try DatabasePool(path: path, configuration: Self.configuration(.passphrase, pragmas))
        try pool.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (zeroblob(20000))") }
        let count = try pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
        #expect(count == 1)
        try pool.close()
        let settings = try use(path, Self.configuration(.passphrase, pragmas))
        #expect(settings?.kdfIterations == 7000)
        #expect(settings?.pageSize == 8192)
    }

    @Test func whatIsAskedForOnceTheFileIsThereIsTooLate() throws {
        let path = folder.file("a.db")
        let pragmas = ["journal_mode = WAL", "kdf_iter = 7000", "page_size = 8192"]
        let late = Self.configuration(.passphrase, pragmas)
        let queue = try DatabaseQueue(path: path, configuration: late)
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (zeroblob(20000))") }
        try queue.close()
        #expect(try use(path, Self.configuration(.passphrase, [])) == .default)
        #expect(try use(path, late) == .default)
    }

    @Test func aNewStoreUnderARawKeyHasNoRounds() throws {
        let path = folder.file("a.db")
        let pragmas = ["cipher_page_size = 8192", "journal_mode = WAL", "kdf_iter = 7000"]
        let queue = try DatabaseQueue(path: path, configuration: Self.configuration(.rawKey, pragmas))
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (zeroblob(20000))") }
        try queue.close()
        let expected = CipherSettings(format: CipherSettings.default.format, pageSize: 8192)
        #expect(try use(path, Self.configuration(.rawKey, pragmas)) == expected)
        #expect(try use(path, Self.configuration(.rawKey, [])) == expected)
    }

    @Test(arguments: Kind.allCases, reading) func nothingIsWrittenWithWhatNoStoreHas(
        kind: Kind, reading: String
    ) throws {
        let odd = Self.hasVersion4 ? "cipher_plaintext_header_size = 32" : "cipher_use_hmac = OFF"
        let configuration = Self.configuration(kind, [odd, reading])
        let path = folder.file("a.db")
        if kind != .keyring {
            let error = #expect(throws: StoreError.self) {
                try DatabaseQueue(path: path, configuration: configuration)
            }
            #expect(error?.code == .encryptionMismatch)
            let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
            #expect((size ?? 0) == 0)
        }
        _ = try makeStore(kind)
        let error = #expect(throws: StoreError.self) {
            try DatabaseQueue(path: path, configuration: configuration)
        }
        #expect(error?.code == .encryptionMismatch)
        #expect(try use(path, Self.configuration(kind, [])) == .default)
    }

    @Test(arguments: Kind.allCases) func aRefusalThatTheSetUpSwallowsHolds(kind: Kind) throws {
        let odd = Self.hasVersion4 ? "cipher_plaintext_header_size = 32" : "cipher_use_hmac = OFF"
        var configuration = Self.configuration(kind, [odd])
        configuration.prepareDatabase { db in
            for sql in ["PRAGMA journal_mode = WAL", "CREATE TABLE odd (a)", "INSERT INTO odd VALUES (1)"] {
                try? db.execute(sql: sql)
            }
        }
        let path = folder.file("a.db")
        if kind != .keyring {
            let error = #expect(throws: StoreError.self) {
                try DatabaseQueue(path: path, configuration: configuration)
            }
            #expect(error?.code == .encryptionMismatch)
            let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
            #expect((size ?? 0) == 0)
        }
        _ = try makeStore(kind)
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        let error = #expect(throws: StoreError.self) {
            try DatabaseQueue(path: path, configuration: configuration)
        }
        #expect(error?.code == .encryptionMismatch)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
        #expect(try use(path, Self.configuration(kind, [])) == .default)
    }

    @Test func aMigratorComparesSchemasWhateverTheSetUpSays() throws {
        let pragmas = ["kdf_iter = 7000", "journal_mode = WAL", "cipher_page_size = 8192"]
        var migrator = DatabaseMigrator()
        migrator.registerMigration("v1") { try $0.execute(sql: "CREATE TABLE t (a)") }
        let queue = try DatabaseQueue(
            path: folder.file("a.db"), configuration: Self.configuration(.passphrase, pragmas))
        try migrator.migrate(queue)
        let differs = try queue.read { try migrator.hasSchemaChanges($0) }
        #expect(!differs)
    }
}
