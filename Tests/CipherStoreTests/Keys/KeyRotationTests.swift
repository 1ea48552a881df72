import Foundation
import Testing

@testable import CipherStore

@Suite struct KeyRotationTests {
    private struct Stopped: Error {}

    @Test func aRotationGivesTheFileAnotherKey() throws {
        let store = try KeyringStore()
        let recovery = try RecoveryKey.generate()
        try store.keyring.add(KeySlotSecret(recovery), label: "paper", unlockingWith: .text("first"))
        let oldKeyring = try store.bytes(store.keyring.path)
        let before = try store.bytes(store.path)
        let ended = try StoreRekey.rotateDataKey(
            path: store.path, keeping: [.text("first"), KeySlotSecret(recovery)])
        #expect(ended.isEmpty)
        #expect(try store.bytes(store.path) != before)
        #expect(try store.title(.keyed("first")) == "kept")
        #expect(try store.title(KeySlotSecret(recovery)) == "kept")
        #expect(try store.folder.contents() == ["notes.db", "notes.db.keys", "notes.db.keys.bak"])
        // The old keyring, with a passphrase of its time, is of no use now.
        try Data(oldKeyring).write(to: URL(fileURLWithPath: store.keyring.path))
        #expect(store.refusal(try .text("first")) == .keyringMismatch)
    }

    @Test func slotsThatWereNotNamedDoNotEndUnasked() throws {
        let store = try KeyringStore()
        let second = try store.keyring.add(
            .text("second"), label: "phone", cost: .minimum, unlockingWith: .text("first"))
        let error = #expect(throws: StoreError.self) {
            try StoreRekey.rotateDataKey(path: store.path, keeping: [.text("first")])
        }
        #expect(error?.code == .otherSlots)
        #expect(error?.message.contains("phone") == true)
        #expect(try store.title(.keyed("second")) == "kept")
        let ended = try StoreRekey.rotateDataKey(
            path: store.path, keeping: [.text("first")], endsOtherSlots: true)
        #expect(ended.map(\.id) == [second.id])
        #expect(store.refusal(try .text("second")) == .wrongPassphrase)
        #expect(try store.title(.keyed("first")) == "kept")
    }

    @Test func aSecretThatOpensNothingStopsARotation() throws {
        let store = try KeyringStore()
        let before = try store.bytes(store.keyring.path)
        #expect(throws: StoreError.self) {
            try StoreRekey.rotateDataKey(path: store.path, keeping: [.text("first"), .text("wrong")])
        }
        #expect(try store.bytes(store.keyring.path) == before)
        #expect(try store.title(.keyed("first")) == "kept")
    }

    @Test func aRotationThatFailsLeavesTheStoreAsItWas() throws {
        let store = try KeyringStore()
        let queue = try DatabaseQueue(path: store.path, configuration: .keyed("first"))
        // More pages than are copied in one step.
        try queue.write { try $0.execute(sql: "INSERT INTO note VALUES (zeroblob(3000000))") }
        try queue.close()
        let keyring = try store.bytes(store.keyring.path)
        for phase in [StoreProgress.Phase.copying, .verifying] {
            #expect(throws: Stopped.self) {
                try StoreRekey.rotateDataKey(path: store.path, keeping: [.text("first")]) {
                    if $0.phase == phase { throw Stopped() }
                }
            }
            #expect(try store.bytes(store.keyring.path) == keyring)
            #expect(try store.title(.keyed("first")) == "kept")
            #expect(try store.folder.contents() == ["notes.db", "notes.db.keys", "notes.db.keys.bak"])
        }
    }

    @Test func aStoreThatIsOpenIsNotRotated() throws {
        let store = try KeyringStore()
        let queue = try DatabaseQueue(path: store.path, configuration: .keyed("first"))
        try queue.writeWithoutTransaction { db in
            try db.inTransaction(.exclusive) {
                let error = #expect(throws: StoreError.self) {
                    try StoreRekey.rotateDataKey(path: store.path, keeping: [.text("first")])
                }
                #expect(error?.code == .busy)
                return .rollback
            }
        }
        #expect(try !store.keyring.information().isRotating)
    }

    /// The states in which a kill can leave the two files.
    @Test func eachStateThatAKillLeavesOpens() throws {
        let store = try KeyringStore()
        try store.keyring.add(.text("second"), cost: .minimum, unlockingWith: .text("first"))
        let oldFile = try store.bytes(store.path)
        let oldKeyring = try store.bytes(store.keyring.path)
        var rotating = try store.keyring.opened(oldKeyring, .text("first"))
        let next = try DataKey.random()
        let keys = try rotating.slotKeys(of: [], limit: .minimum, path: "")
        try rotating.begin(rotationTo: next, keeping: keys)
        let rotatingKeyring = try rotating.encodedNext(path: "")
        let newFile = try copy(of: store, under: next)

        func put(_ file: [UInt8], _ keyring: [UInt8]) throws {
            try Data(file).write(to: URL(fileURLWithPath: store.path))
            try Data(keyring).write(to: URL(fileURLWithPath: store.keyring.path))
        }
        // Killed after the keyring was written, and before the rename.
        try put(oldFile, rotatingKeyring)
        #expect(try store.title(.keyed("first")) == "kept")
        #expect(try store.title(.keyed("second")) == "kept")
        #expect(try store.keyring.information().isRotating)
        try store.keyring.add(.text("third"), cost: .minimum, unlockingWith: .text("second"))
        #expect(try !store.keyring.information().isRotating)
        #expect(try store.title(.keyed("third")) == "kept")
        // Killed after the rename.
        try put(newFile, rotatingKeyring)
        #expect(store.refusal(try .text("second")) == .keyringMismatch)
        #expect(try store.title(.keyed("first")) == "kept")
        #expect(try !store.keyring.information().isRotating)
        #expect(try store.title(.keyed("first")) == "kept")
        #expect(try store.keyring.information().slots.count == 1)
        // The same, and the file can't be found for a while: neither key is given up.
        try put(newFile, rotatingKeyring)
        try FileManager.default.moveItem(atPath: store.path, toPath: store.path + ".away")
        let lost = #expect(throws: StoreError.self) {
            try store.keyring.add(.text("fourth"), cost: .minimum, unlockingWith: .text("first"))
        }
        #expect(lost?.code == .keyringMismatch)
        #expect(try store.bytes(store.keyring.path) == rotatingKeyring)
        try FileManager.default.moveItem(atPath: store.path + ".away", toPath: store.path)
        // The same, and the keyring is changed before the store is opened.
        try put(newFile, rotatingKeyring)
        try store.keyring.add(.text("fourth"), cost: .minimum, unlockingWith: .text("first"))
        #expect(try store.title(.keyed("fourth")) == "kept")
    }

    /// A folder that can be written to the disk only sometimes.
    private final class WeakFolder: Sendable {
        private let attempts = Lock(0)
        private let failing: Set<Int>

        /// - parameter failing: The attempts that fail, from 1.
        init(failing: Set<Int>) { self.failing = failing }

        /// Runs what sees this folder.
        func run<Result>(_ body: () throws -> Result) rethrows -> Result {
            let synchronization = FolderSynchronization(synchronize: { [self] _ in
                let attempt = attempts.withLock { attempts in
                    attempts += 1
                    return attempts
                }
                return !failing.contains(attempt)
            })
            return try FolderSynchronization.$current.withValue(synchronization, operation: body)
        }
    }

    /// The first look, the keyring's new name, and that of its copy: nothing orders them and the name of the new file.
    @Test(arguments: [1, 2, 3])
    func noDataKeyIsChangedInAFolderThatCannotBeWrittenToTheDisk(attempt: Int) throws {
        let store = try KeyringStore()
        let before = try store.bytes(store.path)
        let error = #expect(throws: StoreError.self) {
            try WeakFolder(failing: [attempt]).run {
                try StoreRekey.rotateDataKey(path: store.path, keeping: [.text("first")])
            }
        }
        #expect(error?.code == .cannotWrite && error?.path == store.path)
        #expect(try store.bytes(store.path) == before)
        #expect(try !store.keyring.information().isRotating)
        #expect(try store.title(.keyed("first")) == "kept")
        #expect(try store.folder.contents() == ["notes.db", "notes.db.keys", "notes.db.keys.bak"])
    }

    /// The first look, the new keyring's name, and that of its copy.
    @Test(arguments: [1, 2, 3])
    func noKeyringIsMadeInAFolderThatCannotBeWrittenToTheDisk(attempt: Int) throws {
        let folder = try TemporaryFolder()
        let path = folder.file("a.db")
        let queue = try DatabaseQueue(path: path, configuration: .keyed("old"))
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        try queue.close()
        let error = #expect(throws: StoreError.self) {
            try WeakFolder(failing: [attempt]).run {
                try StoreRekey.makeKeyring(path: path, from: Passphrase("old"), cost: .minimum)
            }
        }
        #expect(error?.code == .cannotWrite)
        #expect(try folder.contents() == ["a.db"])
        let again = try DatabaseQueue(path: path, configuration: .keyed("old"))
        #expect(try again.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 0)
    }

    /// The keyring's name, and that of its copy.
    @Test(arguments: [1, 2])
    func noStoreGetsAKeyringInAFolderThatCannotBeWrittenToTheDisk(attempt: Int) throws {
        let folder = try TemporaryFolder()
        let path = folder.file("new.db")
        let error = #expect(throws: StoreError.self) {
            try WeakFolder(failing: [attempt]).run {
                _ = try Keyring.make(forNewStore: path, secret: .text("first"), cost: .minimum)
            }
        }
        #expect(error?.code == .cannotWrite && error?.path == path)
        #expect(try folder.contents().isEmpty)
        try Keyring.make(forNewStore: path, secret: .text("first"), cost: .minimum)
        #expect(try folder.contents() == ["new.db.keys", "new.db.keys.bak"])
    }

    /// After a loss of power the name may lead to the old file: what ends the rotation has to write the folder first.
    @Test func bothDataKeysStayUntilTheNameOfTheNewFileIsOnTheDisk() throws {
        let store = try KeyringStore()
        let old = try store.bytes(store.path)
        // The look, the two names of the keyring, and that of the new file.
        try WeakFolder(failing: [4]).run {
            _ = try StoreRekey.rotateDataKey(path: store.path, keeping: [.text("first")])
        }
        let rotating = try store.bytes(store.keyring.path)
        #expect(try store.keyring.information().isRotating)
        let new = try store.bytes(store.path)
        // Neither an opening nor a change of the keyring forgets a key meanwhile.
        let opened = try store.keyring.opened(rotating, .text("first"))
        WeakFolder(failing: [1]).run { store.keyring.finishRotation(of: rotating, opened: opened) }
        let error = #expect(throws: StoreError.self) {
            try WeakFolder(failing: [1]).run {
                try store.keyring.add(.text("second"), cost: .minimum, unlockingWith: .text("first"))
            }
        }
        #expect(error?.code == .cannotWrite)
        #expect(try store.bytes(store.keyring.path) == rotating)
        // Either file opens, and when the folder is on the disk, the rotation ends.
        try Data(old).write(to: URL(fileURLWithPath: store.path))
        #expect(try store.title(.keyed("first")) == "kept")
        #expect(try store.keyring.information().isRotating)
        try Data(new).write(to: URL(fileURLWithPath: store.path))
        #expect(try store.title(.keyed("first")) == "kept")
        #expect(try !store.keyring.information().isRotating)
    }

    /// A new file would have the old key, and the next change of the keyring would drop the new one.
    @Test(arguments: [false, true])
    func noFileIsMadeInThePlaceOfOneThatAnInterruptedRotationMayHaveReplaced(isEmpty: Bool) throws {
        let store = try KeyringStore()
        try WeakFolder(failing: [4]).run {
            _ = try StoreRekey.rotateDataKey(path: store.path, keeping: [.text("first")])
        }
        let rotating = try store.bytes(store.keyring.path)
        let away = store.path + ".away"
        try FileManager.default.moveItem(atPath: store.path, toPath: away)
        if isEmpty { try Data().write(to: URL(fileURLWithPath: store.path)) }
        let error = #expect(throws: (any Error).self) {
            try DatabaseQueue(path: store.path, configuration: .keyed("first"))
        }
        #expect(error.flatMap { StoreError($0) }?.code == .keyringMismatch)
        #expect(FileManager.default.fileExists(atPath: store.path) == isEmpty)
        #expect(try store.bytes(store.keyring.path) == rotating)
        if isEmpty { try FileManager.default.removeItem(atPath: store.path) }
        try FileManager.default.moveItem(atPath: away, toPath: store.path)
        #expect(try store.title(.keyed("first")) == "kept")
        #expect(try !store.keyring.information().isRotating)
    }

    /// What was begun before is not ended by a rotation that does not begin.
    @Test func aRotationThatFailsAtOnceLeavesTheKeyringAsItWas() throws {
        let store = try KeyringStore()
        try WeakFolder(failing: [4]).run {
            _ = try StoreRekey.rotateDataKey(path: store.path, keeping: [.text("first")])
        }
        let rotating = try store.bytes(store.keyring.path)
        #expect(throws: Stopped.self) {
            try StoreRekey.rotateDataKey(path: store.path, keeping: [.text("first")]) { _ in throw Stopped() }
        }
        #expect(try store.bytes(store.keyring.path) == rotating)
        #expect(try store.title(.keyed("first")) == "kept")
    }

    private func copy(of store: KeyringStore, under key: DataKey) throws -> [UInt8] {
        let queue = try DatabaseQueue(path: store.path, configuration: .keyed("first"))
        defer { try? queue.close() }
        let path = store.folder.file("copy.db")
        try queue.writeWithoutTransaction { db in
            let settings = try #require(db.encryptionKey?.settings)
            try StoreCopy.fill(
                path, key: key.encryptionKey(settings, slotID: nil), from: db, progress: nil, finishing: nil)
        }
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try store.bytes(path)
    }

    @Test func aPassphraseStoreGetsAKeyring() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("a.db")
        let pool = try DatabasePool(path: path, configuration: .keyed("old"))
        try pool.write {
            try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1); PRAGMA user_version = 7")
        }
        try pool.close()
        try StoreRekey.makeKeyring(path: path, from: Passphrase("old"), label: "laptop", cost: .minimum)
        let keyring = Keyring(store: path)
        #expect(try keyring.information().slots.map(\.label) == ["laptop"])
        let queue = try DatabaseQueue(path: path, configuration: .keyed("old"))
        #expect(try queue.read { try Int.fetchOne($0, sql: "PRAGMA user_version") } == 7)
        #expect(try queue.read { try String.fetchOne($0, sql: "PRAGMA journal_mode") } == "wal")
        try queue.close()
        let again = #expect(throws: StoreError.self) {
            try StoreRekey.makeKeyring(path: path, from: Passphrase("old"), cost: .minimum)
        }
        #expect(again?.code == .exists)
    }

    @Test func aKilledConversionLeavesAStoreThatItsPassphraseOpens() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("a.db")
        let queue = try DatabaseQueue(path: path, configuration: .keyed("old"))
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
        try queue.close()
        // The keyring is written before the file is replaced.
        var content = UnlockedKeyring(creating: try DataKey.random(), settings: .default)
        try content.add(.text("old"), label: "", cost: .minimum, now: Date())
        try Keyring(store: path).storage.create(content.encoded)
        let again = try DatabaseQueue(path: path, configuration: .keyed("old"))
        #expect(try again.read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 1)
        try again.close()
        try StoreRekey.makeKeyring(path: path, from: Passphrase("old"), cost: .minimum)
        let last = try DatabaseQueue(path: path, configuration: .keyed("old"))
        #expect(try last.read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 1)
        #expect(try last.writeWithoutTransaction { $0.encryptionKey?.slotID } != nil)
    }

    @Test func aKeyringIsNotSetAsideForAWrongPassphraseOrAMissingFile() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("a.db")
        let queue = try DatabaseQueue(path: path, configuration: .keyed("old"))
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        try queue.close()
        var content = UnlockedKeyring(creating: try DataKey.random(), settings: .default)
        try content.add(.text("other"), label: "", cost: .minimum, now: Date())
        try Keyring(store: path).storage.create(content.encoded)
        let before = try folder.contents()
        #expect(throws: (any Error).self) {
            try StoreRekey.makeKeyring(path: path, from: Passphrase("wrong"), cost: .minimum)
        }
        #expect(try folder.contents() == before)
        try FileManager.default.removeItem(atPath: path)
        #expect(throws: (any Error).self) {
            try StoreRekey.makeKeyring(path: path, from: Passphrase("old"), cost: .minimum)
        }
        #expect(try folder.contents() == before.filter { $0 != "a.db" })
    }

    @Test func aRekeyOfAKeyringStoreChangesItsOnlySlot() throws {
        let store = try KeyringStore()
        let before = try store.bytes(store.path)
        try StoreRekey.run(path: store.path, from: Passphrase("first"), to: Passphrase("new"))
        #expect(try store.bytes(store.path) != before)
        #expect(try store.title(.keyed("new")) == "kept")
        #expect(store.refusal(try .text("first")) == .wrongPassphrase)
    }
}
