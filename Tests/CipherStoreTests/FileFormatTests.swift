import Foundation
import Testing

@testable import CipherStore

/// Files that other programs made, with SQLCipher's own defaults.
@Suite struct FileFormatTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func fixture(_ name: String) throws -> String {
        let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("Fixtures/\(name)")
        try FileManager.default.copyItem(atPath: source.path, toPath: folder.file(name))
        return folder.file(name)
    }

    @Test func aFileOfVersion3OpensOnEveryEngine() throws {
        let path = try fixture("v3.db")
        let queue = try DatabaseQueue(path: path, configuration: .keyed("secret"))
        #expect(
            try queue.read { try String.fetchOne($0, sql: "SELECT a FROM t") } == "made by SQLCipher 3.4.1")
        try queue.write { try $0.execute(sql: "INSERT INTO t VALUES ('and written to')") }
        try queue.close()
        // The file keeps its format and page size.
        try StoreRekey.run(path: path, from: Passphrase("secret"), to: Passphrase("new"))
        let again = try DatabaseQueue(path: path, configuration: .keyed("new"))
        #expect(try again.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 2)
        #expect(
            try again.read { $0.encryptionKey?.settings } == CipherSettings(format: .version3, pageSize: 1024)
        )
    }

    @Test func aFileOfVersion4OpensWhereItCanAndIsNamedWhereItCannot() throws {
        let path = try fixture("v4.db")
        if EngineFeatures.current.supportsFormat4 {
            let queue = try DatabaseQueue(path: path, configuration: .keyed("secret"))
            #expect(
                try queue.read { try String.fetchOne($0, sql: "SELECT a FROM t") }
                    == "made by SQLCipher 4.6.1")
        } else {
            let error = #expect(throws: StoreError.self) {
                try DatabaseQueue(path: path, configuration: .keyed("secret"))
            }
            #expect(error?.code == .formatTooNew)
        }
    }

    @Test func aWrongPassphraseForEitherFormatIsSaidToBeWrong() throws {
        for name in ["v3.db", "v4.db"] {
            let path = try fixture(name)
            let error = #expect(throws: DatabaseError.self) {
                try DatabaseQueue(path: path, configuration: .keyed("wrong"))
            }
            #expect(error?.storeError?.code == .wrongPassphrase)
        }
    }

    @Test func aFileOfNoiseIsNotADatabase() throws {
        let path = folder.file("noise.db")
        try Data((0..<8192).map { _ in UInt8.random(in: 0...255) }).write(to: URL(fileURLWithPath: path))
        let error = #expect(throws: DatabaseError.self) {
            try DatabaseQueue(path: path, configuration: .keyed("secret"))
        }
        #expect(error?.resultCode == .SQLITE_NOTADB)
    }

    @Test func aFileTooShortForADatabaseIsDamaged() throws {
        let path = folder.file("short.db")
        try Data(repeating: 7, count: 100).write(to: URL(fileURLWithPath: path))
        let error = #expect(throws: DatabaseError.self) {
            try DatabaseQueue(path: path, configuration: .keyed("secret"))
        }
        #expect(error?.storeError?.code == .damaged)
    }
}
