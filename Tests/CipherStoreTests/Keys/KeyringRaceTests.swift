import Foundation
import Testing

@testable import CipherStore

/// Keys that change at the moment at which somebody opens the store, and full keyrings.
@Suite struct KeyringRaceTests {
    /// A configuration that opens with a passphrase, and does something the first time that the
    /// connection has opened the file and not yet asked for its key.
    private func configuration(
        _ passphrase: LockedBox<String>, between: @escaping @Sendable () throws -> Void
    ) -> (Configuration, LockedBox<Int>) {
        let openings = LockedBox(0)
        var configuration = Configuration()
        configuration.requiresExistingFile = true
        configuration.prepareDatabase { db in
            openings.change { $0 += 1 }
            if openings.value == 1 { try between() }
            try db.usePassphrase(passphrase.value)
        }
        return (configuration, openings)
    }

    @Test func aStoreWhoseDataKeyChangesWhileItIsOpenedOpens() throws {
        let store = try KeyringStore()
        let (configuration, openings) = configuration(LockedBox("first")) {
            try StoreRekey.rotateDataKey(path: store.path, keeping: [.text("first")])
        }
        #expect(try store.title(configuration) == "kept")
        #expect(openings.value == 2)
    }

    @Test func aStoreWhosePassphraseChangesWhileItIsOpenedOpens() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("a.db")
        let queue = try DatabaseQueue(path: path, configuration: .keyed("old"))
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
        try queue.close()
        let passphrase = LockedBox("old")
        let (configuration, openings) = configuration(passphrase) {
            try StoreRekey.run(path: path, from: Passphrase("old"), to: Passphrase("new"))
            passphrase.value = "new"
        }
        let again = try DatabaseQueue(path: path, configuration: configuration)
        #expect(try again.read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 1)
        #expect(openings.value == 2)
    }

    @Test func aStoreThatIsReplacedAgainAndAgainIsGivenUp() throws {
        let store = try KeyringStore()
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            try StoreRekey.rotateDataKey(path: store.path, keeping: [.text("first")])
            try db.usePassphrase("first")
        }
        let error = #expect(throws: StoreError.self) { try store.title(configuration) }
        #expect(error?.code == .replaced)
        #expect(try store.title(.keyed("first")) == "kept")
    }

    @Test func aPassphraseThatSomebodyElseHasChangedMeanwhileStays() throws {
        let store = try KeyringStore()
        let queue = try DatabaseQueue(path: store.path, configuration: .keyed("first"))
        try store.keyring.changePassphrase(from: Passphrase("first"), to: Passphrase("theirs"))
        let error = #expect(throws: StoreError.self) { try queue.changePassphrase("mine") }
        #expect(error?.code == .noSuchSlot && error?.path == store.keyring.path)
        // The connection goes on.
        #expect(try queue.read { try String.fetchOne($0, sql: "SELECT title FROM note") } == "kept")
        try queue.close()
        #expect(try store.keyring.information().slots.count == 1)
        #expect(try store.title(.keyed("theirs")) == "kept")
        #expect(store.refusal(try .text("mine")) == .wrongPassphrase)
        let again = try DatabaseQueue(path: store.path, configuration: .keyed("theirs"))
        try again.changePassphrase("mine")
        #expect(try store.title(.keyed("mine")) == "kept")
    }

    @Test func thePassphraseOfAFullKeyringCanBeChanged() throws {
        let store = try KeyringStore()
        let first = try #require(store.keyring.information().slots.first)
        for number in 1..<KeyringFile.slotCountMax {
            try store.keyring.add(
                KeySlotSecret(RecoveryKey.generate()), label: "\(number)", unlockingWith: .text("first"))
        }
        let generation = try store.keyring.information().generation
        try store.keyring.changePassphrase(from: Passphrase("first"), to: Passphrase("new"))
        let information = try store.keyring.information()
        #expect(information.slots.count == KeyringFile.slotCountMax)
        #expect(!information.slots.contains { $0.id == first.id })
        #expect(information.slots.last?.label == first.label)
        #expect(information.generation == generation + 1)
        #expect(try store.title(.keyed("new")) == "kept")
        #expect(store.refusal(try .text("first")) == .wrongPassphrase)
        // By a connection, too.
        let queue = try DatabaseQueue(path: store.path, configuration: .keyed("new"))
        try queue.changePassphrase("newer")
        #expect(try store.title(.keyed("newer")) == "kept")
        let full = #expect(throws: StoreError.self) {
            try store.keyring.add(.text("more"), cost: .minimum, unlockingWith: .text("newer"))
        }
        #expect(full?.code == .tooManySlots)
    }
}
