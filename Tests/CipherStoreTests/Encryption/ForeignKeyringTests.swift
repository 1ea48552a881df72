import Foundation
import Testing

@testable import CipherStore

/// A keyring beside a store that is not the store's, as it stays when a store is lost and another one takes its place.
@Suite struct ForeignKeyringTests {
    let folder: TemporaryFolder
    let path: String
    let keyring: Keyring

    /// A store that a passphrase opens, and a keyring whose one slot has the same passphrase.
    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("a.db")
        let queue = try DatabaseQueue(path: path, configuration: .keyed("own"))
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
        try queue.close()
        keyring = Keyring(store: path)
        try put(slot: "own")
    }

    /// Gives the store the keyring of another one.
    private func put(slot passphrase: String) throws {
        var content = UnlockedKeyring(creating: try DataKey.random(), settings: .default)
        try content.add(.text(passphrase), label: "", cost: .minimum, now: Date())
        let copy = keyring.storage.backupPath
        if FileManager.default.fileExists(atPath: copy) { try FileManager.default.removeItem(atPath: copy) }
        try keyring.storage.create(content.encoded)
    }

    private func value(_ passphrase: String) throws -> Int? {
        let queue = try DatabaseQueue(path: path, configuration: .keyed(passphrase))
        defer { try? queue.close() }
        return try queue.read { try Int.fetchOne($0, sql: "SELECT a FROM t") }
    }

    @Test func nothingIsChangedInAKeyringOfAnotherFile() throws {
        let before = try keyring.content()
        let slot = try #require(try keyring.information().slots.first)
        let recovery = Secret(try RecoveryKey.generate())
        let changes: [() throws -> Void] = [
            { _ = try keyring.add(recovery, unlockingWith: .text("own")) },
            { _ = try keyring.changePassphrase(from: Passphrase("own"), to: Passphrase("new")) },
            { try keyring.remove(slot.id, unlockingWith: .text("own")) },
            { _ = try keyring.verify(.text("own")) },
            { _ = try StoreRekey.rotateDataKey(path: path, keeping: [.text("own")]) },
            // The passphrase of the store is not that of a slot; the slots are not the point.
            { _ = try keyring.add(recovery, unlockingWith: .text("other")) },
        ]
        for change in changes {
            let error = #expect(throws: StoreError.self) { try change() }
            #expect(error?.code == .keyringMismatch && error?.path == keyring.path)
            #expect(try keyring.content() == before)
        }
        #expect(try value("own") == 1)
    }

    @Test(arguments: ["own", "other"]) func aRekeySetsItAside(slot: String) throws {
        try FileManager.default.removeItem(atPath: keyring.path)
        try put(slot: slot)
        let left = try StoreRekey.run(path: path, from: Passphrase("own"), to: Passphrase("new"))
        #expect(left == nil)
        #expect(try value("new") == 1)
        #expect(throws: (any Error).self) { try value("own") }
        #expect(!keyring.exists)
        #expect(StoreLeftovers.staleKeyrings(beside: path).count == 1)
        // Nor is there a copy that would pass for a keyring of the store.
        #expect(try folder.contents().count == 2)
    }

    @Test func aRekeyTellsWhyItIsStillThere() throws {
        let copy = keyring.storage.backupPath
        let notes = Data("no keyring".utf8)
        let takeName: StoreProgressHandler = { progress in
            // Before the copying this would be an error.
            if progress.phase == .verifying { try notes.write(to: URL(fileURLWithPath: copy)) }
        }
        let left = try StoreRekey.run(
            path: path, from: Passphrase("own"), to: Passphrase("new"), progress: takeName)
        #expect(left?.code == .reservedName && left?.path == copy)
        #expect(keyring.exists)
        #expect(try Data(contentsOf: URL(fileURLWithPath: copy)) == notes)
        #expect(try value("new") == 1)
    }

    /// Puts a copy of the store into its place just before a new file would take it.
    private func replacingTheStore() throws -> StoreProgressHandler {
        let (path, other) = (path, folder.file("other.db"))
        try FileManager.default.copyItem(atPath: path, toPath: other)
        var isReplaced = false
        return { progress in
            guard progress.phase == .verifying, !isReplaced else { return }
            isReplaced = true
            try FileManager.default.removeItem(atPath: path)
            try FileManager.default.moveItem(atPath: other, toPath: path)
        }
    }

    @Test(arguments: [false, true]) func aNewKeyringThatFailsAtItsEndLeavesItWhereItWas(
        hasOtherCopy: Bool
    ) throws {
        let before = try keyring.content()
        let copy = keyring.path + ".bak"
        if hasOtherCopy {
            let former = Data(try keyring.content())
            try FileManager.default.removeItem(atPath: keyring.path)
            try put(slot: "other")
            try former.write(to: URL(fileURLWithPath: copy))
        }
        let kept = (try keyring.content(), try Data(contentsOf: URL(fileURLWithPath: copy)))
        let replaceStore = try replacingTheStore()
        let error = #expect(throws: StoreError.self) {
            try StoreRekey.makeKeyring(
                path: path, from: Passphrase("own"), cost: .minimum, progress: replaceStore)
        }
        #expect(error?.code == .replaced)
        #expect(try keyring.content() == kept.0 && Data(contentsOf: URL(fileURLWithPath: copy)) == kept.1)
        #expect((kept.0 == before) != hasOtherCopy)
        #expect(try folder.contents() == ["a.db", "a.db.keys", "a.db.keys.bak"])
        #expect(try value("own") == 1)
    }

    @Test func aRekeyThatFailsAtItsEndLeavesItWhereItWas() throws {
        let before = try keyring.content()
        let replaceStore = try replacingTheStore()
        let error = #expect(throws: StoreError.self) {
            try StoreRekey.run(
                path: path, from: Passphrase("own"), to: Passphrase("new"), progress: replaceStore)
        }
        #expect(error?.code == .replaced)
        #expect(try keyring.content() == before)
        #expect(try folder.contents() == ["a.db", "a.db.keys", "a.db.keys.bak"])
        #expect(try value("own") == 1)
    }

    @Test func aCopyThatDiffersIsKeptUnderAnotherName() throws {
        let copy = try keyring.content()
        try FileManager.default.removeItem(atPath: keyring.path)
        try put(slot: "other")
        try Data(copy).write(to: URL(fileURLWithPath: keyring.path + ".bak"))
        try StoreRekey.run(path: path, from: Passphrase("own"), to: Passphrase("new"))
        let kept = StoreLeftovers.staleKeyrings(beside: path)
        #expect(kept.count == 2)
        #expect(kept.contains { (try? Data(contentsOf: URL(fileURLWithPath: $0))) == Data(copy) })
        #expect(try folder.contents().count == 3)
    }

    @Test func aCopyWhoseKeyringIsGoneIsKeptUnderAnotherName() throws {
        let copy = Data(try keyring.content())
        try FileManager.default.removeItem(atPath: keyring.path)
        try StoreRekey.makeKeyring(path: path, from: Passphrase("own"), cost: .minimum)
        let kept = StoreLeftovers.staleKeyrings(beside: path)
        #expect(try kept.map { try Data(contentsOf: URL(fileURLWithPath: $0)) } == [copy])
        #expect(try value("own") == 1)
    }

    /// It may be all that opens a backup of the store that was there.
    @Test(arguments: [".keys", ".keys.bak"])
    func aNewStoreReplacesNoKeyringOfOneThatIsGone(suffix: String) throws {
        let gone = folder.file("gone.db")
        let left = gone + suffix
        try FileManager.default.copyItem(atPath: keyring.path, toPath: left)
        let before = try Data(contentsOf: URL(fileURLWithPath: left))
        let error = #expect(throws: StoreError.self) {
            try Keyring.make(forNewStore: gone, secret: .text("new"), cost: .minimum)
        }
        #expect(error?.code == .exists && error?.path == left)
        #expect(error?.message.contains("move it away") == true)
        #expect(try Data(contentsOf: URL(fileURLWithPath: left)) == before)
        #expect(try folder.contents() == ["a.db", "a.db.keys", "a.db.keys.bak", "gone.db\(suffix)"])
    }

    @Test func aCheckReportsIt() throws {
        let report = try StoreCheck.run(path: path, opening: .text("own"), isDeep: false)
        #expect(report.problems.map(\.kind) == [.keyring])
        #expect(report.problems.first?.message.contains(keyring.path) == true)
        let own = try KeyringStore()
        #expect(try StoreCheck.run(path: own.path, opening: .text("first"), isDeep: false).problems == [])
    }

    @Test func aKeyringThatIsPutBackBesideItsStoreIsChangedAsBefore() throws {
        let store = try KeyringStore()
        let away = store.folder.file("away")
        try FileManager.default.moveItem(atPath: store.path, toPath: away)
        // There is no file that could be another one.
        try store.keyring.add(.text("second"), cost: .minimum, unlockingWith: .text("first"))
        try FileManager.default.moveItem(atPath: away, toPath: store.path)
        try store.keyring.add(.text("third"), cost: .minimum, unlockingWith: .text("second"))
        #expect(try store.title(.keyed("third")) == "kept")
    }
}
