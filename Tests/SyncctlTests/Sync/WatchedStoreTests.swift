#if os(Linux)
    import Foundation
    import Glibc
    import SyncEngine
    import SyncRelay
    import Testing

    @testable import SyncctlCommands

    /// `watch` of stores and folders of this machine.
    @Suite(.serialized) struct WatchedStoreTests {
        let place: Workplace

        init() throws {
            place = try Workplace()
            try place.makeStore("a.db", "a", rows: 0..<3)
            try place.makeReplica("b.db", "b", of: "a.db", "a")
        }

        private func insert(_ name: String, _ passphrase: String, _ rows: Range<Int>) throws {
            let queue = try place.open(name, passphrase)
            try StoreProbe.insert(rows, into: queue)
            try queue.close()
        }

        /// Runs `watch` of a store until a condition holds, and ends it as a supervisor would.
        ///
        /// - returns: What it printed, and the exit code.
        private func watch(
            _ store: String, _ passphrase: String, _ arguments: [String], until isDone: () throws -> Bool
        ) throws -> (output: String, status: Int32) {
            let folder = try TemporaryFolder()
            try folder.write("", to: "input")
            let program = try #require(CommandRunner.program)
            let inherited = CommandRunner.inherited
            let words =
                ["-k", "5", "600", program, "watch", place.path(store), "--json"]
                + ["--passphrase-file", place.secret(passphrase)] + arguments
            let process = try CommandRunner.spawn("/usr/bin/timeout", words, inherited, folder)
            var code: Int32 = 0
            while try !isDone() {
                // It must not end by itself.
                guard waitpid(process, &code, WNOHANG) == 0 else { break }
                usleep(20_000)
            }
            kill(process, SIGTERM)
            _ = waitpid(process, &code, 0)
            return (try folder.text("output"), (code >> 8) & 0xFF)
        }

        @Test func bothStoresAreKeptEqual() throws {
            let remote = ["--remote", place.path("b.db"), "--remote-passphrase-file", place.secret("b")]
            try insert("b.db", "b", 10..<12)
            var hasWritten = false
            let result = try watch("a.db", "a", remote) {
                guard try place.rows("a.db", "a").count >= 5 else { return false }
                if !hasWritten {
                    hasWritten = true
                    try insert("a.db", "a", 20..<21)
                    try insert("b.db", "b", 30..<31)
                }
                return try place.rows("a.db", "a").count == 7 && place.rows("b.db", "b").count == 7
            }
            #expect(result.status == 0)
            let lines = result.output.split(separator: "\n")
            #expect(lines.first?.contains("\"connected\"") == true)
            #expect(lines.dropFirst().allSatisfy { $0.contains("\"synchronized\"") })
            #expect(try place.rows("a.db", "a") == place.rows("b.db", "b"))
        }

        @Test func nobodyIsConnectedToARelayThatDoesNotAnswer() throws {
            let queue = try place.open("a.db", "a")
            let address = try RelayAddress(host: "127.0.0.1", port: 1)
            let relay = KnownRelay(name: "relay", address: address, channel: .random())
            try RelayBook(Synchronizer(queue)).save(relay)
            try queue.close()
            let end = ContinuousClock.now + .seconds(4)
            let result = try watch("a.db", "a", ["--remote", "relay"]) { ContinuousClock.now >= end }
            #expect(result.status == 0 && !result.output.contains("\"connected\""), "\(result.output)")
        }

        @Test func aFolderIsLookedAt() throws {
            let words = [
                "--remote", "dir:" + place.path("shared"), "--remote-passphrase-file", place.secret("c"),
            ]
            let new = ["--create", "--cost", "14"]
            try place.succeed(
                ["sync", place.path("b.db"), "--passphrase-file", place.secret("b")] + words + new)
            var hasWritten = false
            let result = try watch("a.db", "a", words) {
                if !hasWritten {
                    hasWritten = true
                    try insert("b.db", "b", 10..<12)
                    try place.succeed(
                        ["sync", place.path("b.db"), "--passphrase-file", place.secret("b")] + words)
                }
                return try place.rows("a.db", "a").count == 5
            }
            #expect(result.status == 0)
        }

        @Test func whatIsSaidOfMembersIsSentThoughNoRowHasChanged() throws {
            let own = ["--passphrase-file", place.secret("a")]
            let words = [
                "--remote", "dir:" + place.path("shared"), "--remote-passphrase-file", place.secret("c"),
            ]
            try place.succeed(["member", "found", place.path("a.db"), "--as", "anna"] + own)
            try place.succeed(["sync", place.path("a.db"), "--create", "--cost", "14"] + words + own)
            func files(_ suffix: String) -> Set<String> {
                let all = FileManager.default.enumerator(atPath: place.path("shared"))?.allObjects ?? []
                return Set(all.compactMap { $0 as? String }.filter { $0.hasSuffix(suffix) })
            }
            let (all, statements) = (files(""), files(".statements"))
            var (hasWritten, hasSaid, hasLooked) = (false, false, false)
            var quiet = ContinuousClock.now
            let end = ContinuousClock.now + .seconds(120)
            let result = try watch("a.db", "a", words) {
                let now = ContinuousClock.now
                if !hasWritten {
                    hasWritten = true
                    try insert("a.db", "a", 10..<12)
                } else if !hasLooked, files("") != all {
                    // It looks once more after what it has sent itself.
                    (hasLooked, quiet) = (true, now + .seconds(5))
                } else if hasLooked, !hasSaid, now >= quiet {
                    hasSaid = true
                    try place.succeed(
                        ["member", "invite", place.path("a.db"), "--label", "ben"] + own)
                }
                return files(".statements") != statements || now >= end
            }
            #expect(result.status == 0 && hasSaid && ContinuousClock.now < end, "\(result.output)")
        }

        @Test func aFolderThatVanishesIsNotBegunAnew() throws {
            let words = [
                "--remote", "dir:" + place.path("shared"), "--remote-passphrase-file", place.secret("c"),
            ]
            let new = ["--create", "--cost", "14"]
            try place.succeed(
                ["sync", place.path("a.db"), "--passphrase-file", place.secret("a")] + words + new)
            let manager = FileManager.default
            let (shared, away) = (place.path("shared"), place.path("away"))
            var steps = 0
            let end = ContinuousClock.now + .seconds(60)
            let result = try watch("b.db", "b", words) {
                switch steps {
                // Both replicas have written a folder of their own by then.
                case 0 where try manager.contentsOfDirectory(atPath: shared).count >= 2:
                    try manager.moveItem(atPath: shared, toPath: away)
                    try insert("b.db", "b", 10..<12)
                    steps = 1
                case 1 where try status("b.db", "b")["failures"] as? Int ?? 0 > 0:
                    #expect(!manager.fileExists(atPath: shared))
                    try manager.moveItem(atPath: away, toPath: shared)
                    steps = 2
                default: break
                }
                let isBack = try steps == 2 && status("b.db", "b")["failures"] as? Int == 0
                return isBack || ContinuousClock.now >= end
            }
            #expect(steps == 2 && result.output.contains("\"disconnected\""), "\(result.output)")
            // A synchronization may have been about to read a file when the folder went away.
            #expect(result.output.contains("no such"), "\(result.output)")
            try place.succeed(["sync", place.path("a.db"), "--passphrase-file", place.secret("a")] + words)
            #expect(try place.rows("a.db", "a").count == 5)
        }

        /// How the synchronizations of a store with its last remote went.
        private func status(_ store: String, _ passphrase: String) throws -> [String: Any] {
            let words = [
                "status", place.path(store), "--json", "--passphrase-file", place.secret(passphrase),
            ]
            return try (place.succeed(words).document()["remotes"] as? [[String: Any]])?.first ?? [:]
        }
    }
#endif
