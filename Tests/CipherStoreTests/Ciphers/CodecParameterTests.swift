import Foundation
import TestSupport
import Testing

@testable import CipherStore

/// What pragmas and the defaults of the process do to stores that are made and opened.
@Suite struct CodecParameterTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let hasVersion4 = EngineFeatures.current.supportsFormat4

    /// A passphrase, and pragmas after it, as GRDB's manual has them.
    private static func keyed(_ pragmas: String...) -> Configuration {
        var configuration = Configuration()
        configuration.prepareDatabase { db throws in
            try db.usePassphrase("secret")
            for pragma in pragmas { try db.execute(sql: "PRAGMA \(pragma)") }
        }
        return configuration
    }

    private static func fill(_ path: String, _ configuration: Configuration) throws {
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (zeroblob(20000))") }
        try queue.close()
    }

    /// The settings of a store that the tests have filled, once all its pages have been read.
    private static func settings(_ path: String, _ configuration: Configuration) throws -> CipherSettings? {
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        let length = try queue.read { try Int.fetchOne($0, sql: "SELECT length(a) FROM t") }
        #expect(length == 20_000)
        let check = try queue.read { try String.fetchOne($0, sql: "PRAGMA integrity_check") }
        #expect(check == "ok")
        let settings = try queue.read { $0.cipherSettings }
        try queue.close()
        return settings
    }

    private static func problems(_ path: String) throws -> [StoreProblem] {
        try StoreCheck.run(path: path, opening: KeySlotSecret(Passphrase("secret")), isDeep: false).problems
    }

    // MARK: What no store has

    static let refused: [String] =
        ["cipher_use_hmac = OFF", "fast_kdf_iter = 4", "cipher_hmac_pgno = be"]
        + (hasVersion4
            ? [
                "cipher_plaintext_header_size = 32", "cipher_hmac_algorithm = HMAC_SHA256",
                "cipher_kdf_algorithm = PBKDF2_HMAC_SHA1", "cipher_compatibility = 1",
            ] : ["cipher = 'aes-128-cbc'"])

    @Test(arguments: refused) func aStoreThatNobodyCouldOpenIsNotMade(pragma: String) throws {
        let path = folder.file("a.db")
        let error = #expect(throws: StoreError.self) {
            try DatabaseQueue(path: path, configuration: Self.keyed(pragma))
        }
        #expect(error?.code == .encryptionMismatch)
        #expect(error?.path == path)
        #expect(error?.message.hasPrefix("PRAGMA ") == true)
        let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
        #expect((size ?? 0) == 0)
        try Self.fill(path, Self.keyed())
        #expect(try Self.settings(path, Self.keyed()) == .default)
        #expect(throws: StoreError.self) { try DatabaseQueue(path: path, configuration: Self.keyed(pragma)) }
    }

    // MARK: What a new store may have

    /// Without a look at it, SQLCipher 3 writes a file that nothing reads.
    @Test(arguments: ["page_size = 8192", "cipher_page_size = 8192"])
    func thePageSizeOfANewStoreIsWhatIsAskedFor(pragma: String) throws {
        let path = folder.file("a.db")
        try Self.fill(path, Self.keyed(pragma))
        let expected = CipherSettings(format: CipherSettings.default.format, pageSize: 8192)
        #expect(try Self.settings(path, Self.keyed()) == expected)
        #expect(try Self.settings(path, Self.keyed(pragma)) == expected)
        #expect(try Self.problems(path) == [])
    }

    @Test(arguments: [false, true]) func anOlderFormatThatIsAskedForIsThatFormat(usesRawKey: Bool) throws {
        let path = folder.file("a.db")
        func configuration(_ pragmas: [String]) -> Configuration {
            var configuration = Configuration()
            configuration.prepareDatabase { db throws in
                if usesRawKey {
                    try db.useRawKey(RawKey(data: Data(repeating: 7, count: 32)))
                } else {
                    try db.usePassphrase("secret")
                }
                for pragma in pragmas { try db.execute(sql: "PRAGMA \(pragma)") }
            }
            return configuration
        }
        let pool = try DatabasePool(path: path, configuration: configuration(["cipher_compatibility = 3"]))
        try pool.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (zeroblob(20000))") }
        let count = try pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
        #expect(count == 1)
        try pool.close()
        // SQLCipher 3 does not know the pragma.
        let expected = CipherSettings(format: .version3, pageSize: Self.hasVersion4 ? 1024 : 4096)
        #expect(try Self.settings(path, configuration([])) == expected)
        #expect(try Self.settings(path, configuration(["cipher_compatibility = 3"])) == expected)
        guard !usesRawKey else { return }
        #expect(try Self.problems(path) == [])
        // As SQLCipher itself opens it.
        var other = Configuration()
        other.prepareDatabase { db throws in
            try db.execute(sql: "PRAGMA key = 'secret'; PRAGMA cipher_compatibility = 3")
            if !Self.hasVersion4 { try db.execute(sql: "PRAGMA cipher_page_size = 4096") }
        }
        #expect(try Self.settings(path, other) == nil)
    }

    // MARK: What an existing store has

    @Test(arguments: [
        "cipher_compatibility = 3", "cipher_page_size = 8192", "page_size = 8192", "kdf_iter = 7000",
        "cipher_compatibility = 3; PRAGMA cipher_page_size = 1024",
    ]) func whatTheFirstPageProvesIsSoWhateverPragmasSay(pragmas: String) throws {
        let newest = folder.file("newest.db")
        try Self.fill(newest, Self.keyed())
        #expect(try Self.settings(newest, Self.keyed(pragmas)) == .default)
        // As this library makes them on SQLCipher 3.
        let older = folder.file("older.db")
        try Self.fill(older, Self.keyed("cipher_compatibility = 3; PRAGMA cipher_page_size = 4096"))
        #expect(try Self.settings(older, Self.keyed(pragmas)) == CipherSettings(format: .version3))
        #expect(try Self.problems(older) == [])
    }

    @Test(.enabled(if: hasVersion4, "SQLCipher 3 has no such pragma"), arguments: [1, 2, 3])
    func aFileOfAnOlderVersionOpensByThePragmaOfTheManual(version: Int) throws {
        let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../Fixtures/v\(version).db")
        let path = folder.file("old.db")
        try FileManager.default.copyItem(atPath: source.path, toPath: path)
        for round in 1...2 {
            let queue = try DatabaseQueue(
                path: path, configuration: Self.keyed("cipher_compatibility = \(version)"))
            let count = try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
            #expect(count == round)
            try queue.write { try $0.execute(sql: "INSERT INTO t VALUES ('more')") }
            try queue.close()
        }
    }

    // MARK: Defaults of the process

    #if compiler(>=6.3)
        @Test func defaultsThatOthersSetForTheProcessMakeNoDifference() async throws {
            try Self.fill(folder.file("old.db"), Self.keyed())
            try Self.fill(folder.file("older.db"), Self.keyed("cipher_compatibility = 3"))
            await #expect(processExitsWith: .success) { [path = folder.path as String] in
                try CodecParameterTests.useStoresUnderOtherDefaults(in: path)
            }
            // As if it had been made under the default.
            try Self.fill(folder.file("rounds.db"), Self.keyed("kdf_iter = 7"))
            await #expect(processExitsWith: .success) { [path = folder.path as String] in
                try CodecParameterTests.openAStoreMadeUnderADefault(path + "/rounds.db")
            }
            for name in ["new.db", "copy.db"] {
                #expect(try Self.settings(folder.file(name), Self.keyed()) == .default)
                #expect(try Self.problems(folder.file(name)) == [])
            }
        }

        static func openAStoreMadeUnderADefault(_ path: String) throws {
            DerivedKeys.remember()
            try DatabaseQueue().inDatabase { db throws in
                try db.execute(sql: "PRAGMA cipher_default_kdf_iter = 7")
            }
            let error = #expect(throws: DatabaseError.self) {
                try DatabaseQueue(path: path, configuration: keyed())
            }
            try #require(error?.storeError?.code == .wrongPassphrase)
            try #require(error?.storeError?.message.contains("PRAGMA kdf_iter = 7 after") == true)
            let found = try settings(path, keyed("kdf_iter = 7"))
            try #require(found?.kdfIterations == 7)
        }

        /// Runs in a process of its own, because the defaults are the process's.
        static func useStoresUnderOtherDefaults(in folder: String) throws {
            DerivedKeys.remember()
            let names =
                ["use_hmac = OFF", "kdf_iter = 7", "page_size = 8192"]
                + (hasVersion4
                    ? [
                        "hmac_algorithm = HMAC_SHA256", "kdf_algorithm = PBKDF2_HMAC_SHA1",
                        "plaintext_header_size = 32",
                    ] : [])
            try DatabaseQueue().inDatabase { db throws in
                for name in names { try db.execute(sql: "PRAGMA cipher_default_\(name)") }
            }
            for name in ["old.db", "older.db"] {
                let found = try settings(folder + "/" + name, keyed())
                try #require(found != nil)
            }
            try fill(folder + "/new.db", keyed())
            let found = try settings(folder + "/new.db", keyed())
            try #require(found == .default)
            let queue = try DatabaseQueue(path: folder + "/new.db", configuration: keyed())
            try queue.writeWithoutTransaction { db throws in
                try StoreCopy.makeStore(of: db, at: folder + "/copy.db", passphrase: Passphrase("secret"))
            }
            try queue.close()
        }
    #endif
}
