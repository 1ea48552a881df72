import Foundation
import Testing

@testable import CipherStore

@Suite struct ChangePassphraseTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func opens(_ passphrase: String) -> Bool {
        do {
            let queue = try DatabaseQueue(path: folder.file("a.db"), configuration: .keyed(passphrase))
            return try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 1
        } catch {
            return false
        }
    }

    private func create(_ writer: some DatabaseWriter) throws {
        try writer.write {
            try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (zeroblob(100000))")
        }
    }

    @Test func theNewPassphraseOpensTheFileAndTheOldOneDoesNot() throws {
        let queue = try DatabaseQueue(path: folder.file("a.db"), configuration: .keyed("old"))
        try create(queue)
        try queue.inDatabase { try $0.changePassphrase("new") }
        #expect(opens("new"))
        #expect(!opens("old"))
        try queue.write { try $0.execute(sql: "UPDATE t SET a = 1") }
        #expect(opens("new"))
    }

    @Test func insideOfATransactionItCommitsAndTheTransactionGoesOn() throws {
        let queue = try DatabaseQueue(path: folder.file("a.db"), configuration: .keyed("old"))
        try create(queue)
        try queue.write { db in
            try db.execute(sql: "UPDATE t SET a = 2")
            try db.changePassphrase(Data("new".utf8))
            try db.execute(sql: "UPDATE t SET a = 3")
        }
        #expect(opens("new"))
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 3)
    }

    @Test func aPoolChangesItInABarrierAndReadsOn() throws {
        let passphrase = LockedBox("old")
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.usePassphrase(passphrase.value) }
        let pool = try DatabasePool(path: folder.file("a.db"), configuration: configuration)
        try create(pool)
        _ = try pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
        try pool.barrierWriteWithoutTransaction { db in
            try db.changePassphrase("new")
            passphrase.value = "new"
            pool.invalidateReadOnlyConnections()
        }
        #expect(try pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 1)
        #expect(pool.keyDerivationCount == 2)
        try pool.close()
        #expect(opens("new"))
        #expect(!opens("old"))
    }

    @Test func anotherConnectionThatReadsMakesItFailWithNothingChanged() throws {
        let queue = try DatabaseQueue(path: folder.file("a.db"), configuration: .keyed("old"))
        try create(queue)
        let other = try DatabaseQueue(path: folder.file("a.db"), configuration: .keyed("old"))
        try other.read { db in
            _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM t")
            let error = #expect(throws: DatabaseError.self) {
                try queue.inDatabase { try $0.changePassphrase("new") }
            }
            #expect(error?.resultCode == .SQLITE_BUSY)
        }
        try queue.write { try $0.execute(sql: "UPDATE t SET a = 4") }
        #expect(opens("old"))
        #expect(!opens("new"))
    }

    @Test func aPlaintextDatabaseHasNoneToChange() throws {
        let queue = try DatabaseQueue(path: folder.file("a.db"))
        try create(queue)
        let error = #expect(throws: StoreError.self) {
            try queue.inDatabase { try $0.changePassphrase("new") }
        }
        #expect(error?.code == .plaintext)
    }

    @Test func thePragmasOfTheManualAfterThePassphraseAreHonoured() throws {
        func configuration(rounds: Int) -> Configuration {
            var configuration = Configuration()
            configuration.prepareDatabase { db in
                try db.usePassphrase("secret")
                try db.execute(sql: "PRAGMA kdf_iter = \(rounds); PRAGMA cipher_page_size = 8192")
            }
            return configuration
        }
        let pool = try DatabasePool(path: folder.file("a.db"), configuration: configuration(rounds: 7000))
        try create(pool)
        #expect(try pool.read { try String.fetchOne($0, sql: "PRAGMA kdf_iter") } == "7000")
        #expect(try pool.read { try String.fetchOne($0, sql: "PRAGMA cipher_page_size") } == "8192")
        try pool.close()
        #expect(!opens("secret"))
        let again = try DatabaseQueue(path: folder.file("a.db"), configuration: configuration(rounds: 7000))
        #expect(try again.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 1)
        #expect(throws: DatabaseError.self) {
            try DatabaseQueue(path: folder.file("a.db"), configuration: configuration(rounds: 8000))
        }
    }
}

/// A value that several threads share.
final class LockedBox<Value: Sendable>: @unchecked Sendable {
    // Sendable, because every access takes the lock.
    private let lock = NSLock()
    private var storage: Value

    init(_ value: Value) { storage = value }

    var value: Value {
        get { lock.withLock { storage } }
        set { lock.withLock { storage = newValue } }
    }

    func change(_ body: (inout Value) -> Void) { lock.withLock { body(&storage) } }
}

@Suite struct ChangedElsewhereTests {
    @Test func aPoolThatMeetsAnotherPassphraseSaysThatItsOwnIsWrong() throws {
        let folder = try TemporaryFolder()
        let pool = try DatabasePool(path: folder.file("a.db"), configuration: .keyed("old"))
        try pool.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        try pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
        let other = try DatabaseQueue(path: folder.file("a.db"), configuration: .keyed("old"))
        try other.inDatabase { db in
            try db.changePassphrase("new")
            _ = try db.checkpoint(.truncate)
        }
        let error = #expect(throws: DatabaseError.self) { try pool.read { _ in } }
        #expect(error?.storeError?.code == .wrongPassphrase)
    }
}
