import Foundation
import TestSupport
import Testing

@testable import CipherStore

@Suite(.anyEngine) struct RecoveryKeyTests {
    private func text(_ key: borrowing RecoveryKey) throws -> String {
        try key.withText { String(decoding: $0, as: UTF8.self) }
    }

    @Test func aKeyIsReadAsItIsPrinted() throws {
        for _ in 0..<50 {
            let key = try RecoveryKey.generate()
            let text = try text(key)
            #expect(text.count == 44)
            #expect(text.split(separator: "-").map(\.count) == [Int](repeating: 4, count: 9))
            let read = try RecoveryKey(text)
            #expect(read.bytes.matches(key.bytes))
            let typed = try RecoveryKey(text.lowercased().replacingOccurrences(of: "-", with: " "))
            #expect(typed.bytes.matches(key.bytes))
            let sloppy = text.replacingOccurrences(of: "0", with: "o").replacingOccurrences(
                of: "1", with: "l")
            let readSloppy = try RecoveryKey(sloppy)
            #expect(readSloppy.bytes.matches(key.bytes))
        }
    }

    @Test func eachWrongCharacterIsFound() throws {
        // One key for ever: of random ones, one in 30,000 is met by another character that fits its check.
        let text = Array("P7ME-C4WQ-SJHD-7QDH-M5ZH-SB9H-FYGG-8JZB-YPR7")
        _ = try RecoveryKey(String(text))
        for index in text.indices where text[index] != "-" {
            var wrong = text
            wrong[index] = wrong[index] == "7" ? "8" : "7"
            let error = #expect(throws: StoreError.self) {
                let read = try RecoveryKey(String(wrong))
                _ = read.bytes
            }
            #expect(error?.code == .recoveryKeyInvalid)
        }
    }

    @Test func textThatIsNoKeyIsRefused() throws {
        for text in [
            "", "-", "ABCD", String(repeating: "A", count: 36), String(repeating: "A", count: 37), "ÄÖÜ",
            String(repeating: "U", count: 36),
        ] {
            let error = #expect(throws: StoreError.self) {
                let read = try RecoveryKey(text)
                _ = read.bytes
            }
            #expect(error?.code == .recoveryKeyInvalid)
        }
    }
}

/// A recovery key is kept when somebody uses it to change a passphrase.
@Suite struct RecoverySlotTests {
    let store: KeyringStore
    let recovery: KeySlotSecret
    let typed: String

    init() throws {
        store = try KeyringStore()
        let key = try RecoveryKey.generate()
        recovery = KeySlotSecret(key)
        typed = try key.withText { String(decoding: $0, as: UTF8.self) }
        try store.keyring.add(recovery, label: "paper", unlockingWith: .text("first"))
    }

    /// Expects that a change is refused, with advice, and that nothing is changed.
    private func expectRefusal(
        sourceLocation: SourceLocation = #_sourceLocation, of change: () throws -> Void
    ) throws {
        let paths = [store.path, store.keyring.path]
        let before = try paths.map(store.bytes)
        let error = #expect(throws: StoreError.self, sourceLocation: sourceLocation) { try change() }
        #expect(error?.code == .slotInUse, sourceLocation: sourceLocation)
        #expect(error?.message.contains("add a slot") == true, sourceLocation: sourceLocation)
        #expect(try paths.map(store.bytes) == before, sourceLocation: sourceLocation)
        #expect(try store.title(recovery) == "kept", sourceLocation: sourceLocation)
        #expect(try store.title(.keyed("first")) == "kept", sourceLocation: sourceLocation)
        #expect(store.refusal(try .text("new")) == .wrongPassphrase, sourceLocation: sourceLocation)
    }

    @Test func theKeyringKeepsARecoveryKeyThatIsTypedForThePassphrase() throws {
        try expectRefusal {
            try store.keyring.changePassphrase(from: Passphrase(typed), to: Passphrase("new"), cost: .minimum)
        }
    }

    @Test func aConnectionThatARecoveryKeyOrKeyFileOpenedChangesNoPassphrase() throws {
        let file = store.folder.file("usb.key")
        try store.keyring.add(.makeKeyFile(at: file), label: "usb", unlockingWith: .text("first"))
        for secret in [recovery, try KeySlotSecret(keyFile: file)] {
            var configuration = Configuration()
            configuration.useKeySlot(secret)
            let queue = try DatabaseQueue(path: store.path, configuration: configuration)
            try expectRefusal { try queue.changePassphrase(Passphrase("new")) }
            try expectRefusal { try queue.writeWithoutTransaction { try $0.changePassphrase("new") } }
            try queue.close()
        }
    }

    @Test func aRekeyByARecoveryKeyBeginsNoRotation() throws {
        let slot = try #require(try store.keyring.information().slots.first)
        try store.keyring.remove(slot.id, unlockingWith: recovery)
        let before = try store.bytes(store.path)
        let error = #expect(throws: StoreError.self) {
            try StoreRekey.run(path: store.path, from: Passphrase(typed), to: Passphrase("new"))
        }
        #expect(error?.code == .slotInUse)
        #expect(try store.bytes(store.path) == before)
        #expect(try store.title(recovery) == "kept")
    }
}
