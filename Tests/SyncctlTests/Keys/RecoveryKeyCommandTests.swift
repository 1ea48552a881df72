import Foundation
import Testing

@testable import CipherStore
@testable import SyncctlCommands

/// A recovery key counts when somebody could see it, and not before.
@Suite struct RecoveryKeyCommandTests {
    let place: Workplace

    init() throws {
        place = try Workplace()
        try place.makeStore("a.db", "a", rows: 0..<1)
    }

    private var keyring: Keyring { Keyring(store: place.path("a.db")) }

    private func words(_ options: String...) -> [String] {
        ["key", "add", place.path("a.db"), "--cost", "14", "--passphrase-file", place.secret("a")] + options
    }

    #if os(Linux)
        @Test func aRecoveryKeyThatCouldNotBePrintedHasNoSlot() throws {
            for options in [["--recovery"], ["--recovery", "--json"]] {
                let full = try CommandRunner.runHere(words() + options, output: "/dev/full")
                #expect(full.status == 1 && full.errors.contains("no slot was added"), "\(full.errors)")
                // The passphrase has its slot, as the first one of a keyring.
                #expect(try keyring.information().slots.map(\.kind) == [.passphrase])
            }
            let added = try place.succeed(words("--recovery", "--json")).document()
            let text = try #require(added["recovery_key"] as? String)
            let slot = try keyring.verify(Secret(RecoveryKey(text)))
            #expect((added["slot"] as? [String: Any])?["id"] as? String == slot.id.description)
        }

        @Test func aKeyFileStaysWhoseSlotCounts() throws {
            let file = place.path("key")
            let full = try CommandRunner.runHere(words("--new-key-file", file), output: "/dev/full")
            #expect(full.status == 1, "\(full.errors)")
            #expect(try keyring.verify(Secret(keyFile: file)).kind == .keyFile)
        }
    #endif

    @Test func aRecoveryKeyBesideTheKeyringOfAnotherStoreOpensTheStore() throws {
        let other = try Keyring.make(
            forNewStore: place.path("gone.db"), secret: Secret(Passphrase(Workplace.passphrase("a"))),
            cost: .minimum)
        for suffix in ["", ".bak"] {
            try FileManager.default.moveItem(atPath: other.path + suffix, toPath: keyring.path + suffix)
        }
        let listed = try place.succeed(["key", "list", place.path("a.db")])
        #expect(listed.errors.contains("belongs to another file"), "\(listed.errors)")
        let findings = StoreFileChecks(store: place.path("a.db"), now: 4_000_000_000)
            .findings()
        let foreign = findings.filter { $0.what.contains(keyring.path) && $0.severity == .error }
        // And nothing that advises to rely on its slots.
        #expect(foreign.count == 1 && !findings.contains { $0.what.contains("one slot") }, "\(findings)")
        let passwd = try place.run([
            "key", "passwd", place.path("a.db"), "--passphrase-file", place.secret("a"),
            "--new-passphrase-file", place.secret("b"),
        ])
        #expect(passwd.status == 12, "\(passwd.errors)")
        let added = try place.succeed(words("--recovery", "--json"))
        let text = try #require(try added.document()["recovery_key"] as? String)
        let typed = try place.folder.writePassphrase(text, to: "recovery")
        try place.succeed(["status", place.path("a.db"), "--passphrase-file", typed])
        #expect(StoreLeftovers.staleKeyrings(beside: place.path("a.db")).count == 1)
    }

    @Test func noStoreIsMadeBesideTheKeyringOfOneThatIsGone() throws {
        try place.succeed(words("--new-passphrase-file", place.secret("b")))
        try FileManager.default.removeItem(atPath: place.path("a.db"))
        let before = try place.contents()
        let new = ["init", place.path("a.db"), "--passphrase-file", place.secret("a")]
        let refused = try place.run(new)
        #expect(refused.status == 1, "\(refused.errors)")
        #expect(refused.errors.contains(keyring.path) && refused.errors.contains("move"), "\(refused.errors)")
        #expect(try place.contents() == before)
        for path in [keyring.path, keyring.path + ".bak"] {
            try FileManager.default.removeItem(atPath: path)
        }
        try place.succeed(new)
    }

    @Test func aSlotThatIsShownAndThenRefusedDoesNotCount() throws {
        struct Stop: Error {}
        let keyring = try Keyring.make(
            forNewStore: place.path("b.db"), secret: Secret(Passphrase("first")), cost: .minimum)
        let key = try Secret(RecoveryKey.generate())
        let known = Secret(try Passphrase("first"))
        var shown: [KeySlot.ID] = []
        #expect(throws: Stop.self) {
            try keyring.add(key, label: "", cost: .minimum, unlockingWith: known) { slot in
                shown.append(slot.id)
                throw Stop()
            }
        }
        let slots = try keyring.information().slots
        #expect(shown.count == 1 && slots.count == 1 && slots.first?.id != shown.first)
        let added = try keyring.add(key, label: "", cost: .minimum, unlockingWith: known) { _ in }
        #expect(try keyring.verify(key).id == added.id)
    }
}
