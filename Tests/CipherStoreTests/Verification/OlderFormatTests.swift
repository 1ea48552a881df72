import Foundation
import Testing

@testable import CipherStore

/// Files of SQLCipher 1 and 2, which open on request.
@Suite struct OlderFormatTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func fixture(_ name: String) throws -> String {
        let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../Fixtures/\(name)")
        try FileManager.default.copyItem(atPath: source.path, toPath: folder.file(name))
        return folder.file(name)
    }

    private func configuration(_ version: Int, _ passphrase: String = "secret") throws -> Configuration {
        let settings = try #require(CipherSettings(compatibility: version))
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.usePassphrase(passphrase, settings: settings) }
        return configuration
    }

    @Test(arguments: [
        ("v1.db", 1), ("v1-by-4.db", 1), ("v2.db", 2), ("v2-by-4.db", 2), ("v3.db", 3), ("v3-by-4.db", 3),
    ])
    func aFileOpensWithItsSettingsOnEveryEngine(name: String, version: Int) throws {
        let path = try fixture(name)
        let configuration = try configuration(version)
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        let text = try queue.read { try String.fetchOne($0, sql: "SELECT a FROM t") }
        #expect(text?.hasPrefix("made by SQLCipher") == true)
        try queue.write { try $0.execute(sql: "INSERT INTO t VALUES ('more')") }
        try queue.close()
        let again = try DatabaseQueue(path: path, configuration: configuration)
        #expect(try again.read { try String.fetchAll($0, sql: "SELECT a FROM t").count } == 2)
        #expect(try again.read { try String.fetchOne($0, sql: "PRAGMA integrity_check") } == "ok")
        #expect(try again.read { try Int.fetchOne($0, sql: "PRAGMA page_size") } == 1024)
    }

    @Test(arguments: [("v1.db", 1), ("v2.db", 2)]) func aFileIsComparedWithItsMigrations(
        name: String, version: Int
    ) throws {
        let queue = try DatabaseQueue(path: fixture(name), configuration: configuration(version))
        var migrator = DatabaseMigrator()
        migrator.registerMigration("v1") {
            try $0.execute(sql: "DROP TABLE IF EXISTS t; CREATE TABLE note (a)")
        }
        try migrator.migrate(queue)
        #expect(try queue.read { try migrator.hasSchemaChanges($0) } == false)
    }

    @Test(arguments: [("v1.db", 1), ("v2.db", 2), ("v3-by-4.db", 3)]) func aWrongPassphraseIsSaidToBeWrong(
        name: String, version: Int
    ) throws {
        let path = try fixture(name)
        let configuration = try configuration(version, "wrong")
        let error = #expect(throws: DatabaseError.self) {
            try DatabaseQueue(path: path, configuration: configuration)
        }
        #expect(error?.storeError?.code == .wrongPassphrase)
    }

    @Test(arguments: ["v1.db", "v2.db"]) func anOldFileDoesNotOpenUnasked(name: String) throws {
        let path = try fixture(name)
        let error = #expect(throws: DatabaseError.self) {
            try DatabaseQueue(path: path, configuration: .keyed("secret"))
        }
        #expect(error?.storeError?.code == .wrongPassphrase)
    }

    @Test func aFileOfVersion2IsVerifiedAndRekeyed() throws {
        let path = try fixture("v2.db")
        let settings = try #require(CipherSettings(compatibility: 2))
        let report = try StoreCheck.run(
            path: path, opening: KeySlotSecret(Passphrase("secret")), settings: settings, isDeep: true)
        #expect(report.problems == [])
        #expect(report.settings?.iterationCount == 4000)
    }

    @Test func pagesWithoutMACsAreNotCopiedButTheirRowsAre() throws {
        let path = try fixture("v1.db")
        let queue = try DatabaseQueue(path: path, configuration: configuration(1))
        let error = #expect(throws: StoreError.self) {
            try queue.writeWithoutTransaction {
                try StoreCopy.make(of: $0, at: folder.file("copy.db"), passphrase: Passphrase("new"))
            }
        }
        #expect(error?.code == .encryptionMismatch)
        let settings = try #require(CipherSettings(compatibility: 1))
        let refusal = #expect(throws: StoreError.self) {
            try StoreCheck.run(
                path: path, opening: KeySlotSecret(Passphrase("secret")), settings: settings, isDeep: false)
        }
        #expect(refusal?.code == .encryptionMismatch)
        try queue.writeWithoutTransaction {
            try StoreCopy.makeStore(of: $0, at: folder.file("new.db"), passphrase: Passphrase("new"))
        }
        let new = try DatabaseQueue(path: folder.file("new.db"), configuration: .keyed("new"))
        #expect(try new.read { $0.cipherSettings } == .default)
        #expect(
            try new.read { try String.fetchOne($0, sql: "SELECT a FROM t") }
                == "made by SQLCipher 3.4.1 as version 1")
    }

    @Test func aNewFileIsNotMadeInAnOldFormat() throws {
        let configuration = try configuration(2)
        let error = #expect(throws: StoreError.self) {
            try DatabaseQueue(path: folder.file("new.db"), configuration: configuration)
        }
        #expect(error?.code == .empty)
        #expect(CipherSettings(compatibility: 5) == nil)
    }
}
