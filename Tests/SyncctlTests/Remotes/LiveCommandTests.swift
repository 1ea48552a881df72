#if os(Linux)
    import Foundation
    import Testing

    /// `watch`, and remotes over ssh.
    @Suite(.serialized) struct LiveCommandTests {
        private static func passphrase(_ place: Workplace, _ name: String) -> [String] {
            ["--passphrase-file", place.secret(name)]
        }

        private static func insert(
            _ place: Workplace, _ name: String, _ passphrase: String, _ rows: Range<Int>
        ) throws {
            let queue = try place.open(name, passphrase)
            try StoreProbe.insert(rows, into: queue)
            try queue.close()
        }

        /// Waits for a process on a thread of its own. Swift's pool has as many threads as there are cores, and a
        /// command that runs as long as its test would keep one from all other tests.
        private static func onThread<Value: Sendable>(
            _ body: @escaping @Sendable () throws -> Value
        ) async throws -> Value {
            try await withCheckedThrowingContinuation { continuation in
                Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
            }
        }

        @Test func aWatchKeepsBothSidesEqualUntilTheDeviceIsRevoked() async throws {
            let place = try Workplace()
            try place.makeStore("hub.db", "a")
            let server = try ServerProcess(place, ["hub.db"], "a")
            let link = try place.succeed(
                ["invite", place.path("hub.db"), "--label", "phone", "--json"] + Self.passphrase(place, "a"))
            try place.succeed(
                ["init", place.path("phone.db"), "--join", #require(link.document()["link"] as? String)]
                    + Self.passphrase(place, "b"))
            let words = ["watch", place.path("phone.db"), "--json"] + Self.passphrase(place, "b")
            let watch = Task { try await Self.onThread { try place.run(words) } }
            try Self.insert(place, "hub.db", "a", 100..<103)
            try Self.insert(place, "phone.db", "b", 200..<202)
            let all = try Set(place.rows("hub.db", "a") + place.rows("phone.db", "b"))
            #expect(all.count == 25)
            while try Set(place.rows("hub.db", "a")) != all || Set(place.rows("phone.db", "b")) != all {
                try await Task.sleep(for: .milliseconds(50))
            }
            try place.succeed(
                ["device", "revoke", place.path("hub.db"), "phone"] + Self.passphrase(place, "a"))
            let result = try await watch.value
            #expect(result.status == 14)
            #expect(try result.errorDocument()["code"] as? Int == 14)
            let events = try result.output.split(separator: "\n").map {
                try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
            }
            #expect(events.first??["message_type"] as? String == "connected")
            let exchanged = events.filter { $0?["message_type"] as? String == "synchronized" }
            #expect(exchanged.reduce(0) { $0 + ($1?["pulled"] as? Int ?? 0) } == 3)
            #expect(exchanged.reduce(0) { $0 + ($1?["pushed"] as? Int ?? 0) } == 2)
            #expect(server.stop() == 0)
        }

        @Test func aWatchOfADeviceThatMayOnlyReadSaysWhatStaysThere() async throws {
            let place = try Workplace()
            try place.makeStore("hub.db", "a")
            let server = try ServerProcess(place, ["hub.db"], "a")
            let link = try place.succeed(
                ["invite", place.path("hub.db"), "--label", "kiosk", "--read-only", "--json"]
                    + Self.passphrase(place, "a"))
            try place.succeed(
                ["init", place.path("kiosk.db"), "--join", #require(link.document()["link"] as? String)]
                    + Self.passphrase(place, "b"))
            try Self.insert(place, "kiosk.db", "b", 200..<201)
            let sync = try place.run(["sync", place.path("kiosk.db")] + Self.passphrase(place, "b"))
            #expect(sync.status == 3, "\(sync.errors)")
            let words = ["watch", place.path("kiosk.db"), "--json"] + Self.passphrase(place, "b")
            let watch = Task { try await Self.onThread { try place.run(words) } }
            try Self.insert(place, "hub.db", "a", 100..<101)
            while try place.rows("kiosk.db", "b").count < 22 { try await Task.sleep(for: .milliseconds(50)) }
            try place.succeed(
                ["device", "revoke", place.path("hub.db"), "kiosk"] + Self.passphrase(place, "a"))
            let events = try await watch.value.output.split(separator: "\n").map {
                try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
            }
            #expect(events.first??["message_type"] as? String == "connected")
            #expect(events.first??["unsent"] as? Int == 1)
            #expect(server.stop() == 0)
        }

        @Test func aStoreIsSynchronizedOverSSH() throws {
            let place = try Workplace()
            try place.makeStore("it's hub.db", "a", rows: 0..<5)
            try place.makeReplica("b.db", "b", of: "it's hub.db", "a")
            try Self.insert(place, "it's hub.db", "a", 10..<13)
            try Self.insert(place, "b.db", "b", 20..<22)
            // What stands for ssh notes its words, and has a shell run the command as the other machine's would.
            try FileManager.default.createDirectory(
                atPath: place.path("bin"), withIntermediateDirectories: false)
            let fake = place.path("bin/ssh")
            let script = """
                #!/bin/sh
                printf '%s\\n' "$@" >> '\(place.path("words"))'
                env > '\(place.path("environment"))'
                for word; do last=$word; done
                exec sh -c "$last"
                """
            // Written by another process: one that a test starts meanwhile could have it open, and it could not be run.
            let written = try CommandRunner.run(
                "/bin/sh", ["-c", #"printf '%s\n' "$1" > "$2" && chmod 755 "$2""#, "sh", script, fake],
                environment: CommandRunner.inherited)
            #expect(written.status == 0, "\(written.errors)")
            let program = try #require(CommandRunner.program)
            let environment = [
                "PATH": place.path("bin") + ":"
                    + (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"),
                "SYNCCTL_BUNDLE_PASSPHRASE": Workplace.passphrase("c"),
            ]
            let remote = "ssh://me@far.example:2222" + place.path("it's hub.db")
            let sync =
                ["sync", place.path("b.db"), "--remote", remote, "--json", "--remote-command"]
                + ["\(program) serve --stdio --passphrase-file \(place.secret("a"))"]
                + Self.passphrase(place, "b")
            let result = try place.run(sync, environment: environment)
            #expect(result.status == 0, "\(result.errors)")
            #expect(try result.document()["pulled"] as? Int == 3)
            #expect(try result.document()["pushed"] as? Int == 2)
            #expect(try place.rows("b.db", "b") == place.rows("it's hub.db", "a"))
            let noted = try String(contentsOfFile: place.path("words"), encoding: .utf8)
            #expect(noted.contains("\n-p\n2222\n-l\nme\nfar.example\n"))
            let variables = try String(contentsOfFile: place.path("environment"), encoding: .utf8)
            #expect(variables.contains("PATH=") && !variables.contains("kestrel-4711"))
            // What can't be read there is said by the other side; words that ssh would take for options are refused.
            let missing = try place.run(
                sync.map { $0 == remote ? "ssh://far.example/nowhere.db" : $0 }, environment: environment)
            #expect(missing.status == 10 && missing.errors.contains("no such file"))
            for wrong in [
                "ssh://-oProxyCommand=x/a.db", "ssh://-l@host/a.db", "ssh://host", "ssh://host/",
                "ssh:///a.db",
                "ssh://ho st/a.db", "ssh://host:0/a.db",
            ] {
                let refused = try place.run(
                    sync.map { $0 == remote ? wrong : $0 }, environment: environment)
                #expect(refused.status == 64, "\(wrong): \(refused.errors)")
            }
        }
    }
#endif
