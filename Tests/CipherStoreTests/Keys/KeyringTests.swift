import Foundation
import Testing

@testable import CipherStore

extension KeySlotSecret {
    static func text(_ passphrase: String) throws -> KeySlotSecret {
        KeySlotSecret(try Passphrase(passphrase))
    }
}

/// A store with a keyring and one note in it.
struct KeyringStore {
    let folder: TemporaryFolder
    let path: String
    let keyring: Keyring

    init(passphrase: String = "first", cost: ScryptCost = .minimum) throws {
        folder = try TemporaryFolder()
        path = folder.file("notes.db")
        keyring = try Keyring.make(forNewStore: path, secret: .text(passphrase), label: "laptop", cost: cost)
        let queue = try DatabaseQueue(path: path, configuration: .keyed(passphrase))
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE note (title TEXT); INSERT INTO note VALUES ('kept')")
        }
        try queue.close()
    }

    func title(_ configuration: Configuration) throws -> String? {
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        defer { try? queue.close() }
        return try queue.read { try String.fetchOne($0, sql: "SELECT title FROM note") }
    }

    func title(_ secret: KeySlotSecret) throws -> String? {
        var configuration = Configuration()
        configuration.useKeySlot(secret)
        configuration.requiresExistingFile = true
        return try title(configuration)
    }

    /// The code of the error with which a secret does not open the store.
    func refusal(_ secret: KeySlotSecret) -> StoreError.Code? {
        do {
            _ = try title(secret)
            return nil
        } catch let error as StoreError {
            return error.code
        } catch {
            return (error as? DatabaseError)?.storeError?.code
        }
    }

    func bytes(_ path: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(fileURLWithPath: path))) }
}

@Suite struct KeyringTests {
    @Test func aPassphraseOpensAStoreThroughItsSlot() throws {
        let store = try KeyringStore()
        #expect(try store.title(.keyed("first")) == "kept")
        #expect(try store.title(.text("first")) == "kept")
        #expect(store.refusal(try .text("other")) == .wrongPassphrase)
        #expect(try store.folder.contents() == ["notes.db", "notes.db.keys", "notes.db.keys.bak"])
    }

    @Test func theKeyringIsItsOwnersAlone() throws {
        let store = try KeyringStore()
        for name in ["notes.db", "notes.db.keys", "notes.db.keys.bak"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: store.folder.file(name))
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
    }

    @Test func eachKindOfSlotOpensTheStore() throws {
        let store = try KeyringStore()
        let recovery = try RecoveryKey.generate()
        let keyFile = store.folder.file("usb.key")
        try store.keyring.add(
            KeySlotSecret(recovery), label: "paper", unlockingWith: .text("first"))
        try store.keyring.add(
            .makeKeyFile(at: keyFile), label: "usb", unlockingWith: KeySlotSecret(recovery))
        try store.keyring.add(
            .text("second"), label: "phone", cost: .minimum, unlockingWith: KeySlotSecret(keyFile: keyFile))
        #expect(try store.title(KeySlotSecret(recovery)) == "kept")
        #expect(try store.title(KeySlotSecret(keyFile: keyFile)) == "kept")
        #expect(try store.title(.keyed("second")) == "kept")
        #expect(try store.title(.keyed("first")) == "kept")
        let information = try store.keyring.information()
        #expect(information.slots.map(\.label) == ["laptop", "paper", "usb", "phone"])
        #expect(information.slots.map(\.kind) == [.passphrase, .recoveryKey, .keyFile, .passphrase])
        #expect(information.generation == 4)
    }

    @Test func aRecoveryKeyMayBeGivenWhereAPassphraseIsAskedFor() throws {
        let store = try KeyringStore()
        let recovery = try RecoveryKey.generate()
        try store.keyring.add(KeySlotSecret(recovery), label: "paper", unlockingWith: .text("first"))
        let typed = try recovery.withText { String(decoding: $0, as: UTF8.self).lowercased() }
        #expect(try store.title(.keyed(typed)) == "kept")
        let mistyped = String(typed.dropLast()) + (typed.last == "7" ? "8" : "7")
        #expect(store.refusal(try .text(mistyped)) == .wrongPassphrase)
    }

    @Test func changingAPassphraseLeavesTheFileUntouched() throws {
        let store = try KeyringStore()
        let before = try store.bytes(store.path)
        try store.keyring.changePassphrase(from: Passphrase("first"), to: Passphrase("new"), cost: .minimum)
        #expect(try store.bytes(store.path) == before)
        #expect(try store.title(.keyed("new")) == "kept")
        #expect(store.refusal(try .text("first")) == .wrongPassphrase)
        #expect(try store.keyring.information().slots.map(\.label) == ["laptop"])
    }

    @Test func aChangedPassphraseCostsWhatTheOldOneDid() throws {
        let store = try KeyringStore(cost: ScryptCost(logN: 15))
        try store.keyring.changePassphrase(from: Passphrase("first"), to: Passphrase("new"))
        #expect(try store.keyring.information().slots.map { $0.cost?.logN } == [15])
        let queue = try DatabaseQueue(path: store.path, configuration: .keyed("new"))
        try queue.writeWithoutTransaction { try $0.changePassphrase("newer") }
        #expect(try store.keyring.information().slots.map { $0.cost?.logN } == [15])
    }

    @Test func aConnectionChangesThePassphraseOfItsSlot() throws {
        let store = try KeyringStore()
        try store.keyring.add(.text("second"), cost: .minimum, unlockingWith: .text("first"))
        let queue = try DatabaseQueue(path: store.path, configuration: .keyed("first"))
        try queue.writeWithoutTransaction { db in
            try db.changePassphrase("new")
            try db.changePassphrase("newer")
            try db.execute(sql: "INSERT INTO note VALUES ('more')")
        }
        try queue.close()
        #expect(try store.title(.keyed("newer")) == "kept")
        #expect(try store.title(.keyed("second")) == "kept")
        #expect(store.refusal(try .text("new")) == .wrongPassphrase)
        #expect(store.refusal(try .text("first")) == .wrongPassphrase)
    }

    @Test func aPoolDerivesTheKeyOnce() throws {
        let store = try KeyringStore()
        let pool = try DatabasePool(path: store.path, configuration: .keyed("first"))
        for _ in 0..<3 {
            #expect(try pool.read { try String.fetchOne($0, sql: "SELECT title FROM note") } == "kept")
        }
        #expect(try pool.writeWithoutTransaction { $0.keyCache.derivationCount } == 1)
    }

    @Test func aSlotIsRemovedByAnotherOne() throws {
        let store = try KeyringStore()
        let first = try #require(try store.keyring.information().slots.first)
        let second = try store.keyring.add(.text("second"), cost: .minimum, unlockingWith: .text("first"))
        #expect(throws: StoreError.self) { try store.keyring.remove(first.id, unlockingWith: .text("first")) }
        try store.keyring.remove(first.id, unlockingWith: .text("second"))
        #expect(store.refusal(try .text("first")) == .wrongPassphrase)
        #expect(try store.title(.keyed("second")) == "kept")
        let last = #expect(throws: StoreError.self) {
            try store.keyring.remove(second.id, unlockingWith: .text("second"))
        }
        #expect(last?.code == .lastSlot)
        let unknown = #expect(throws: StoreError.self) {
            try store.keyring.remove(first.id, unlockingWith: .text("second"))
        }
        #expect(unknown?.code == .noSuchSlot)
    }

    @Test func aRemovedSlotIsNotInTheCopyEither() throws {
        let store = try KeyringStore()
        let first = try #require(try store.keyring.information().slots.first)
        try store.keyring.add(.text("second"), cost: .minimum, unlockingWith: .text("first"))
        try store.keyring.remove(first.id, unlockingWith: .text("second"))
        for path in [store.keyring.path, store.keyring.path + ".bak"] {
            #expect(Data(try store.bytes(path)).range(of: Data(first.id.bytes)) == nil)
        }
    }

    @Test func aKeyringHasAtMost32Slots() throws {
        let store = try KeyringStore()
        // A random secret needs no costly derivation.
        let known = KeySlotSecret(try RecoveryKey.generate())
        try store.keyring.add(known, unlockingWith: .text("first"))
        for _ in 2..<KeyringFile.slotCountMax {
            try store.keyring.add(
                KeySlotSecret(RecoveryKey.generate()), label: String(repeating: "x", count: 64),
                unlockingWith: known)
        }
        let error = #expect(throws: StoreError.self) {
            try store.keyring.add(KeySlotSecret(RecoveryKey.generate()), unlockingWith: known)
        }
        #expect(error?.code == .tooManySlots)
        #expect(try store.bytes(store.keyring.path).count <= KeyringFile.byteCountMax)
        #expect(try store.title(.keyed("first")) == "kept")
    }

    @Test func aLabelIsShortTextWithoutControlCharacters() throws {
        let store = try KeyringStore()
        for label in [String(repeating: "é", count: 33), "a\nb", "\u{1B}[31m"] {
            let error = #expect(throws: StoreError.self) {
                try store.keyring.add(
                    .text("second"), label: label, cost: .minimum, unlockingWith: .text("first"))
            }
            #expect(error?.code == .labelInvalid)
        }
        try store.keyring.add(.text("second"), label: "Büro 🗝", cost: .minimum, unlockingWith: .text("first"))
    }

    @Test func aStoreWithoutItsKeyringSaysWhatIsMissing() throws {
        let store = try KeyringStore()
        try FileManager.default.removeItem(atPath: store.keyring.path)
        #expect(store.refusal(try KeySlotSecret(RecoveryKey.generate())) == .keyringMissing)
        let error = #expect(throws: DatabaseError.self) { try store.title(.keyed("first")) }
        #expect(error?.storeError?.code == .wrongPassphrase)
    }

    @Test func theKeyringOfAnotherStoreIsNoticed() throws {
        let store = try KeyringStore()
        let other = try KeyringStore()
        let bytes = try Data(contentsOf: URL(fileURLWithPath: other.keyring.path))
        try bytes.write(to: URL(fileURLWithPath: store.keyring.path))
        #expect(store.refusal(try .text("first")) == .keyringMismatch)
        let error = #expect(throws: StoreError.self) { try store.title(.keyed("first")) }
        #expect(error?.code == .keyringMismatch)
    }

    @Test func aBackupPutBackOpensTheStore() throws {
        let store = try KeyringStore()
        let backup = store.folder.file("keys.backup")
        try store.keyring.backUp(to: backup)
        let again = #expect(throws: StoreError.self) { try store.keyring.backUp(to: backup) }
        #expect(again?.code == .exists)
        try FileManager.default.removeItem(atPath: store.keyring.path)
        try FileManager.default.copyItem(atPath: backup, toPath: store.keyring.path)
        #expect(try store.title(.keyed("first")) == "kept")
    }

    @Test func nothingOfAKeyringIsWrittenWhereAStoreHasItsFiles() throws {
        let store = try KeyringStore()
        let before = try store.folder.contents()
        let path = store.path + "-journal"
        let writes: [() throws -> Void] = [
            { try store.keyring.backUp(to: path) },
            { _ = try Secret.makeKeyFile(at: path) },
            { _ = try ArchiveIdentity.make(file: path) },
            { _ = try Keyring.make(forNewStore: path, secret: .text("first"), cost: .minimum) },
        ]
        for write in writes {
            let error = #expect(throws: StoreError.self) { try write() }
            #expect(error?.code == .reservedName && error?.path == path)
            #expect(try store.folder.contents() == before)
        }
    }

    @Test func aNewKeyringRefusesAStoreThatIsThere() throws {
        let store = try KeyringStore()
        let error = #expect(throws: StoreError.self) {
            try Keyring.make(forNewStore: store.path, secret: .text("x"), cost: .minimum)
        }
        #expect(error?.code == .exists)
    }

    @Test func aSymbolicLinkLeadsToTheKeyring() throws {
        let store = try KeyringStore()
        let link = store.folder.file("link.db")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: store.path)
        let queue = try DatabaseQueue(path: link, configuration: .keyed("first"))
        #expect(try queue.read { try String.fetchOne($0, sql: "SELECT title FROM note") } == "kept")
        #expect(Keyring(store: link).exists)
    }

    @Test func aKeyringThatIsALinkIsReadAndNotChanged() throws {
        let store = try KeyringStore()
        let away = store.folder.file("stick.keys")
        try FileManager.default.moveItem(atPath: store.keyring.path, toPath: away)
        try FileManager.default.createSymbolicLink(atPath: store.keyring.path, withDestinationPath: away)
        let before = try store.bytes(away)
        #expect(try store.title(.text("first")) == "kept")
        let changed = #expect(throws: StoreError.self) {
            try store.keyring.changePassphrase(from: Passphrase("first"), to: Passphrase("second"))
        }
        let rotated = #expect(throws: StoreError.self) {
            try StoreRekey.rotateDataKey(path: store.path, keeping: [.text("first")])
        }
        #expect(changed?.code == .reservedName && rotated?.code == .reservedName)
        let target = try FileManager.default.destinationOfSymbolicLink(atPath: store.keyring.path)
        let after = try store.bytes(away)
        #expect(target == away && after == before)
        #expect(try store.title(.text("first")) == "kept")
    }

    @Test func aFileSystemThatCanNotLockIsNotTakenForAnotherProcess() throws {
        for number in [ENOLCK, EOPNOTSUPP, ENOSYS] {
            let error = KeyringAccess.lockError(number, "a.keys")
            #expect(error?.code == .cannotWrite && error?.path == "a.keys")
            #expect(error?.message.contains("errno \(number)") == true)
        }
        for number in [EWOULDBLOCK, EINTR] { #expect(KeyringAccess.lockError(number, "a.keys")?.code == nil) }
        let store = try KeyringStore()
        let locked = store.keyring.storage
        let busy = #expect(throws: StoreError.self) {
            try locked.withLock { _ in try locked.withLock(waits: false) { _ in } }
        }
        #expect(busy?.code == .busy)
    }

    @Test func twoWritersDoNotLoseASlot() throws {
        let store = try KeyringStore()
        let keyring = store.keyring
        let known = KeySlotSecret(try RecoveryKey.generate())
        try keyring.add(known, unlockingWith: .text("first"))
        let failures = Lock<[any Error]>([])
        DispatchQueue.concurrentPerform(iterations: 4) { number in
            do {
                for step in 0..<3 {
                    try keyring.add(
                        KeySlotSecret(RecoveryKey.generate()), label: "\(number).\(step)",
                        unlockingWith: known)
                }
            } catch {
                failures.withLock { $0.append(error) }
            }
        }
        #expect(failures.withLock { $0.isEmpty }, "\(failures.withLock { $0 })")
        #expect(try store.keyring.information().slots.count == 14)
    }

    @Test func nothingThatIsPrintedHoldsASecret() throws {
        let store = try KeyringStore(passphrase: "marker-4711")
        let secret = try KeySlotSecret.text("marker-4711")
        var texts = ["\(secret)", String(reflecting: secret), "\(store.keyring)"]
        dump(secret, to: &texts[0])
        do {
            try store.keyring.add(.text("x"), cost: .minimum, unlockingWith: .text("marker-0815"))
        } catch { texts.append("\(error)") }
        for text in texts { #expect(!text.contains("marker")) }
        for name in try store.folder.contents() {
            #expect(Data(try store.bytes(store.folder.file(name))).range(of: Data("marker".utf8)) == nil)
        }
    }
}
