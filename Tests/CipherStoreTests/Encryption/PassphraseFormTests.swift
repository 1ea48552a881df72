import Foundation
import Testing

@testable import CipherStore

/// One passphrase as two sequences of bytes: NFC, which this library writes, and NFD, which other programs may have.
@Suite struct PassphraseFormTests {
    private static let composed = "caf\u{E9}"
    private static let decomposed = "cafe\u{301}"

    let folder: TemporaryFolder
    let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("a.db")
    }

    /// Makes a store with bytes that are not normalised, as another program does.
    private func makeForeignStore() throws {
        let bytes = try Array(Self.decomposed.utf8).withUnsafeBytes { try SecretBytes($0) }
        let key = try KeyDerivation.derive(
            passphrase: bytes, salt: KeyDerivation.randomSalt(), settings: .default)
        let db = try Database.open(path: path, key: key)
        defer { db.dispose() }
        try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)")
    }

    private func value(_ configuration: Configuration) throws -> Int? {
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        defer { try? queue.close() }
        return try queue.read { try Int.fetchOne($0, sql: "SELECT a FROM t") }
    }

    @Test func aStoreOfAnotherProgramOpensWithTheBytesThatItWasMadeWith() throws {
        try makeForeignStore()
        #expect(try value(.keyed(Self.decomposed)) == 1)
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.usePassphrase(Data(Self.decomposed.utf8)) }
        #expect(try value(configuration) == 1)
        #expect(throws: DatabaseError.self) { try value(.keyed(Self.composed)) }
        #expect(throws: DatabaseError.self) { try value(.keyed(Self.decomposed + "!")) }
    }

    @Test func itsKeyIsDerivedOnceForAllConnections() throws {
        try makeForeignStore()
        let pool = try DatabasePool(path: path, configuration: .keyed(Self.decomposed))
        let before = try pool.writeWithoutTransaction { $0.keyCache.derivationCount }
        #expect(try pool.read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 1)
        #expect(try pool.writeWithoutTransaction { $0.keyCache.derivationCount } == before)
    }

    @Test func aNewPassphraseIsNormalised() throws {
        try makeForeignStore()
        try StoreRekey.run(
            path: path, from: Passphrase(Self.decomposed), to: Passphrase("new " + Self.decomposed))
        #expect(try value(.keyed("new " + Self.composed)) == 1)
        #expect(try value(.keyed("new " + Self.decomposed)) == 1)
    }

    @Test func theNormalisedFormIsAnotherPassphraseToAStoreOfAnotherProgram() throws {
        try makeForeignStore()
        let (given, normalized) = (Self.decomposed, Self.composed)
        let keepsIt = try StoreRekey.keepsPassphrase(
            path: path, from: Passphrase(given), to: Passphrase(normalized))
        #expect(!keepsIt)
        try StoreRekey.run(path: path, from: Passphrase(given), to: Passphrase(normalized))
        #expect(try value(.keyed(normalized)) == 1)
        // From here on both are one passphrase.
        for (from, to) in [(given, normalized), (normalized, given)] {
            let keepsIt = try StoreRekey.keepsPassphrase(
                path: path, from: Passphrase(from), to: Passphrase(to))
            #expect(keepsIt, "\(from) to \(to)")
        }
    }

    @Test(arguments: [false, true])
    func anOpenStoreOfAnotherProgramGetsTheNormalisedForm(isInPlace: Bool) throws {
        try makeForeignStore()
        let queue = try DatabaseQueue(path: path, configuration: .keyed(Self.decomposed))
        if isInPlace {
            try queue.writeWithoutTransaction { try $0.changePassphrase(Self.composed) }
        } else {
            try queue.changePassphrase(Passphrase(Self.composed))
        }
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 1)
        try queue.close()
        #expect(try value(.keyed(Self.composed)) == 1)
    }

    /// In WAL mode the first page of the file is that of before until a checkpoint, which a snapshot keeps from being done.
    @Test(arguments: [false, true])
    func aPoolOfAnotherProgramsStoreReadsOnInTheNormalisedForm(hasSnapshot: Bool) throws {
        try makeForeignStore()
        let pool = try DatabasePool(path: path, configuration: .keyed(Self.decomposed))
        let snapshot = try hasSnapshot ? pool.makeSnapshot() : nil
        let before = SQLiteHandle.leadingBytes(ofFile: path, count: 4096)
        try pool.barrierWriteWithoutTransaction { db throws in
            try db.changePassphrase(Self.composed)
            pool.invalidateReadOnlyConnections()
        }
        let after = SQLiteHandle.leadingBytes(ofFile: path, count: 4096)
        #expect((before == after) == hasSnapshot)
        #expect(try pool.read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 1)
        #expect(try value(.keyed(Self.decomposed)) == 1)
        #expect(try value(.keyed(Self.composed)) == 1)
        #expect(throws: DatabaseError.self) { try value(.keyed(Self.decomposed + "!")) }
        try snapshot?.close()
    }

    @Test func aNewStoreOpensWithEitherForm() throws {
        let queue = try DatabaseQueue(path: path, configuration: .keyed(Self.decomposed))
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
        try queue.close()
        #expect(try value(.keyed(Self.composed)) == 1)
        #expect(try value(.keyed(Self.decomposed)) == 1)
    }
}
