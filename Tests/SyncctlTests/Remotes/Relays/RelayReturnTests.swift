#if os(Linux)
    import Foundation
    import TestSupport
    import Testing

    /// A relay that lost its storage, and with it the certificate by which stores know it.
    @Suite(.serialized) struct RelayReturnTests {
        private let place: Workplace

        init() throws {
            place = try Workplace()
            try place.makeStore("a.db", "a", rows: 0..<3)
        }

        private func own(_ name: String) -> [String] { ["--passphrase-file", place.secret(name)] }

        private func share(_ relay: RelayProcess, _ more: [String] = []) throws -> CommandResult {
            let words = [
                "share", place.path("a.db"), "--relay", relay.url, "--fingerprint", relay.fingerprint,
            ]
            return try place.run(words + own("a") + more)
        }

        private func file(of result: CommandResult) throws -> String {
            try place.folder.writePassphrase(
                result.output.trimmingCharacters(in: .newlines), to: "link-\(UUID().uuidString)")
        }

        private func relays(_ store: String, _ name: String) throws -> [[String: Any]] {
            let list = try place.succeed(["remote", "list", place.path(store), "--json"] + own(name))
            return try #require(list.document()["relays"] as? [[String: Any]])
        }

        /// A relay at the same port that has nothing of what one before it had.
        private func lose(_ relay: RelayProcess) throws -> RelayProcess {
            #expect(relay.stop() == 0)
            for suffix in ["", "-wal", "-shm"] {
                try? FileManager.default.removeItem(atPath: place.path("relay.db") + suffix)
            }
            let next = try RelayProcess(place, port: relay.port)
            #expect(next.port == relay.port && next.fingerprint != relay.fingerprint, "\(next.errors)")
            return next
        }

        @Test func aRelayThatIsAwayIsNamedOnce() throws {
            let relay = try RelayProcess(place)
            #expect(try share(relay).status == 0)
            #expect(relay.stop() == 0)
            let result = try place.run(["sync", place.path("a.db")] + own("a"))
            let line = try #require(result.errors.split(separator: "\n").first { $0.contains("error: ") })
            #expect(result.status == 13 && line.components(separatedBy: "127.0.0.1:").count == 2, "\(line)")
            let status = try place.succeed(["status", place.path("a.db")] + own("a")).output
            let failed = try #require(status.split(separator: "\n").first { $0.contains("failed  ") })
            #expect(failed.components(separatedBy: "https://").count == 2, "\(failed)")
        }

        @Test func aRelayWhosePortIsTakenBeginsNoStorage() throws {
            let relay = try RelayProcess(place)
            let words = ["relay", "--storage", place.path("new.db"), "--listen", "127.0.0.1:\(relay.port)"]
            let second = try place.run(words)
            #expect(second.status == 1 && second.errors.contains("the address is in use"), "\(second.errors)")
            #expect(!FileManager.default.fileExists(atPath: place.path("new.db")))
        }

        @Test func aRelayWithAnotherCertificateIsSharedAgainUnderTheSameKey() throws {
            let first = try RelayProcess(place, port: LoopbackPort.lasting())
            let shared = try share(first)
            #expect(shared.status == 0, "\(shared.errors)")
            try place.succeed(
                ["init", place.path("b.db"), "--invitation-file", file(of: shared)] + own("b"))
            let channel = try relays("a.db", "a").first?["channel"] as? String
            let second = try lose(first)
            let lost = try place.run(["sync", place.path("a.db")] + own("a"))
            #expect(lost.status == 14 && lost.errors.contains("--fingerprint"), "\(lost.errors)")
            // Without the option nothing is taken, and neither is one that nobody shows.
            let words = ["share", place.path("a.db"), "--relay", second.url] + own("a")
            #expect(try place.run(words).status == 14)
            let other = String(repeating: "ab", count: 32)
            #expect(try place.run(words + ["--fingerprint", other]).status == 14)
            let again = try share(second)
            #expect(again.status == 0 && again.errors.contains("another certificate now"), "\(again.errors)")
            #expect(again.errors.contains(second.fingerprint) && again.errors.contains(first.fingerprint))
            #expect(try relays("a.db", "a").first?["channel"] as? String == channel)
            // The other one learns it by a link, when it is told to.
            #expect(try place.run(["sync", place.path("b.db")] + own("b")).status == 14)
            let link = try file(of: again)
            let add = ["remote", "add", place.path("b.db"), "--invitation-file", link] + own("b")
            let refused = try place.run(add)
            #expect(refused.status == 1 && refused.errors.contains("--replace"), "\(refused.errors)")
            let added = try place.succeed(add + ["--replace"])
            #expect(added.errors.contains("another certificate now"), "\(added.errors)")
            #expect(try relays("b.db", "b").first?["channel"] as? String == channel)
            let queue = try place.open("b.db", "b")
            try StoreProbe.insert(100..<102, into: queue)
            try queue.close()
            try place.succeed(["sync", place.path("b.db")] + own("b"))
            try place.succeed(["sync", place.path("a.db")] + own("a"))
            #expect(try place.rows("a.db", "a") == place.rows("b.db", "b"))
            #expect(second.stop() == 0)
        }

        @Test func aReplicaIsLetIntoAChannelByALink() throws {
            let relay = try RelayProcess(place)
            try place.makeReplica("c.db", "c", of: "a.db", "a")
            try place.makeStore("stranger.db", "b", rows: 5..<6)
            let link = try file(of: share(relay, ["--label", "carl"]))
            let stranger = try place.run(
                ["remote", "add", place.path("stranger.db"), "--invitation-file", link] + own("b"))
            #expect(stranger.status == 14, "\(stranger.errors)")
            #expect(try relays("stranger.db", "b").isEmpty)
            // The link was given back.
            let added = try place.succeed(
                ["remote", "add", place.path("c.db"), "--invitation-file", link, "--json"] + own("c"))
            #expect(try added.document()["name"] as? String == "relay")
            let members = try place.succeed(["member", "list", place.path("c.db"), "--json"] + own("c"))
            let known = try #require(members.document()["members"] as? [[String: Any]])
            #expect(known.contains { $0["name"] as? String == "carl" && $0["local"] as? Bool == true })
            let queue = try place.open("c.db", "c")
            try StoreProbe.insert(100..<102, into: queue)
            try queue.close()
            try place.succeed(["sync", place.path("c.db")] + own("c"))
            try place.succeed(["sync", place.path("a.db")] + own("a"))
            #expect(try place.rows("a.db", "a").count == 5)
        }

        @Test func aChannelThatTheStoreIsInGetsNoSecondName() throws {
            let relay = try RelayProcess(place)
            let first = try file(of: share(relay))
            try place.succeed(["init", place.path("b.db"), "--invitation-file", first] + own("b"))
            let second = try file(of: share(relay, ["--label", "dora"]))
            let again = try place.run(
                ["remote", "add", place.path("b.db"), "--invitation-file", second, "--name", "again"]
                    + own("b"))
            #expect(again.status == 1 && again.errors.contains("in that channel already"), "\(again.errors)")
            #expect(again.errors.contains("--name relay --replace"), "\(again.errors)")
            #expect(try relays("b.db", "b").count == 1)
            try place.succeed(["sync", place.path("b.db")] + own("b"))
            // The link was given back.
            try place.succeed(["init", place.path("d.db"), "--invitation-file", second] + own("b"))
            #expect(relay.stop() == 0)
        }

        @Test func eitherOfTwoNamesOfAChannelCanBeReplaced() throws {
            let relay = try RelayProcess(place)
            let first = try file(of: share(relay))
            try place.succeed(["init", place.path("b.db"), "--invitation-file", first] + own("b"))
            // Earlier versions let a channel have two.
            let queue = try place.open("b.db", "b")
            let value = "SELECT 'relay other', value FROM _sync_setting WHERE name = 'relay relay'"
            try queue.write { try $0.execute(sql: "INSERT INTO _sync_setting (name, value) \(value)") }
            try queue.close()
            for name in ["relay", "other"] {
                let link = try file(of: share(relay, ["--label", name]))
                let add = ["remote", "add", place.path("b.db"), "--invitation-file", link] + own("b")
                let third = try place.run(add + ["--name", "third"])
                #expect(third.status == 1 && third.errors.contains("--replace"), "\(third.errors)")
                try place.succeed(add + ["--name", name, "--replace"])
            }
            #expect(try relays("b.db", "b").count == 2)
            #expect(relay.stop() == 0)
        }

        @Test func aFullChannelIsNoFullDisk() throws {
            let relay = try RelayProcess(place, ["--quota", "1M"])
            #expect(try share(relay).status == 0)
            let queue = try place.open("a.db", "a")
            try queue.write { db in
                try db.execute(
                    sql: "INSERT INTO person VALUES (randomblob(16), randomblob(2000000), 1)")
            }
            try queue.close()
            let result = try place.run(["sync", place.path("a.db")] + own("a"))
            #expect(result.status == 1 && !result.errors.contains("disk"), "\(result.errors)")
            #expect(result.errors.contains("has no room in the channel: it would hold"), "\(result.errors)")
            #expect(result.errors.contains("syncctl relay --quota"), "\(result.errors)")
            #expect(relay.stop() == 0)
        }

        @Test func aStoreThatIsTheMemberKeepsTheRelayThoughItsFirstSynchronizationFails() throws {
            let first = try RelayProcess(place, port: LoopbackPort.lasting(), ["--quota", "2M"])
            try place.makeReplica("c.db", "c", of: "a.db", "a")
            let link = try file(of: share(first, ["--label", "carl"]))
            // There is no room in the channel for what this one has.
            let queue = try place.open("c.db", "c")
            try queue.write { db in
                for _ in 0..<4 {
                    try db.execute(
                        sql: "INSERT INTO person VALUES (randomblob(16), randomblob(1000000), 1)")
                }
            }
            try queue.close()
            let words = ["remote", "add", place.path("c.db"), "--invitation-file", link] + own("c")
            let added = try place.succeed(words)
            #expect(added.errors.contains("the first synchronization failed"), "\(added.errors)")
            #expect(try relays("c.db", "c").count == 1)
            // The link is spent, so nobody else is let in by it.
            #expect(try place.run(words + ["--replace"]).status == 14)
            #expect(first.stop() == 0)
            let second = try RelayProcess(place, port: first.port)
            try place.succeed(["sync", place.path("c.db")] + own("c"))
            try place.succeed(["sync", place.path("a.db")] + own("a"))
            #expect(try place.rows("a.db", "a").count == 7)
            #expect(second.stop() == 0)
        }

        @Test func aCtrlCDuringTheFirstSynchronizationOfAJoinEndsTheCommandAndKeepsTheStore() throws {
            let relay = try RelayProcess(place)
            let links = try ["b", "c"].map { try file(of: share(relay, ["--label", $0])) }
            // Nearly all that a new device writes is what comes after the snapshot.
            let queue = try place.open("a.db", "a")
            try queue.write { db throws in
                for _ in 0..<3 {
                    try db.execute(
                        sql: "INSERT INTO person VALUES (randomblob(16), randomblob(1000000), 1)")
                }
            }
            try queue.close()
            try place.succeed(["sync", place.path("a.db")] + own("a"))
            let interposer = try Interposer()
            func join(_ name: String, _ link: String, fault: Fault? = nil) throws
                -> (result: CommandResult, callCount: Int?)
            {
                try interposer.run(
                    ["init", place.path("\(name).db"), "--invitation-file", link] + own(name),
                    below: place.path("\(name).db"), fault: fault)
            }
            let (rehearsed, count) = try join("b", links[0])
            #expect(rehearsed.status == 0, "\(rehearsed.errors)")
            let call = try #require(count) / 2
            let (cancelled, _) = try join("c", links[1], fault: Fault(mode: .interrupt, call: call))
            #expect(cancelled.status == 130, "\(cancelled.errors)")
            #expect(cancelled.errors.contains("joined; what came after"), "\(cancelled.errors)")
            #expect(try relays("c.db", "c").count == 1)
            try place.succeed(["sync", place.path("c.db")] + own("c"))
            #expect(try place.rows("c.db", "c") == place.rows("a.db", "a"))
            #expect(relay.stop() == 0)
        }

        @Test func aStoreThatCantKeepTheRelayDoesNotBecomeTheMemberAndMayTryAgain() throws {
            let relay = try RelayProcess(place)
            try place.makeReplica("c.db", "c", of: "a.db", "a")
            let link = try file(of: share(relay, ["--label", "carl"]))
            func change(_ sql: String) throws {
                let queue = try place.open("c.db", "c")
                try queue.write { try $0.execute(sql: sql) }
                try queue.close()
            }
            try change(
                """
                CREATE TRIGGER refuse BEFORE INSERT ON _sync_setting WHEN NEW.name GLOB 'relay *' BEGIN
                    SELECT RAISE(ABORT, 'not now');
                END
                """)
            let words = ["remote", "add", place.path("c.db"), "--invitation-file", link] + own("c")
            let refused = try place.run(words)
            #expect(refused.status != 0 && refused.errors.contains("not now"), "\(refused.errors)")
            #expect(try relays("c.db", "c").isEmpty)
            try change("DROP TRIGGER refuse")
            // The link was given back.
            try place.succeed(words)
            #expect(try relays("c.db", "c").count == 1)
            let members = try place.succeed(["member", "list", place.path("c.db"), "--json"] + own("c"))
            let known = try #require(members.document()["members"] as? [[String: Any]])
            #expect(known.contains { $0["name"] as? String == "carl" && $0["local"] as? Bool == true })
            #expect(relay.stop() == 0)
        }

        @Test func aCtrlCDuringTheFirstSynchronizationEndsTheCommandAndKeepsTheRelay() throws {
            let relay = try RelayProcess(place)
            for name in ["b", "c"] { try place.makeReplica("\(name).db", name, of: "a.db", "a") }
            // Nearly all that a new device writes is what this brings.
            let queue = try place.open("a.db", "a")
            try queue.write { db in
                for _ in 0..<3 {
                    try db.execute(
                        sql: "INSERT INTO person VALUES (randomblob(16), randomblob(1000000), 1)")
                }
            }
            try queue.close()
            let interposer = try Interposer()
            func add(_ name: String, fault: Fault? = nil) throws -> (result: CommandResult, callCount: Int?) {
                let link = try file(of: share(relay, ["--label", name]))
                try place.succeed(["sync", place.path("a.db")] + own("a"))
                return try interposer.run(
                    ["remote", "add", place.path("\(name).db"), "--invitation-file", link] + own(name),
                    below: place.path("\(name).db"), fault: fault)
            }
            let (rehearsed, count) = try add("b")
            #expect(rehearsed.status == 0, "\(rehearsed.errors)")
            let call = try #require(count) / 2
            let (cancelled, _) = try add("c", fault: Fault(mode: .interrupt, call: call))
            #expect(cancelled.status == 130, "\(cancelled.errors)")
            #expect(cancelled.errors.contains("the relay is kept"), "\(cancelled.errors)")
            #expect(try relays("c.db", "c").count == 1)
            try place.succeed(["sync", place.path("c.db")] + own("c"))
            #expect(try place.rows("c.db", "c") == place.rows("a.db", "a"))
            #expect(relay.stop() == 0)
        }
    }
#endif
