#if os(Linux)
    import Foundation
    import Synchronization
    import Testing

    @testable import CipherStore
    @testable import SyncEngine

    /// Kills the commands that change keys and archives before each of their calls that change a file.
    @Suite(.serialized) struct KeyKillTests {
        /// A store with key slots: the passphrases `a` and `b`.
        private static func makeKeyringStore(rows: Range<Int> = 0..<60) throws -> Workplace {
            let place = try Workplace()
            try place.makeStore("a.db", "a", rows: rows)
            let a = KeySlotSecret(try Passphrase(Workplace.passphrase("a")))
            try StoreRekey.makeKeyring(
                path: place.path("a.db"), from: Passphrase(Workplace.passphrase("a")), cost: .minimum)
            try Keyring(store: place.path("a.db")).add(
                KeySlotSecret(Passphrase(Workplace.passphrase("b"))), cost: .minimum, unlockingWith: a)
            return place
        }

        private static let files = ["a.db", "a.db.keys", "a.db.keys.bak"]

        private static func opens(_ place: Workplace, _ passphrase: String) -> Bool {
            (try? Keyring(store: place.path("a.db"))
                .verify(KeySlotSecret(Passphrase(Workplace.passphrase(passphrase))))) != nil
        }

        /// Checks a store, and that its keyring can still be changed, which leaves nothing behind.
        private static func examine(
            _ place: Workplace, _ passphrase: String, rows: [String], _ comment: Comment
        ) throws {
            let queue = try place.open("a.db", passphrase)
            #expect(try StoreProbe.problems(queue) == [], comment)
            #expect(try StoreProbe.rows(queue) == rows, comment)
            try queue.close()
            let keyring = Keyring(store: place.path("a.db"))
            let known = KeySlotSecret(try Passphrase(Workplace.passphrase(passphrase)))
            try keyring.add(
                KeySlotSecret(RecoveryKey.generate()), label: "afterwards", unlockingWith: known)
            #expect(try !keyring.information().isRotating, comment)
            #expect(try place.contents() == files, comment)
            #expect(try place.rows("a.db", passphrase) == rows, comment)
        }

        @Test func aKilledChangeOfAPassphraseLeavesTheOldOneOrTheNewOne() async throws {
            let prepared = try Self.makeKeyringStore(rows: 0..<5)
            let rows = try prepared.rows("a.db", "a")
            let campaign = try FaultCampaign(prepared) {
                ["key", "passwd", $0.path("a.db"), "--cost", "14"]
                    + ["--passphrase-file", $0.secret("a"), "--new-passphrase-file", $0.secret("c")]
            }
            let (count, left) = try campaign.rehearse { try $0.rows("a.db", "c") }
            #expect(left == rows)
            let outcomes = Mutex<Set<[Bool]>>([])
            for (mode, limit) in [(Fault.Mode.kill, 40), (.torn, 10)] {
                let calls = FaultCampaign.calls(of: count, limit: limit)
                try await campaign.run(mode, at: calls) { run in
                    #expect(run.result.status == -SIGKILL, run.comment)
                    let old = Self.opens(run.place, "a")
                    let new = Self.opens(run.place, "c")
                    outcomes.withLock { _ = $0.insert([old, new]) }
                    #expect(old || new, run.comment)
                    try Self.examine(run.place, new ? "c" : "a", rows: rows, run.comment)
                    #expect(Self.opens(run.place, "b"), run.comment)
                }
            }
            #expect(outcomes.withLock { $0 }.isSuperset(of: [[true, false], [false, true]]))
        }

        @Test func aKilledRotationLeavesAStoreThatOpens() async throws {
            let prepared = try Self.makeKeyringStore()
            let rows = try prepared.rows("a.db", "a")
            let salt = try prepared.salt("a.db")
            let campaign = try FaultCampaign(prepared) {
                [
                    "rekey", $0.path("a.db"), "--data-key", "--end-other-slots", "--passphrase-file",
                    $0.secret("a"),
                ]
            }
            let (count, left) = try campaign.rehearse { try $0.rows("a.db", "a") }
            #expect(left == rows)
            let rotated = Mutex<[Int: Bool]>([:])
            for (mode, limit) in [(Fault.Mode.kill, 60), (.torn, 12)] {
                let calls = FaultCampaign.calls(of: count, limit: limit)
                try await campaign.run(mode, at: calls) { run in
                    #expect(run.result.status == -SIGKILL, run.comment)
                    let isNew = try run.place.salt("a.db") != salt
                    if mode == .kill { rotated.withLock { $0[run.fault.call] = isNew } }
                    if !isNew { #expect(try run.place.rows("a.db", "b") == rows, run.comment) }
                    // Another rotation removes the copy that was left, and this one's keyring.
                    try StoreRekey.rotateDataKey(
                        path: run.place.path("a.db"),
                        keeping: [KeySlotSecret(Passphrase(Workplace.passphrase("a")))], endsOtherSlots: true)
                    try Self.examine(run.place, "a", rows: rows, run.comment)
                }
            }
            let order = rotated.withLock { $0.sorted { $0.key < $1.key }.map(\.value) }
            #expect(order == order.sorted { !$0 && $1 })
            #expect(Set(order) == [false, true])
        }

        @Test func aKilledMakingOfAKeyringLeavesAStoreThatItsPassphraseOpens() async throws {
            let prepared = try Workplace()
            try prepared.makeStore("a.db", "a", rows: 0..<60)
            let rows = try prepared.rows("a.db", "a")
            let campaign = try FaultCampaign(prepared) {
                ["key", "add", $0.path("a.db"), "--cost", "14"]
                    + ["--passphrase-file", $0.secret("a"), "--new-passphrase-file", $0.secret("b")]
            }
            let (count, left) = try campaign.rehearse { try $0.rows("a.db", "b") }
            #expect(left == rows)
            let outcomes = Mutex<Set<Bool>>([])
            let calls = FaultCampaign.calls(of: count, limit: 60)
            try await campaign.run(.kill, at: calls) { run in
                #expect(run.result.status == -SIGKILL, run.comment)
                #expect(try run.place.rows("a.db", "a") == rows, run.comment)
                let hasKeyring = Self.opens(run.place, "a")
                let queue = try run.place.open("a.db", "a")
                let isConverted = queue.writeWithoutTransaction { $0.encryptionKey?.slotID } != nil
                try queue.close()
                outcomes.withLock { _ = $0.insert(isConverted) }
                if isConverted {
                    #expect(hasKeyring, run.comment)
                } else {
                    try StoreRekey.makeKeyring(
                        path: run.place.path("a.db"), from: Passphrase(Workplace.passphrase("a")),
                        cost: .minimum)
                }
                #expect(try run.place.rows("a.db", "a") == rows, run.comment)
            }
            #expect(outcomes.withLock { $0 } == [false, true])
        }

        @Test(arguments: ["export", "init"])
        func aKilledArchiveOrRestoreIsCompleteOrNotThere(command: String) async throws {
            let prepared = try Workplace()
            try prepared.makeStore("a.db", "a", rows: 0..<60)
            let rows = try prepared.rows("a.db", "a")
            let identity = try ArchiveIdentity.make(file: prepared.path("id.key"))
            let recipient = try identity.recipient
            if command == "init" {
                let queue = try prepared.open("a.db", "a")
                try Synchronizer(existing: queue).archive(
                    to: prepared.path("b.csa"), lock: ArchiveLock(recipient: recipient))
                try queue.close()
            }
            let campaign = try FaultCampaign(prepared) { place in
                command == "export"
                    ? ["export", place.path("a.db"), "--to", place.path("b.csa"), "--passphrase-file"]
                        + [place.secret("a"), "--recipient", recipient.description]
                    : ["init", place.path("r.db"), "--from", place.path("b.csa"), "--identity"]
                        + [place.path("id.key"), "--passphrase-file", place.secret("c")]
            }
            let (count, _) = try campaign.rehearse { _ in }
            let outcomes = Mutex<Set<Bool>>([])
            let calls = FaultCampaign.calls(of: count, limit: 40)
            try await campaign.run(.kill, at: calls) { run in
                #expect(run.result.status == -SIGKILL, run.comment)
                #expect(try run.place.rows("a.db", "a") == rows, run.comment)
                let made = run.place.path(command == "export" ? "b.csa" : "r.db")
                let isThere = FileManager.default.fileExists(atPath: made)
                outcomes.withLock { _ = $0.insert(isThere) }
                guard isThere else { return }
                if command == "export" {
                    try StoreArchive.verify(made, opening: ArchiveSecret(identity))
                } else {
                    #expect(try run.place.rows("r.db", "c") == rows, run.comment)
                }
            }
            #expect(outcomes.withLock { $0 } == [false, true])
        }
    }
#endif
