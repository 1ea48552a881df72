#if os(Linux)
    import Foundation
    import Testing

    @testable import CipherStore
    @testable import SyncEngine

    /// Kills `syncctl` while it makes and applies bundles and works with a shared folder, and lets
    /// the disk fill: stores hold what they held or everything, a file under its name is whole, and
    /// the same command brings the rest.
    @Suite(.serialized) struct TransportFaultTests {
        /// A store with edits, a replica with others that are in a shared folder already, and a
        /// bundle of everything in the store.
        private static func makeStores() throws -> Workplace {
            let place = try Workplace()
            try place.makeStore("a.db", "a", rows: 0..<60)
            try place.makeReplica("b.db", "b", of: "a.db", "a")
            let a = try place.open("a.db", "a")
            try StoreProbe.insert(200..<230, into: a)
            try a.write { try $0.execute(sql: "DELETE FROM person WHERE stars BETWEEN 40 AND 49") }
            try a.close()
            let b = try place.open("b.db", "b")
            try StoreProbe.insert(300..<310, into: b)
            try b.close()
            try place.succeed(sync(place, "b"))
            try place.succeed(create(place, "all.bundle"))
            return place
        }

        private static func own(_ place: Workplace, _ name: String) -> [String] {
            ["--passphrase-file", place.secret(name)]
        }

        private static func sync(_ place: Workplace, _ name: String) -> [String] {
            [
                "sync", place.path(name + ".db"), "--remote", "dir:" + place.path("shared"),
                "--remote-passphrase-file", place.secret("c"), "--cost", "14", "--create",
            ] + own(place, name)
        }

        private static func create(_ place: Workplace, _ file: String) -> [String] {
            [
                "bundle", "create", place.path("a.db"), "--since-nothing", "--to", place.path(file),
                "--plaintext",
            ] + own(place, "a")
        }

        private static func apply(_ place: Workplace, _ file: String) -> [String] {
            ["bundle", "apply", place.path("b.db"), place.path(file), "--plaintext"] + own(place, "b")
        }

        /// The rows of a sound store.
        private static func rows(_ place: Workplace, _ name: String, _ comment: Comment) throws -> [String] {
            let queue = try place.open(name + ".db", name)
            defer { try? queue.close() }
            #expect(try StoreProbe.problems(queue) == [], comment)
            #expect(try queue.read { try MetadataCheck.problems(of: $0, isDeep: true) }.isEmpty, comment)
            return try StoreProbe.rows(queue)
        }

        /// Runs a command with faults of each kind at calls that lie all over it.
        ///
        /// - parameter share: Runs are divided by this where each starts many processes.
        private func run(
            _ prepared: Workplace, share: Int = 1, _ arguments: @escaping @Sendable (Workplace) -> [String],
            check: @escaping @Sendable (FaultedRun) throws -> Void
        ) async throws {
            let campaign = try FaultCampaign(prepared, arguments)
            let (count, _) = try campaign.rehearse { _ in }
            for (mode, limit) in [(Fault.Mode.kill, 80), (.torn, 40), (.full, 40)] {
                let calls = FaultCampaign.calls(of: count, limit: limit / share, least: 4 / share)
                try await campaign.run(mode, at: calls) { run in
                    if mode == .full {
                        // Space may have been needed for tidying up only.
                        let hasSucceeded = [0, 3].contains(run.result.status)
                        #expect(hasSucceeded || run.result.status == 1, run.comment)
                        let text = run.result.errors
                        #expect(
                            hasSucceeded || text.contains("disk is full") || text.contains("no space left"),
                            run.comment)
                    } else {
                        #expect(run.result.status == -SIGKILL, run.comment)
                    }
                    try check(run)
                }
            }
        }

        @Test func aBundleIsThereWholeOrNotAtAll() async throws {
            let prepared = try Self.makeStores()
            let rows = try prepared.rows("a.db", "a")
            let after = Set(rows).union(try prepared.rows("b.db", "b").suffix(10))
            try await run(prepared) {
                Self.create($0, "x.bundle")
            } check: { run in
                #expect(try Self.rows(run.place, "a", run.comment) == rows, run.comment)
                if !FileManager.default.fileExists(atPath: run.place.path("x.bundle")) {
                    try run.place.succeed(Self.create(run.place, "x.bundle"))
                }
                try run.place.succeed(Self.apply(run.place, "x.bundle"))
                #expect(try Set(Self.rows(run.place, "b", run.comment)) == after, run.comment)
            }
        }

        @Test func aBundleIsAppliedWholeOrNotAtAll() async throws {
            let prepared = try Self.makeStores()
            let before = try prepared.rows("b.db", "b")
            let after = Set(try prepared.rows("a.db", "a")).union(before.suffix(10))
            try await run(prepared) {
                Self.apply($0, "all.bundle")
            } check: { run in
                let rows = try Self.rows(run.place, "b", run.comment)
                #expect(rows == before || Set(rows) == after, run.comment)
                try run.place.succeed(Self.apply(run.place, "all.bundle"))
                #expect(try Set(Self.rows(run.place, "b", run.comment)) == after, run.comment)
                let files = try run.place.contents()
                #expect(files == ["a.db", "all.bundle", "b.db", "shared"], run.comment)
            }
        }

        @Test func aSharedFolderLosesNothing() async throws {
            let prepared = try Self.makeStores()
            let before = try prepared.rows("a.db", "a")
            let after = Set(before).union(try prepared.rows("b.db", "b").suffix(10))
            try await run(prepared, share: 2) {
                Self.sync($0, "a")
            } check: { run in
                let rows = try Self.rows(run.place, "a", run.comment)
                #expect(rows == before || Set(rows) == after, run.comment)
                // The other replica sees a folder that it can use, whatever is in it.
                try run.place.succeed(Self.sync(run.place, "b"))
                try run.place.succeed(Self.sync(run.place, "a"))
                try run.place.succeed(Self.sync(run.place, "b"))
                for name in ["a", "b"] {
                    #expect(try Set(Self.rows(run.place, name, run.comment)) == after, run.comment)
                }
            }
        }
    }
#endif
