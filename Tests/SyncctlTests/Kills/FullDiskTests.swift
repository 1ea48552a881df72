#if os(Linux)
    import Foundation
    import Testing

    @testable import CipherStore
    @testable import SyncEngine

    /// Lets the disk fill at many moments of each command that writes: it says so, everything is as
    /// it was, and no temporary file is left.
    @Suite(.serialized) struct FullDiskTests {
        /// A store with edits that its replica lacks.
        private static func makePair() throws -> Workplace {
            let place = try Workplace()
            try place.makeStore("a.db", "a", rows: 0..<100)
            try place.makeReplica("b.db", "b", of: "a.db", "a")
            let a = try place.open("a.db", "a")
            try StoreProbe.insert(200..<260, into: a)
            try a.close()
            try place.folder.write(
                "name,age\n" + (0..<100).map { "pet \($0),\($0)\n" }.joined(), to: "pet.csv")
            return place
        }

        /// Fills the disk at many calls of a command. A run may succeed nevertheless, when the
        /// space was needed only for tidying up.
        ///
        /// - parameters:
        ///     - check: Looks at the files; told whether the command succeeded.
        private func fillDisk(
            _ prepared: Workplace? = nil, _ arguments: @escaping @Sendable (Workplace) -> [String],
            _ check: @escaping @Sendable (Workplace, Bool, Comment) throws -> Void
        ) async throws {
            let campaign = try FaultCampaign(prepared ?? Self.makePair(), arguments)
            let (count, _) = try campaign.rehearse { try check($0, true, "without a fault") }
            let calls = FaultCampaign.calls(of: count, limit: 30)
            try await campaign.run(.full, at: calls) { run in
                // Rows that were exchanged stay exchanged, also when the contact can't be noted any more.
                let hasSucceeded = run.result.status == 0 || run.result.status == 3
                if !hasSucceeded {
                    #expect(run.result.status == 1, run.comment)
                    let text = run.result.errors
                    #expect(text.contains("the disk is full") || text.contains("no space left"), run.comment)
                    #expect(text.hasPrefix("syncctl: error: "), run.comment)
                }
                try check(run.place, hasSucceeded, run.comment)
            }
            let (first, _) = try campaign.interposer.run(
                arguments(campaign.prepared), below: campaign.prepared.folder.path + "/",
                fault: Fault(mode: .full, call: 1))
            #expect(first.status == 1, "a disk that is full from the start is noticed")
        }

        private static let files = ["a.db", "b.db", "pet.csv"]

        private static func passphrase(_ place: Workplace, _ name: String = "a") -> [String] {
            ["--passphrase-file", place.secret(name)]
        }

        /// Checks that a store is sound and holds its rows.
        private static func examine(
            _ place: Workplace, _ store: String, _ passphrase: String, rows: Int, _ comment: Comment
        ) throws {
            let queue = try place.open(store, passphrase)
            #expect(try StoreProbe.problems(queue) == [], comment)
            #expect(try StoreProbe.rows(queue).count == rows, comment)
            try queue.close()
        }

        @Test func rekey() async throws {
            try await fillDisk {
                ["rekey", $0.path("a.db"), "--new-passphrase-file", $0.secret("c")] + Self.passphrase($0)
            } _: { place, hasSucceeded, comment in
                try Self.examine(place, "a.db", hasSucceeded ? "c" : "a", rows: 160, comment)
                #expect(try place.contents() == Self.files, comment)
            }
        }

        @Test func importing() async throws {
            try await fillDisk {
                ["import", $0.path("a.db"), $0.path("pet.csv"), "--track"] + Self.passphrase($0)
            } _: { place, hasSucceeded, comment in
                try Self.examine(place, "a.db", "a", rows: 160, comment)
                let queue = try place.open("a.db", "a")
                #expect(try StoreProbe.hasTable(queue, "pet") == hasSucceeded, comment)
                try queue.close()
                #expect(try place.contents() == Self.files, comment)
            }
        }

        @Test func push() async throws {
            try await fillDisk {
                ["push", $0.path("a.db"), "-r", $0.path("b.db"), "--remote-passphrase-file", $0.secret("b")]
                    + Self.passphrase($0)
            } _: { place, hasSucceeded, comment in
                try Self.examine(place, "a.db", "a", rows: 160, comment)
                try Self.examine(place, "b.db", "b", rows: hasSucceeded ? 160 : 100, comment)
                #expect(try place.contents() == Self.files, comment)
            }
        }

        @Test(arguments: ["init", "export"]) func copying(command: String) async throws {
            try await fillDisk { place in
                let (source, target) = (place.path("a.db"), place.path("copy.db"))
                return command == "init"
                    ? ["init", target, "--clone", source, "--clone-passphrase-file", place.secret("a")]
                        + Self.passphrase(place, "c")
                    : ["export", source, "--to", target, "--to-passphrase-file", place.secret("c")]
                        + Self.passphrase(place)
            } _: { place, hasSucceeded, comment in
                try Self.examine(place, "a.db", "a", rows: 160, comment)
                // A replica that has its name is whole, and stays also where there is no room to open it.
                let isMade = FileManager.default.fileExists(atPath: place.path("copy.db"))
                #expect(isMade == hasSucceeded || (isMade && command == "init"), comment)
                if isMade { try Self.examine(place, "copy.db", "c", rows: 160, comment) }
                #expect(
                    try place.contents() == (Self.files + (isMade ? ["copy.db"] : [])).sorted(), comment)
            }
        }

        @Test func makingAStore() async throws {
            try await fillDisk {
                ["init", $0.path("new.db")] + Self.passphrase($0, "c")
            } _: { place, hasSucceeded, comment in
                if hasSucceeded {
                    let queue = try place.open("new.db", "c")
                    _ = try Synchronizer(existing: queue)
                    try queue.close()
                }
                #expect(
                    try place.contents() == (Self.files + (hasSucceeded ? ["new.db"] : [])).sorted(), comment)
            }
        }

        @Test func exportingPlaintext() async throws {
            try await fillDisk {
                ["export", $0.path("a.db"), "--plaintext", "--to", $0.path("out")] + Self.passphrase($0)
            } _: { place, hasSucceeded, comment in
                if hasSucceeded {
                    let queue = try DatabaseQueue(path: place.path("out"))
                    #expect(try StoreProbe.rows(queue).count == 160, comment)
                    try queue.close()
                }
                try Self.examine(place, "a.db", "a", rows: 160, comment)
                #expect(
                    try place.contents() == (Self.files + (hasSucceeded ? ["out"] : [])).sorted(), comment)
            }
        }

        @Test func exportingText() async throws {
            try await fillDisk {
                ["export", $0.path("a.db"), "--format", "csv", "--to", $0.path("out")] + Self.passphrase($0)
            } _: { place, hasSucceeded, comment in
                if hasSucceeded {
                    let lines = try place.folder.text("out/person.csv").split(separator: "\n")
                    #expect(lines.count == 161, comment)
                }
                try Self.examine(place, "a.db", "a", rows: 160, comment)
                #expect(
                    try place.contents() == (Self.files + (hasSucceeded ? ["out"] : [])).sorted(), comment)
            }
        }

        @Test func changingKeys() async throws {
            let prepared = try Self.makePair()
            let first = KeySlotSecret(try Passphrase(Workplace.passphrase("a")))
            try StoreRekey.makeKeyring(
                path: prepared.path("a.db"), from: Passphrase(Workplace.passphrase("a")), cost: .minimum)
            let files = (Self.files + ["a.db.keys", "a.db.keys.bak"]).sorted()
            try await fillDisk(prepared) {
                ["key", "passwd", $0.path("a.db"), "--new-passphrase-file", $0.secret("c"), "--cost", "14"]
                    + Self.passphrase($0)
            } _: { place, hasSucceeded, comment in
                try Self.examine(place, "a.db", hasSucceeded ? "c" : "a", rows: 160, comment)
                let keyring = Keyring(store: place.path("a.db"))
                if hasSucceeded { #expect(try keyring.information().slots.count == 1, comment) }
                #expect(try place.contents() == files, comment)
            }
            try await fillDisk(prepared) {
                ["rekey", $0.path("a.db"), "--data-key"] + Self.passphrase($0)
            } _: { place, _, comment in
                try Self.examine(place, "a.db", "a", rows: 160, comment)
                try Keyring(store: place.path("a.db")).add(
                    KeySlotSecret(RecoveryKey.generate()), unlockingWith: first)
                #expect(try place.contents() == files, comment)
            }
        }

        @Test func makingAnArchiveAndAStoreOfIt() async throws {
            let prepared = try Self.makePair()
            let identity = try ArchiveIdentity.make(file: prepared.path("id.key"))
            let recipient = try identity.recipient
            let queue = try prepared.open("a.db", "a")
            try Synchronizer(existing: queue).archive(
                to: prepared.path("old.csa"), lock: ArchiveLock(recipient: recipient))
            try queue.close()
            let files = (Self.files + ["id.key", "old.csa"]).sorted()
            try await fillDisk(prepared) {
                ["export", $0.path("a.db"), "--to", $0.path("new.csa"), "--recipient", recipient.description]
                    + Self.passphrase($0)
            } _: { place, hasSucceeded, comment in
                try Self.examine(place, "a.db", "a", rows: 160, comment)
                if hasSucceeded {
                    try StoreArchive.verify(place.path("new.csa"), opening: ArchiveSecret(identity))
                }
                #expect(
                    try place.contents() == (files + (hasSucceeded ? ["new.csa"] : [])).sorted(), comment)
            }
            try await fillDisk(prepared) {
                ["init", $0.path("r.db"), "--from", $0.path("old.csa"), "--identity", $0.path("id.key")]
                    + Self.passphrase($0, "c")
            } _: { place, hasSucceeded, comment in
                // Opening it takes away the WAL that the export before left.
                try Self.examine(place, "a.db", "a", rows: 160, comment)
                if hasSucceeded { try Self.examine(place, "r.db", "c", rows: 160, comment) }
                #expect(try place.contents() == (files + (hasSucceeded ? ["r.db"] : [])).sorted(), comment)
            }
        }
    }
#endif
