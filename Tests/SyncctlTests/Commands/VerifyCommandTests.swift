import CipherStore
import Foundation
import Testing

@testable import SyncctlCommands
@testable import syncctl

// In the serial suite, because these tests start processes.
extension ProcessWideTests {
    @Suite struct VerifyCommandTests {
        let place: Workplace

        init() throws {
            place = try Workplace()
            try place.makeStore("a.db", "a", rows: 0..<400)
        }

        private var options: [String] { ["--passphrase-file", place.secret("a")] }

        private func change(_ name: String, at offset: Int) throws {
            let url = URL(fileURLWithPath: place.path(name))
            var bytes = try Data(contentsOf: url)
            bytes[offset] ^= 1
            try bytes.write(to: url)
        }

        @Test func aSoundStoreIsSaidToBeSound() throws {
            let result = try place.succeed(["verify", place.path("a.db"), "--deep", "--json"] + options)
            let document = try result.document()
            #expect(document["sound"] as? Bool == true && document["deep"] as? Bool == true)
            #expect((document["pages"] as? Int ?? 0) > 5)
            #expect(try place.contents() == ["a.db"])
        }

        @Test func damageIsListedWithPageTableAndAdvice() throws {
            try change("a.db", at: 4096 * 12 + 99)
            let result = try place.run(["verify", place.path("a.db"), "--json"] + options)
            #expect(result.status == 16)
            let document = try result.document()
            let problems = try #require(document["problems"] as? [[String: Any]])
            #expect(document["sound"] as? Bool == false && document["bad_pages"] as? Int == 1)
            #expect(problems.first?["page"] as? Int == 13 && problems.first?["table"] is String)
            #expect((document["advice"] as? [String])?.isEmpty == false)
            let text = try place.run(["verify", place.path("a.db")] + options)
            #expect(text.status == 16 && text.output.contains("page 13 is not authentic"))
            #expect(text.errors.contains("hint: keep a copy"))
        }

        @Test func aTriggerThatIsGoneIsFound() throws {
            let queue = try place.open("a.db", "a")
            try queue.write { try $0.execute(sql: "DROP TRIGGER _sync_i_1") }
            try queue.close()
            let result = try place.run(["verify", place.path("a.db")] + options)
            #expect(result.status == 16 && result.output.contains("_sync_i_1"))
        }

        @Test func tablesThatAreNotTrackedAreNotSaidToBeEqual() throws {
            let queue = try place.open("a.db", "a")
            try queue.write { try $0.execute(sql: "CREATE TABLE draft (id BLOB PRIMARY KEY, text TEXT)") }
            try queue.close()
            try place.makeReplica("b.db", "b", of: "a.db", "a")
            let remote = ["--remote", place.path("b.db"), "--remote-passphrase-file", place.secret("b")]
            let verify = ["verify", place.path("a.db")] + remote + options
            let some = try place.succeed(verify)
            #expect(some.output.contains("hold the same") && some.errors.contains("not tracked here: draft"))
            try place.succeed(["untrack", place.path("a.db"), "person"] + options)
            let none = try place.succeed(verify)
            #expect(none.output.contains("nothing to compare") && none.errors.contains("syncctl track"))
            let document = try place.succeed(verify + ["--json"]).document()
            #expect(document["untracked"] as? [String] == ["person", "draft"])
            let sync = try place.run(["sync", place.path("a.db")] + remote + options)
            #expect(sync.errors.contains("no table is tracked here"))
        }

        @Test func aWrongPassphraseHasItsOwnCode() throws {
            let wrong = ["--passphrase-file", place.secret("wrong")]
            #expect(try place.run(["verify", place.path("a.db")] + wrong).status == 12)
            #expect(try place.run(["verify", place.path("none.db")] + wrong).status == 10)
        }

        @Test func archivesAreChecked() throws {
            let archive = place.path("b.csa")
            try place.succeed(
                ["export", place.path("a.db"), "--to", archive, "--to-passphrase-file", place.secret("b")]
                    + options + ["--cost", "14"])
            let opening = ["--archive-passphrase-file", place.secret("b")]
            let sound = try place.succeed(["verify", archive, "--json"] + opening)
            #expect(try sound.document()["sound"] as? Bool == true)
            #expect(try place.run(["verify", archive] + options).status == 64)
            try change("b.csa", at: 20_000)
            #expect(try place.run(["verify", archive] + opening).status == 16)
        }

        @Test func theDoctorFindsWhatEndangersAStore() throws {
            let clean = try place.run(["doctor", place.path("a.db"), "--json"] + options)
            #expect(clean.status == 0, "\(clean.output)")
            #expect(try clean.document()["opened"] as? Bool == true)
            chmod(place.path("a.db"), 0o644)
            try place.folder.write("", to: "a.db.rekey-0123456789abcdef")
            try place.folder.write("", to: "a.db.copy-20261130")
            try place.folder.write("", to: "a.db.rekey-notes.txt")
            let ill = try place.run(["doctor", place.path("a.db"), "--json"])
            #expect(ill.status == 3)
            let document = try ill.document()
            let findings = try #require(document["findings"] as? [[String: String]])
            let serious = findings.filter { $0["severity"] != "note" }
            #expect(serious.count == 2, "\(serious)")
            // It may be a backup: whoever follows the advice keeps it.
            let doubtful = findings.filter { $0["what"]?.contains("a.db.copy-20261130") == true }
            #expect(doubtful.map { $0["severity"] } == ["note"])
            #expect(doubtful.allSatisfy { $0["advice"]?.contains("rm ") == false })
            #expect(serious.allSatisfy { !($0["why"] ?? "").isEmpty && !($0["advice"] ?? "").isEmpty })
            #expect(document["opened"] as? Bool == false)
        }

        @Test func theDoctorLooksAtKeyrings() throws {
            let store = place.path("a.db")
            try place.succeed(
                ["key", "add", store, "--new-passphrase-file", place.secret("b"), "--cost", "14"] + options)
            let slots = try Keyring(store: store).information().slots
            try place.succeed(["key", "remove", store, slots[1].id.description] + options)
            let result = try place.run(["doctor", store])
            #expect(result.status == 3)
            #expect(result.output.contains("one slot only") && result.output.contains("16 MiB"))
        }

        @Test func theProcessLeavesNoCoreDump() throws {
            let script = try place.folder.write(
                "#!/bin/sh\nulimit -c >\(place.path("limit"))\necho kestrel-4711-a-\u{E9}t\u{E9}\n", to: "ask"
            )
            try place.succeed(["status", place.path("a.db"), "--passphrase-command", "/bin/sh " + script])
            #expect(try place.folder.text("limit") == "0\n")
        }
    }
}

/// Findings about machines that this one is not.
@Suite struct MachineChecksTests {
    private func checks(
        options: [String] = ["TEMP_STORE=2"], core: UInt64 = 0, swaps: String? = nil,
        now: TimeInterval = 1_800_000_000,
        cipher: String = "4.14.0 community"
    ) -> MachineChecks {
        MachineChecks(
            compileOptions: options, coreLimit: core, swaps: swaps, now: now, cipherVersion: cipher)
    }

    @Test func aMachineWithoutRisksHasNoFindings() {
        #expect(checks().findings() == [])
        #expect(checks(swaps: "Filename Type\n/dev/dm-1 partition 1 0 -2\n").findings() == [])
    }

    @Test func eachRiskIsFound() {
        #expect(checks(options: ["TEMP_STORE=0"]).findings().map(\.severity) == [.error])
        #expect(checks(now: 1_000).findings().map(\.severity) == [.error])
        #expect(checks(core: 1).findings().map(\.severity) == [.note])
        #expect(checks(swaps: "Filename Type\n/swapfile file 1 0 -2\n").findings().map(\.severity) == [.note])
        #expect(checks(cipher: "3.4.1").findings().map(\.severity) == [.note])
        #expect(checks(cipher: "4.13.0 community").findings().map(\.severity) == [.note])
        #expect(checks(cipher: "5.0.0").findings() == [])
    }
}

@Suite struct OpenStoreChecksTests {
    @Test func defaultsThatAreComputedAreANote() throws {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE _sync_table (name TEXT, tracked INTEGER);
                    INSERT INTO _sync_table VALUES ('note', 1);
                    CREATE TABLE note (id BLOB PRIMARY KEY, made TEXT DEFAULT CURRENT_TIMESTAMP);
                    """)
        }
        let checks = OpenStoreChecks(store: "none.db", nowMilliseconds: 0)
        let findings = try queue.read { try checks.findings($0) }
        #expect(findings.map(\.severity) == [.note])
        #expect(findings.first?.what.contains("note.made") == true)
    }
}

#if os(Linux)
    // In the serial suite, because it changes the process.
    extension ProcessWideTests {
        @Suite struct ProcessHardeningTests {
            @Test func theMemoryOfTheProcessCannotBeDumped() {
                let getDumpable: Int32 = 3
                let setDumpable: Int32 = 4
                let before = ProcessHardening.control(getDumpable, 0)
                defer { ProcessHardening.control(setDumpable, UInt(max(0, before))) }
                ProcessHardening.apply()
                #expect(ProcessHardening.control(getDumpable, 0) == 0)
                #expect(ProcessHardening.coreLimit() == 0)
            }
        }
    }
#endif

extension ProcessWideTests {
    @Suite struct RemoteComparisonTests {
        let place: Workplace

        init() throws {
            place = try Workplace()
            try place.makeStore("a.db", "a", rows: 0..<20)
            try place.makeReplica("b.db", "b", of: "a.db", "a")
            try place.succeed(["sync"] + both)
        }

        private var both: [String] {
            [
                place.path("a.db"), "--remote", place.path("b.db"), "--passphrase-file", place.secret("a"),
                "--remote-passphrase-file", place.secret("b"),
            ]
        }

        private func damage(_ sql: String) throws {
            let queue = try place.open("b.db", "b")
            try queue.write { db in
                try db.execute(sql: "UPDATE _sync_state SET applying = 1")
                try db.execute(sql: sql)
                try db.execute(
                    sql:
                        "UPDATE _sync_state SET applying = 0; DELETE FROM _sync_setting WHERE name = 'digest.replica'"
                )
            }
            try queue.close()
        }

        @Test func aValueThatDiffersIsListedAndRepaired() throws {
            let equal = try place.succeed(["verify", "--json"] + both).document()
            #expect(equal["equal"] as? Bool == true && equal["differing_rows"] as? Int == 0)
            try damage("UPDATE person SET name = 'zz damaged' WHERE rowid = 3")
            let result = try place.run(["verify", "--json"] + both)
            #expect(result.status == 16)
            let found = try result.document()
            #expect(found["equal"] as? Bool == false && found["differing_rows"] as? Int == 1)
            let tables = try #require(found["tables"] as? [[String: Any]])
            #expect(tables.first?["table"] as? String == "person")
            #expect(((tables.first?["keys"] as? [String])?.first?.count) == 36)
            let text = try place.run(["verify"] + both)
            #expect(text.status == 16 && text.output.contains("1 row of"))
            #expect(text.errors.contains("--repair"))
            let repaired = try place.succeed(["verify", "--repair", "--json"] + both).document()
            #expect(repaired["repaired"] as? Bool == true && repaired["conflicts"] as? Int == 1)
            #expect(try place.succeed(["verify"] + both).output.contains("hold the same"))
        }

        @Test func aSynchronizationSaysThatItRepaired() throws {
            try damage("UPDATE _sync_row SET hlc = hlc + 1 WHERE r = 3")
            let text = try place.run(["sync"] + both)
            #expect(text.status == 3 && text.errors.contains("did not hold the same"))
            try damage("UPDATE _sync_row SET hlc = hlc + 1 WHERE r = 3")
            let result = try place.run(["sync", "--json"] + both)
            #expect(result.status == 3)
            let divergence = try #require(try result.document()["divergence"] as? [String: Any])
            #expect(divergence["rows"] as? Int == 1 && divergence["repaired"] as? Bool == true)
            #expect(try place.succeed(["sync", "--json"] + both).document()["divergence"] == nil)
        }

        @Test func storesThatAreNotSynchronizedAreRefused() throws {
            let queue = try place.open("a.db", "a")
            try queue.write { try $0.execute(sql: "DELETE FROM person WHERE rowid = 1") }
            try queue.close()
            let result = try place.run(["verify"] + both)
            #expect(result.status == 1 && result.errors.contains("syncctl sync"))
        }

        @Test func optionsThatDoNotFitAreRefused() throws {
            let own = [place.path("a.db"), "--passphrase-file", place.secret("a")]
            #expect(try place.run(["verify", "--repair"] + own).status == 64)
            #expect(try place.run(["verify", "--remote", "dir:/tmp"] + own).status == 64)
            #expect(try place.run(["verify", "--deep"] + both).status == 64)
            #expect(try place.run(["verify", "--remote", place.path("none.db")] + own).status == 10)
        }
    }
}
