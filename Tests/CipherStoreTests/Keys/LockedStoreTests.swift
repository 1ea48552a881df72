import Foundation
import Testing

@testable import CipherStore

/// A connection looks once at the files of a store. Here they are gone after that look.
@Suite struct LockedStoreTests {
    /// Looks at the files, removes them, and finds the key with what was seen.
    private func find(
        _ secret: Secret, _ path: String, in folder: TemporaryFolder
    ) throws -> (key: EncryptionKey, isProven: Bool) {
        var lookCount = 0
        let store = try LockedStore(path: path) { count in
            lookCount += 1
            return SQLiteHandle.leadingBytes(ofFile: path, count: count)
        }
        for name in try folder.contents() where folder.file(name).hasPrefix(path) {
            try FileManager.default.removeItem(atPath: folder.file(name))
        }
        defer { #expect(lookCount == 1) }
        return try store.key(secret, KeyCache())
    }

    private func makeStore(_ path: String, _ passphrase: String) throws {
        let queue = try DatabaseQueue(path: path, configuration: .keyed(passphrase))
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        try queue.close()
    }

    /// A store that a passphrase opens, with the keyring of another one beside it.
    private func makeMixedStore() throws -> (TemporaryFolder, String) {
        let folder = try TemporaryFolder()
        let path = folder.file("a.db")
        try makeStore(path, "of before")
        let other = try Keyring.make(
            forNewStore: folder.file("b.db"), secret: .text("of before"), cost: .minimum)
        try FileManager.default.moveItem(atPath: other.path, toPath: Keyring(store: path).path)
        return (folder, path)
    }

    @Test(arguments: [KeySlot.Kind.passphrase, .recoveryKey, .keyFile])
    func eachKindOfSecretGivesTheKeyOfAKeyringAfterOneLook(kind: KeySlot.Kind) throws {
        let store = try KeyringStore()
        let known = try Secret.text("first")
        let secret: Secret
        switch kind {
        case .passphrase: secret = known
        case .recoveryKey:
            secret = Secret(try RecoveryKey.generate())
            try store.keyring.add(secret, unlockingWith: known)
        case .keyFile:
            secret = try .makeKeyFile(at: store.folder.file("key"))
            try store.keyring.add(secret, unlockingWith: known)
        }
        let slot = try store.keyring.verify(secret)
        let (key, isProven) = try find(secret, store.path, in: store.folder)
        #expect(key.slotID == slot.id)
        #expect(isProven)
    }

    @Test func aPassphraseGivesTheKeyOfAStoreWithoutKeyringAfterOneLook() throws {
        let folder = try TemporaryFolder()
        try makeStore(folder.file("a.db"), "secret")
        let (key, isProven) = try find(.text("secret"), folder.file("a.db"), in: folder)
        #expect(key.slotID == nil)
        #expect(isProven)
        #expect(key.settings.format == CipherSettings.default.format)
    }

    @Test func thePassphraseOfBeforeAKeyringThatWasNotFinishedGivesTheKeyAfterOneLook() throws {
        let (folder, path) = try makeMixedStore()
        let (key, isProven) = try find(.text("of before"), path, in: folder)
        #expect(key.slotID == nil)
        #expect(isProven)
    }

    @Test func aKeyringOfAnotherFileIsNamedAfterOneLook() throws {
        for secret in [try Secret.text("wrong"), Secret(try RecoveryKey.generate())] {
            let (folder, path) = try makeMixedStore()
            let error = #expect(throws: StoreError.self) { try find(secret, path, in: folder) }
            #expect(error?.code == .keyringMismatch)
        }
    }

    @Test func aKeyFileForAStoreWithoutKeyringIsRefusedAfterOneLook() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("a.db")
        try makeStore(path, "secret")
        let secret = try Secret.makeKeyFile(at: folder.file("key"))
        let error = #expect(throws: StoreError.self) { try find(secret, path, in: folder) }
        #expect(error?.code == .keyringMissing)
    }
}
