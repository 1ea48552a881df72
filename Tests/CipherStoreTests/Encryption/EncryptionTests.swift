import CipherStore
import Foundation
import Testing

@Suite struct EncryptionTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func makeStore(_ name: String = "a.db", passphrase: String = "secret") throws -> String {
        let path = folder.file(name)
        let queue = try DatabaseQueue(path: path, configuration: .keyed(passphrase))
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE note (id BLOB PRIMARY KEY, title TEXT)")
            try db.execute(sql: "INSERT INTO note VALUES (?, ?)", arguments: [UUID.v7(), "marker-4711"])
        }
        try queue.close()
        return path
    }

    @Test func aStoreOpensAgainWithItsPassphrase() throws {
        let path = try makeStore()
        let queue = try DatabaseQueue(path: path, configuration: .keyed("secret"))
        let title = try queue.read { try String.fetchOne($0, sql: "SELECT title FROM note") }
        #expect(title == "marker-4711")
    }

    @Test func noPlaintextReachesTheDisk() throws {
        let path = try makeStore()
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(bytes.count >= 4096)
        #expect(bytes.range(of: Data("marker-4711".utf8)) == nil)
        #expect(bytes.range(of: Data("SQLite format".utf8)) == nil)
    }

    @Test func aWrongPassphraseIsNotADamagedFile() throws {
        let path = try makeStore()
        let error = #expect(throws: DatabaseError.self) {
            try DatabaseQueue(path: path, configuration: .keyed("Secret"))
        }
        #expect(error?.resultCode == .SQLITE_NOTADB)
        #expect(error?.storeError?.code == .wrongPassphrase)
    }

    @Test func aPlaintextFileIsRefusedWithAPassphrase() throws {
        let path = folder.file("plain.db")
        let queue = try DatabaseQueue(path: path)
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        try queue.close()
        let error = #expect(throws: DatabaseError.self) {
            try DatabaseQueue(path: path, configuration: .keyed("secret"))
        }
        #expect(error?.resultCode == .SQLITE_NOTADB)
        #expect(error?.storeError?.code == .plaintext)
    }

    @Test func anEncryptedFileWithoutAKeyIsRefused() throws {
        let path = try makeStore()
        let error = #expect(throws: DatabaseError.self) { try DatabaseQueue(path: path) }
        #expect(error?.storeError?.code == .keyRequired)
    }

    @Test func requiredEncryptionRefusesAConnectionWithoutAKey() throws {
        var configuration = Configuration()
        configuration.encryption = .required
        let path = folder.file("new.db")
        let error = #expect(throws: StoreError.self) {
            try DatabaseQueue(path: path, configuration: configuration)
        }
        #expect(error?.code == .keyRequired)
    }

    @Test func anEmptyPassphraseIsRefused() throws {
        let path = folder.file("new.db")
        let error = #expect(throws: StoreError.self) {
            try DatabaseQueue(path: path, configuration: .keyed(""))
        }
        #expect(error?.code == .emptyPassphrase)
    }

    @Test(arguments: [StoreError.Code.missing, .empty]) func anExistingFileCanBeRequired(
        code: StoreError.Code
    ) throws {
        let path = folder.file("x.db")
        if code == .empty { _ = FileManager.default.createFile(atPath: path, contents: Data()) }
        var configuration = Configuration.keyed("secret")
        configuration.requiresExistingFile = true
        let error = #expect(throws: StoreError.self) {
            try DatabaseQueue(path: path, configuration: configuration)
        }
        #expect(error?.code == code)
        #expect(FileManager.default.fileExists(atPath: path) == (code == .empty))
    }

    @Test func newFilesAreReadableByTheirOwnerOnly() throws {
        let path = try makeStore()
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test func textInTwoNormalFormsIsOnePassphrase() throws {
        let path = try makeStore(passphrase: "caf\u{E9}")
        _ = try DatabaseQueue(path: path, configuration: .keyed("cafe\u{301}"))
    }

    @Test func aPassphraseThatLooksLikeARawKeyIsAPassphrase() throws {
        let text = "x'" + String(repeating: "0a", count: 32) + "'"
        let path = try makeStore(passphrase: text)
        _ = try DatabaseQueue(path: path, configuration: .keyed(text))
    }

    @Test func aFileWithTheLibrarysOwnPageSizeOpens() throws {
        // 3.4.1 makes pages of 1024 bytes, 4.x of 4096; the page's MAC tells.
        let path = folder.file("other.db")
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            try db.usePassphrase("secret")
            try db.execute(sql: "PRAGMA cipher_page_size = 1024")
        }
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (5)") }
        try queue.close()
        let opened = try DatabaseQueue(path: path, configuration: .keyed("secret"))
        #expect(try opened.read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 5)
        let pageCount = try opened.read { try Int.fetchOne($0, sql: "PRAGMA page_count") }
        let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
        #expect(pageCount.map { $0 * 1024 } == size)
    }

    @Test func tamperedOverflowPagesAreNoticedByARead() throws {
        let path = folder.file("a.db")
        let queue = try DatabaseQueue(path: path, configuration: .keyed("secret"))
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE t (a)")
            try db.execute(sql: "INSERT INTO t VALUES (?)", arguments: [Data(repeating: 7, count: 20_000)])
        }
        try queue.close()
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        bytes[bytes.count - 3000] ^= 1
        try bytes.write(to: URL(fileURLWithPath: path))
        let opened = try DatabaseQueue(path: path, configuration: .keyed("secret"))
        let error = #expect(throws: DatabaseError.self) {
            try opened.read { _ = try Data.fetchOne($0, sql: "SELECT a FROM t") }
        }
        #expect(error?.storeError?.code == .damaged || error?.resultCode == .SQLITE_CORRUPT)
    }

    @Test func anotherFileAtThePathIsNoticedBeforeAWrite() throws {
        let path = try makeStore()
        let queue = try DatabaseQueue(path: path, configuration: .keyed("secret"))
        let other = try makeStore("b.db")
        #expect(rename(other, path) == 0)
        let error = #expect(throws: StoreError.self) {
            try queue.write { try $0.execute(sql: "DELETE FROM note") }
        }
        #expect(error?.code == .replaced)
    }
}

@Suite struct AttachedStoreTests {
    @Test func aStoreCanBeAttachedWithItsPassphraseAndFilledByAnExport() throws {
        let folder = try TemporaryFolder()
        let store = try DatabaseQueue(path: folder.file("store.db"), configuration: .keyed("secret"))
        let plain = try DatabaseQueue(path: folder.file("plain.db"))
        try plain.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES ('exported')") }
        try plain.inDatabase { db in
            try db.execute(sql: "ATTACH DATABASE ? AS store KEY ?", arguments: [store.path, "secret"])
            try db.execute(sql: "SELECT sqlcipher_export('store')")
            try db.execute(sql: "DETACH DATABASE store")
        }
        #expect(try store.read { try String.fetchOne($0, sql: "SELECT a FROM t") } == "exported")
    }
}
