#if os(Linux)
    import Foundation
    import Testing

    /// The first `share` of a store, which founds its members.
    @Suite(.serialized) struct FirstShareTests {
        private let place: Workplace

        init() throws {
            place = try Workplace()
            try place.makeStore("a.db", "a")
        }

        private func share(_ relay: RelayProcess, _ store: String = "a", _ more: String...) throws
            -> CommandResult
        {
            let words = [
                "share", place.path("\(store).db"), "--relay", relay.url, "--fingerprint", relay.fingerprint,
                "--passphrase-file", place.secret(store),
            ]
            return try place.run(words + more)
        }

        /// It is kept nowhere, so no flag may hide it, and nothing that fails later may lose it.
        @Test func theRecoveryKeyIsShownWhateverTheFlags() throws {
            let relay = try RelayProcess(place)
            let quiet = try share(relay, "a", "-q")
            #expect(quiet.status == 0)
            #expect(
                quiet.errors.firstMatch(of: /([0-9A-Z]{4}-){13}[0-9A-Z]{4}/) != nil, "\(quiet.errors)")
            #expect(quiet.output.split(separator: "\n").count == 1, "\(quiet.output)")
            try place.makeStore("b.db", "b")
            let json = try share(relay, "b", "--json")
            let shown = try json.errorDocument()
            #expect(shown["message_type"] as? String == "recovery_key")
            let key = try #require(shown["recovery_key"] as? String)
            #expect(try json.document()["recovery_key"] as? String == key)
        }

        @Test func aNameThatNoMemberHasEndsItBeforeItBegins() throws {
            let relay = try RelayProcess(place)
            for option in [["--as", ""], ["--as", "a\tb"], ["--label", ""]] {
                let refused = try share(relay, "a", option[0], option[1])
                #expect(refused.status == 64 && refused.errors.contains(option[0]), "\(refused.errors)")
            }
            // The next one is the first still, so the channel has members.
            let shared = try share(relay, "a", "--json")
            #expect(try shared.document()["member"] as? String == "guest", "\(shared.errors)")
        }

        @Test func aSecondLinkForOneNameIsRefusedAtOnce() throws {
            let relay = try RelayProcess(place)
            #expect(try share(relay, "a", "--label", "ben").status == 0)
            let second = try share(relay, "a", "--label", "ben")
            #expect(second.status == 14 && second.output.isEmpty, "\(second.errors)")
            #expect(second.errors.contains("syncctl member remove"), "\(second.errors)")
            try place.succeed(
                ["member", "remove", place.path("a.db"), "ben", "--passphrase-file", place.secret("a")])
            #expect(try share(relay, "a", "--label", "ben").status == 0)
        }

        /// A script that names whom a link is for believes that it makes a member.
        @Test func theDocumentSaysThatADatabaseHasNoMembers() throws {
            let relay = try RelayProcess(place)
            // Who has met others in a folder is not shut out by members.
            let passphrases = [
                "--passphrase-file", place.secret("a"), "--remote-passphrase-file", place.secret("c"),
            ]
            try place.succeed(
                ["sync", place.path("a.db"), "--remote", "dir:" + place.path("folder"), "--create"]
                    + passphrases)
            for option in [["--role", "reader"], ["--as", "anna"]] {
                let refused = try share(relay, "a", option[0], option[1])
                #expect(refused.status == 64 && refused.errors.contains("member found"), "\(refused.errors)")
            }
            // What is refused for its words makes no channel.
            let list = try place.succeed(
                ["remote", "list", place.path("a.db"), "--json", "--passphrase-file", place.secret("a")])
            #expect((try list.document()["relays"] as? [Any])?.isEmpty != false, "\(list.output)")
            let json = try share(relay, "a", "--label", "ben", "--json")
            let remarks = try #require(json.document()["remarks"] as? [String])
            #expect(json.status == 0 && json.errors.isEmpty, "\(json.errors)")
            #expect(remarks.count == 1 && remarks.first?.contains("has no members") == true, "\(remarks)")
            let text = try share(relay)
            #expect(text.status == 0 && text.errors.contains("has no members"), "\(text.errors)")
            for option in [["--role", "reader"], ["--as", "anna"]] {
                let refused = try share(relay, "a", option[0], option[1])
                #expect(refused.status == 64 && refused.errors.contains("member found"), "\(refused.errors)")
            }
        }

        @Test func aRelayThatRefusesFoundsNothing() throws {
            let relay = try RelayProcess(place)
            let words =
                ["share", place.path("a.db"), "--relay", relay.url] + [
                    "--passphrase-file", place.secret("a"),
                ]
            let refused = try place.run(words)
            #expect(refused.status == 14 && !refused.errors.contains("recovery key"), "\(refused.errors)")
            let list = try place.succeed(
                ["member", "list", place.path("a.db"), "--json", "--passphrase-file", place.secret("a")])
            #expect(try (list.document()["members"] as? [Any])?.isEmpty == true)
        }
    }
#endif
