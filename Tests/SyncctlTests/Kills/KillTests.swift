#if os(Linux)
    import Foundation
    import Synchronization
    import Testing

    @testable import CipherStore
    @testable import SyncEngine

    /// Kills `syncctl` before each of its calls that change a file, and looks at what is left.
    ///
    /// Each run works on a copy of its own of the same prepared stores. Where a command makes more
    /// calls than there is time for, some are chosen that lie all over it.
    @Suite(.serialized) struct KillTests {
        /// A store, and a replica of it that knows neither the last edits nor is known for its own.
        private static func makePair() throws -> Workplace {
            let place = try Workplace()
            try place.makeStore("a.db", "a", rows: 0..<150)
            try place.makeReplica("b.db", "b", of: "a.db", "a")
            let a = try place.open("a.db", "a")
            try StoreProbe.insert(200..<260, into: a)
            try a.write { try $0.execute(sql: "UPDATE person SET stars = -1 WHERE stars < 20") }
            try a.write { try $0.execute(sql: "DELETE FROM person WHERE stars BETWEEN 140 AND 149") }
            try a.close()
            let b = try place.open("b.db", "b")
            try StoreProbe.insert(300..<310, into: b)
            try b.close()
            return place
        }

        /// The rows that all stores have once everything was exchanged.
        private static func union(_ place: Workplace) throws -> [String] {
            let own = Set(try place.rows("b.db", "b").suffix(10))
            return try (place.rows("a.db", "a") + own).sorted()
        }

        private static func synchronize(_ place: Workplace, _ name: String, _ passphrase: String) throws {
            let queue = try place.open("a.db", "a")
            let transport = ProbeTransport(
                path: place.path(name), passphrase: Workplace.passphrase(passphrase))
            _ = try Synchronizer(existing: queue).run(.both, transport)
            try queue.close()
        }

        // MARK: rekey

        @Test func aKilledRekeyLeavesTheOldPassphraseOrTheNewOne() async throws {
            let prepared = try Workplace()
            try prepared.makeStore("a.db", "a", rows: 0..<300)
            let rows = try prepared.rows("a.db", "a")
            let salt = try prepared.salt("a.db")
            let campaign = try FaultCampaign(prepared) {
                [
                    "rekey", $0.path("a.db"), "--passphrase-file", $0.secret("a"), "--new-passphrase-file",
                    $0.secret("b"),
                ]
            }
            let (count, left) = try campaign.rehearse { try $0.rows("a.db", "b") }
            #expect(left == rows)
            for (mode, limit) in [(Fault.Mode.kill, 120), (.torn, 20)] {
                let passphrases = Mutex<[Int: String]>([:])
                let calls = FaultCampaign.calls(of: count, limit: limit)
                try await campaign.run(mode, at: calls) { run in
                    #expect(run.result.status == -SIGKILL, run.comment)
                    // A salt belongs to one passphrase, so no other one opens the file.
                    let name = try run.place.salt("a.db") == salt ? "a" : "b"
                    passphrases.withLock { $0[run.fault.call] = name }
                    let queue = try run.place.open("a.db", name)
                    #expect(try StoreProbe.problems(queue) == [], run.comment)
                    #expect(try StoreProbe.rows(queue) == rows, run.comment)
                    try queue.close()
                    try StoreRekey.run(
                        path: run.place.path("a.db"), from: Passphrase(Workplace.passphrase(name)),
                        to: Passphrase(Workplace.passphrase("c")))
                    #expect(try run.place.rows("a.db", "c") == rows, run.comment)
                    #expect(try run.place.contents() == ["a.db"], run.comment)
                }
                let order = passphrases.withLock { $0.sorted { $0.key < $1.key }.map(\.value) }
                #expect(order == order.sorted(), "the new passphrase is never lost again")
                if mode == .kill { #expect(Set(order) == ["a", "b"]) }
            }
        }

        // MARK: push

        @Test(arguments: [(Fault.Mode.kill, 120), (.torn, 40)])
        func aKilledPushHasAppliedEverythingOrNothing(mode: Fault.Mode, limit: Int) async throws {
            let prepared = try Self.makePair()
            let own = try prepared.rows("a.db", "a")
            let before = try prepared.rows("b.db", "b")
            let after = try Self.union(prepared)
            let campaign = try FaultCampaign(prepared) {
                ["push", $0.path("a.db"), "--remote", $0.path("b.db")]
                    + ["--passphrase-file", $0.secret("a"), "--remote-passphrase-file", $0.secret("b")]
            }
            let (count, left) = try campaign.rehearse { try $0.rows("b.db", "b") }
            #expect(left == after)
            let outcomes = Mutex<[Int: Bool]>([:])
            let calls = FaultCampaign.calls(of: count, limit: limit)
            try await campaign.run(mode, at: calls) { run in
                #expect(run.result.status == -SIGKILL, run.comment)
                let local = try run.place.open("a.db", "a")
                #expect(try StoreProbe.problems(local) == [], run.comment)
                #expect(try StoreProbe.rows(local) == own, run.comment)
                try local.close()
                let remote = try run.place.open("b.db", "b")
                #expect(try StoreProbe.problems(remote) == [], run.comment)
                let rows = try StoreProbe.rows(remote)
                try remote.close()
                #expect(rows == before || rows == after, run.comment)
                outcomes.withLock { $0[run.fault.call] = rows == after }
                try Self.synchronize(run.place, "b.db", "b")
                #expect(try run.place.rows("a.db", "a") == after, run.comment)
                #expect(try run.place.rows("b.db", "b") == after, run.comment)
                #expect(try run.place.contents() == ["a.db", "b.db"], run.comment)
            }
            let order = outcomes.withLock { $0.sorted { $0.key < $1.key }.map(\.value) }
            #expect(order == order.sorted { !$0 && $1 }, "what was applied is never lost again")
            if mode == .kill { #expect(Set(order) == [false, true]) }
        }

        // MARK: import

        @Test func aKilledImportLeavesNoPartOfATable() async throws {
            let prepared = try Workplace()
            try prepared.makeStore("a.db", "a", rows: 0..<20)
            let rows = try prepared.rows("a.db", "a")
            let lines = (0..<300).map { "pet \($0),\($0)\n" }
            try prepared.folder.write("name,age\n" + lines.joined(), to: "pet.csv")
            let arguments: @Sendable (Workplace) -> [String] = {
                [
                    "import", $0.path("a.db"), $0.path("pet.csv"), "--track", "--passphrase-file",
                    $0.secret("a"),
                ]
            }
            let campaign = try FaultCampaign(prepared, arguments)
            let (count, left) = try campaign.rehearse { try $0.rows("a.db", "a", "pet").count }
            #expect(left == 300)
            let outcomes = Mutex<Set<Bool>>([])
            let calls = FaultCampaign.calls(of: count, limit: 120)
            try await campaign.run(.kill, at: calls) { run in
                #expect(run.result.status == -SIGKILL, run.comment)
                let queue = try run.place.open("a.db", "a")
                #expect(try StoreProbe.problems(queue) == [], run.comment)
                #expect(try StoreProbe.rows(queue) == rows, run.comment)
                let isThere = try StoreProbe.hasTable(queue, "pet")
                try queue.close()
                outcomes.withLock { _ = $0.insert(isThere) }
                if !isThere { try run.place.succeed(arguments(run.place)) }
                #expect(try run.place.rows("a.db", "a", "pet").count == 300, run.comment)
                let reopened = try run.place.open("a.db", "a")
                let tables = try Synchronizer(existing: reopened).status().tables
                #expect(tables.map(\.name) == ["person", "pet"], run.comment)
                try reopened.close()
            }
            #expect(outcomes.withLock { $0 } == [false, true])
        }

        // MARK: init --clone and export --to

        @Test(arguments: ["init", "export"])
        func aKilledCopyIsCompleteOrNotThere(command: String) async throws {
            let prepared = try Self.makePair()
            let rows = try prepared.rows("a.db", "a")
            let campaign = try FaultCampaign(prepared) { place in
                let (source, target) = (place.path("a.db"), place.path("copy.db"))
                return command == "init"
                    ? ["init", target, "--clone", source, "--clone-passphrase-file", place.secret("a")]
                        + ["--passphrase-file", place.secret("c")]
                    : ["export", source, "--to", target, "--passphrase-file", place.secret("a")]
                        + ["--to-passphrase-file", place.secret("c")]
            }
            let (count, left) = try campaign.rehearse { try $0.rows("copy.db", "c") }
            #expect(left == rows)
            let outcomes = Mutex<[Int: Bool]>([:])
            let calls = FaultCampaign.calls(of: count, limit: 48)
            try await campaign.run(.kill, at: calls) { run in
                #expect(run.result.status == -SIGKILL, run.comment)
                let original = try run.place.open("a.db", "a")
                #expect(try StoreProbe.problems(original) == [], run.comment)
                #expect(try StoreProbe.rows(original) == rows, run.comment)
                let isThere = FileManager.default.fileExists(atPath: run.place.path("copy.db"))
                outcomes.withLock { $0[run.fault.call] = isThere }
                if !isThere {
                    try Synchronizer(existing: original).clone(
                        to: run.place.path("copy.db"), passphrase: Passphrase(Workplace.passphrase("c")))
                }
                try original.close()
                let copy = try run.place.open("copy.db", "c")
                #expect(try StoreProbe.problems(copy) == [], run.comment)
                #expect(try StoreProbe.rows(copy) == rows, run.comment)
                try StoreProbe.insert(400..<401, into: copy)
                try copy.close()
                try Self.synchronize(run.place, "copy.db", "c")
                let all = try run.place.rows("a.db", "a")
                #expect(all.count == rows.count + 1, run.comment)
                #expect(try run.place.rows("copy.db", "c") == all, run.comment)
                guard isThere, try run.place.contents().count > 3 else { return }
                // A second name of the file would keep the old passphrase alive through a rekey.
                try StoreRekey.run(
                    path: run.place.path("copy.db"), from: Passphrase(Workplace.passphrase("c")),
                    to: Passphrase(Workplace.passphrase("b")))
                #expect(try run.place.contents() == ["a.db", "b.db", "copy.db"], run.comment)
            }
            let order = outcomes.withLock { $0.sorted { $0.key < $1.key }.map(\.value) }
            #expect(order == order.sorted { !$0 && $1 })
            #expect(Set(order) == [false, true])
        }
    }
#endif
