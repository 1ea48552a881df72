#if os(Linux)
    import CipherStore
    import Foundation
    import SyncEngine
    import SyncHTTP
    import Testing

    @testable import SyncctlCommands

    /// How the link of an invitation reaches a command, and who can read it on the way.
    @Suite(.serialized) struct InvitationTests {
        private let place: Workplace

        init() throws { place = try Workplace() }

        private func own(_ name: String) -> [String] { ["--passphrase-file", place.secret(name)] }

        /// An invitation, to a server that need not run.
        private func link(_ label: String, port: Int = 1) throws -> String {
            let queue = try place.open("hub.db", "a")
            defer { try? queue.close() }
            return try DeviceRegister(Synchronizer(existing: queue)).invite(
                label: label, address: ServerAddress(host: "127.0.0.1", port: port, trust: .loopback)
            ).description
        }

        @Test func aLinkComesFromAFileOrAheadOfThePassphrase() throws {
            try place.makeStore("hub.db", "a")
            let server = try ServerProcess(place, ["hub.db"], "a", ["--plaintext-on-loopback"])
            let port = try #require(server.port, "\(server.errors)")
            let file = try place.folder.writePassphrase(link("one", port: port), to: "link")
            let fromFile = try place.succeed(
                ["init", place.path("one.db"), "--invitation-file", file] + own("b"))
            #expect(!fromFile.errors.contains("among the arguments"))
            #expect(try place.rows("one.db", "b") == place.rows("hub.db", "a"))
            // The line of the link is read, and not a byte more.
            let both = try CommandRunner.run(
                ["init", place.path("two.db"), "--join", "-", "--passphrase-fd", "0"],
                input: link("two", port: port) + "\n" + Workplace.passphrase("b") + "\n")
            #expect(both.status == 0, "\(both.errors)")
            #expect(try place.rows("two.db", "b") == place.rows("hub.db", "a"))
            let again = try place.folder.writePassphrase(link("three", port: port), to: "again")
            try place.succeed(
                ["remote", "add", place.path("two.db"), "--invitation-file", again, "--replace"] + own("b"))
            let added = try CommandRunner.run(
                ["remote", "add", place.path("two.db"), "-", "--replace"] + own("b"),
                input: link("four", port: port) + "\n")
            #expect(added.status == 0, "\(added.errors)")
        }

        @Test(arguments: [0o644, 0o660, 0o602] as [mode_t])
        func aFileThatOthersCanReadOrChangeIsRefused(mode: mode_t) throws {
            let file = try place.folder.writePassphrase("cipherstore://host:1/x", to: "link")
            try #require(chmod(file, mode) == 0)
            for command in [["init"], ["remote", "add"]] {
                let result = try place.run(
                    command + [place.path("b.db"), "--invitation-file", file] + own("b"))
                #expect(result.status == 1 && result.errors.contains("invitation file \(file)"))
                #expect(result.errors.contains("chmod 600"))
            }
        }

        @Test func whatIsMissingOrTwiceIsAUsageError() throws {
            for arguments in [
                ["remote", "add", place.path("b.db")],
                ["remote", "add", place.path("b.db"), "-", "--invitation-file", "x"],
                ["init", place.path("b.db"), "--join", "-", "--invitation-file", "x"],
            ] {
                let result = try place.run(arguments + own("b"))
                #expect(result.status == 64, "\(arguments): \(result.errors)")
            }
            let empty = try CommandRunner.run(["init", place.path("b.db"), "--join", "-"] + own("b"))
            #expect(empty.status == 1 && empty.errors.contains("standard input is empty"))
        }

        @Test(arguments: [["--join", "%"], ["--join=%"]])
        func aLinkIsOverwrittenAmongTheArguments(form: [String]) throws {
            try place.makeStore("hub.db", "a")
            let link = try link("phone")
            let secret = try #require(link.split(separator: "/").last)
            let seen = place.path("seen")
            // What reads the passphrase looks at the arguments of the process that runs it.
            let spy = "sh -c 'tr \"\\\\0\" \" \" < /proc/$PPID/cmdline > \(seen); exit 1'"
            let result = try CommandRunner.run(
                ["init", place.path("b.db")] + form.map { $0.replacingOccurrences(of: "%", with: link) }
                    + ["--passphrase-command", spy])
            #expect(result.status != 0 && result.errors.contains("among the arguments"), "\(result.errors)")
            let text = try String(contentsOfFile: seen, encoding: .utf8)
            #expect(text.contains("cipherstore://127.0.0.1:1/***") && !text.contains(secret))
            // What stands before and behind it is left alone.
            #expect(
                text.contains("init \(place.path("b.db")) --join") && text.contains("--passphrase-command"))
        }

        @Test(arguments: [
            ("cipherstore://hub:1/secret", "cipherstore://hub:1/******"),
            ("--join=cipherstore://hub:1/a/b", "--join=cipherstore://hub:1/***"),
            ("cipherstore:secret", "cipherstore:******"), ("cipherstore://secret", "cipherstore:********"),
            ("notes.db", "notes.db"), ("", ""),
        ])
        func whatFollowsTheAddressIsOverwritten(argument: String, expected: String) {
            var bytes = Array(argument.utf8CString)
            bytes.withUnsafeMutableBufferPointer { buffer in
                guard let start = buffer.baseAddress else { return }
                ProcessArguments.hideInvitation(in: start)
                #expect(String(cString: start) == expected)
            }
        }

        @Test func aCrashPrintsNoMemory() throws {
            let crash = "sh -c 'kill -ILL $PPID; sleep 60'"
            let result = try CommandRunner.run(["init", place.path("b.db"), "--passphrase-command", crash])
            #expect(result.status == -SIGILL && result.errors.isEmpty, "\(result.errors)")
        }
    }
#endif
