#if os(Linux)
    import CipherStore
    import Foundation
    import SyncEngine
    import SyncRelay
    import TestSupport
    import Testing

    /// `relay`, `share`, and what goes through them.
    @Suite(.serialized) struct RelayCommandTests {
        private let place: Workplace

        init() throws {
            place = try Workplace()
            try place.makeStore("a.db", "a")
        }

        private func own(_ name: String) -> [String] { ["--passphrase-file", place.secret(name)] }

        private func share(_ relay: RelayProcess, _ more: [String] = []) throws -> [String: Any] {
            let words = [
                "share", place.path("a.db"), "--relay", relay.url, "--fingerprint", relay.fingerprint,
                "--json",
            ]
            return try place.succeed(words + own("a") + more).document()
        }

        private func join(_ store: String, _ link: Any?) throws -> CommandResult {
            let file = try place.folder.writePassphrase(
                #require(link as? String), to: "link-\(UUID().uuidString)")
            return try place.run(["init", place.path(store), "--invitation-file", file] + own("b"))
        }

        private func insert(_ rows: Range<Int>, _ store: String, _ passphrase: String) throws {
            let queue = try place.open(store, passphrase)
            try StoreProbe.insert(rows, into: queue)
            try queue.close()
        }

        /// What a store keeps of its relay, with the key; nil when it knows none.
        private func record(of store: String, _ passphrase: String) throws -> String? {
            let queue = try place.open(store, passphrase)
            defer { try? queue.close() }
            return try queue.read {
                try String.fetchOne($0, sql: "SELECT value FROM _sync_setting WHERE name = 'relay relay'")
            }
        }

        private static func onThread<Value: Sendable>(
            _ body: @escaping @Sendable () throws -> Value
        ) async throws -> Value {
            try await withCheckedThrowingContinuation { continuation in
                Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
            }
        }

        @Test func twoStoresMeetThroughARelay() throws {
            let relay = try RelayProcess(place)
            #expect(relay.url == "https://127.0.0.1:\(relay.port)", "\(relay.errors)")
            let shared = try share(relay, ["--label", "anna", "--expires", "7d"])
            #expect(shared["is_new"] as? Bool == true && shared["snapshot"] as? Bool == true)
            #expect(shared["pushed"] as? Int == 20 && shared["label"] as? String == "anna")
            let joined = try join("b.db", shared["link"])
            #expect(joined.status == 0, "\(joined.errors)")
            #expect(try place.rows("b.db", "b") == place.rows("a.db", "a"))
            try insert(100..<103, "a.db", "a")
            try insert(200..<202, "b.db", "b")
            // The only remote needs no name.
            let pushed = try place.succeed(["sync", place.path("a.db"), "--json"] + own("a")).document()
            #expect(pushed["pushed"] as? Int == 3 && pushed["remote"] as? String == "relay")
            let both = try place.succeed(
                ["sync", place.path("b.db"), "--remote", "relay", "--json"] + own("b"))
            #expect(try both.document()["pulled"] as? Int == 3 && both.document()["pushed"] as? Int == 2)
            try place.succeed(["pull", place.path("a.db"), "--remote", "relay"] + own("a"))
            #expect(try place.rows("b.db", "b") == place.rows("a.db", "a"))
            let idle = try place.succeed(["sync", place.path("a.db"), "--json"] + own("a")).document()
            #expect(idle["pulled"] as? Int == 0 && idle["pushed"] as? Int == 0)
            // Of the one channel, a second link; the snapshot is there.
            let again = try place.succeed(["share", place.path("a.db"), "--json"] + own("a")).document()
            #expect(again["is_new"] as? Bool == false && again["snapshot"] as? Bool == false)
            #expect(relay.stop() == 0)
        }

        @Test func nothingThatIsPrintedShowsTheKey() throws {
            let relay = try RelayProcess(place)
            let words = [
                "share", place.path("a.db"), "--relay", relay.url, "--fingerprint", relay.fingerprint,
            ]
            var printed: [String] = []
            for words in [
                words, words + ["--qr"], ["share", place.path("a.db"), "--json"],
                ["sync", place.path("a.db"), "--json"],
                ["remote", "list", place.path("a.db")], ["remote", "list", place.path("a.db"), "--json"],
                ["status", place.path("a.db"), "--json"],
            ] {
                let result = try place.run(words + own("a"), environment: ["LC_ALL": "C.UTF-8"])
                #expect(result.status == 0, "\(words): \(result.errors)")
                printed += [result.output, result.errors]
            }
            let kept = try #require(try record(of: "a.db", "a"))
            let digits = try #require(kept.firstMatch(of: /"key":"([0-9a-f]{64})"/)?.1)
            for text in printed + [relay.errors] { #expect(!text.contains(digits)) }
            let bytes = try Data(contentsOf: URL(fileURLWithPath: place.path("relay.db")))
            #expect(
                bytes.range(of: Data(String(digits).utf8)) == nil
                    && bytes.range(of: Data("person".utf8)) == nil)
            #expect(printed[8].contains(relay.url) && printed[8].contains("relay"))
            // A copy of the store has no key.
            try place.makeReplica("c.db", "c", of: "a.db", "a")
            #expect(try record(of: "c.db", "c") == nil)
        }

        @Test func aLinkThatIsWrongUsedOrLateIsRefused() throws {
            let relay = try RelayProcess(place)
            let link = try #require(share(relay)["link"] as? String)
            for wrong in [
                String(link.dropLast(3)), String(link.dropLast()) + (link.hasSuffix("f") ? "e" : "f"),
                link.replacing("#", with: "!"), "cipherstore-relay://nowhere",
            ] {
                let result = try join("wrong.db", wrong)
                #expect(result.status == 64 && result.errors.contains("syncctl share"), "\(result.errors)")
            }
            #expect(try join("b.db", link).status == 0)
            let used = try join("c.db", link)
            #expect(used.status == 14 && used.errors.contains("was used"), "\(used.errors)")
            #expect(used.errors.contains("ask for a new link"))
            // One that was not copied exactly was not lost to who has the right one.
            let short = try place.succeed(
                ["share", place.path("a.db"), "--expires", "1s", "--json"] + own("a"))
            let late = try short.document()["link"]
            usleep(2_100_000)
            let expired = try join("d.db", late)
            #expect(expired.status == 14 && expired.errors.contains("expired"), "\(expired.errors)")
            for name in ["wrong.db", "c.db", "d.db"] {
                #expect(!FileManager.default.fileExists(atPath: place.path(name)))
            }
            // A link comes from an argument or standard input, too.
            let third = try place.succeed(["share", place.path("a.db"), "--json"] + own("a")).document()[
                "link"]
            let result = try CommandRunner.run(
                ["init", place.path("e.db"), "--join", "-", "--passphrase-fd", "0"],
                input: #require(third as? String) + "\n" + Workplace.passphrase("b") + "\n")
            #expect(result.status == 0, "\(result.errors)")
            let fourth = try place.succeed(["share", place.path("a.db"), "--json"] + own("a")).document()[
                "link"]
            try place.succeed(["init", place.path("f.db"), "--join", #require(fourth as? String)] + own("b"))
        }

        @Test func aCertificateThatNobodyVouchesForNeedsItsFingerprint() throws {
            let relay = try RelayProcess(place)
            let words = ["share", place.path("a.db"), "--relay", relay.url] + own("a")
            let result = try place.run(words)
            #expect(result.status == 14 && result.errors.contains("--fingerprint \(relay.fingerprint)"))
            let other = String(repeating: "ab", count: 32)
            let wrong = try place.run(words + ["--fingerprint", other])
            #expect(wrong.status == 14 && wrong.errors.contains("another certificate"))
            #expect(
                wrong.errors.contains("--fingerprint \(relay.fingerprint)") && !wrong.errors.contains("link"))
            // Nothing is remembered of either.
            let list = try place.succeed(["remote", "list", place.path("a.db"), "--json"] + own("a"))
            #expect(try (list.document()["relays"] as? [Any])?.isEmpty == true)
        }

        @Test func aRelayWithATokenMakesChannelsForThoseWhoHaveIt() throws {
            let token = try place.folder.writePassphrase(String(repeating: "0f", count: 32), to: "admission")
            let other = try place.folder.writePassphrase(String(repeating: "0e", count: 32), to: "other")
            let none = try place.folder.writePassphrase("hello", to: "none")
            let relay = try RelayProcess(place, ["--admission-file", token])
            let words =
                ["share", place.path("a.db"), "--relay", relay.url, "--fingerprint", relay.fingerprint]
                + own("a")
            #expect(try place.run(words).errors.contains("admission token"))
            #expect(try place.run(words + ["--admission-file", other]).status == 14)
            #expect(
                try place.run(words + ["--admission-file", none]).errors.contains("64 hexadecimal digits"))
            try place.succeed(words + ["--admission-file", token])
        }

        @Test func aRelayThatIsStoppedAndStartedAgainLosesNothing() throws {
            let first = try RelayProcess(place, port: LoopbackPort.lasting())
            let link = try share(first)["link"]
            #expect(try join("b.db", link).status == 0)
            let port = first.port
            #expect(first.stop() == 0)
            try insert(100..<103, "a.db", "a")
            let down = try place.run(["sync", place.path("a.db"), "--json"] + own("a"))
            #expect(down.status == 13)
            let second = try RelayProcess(place, port: port)
            #expect(second.fingerprint == first.fingerprint, "\(second.errors)")
            let sync = try place.succeed(["sync", place.path("a.db")] + own("a"))
            // Each start begins another epoch, which is nothing to tell.
            #expect(!sync.errors.contains("relay:"), "\(sync.errors)")
            try place.succeed(["sync", place.path("b.db")] + own("b"))
            #expect(try place.rows("b.db", "b") == place.rows("a.db", "a"))
            // One that was put back to an older state is.
            #expect(second.stop() == 0)
            let former = place.path("former.db")
            try FileManager.default.copyItem(atPath: place.path("relay.db"), toPath: former)
            let third = try RelayProcess(place, port: port)
            try insert(110..<112, "a.db", "a")
            try place.succeed(["sync", place.path("a.db")] + own("a"))
            #expect(third.stop() == 0)
            for suffix in ["", "-wal", "-shm"] {
                try? FileManager.default.removeItem(atPath: place.path("relay.db") + suffix)
            }
            try FileManager.default.copyItem(atPath: former, toPath: place.path("relay.db"))
            let fourth = try RelayProcess(place, port: port)
            let warned = try place.succeed(["sync", place.path("a.db")] + own("a"))
            #expect(warned.errors.contains("went back"), "\(warned.errors)")
            try place.succeed(["sync", place.path("b.db")] + own("b"))
            #expect(try place.rows("b.db", "b") == place.rows("a.db", "a"))
            withExtendedLifetime(fourth) {}
        }

        @Test func aChannelThatTheRelayLostIsMadeAgain() throws {
            let first = try RelayProcess(place, port: LoopbackPort.lasting())
            #expect(try join("b.db", share(first)["link"]).status == 0)
            #expect(first.stop() == 0)
            // The certificate stays, or nobody would know the relay.
            let queue = try DatabaseQueue(path: place.path("relay.db"))
            try queue.write { db in
                for table in ["file", "upload", "invitation", "channel"] {
                    try db.execute(sql: "DELETE FROM \(table)")
                }
            }
            try queue.close()
            let second = try RelayProcess(place, port: first.port)
            let lost = try place.run(["sync", place.path("a.db")] + own("a"))
            #expect(lost.status == 14 && lost.errors.contains("syncctl share"), "\(lost.errors)")
            let words = ["share", place.path("a.db"), "--json"] + own("a")
            #expect(try place.succeed(words).document()["is_new"] as? Bool == true, "\(second.errors)")
            try insert(200..<202, "b.db", "b")
            try place.succeed(["sync", place.path("b.db")] + own("b"))
            try place.succeed(["sync", place.path("a.db")] + own("a"))
            #expect(try place.rows("b.db", "b") == place.rows("a.db", "a"))
        }

        @Test func aWatchKeepsBothSidesEqual() async throws {
            let place = place
            let relay = try RelayProcess(place)
            let link = try share(relay)["link"]
            #expect(try join("b.db", link).status == 0)
            let words = ["watch", place.path("b.db"), "--json"] + own("b")
            let watch = Task { try await Self.onThread { try place.run(words) } }
            try insert(100..<103, "a.db", "a")
            try place.succeed(["sync", place.path("a.db")] + own("a"))
            try insert(200..<202, "b.db", "b")
            // What is committed here goes there at once, and what comes there comes here.
            while try place.rows("b.db", "b").count < 25 { try await Task.sleep(for: .milliseconds(50)) }
            while try place.rows("a.db", "a").count < 25 {
                try place.succeed(["pull", place.path("a.db")] + own("a"))
            }
            // A relay that knows no such channel any more ends it.
            let text = try #require(try record(of: "a.db", "a"))
            let kept = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
            let id = try #require(RelayChannelID(kept["channel"] as? String ?? ""))
            let fingerprint = try #require(RelayAddress.fingerprint(relay.fingerprint))
            let bytes = try #require(kept["key"] as? String)
            let secret = stride(from: 0, to: 64, by: 2).compactMap { offset -> UInt8? in
                let start = bytes.index(bytes.startIndex, offsetBy: offset)
                return UInt8(bytes[start..<bytes.index(start, offsetBy: 2)], radix: 16)
            }
            let channel = RelayChannel(id: id, key: try #require(RelayChannelKey(bytes: secret)))
            let address = try RelayAddress(url: relay.url, fingerprint: fingerprint)
            try await Self.onThread { try RelayClient(address).delete(channel) }
            try insert(300..<301, "b.db", "b")
            let result = try await watch.value
            #expect(result.status == 14, "\(result.errors)")
            let events = try result.output.split(separator: "\n").map {
                try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
            }
            #expect(events.first??["message_type"] as? String == "connected")
            let exchanged = events.filter { $0?["message_type"] as? String == "synchronized" }
            #expect(exchanged.reduce(0) { $0 + ($1?["pulled"] as? Int ?? 0) } == 3)
            #expect(exchanged.reduce(0) { $0 + ($1?["pushed"] as? Int ?? 0) } == 2)
        }

        @Test func whatMakesNoSenseIsRefused() throws {
            let store = place.path("a.db")
            for (words, text) in [
                (["share", store], "knows no relay yet"),
                (["remote", "add", store, "no-link"], "syncctl share printed, cipherstore-relay://"),
                (["share", store, "--relay", "http://relay.example"], "--relay takes"),
                (["share", store, "--relay", "relay.example"], "--relay takes"),
                (["share", store, "--fingerprint", "ab"], "64 hexadecimal digits"),
                (["share", store, "--relay", "https://relay.example", "--expires", "31d"], "--expires"),
                (["share", store, "--relay", "https://relay.example", "--name", "a/b"], "--name"),
            ] {
                let result = try place.run(words + own("a"))
                #expect(result.status == 64 && result.errors.contains(text), "\(words): \(result.errors)")
            }
            for words in [
                ["relay"], ["relay", "--storage", "x", "--listen", "nowhere"],
                ["relay", "--storage", "x", "--quota", "0"],
                ["relay", "--storage", "x", "--tls-cert", "c"],
                ["relay", "--storage", "x", "--requests-per-second", "0"],
                ["relay", "--storage", "x", "--quota", "99999999999T"],
            ] { #expect(try place.run(words).status == 64, "\(words)") }
            // A storage that is something else is left alone.
            let result = try place.run(["relay", "--storage", store, "--listen", "127.0.0.1:0"])
            #expect(result.status == 1 && result.errors.contains(store), "\(result.errors)")
        }

        @Test func whatKeepsARelayFromStartingIsNamedWithWhatHelps() throws {
            let (key, missing) = (place.secret("a"), place.path("no/relay.db"))
            for (words, status, text) in [
                (["--storage", "x", "--storage-file", key], 64, "exclude each other"),
                (["--storage-file", place.path("none")], 1, "is named by --storage"),
                (["--storage-file", key], 1, "is named by --storage"),
                (["--storage", "mysql://x"], 64, "mysql://… is an address, and no file"),
                (["--storage", missing], 1, "\(missing): there is no such folder"),
                (["--storage", place.path("a.db")], 1, "--storage <file>"),
                (
                    ["--storage", place.path("x"), "--tls-cert", key, "--tls-key", key], 1,
                    "leave --tls-cert and --tls-key out"
                ),
            ] as [([String], Int32, String)] {
                let result = try place.run(["relay", "--listen", "127.0.0.1:0"] + words)
                #expect(result.status == status, "\(words): \(result.errors)")
                #expect(result.errors.contains(text), "\(words): \(result.errors)")
                #expect(!result.errors.contains("listen elsewhere"), "\(words): \(result.errors)")
            }
        }

        @Test func aRelayIsForgotten() throws {
            let relay = try RelayProcess(place)
            _ = try share(relay)
            let withPassphrase = [
                "sync", place.path("a.db"), "--remote", "relay", "--remote-passphrase-file",
                place.secret("c"),
            ]
            let refused = try place.run(withPassphrase + own("a"))
            #expect(refused.status == 64 && refused.errors.contains("a relay needs no passphrase"))
            let compared = try place.run(["verify", place.path("a.db"), "--remote", "relay"] + own("a"))
            #expect(compared.status == 64 && compared.errors.contains("is a relay"), "\(compared.errors)")
            try place.succeed(["remote", "remove", place.path("a.db"), "relay"] + own("a"))
            #expect(try record(of: "a.db", "a") == nil)
            #expect(try place.run(["sync", place.path("a.db")] + own("a")).status == 64)
        }
    }
#endif
