#if os(Linux)
    import Foundation
    import Testing

    @testable import SyncctlCommands

    /// What servers and their devices refuse, so that no address and no enrolment is lost silently.
    @Suite(.serialized) struct EnrolmentCareTests {
        private let place: Workplace

        init() throws { place = try Workplace() }

        private func own(_ name: String) -> [String] { ["--passphrase-file", place.secret(name)] }

        private func invite(_ label: String) throws -> CommandResult {
            try place.succeed(["invite", place.path("hub.db"), "--label", label, "--json"] + own("a"))
        }

        private func link(_ label: String) throws -> String {
            try #require(try invite(label).document()["link"] as? String)
        }

        @Test(arguments: ["127.0.0.1:99999", "127.0.0.1:65536", "127.0.0.1:", "nohost"])
        func anImpossibleAddressIsRefusedBeforeItListens(address: String) throws {
            for option in ["--listen", "--address"] {
                let result = try place.run(["serve", place.path("hub.db"), option, address])
                #expect(result.status == 64 && result.errors.contains(option), "\(result.errors)")
            }
            #expect(try place.run(["serve", place.path("hub.db"), "--address", "host:0"]).status == 64)
        }

        @Test func anAddressOrACertificateThatIsNotThereIsNamed() throws {
            try place.makeStore("hub.db", "a", rows: 0..<1)
            let host = try ServerProcess(place, ["hub.db"], "a", ["--listen", "nohost.invalid:0"])
            #expect(host.port == nil && host.waitForEnd() == 1)
            #expect(host.errors.contains("cannot listen") && !host.errors.contains("SocketAddressError"))
            #expect(host.errors.contains("--listen"))
            let files = ["--tls-cert", place.path("none.pem"), "--tls-key", place.path("none.key")]
            let certificate = try ServerProcess(place, ["hub.db"], "a", files)
            #expect(certificate.port == nil && certificate.waitForEnd() == 1)
            #expect(certificate.errors.contains("none.pem: there is no such file"))
        }

        @Test func aSecondServerOfAStoreDoesNotTakeItsAddress() throws {
            try place.makeStore("hub.db", "a", rows: 0..<1)
            let first = try ServerProcess(place, ["hub.db"], "a")
            let port = try #require(first.port, "\(first.errors)")
            let second = try ServerProcess(place, ["hub.db"], "a")
            #expect(second.port == nil && second.waitForEnd() == 1)
            #expect(second.errors.contains("is served already"), "\(second.errors)")
            let invited = try invite("phone").document()
            #expect((invited["link"] as? String)?.hasPrefix("cipherstore://127.0.0.1:\(port)/") == true)
            #expect(invited["answers"] as? Bool == true)
            #expect(first.stop() == 0)
            #expect(!first.errors.contains("HummingbirdCore"), "\(first.errors)")
            // Nobody answers there any more, which is said, and another server may take its place.
            #expect(try invite("tablet").document()["answers"] as? Bool == false)
            let text = try place.succeed(["console", place.path("hub.db")] + own("a"))
            #expect(text.errors.contains("nobody answers at") && text.errors.contains("syncctl serve"))
            let third = try ServerProcess(place, ["hub.db"], "a")
            #expect(third.port != nil, "\(third.errors)")
            #expect(third.stop() == 0)
        }

        @Test func anEnrolmentIsReplacedOnlyWhenSomebodySaysSo() throws {
            try place.makeStore("hub.db", "a", rows: 0..<1)
            try place.makeReplica("b.db", "b", of: "hub.db", "a")
            let server = try ServerProcess(place, ["hub.db"], "a")
            _ = try #require(server.port, "\(server.errors)")
            func add(_ store: String, _ name: String, _ link: String, _ options: [String] = []) throws
                -> CommandResult
            {
                try place.run(["remote", "add", place.path(store), link] + options + own(name))
            }
            let phone = try link("phone")
            let itself = try add("hub.db", "a", phone)
            #expect(itself.status == 14 && itself.errors.contains("own"), "\(itself.errors)")
            #expect(try add("b.db", "b", phone).status == 0)
            let tablet = try link("tablet")
            for options in [[], ["--name", "other"]] {
                let refused = try add("b.db", "b", tablet, options)
                #expect(refused.status == 1 && refused.errors.contains("--replace"), "\(refused.errors)")
            }
            func labels() throws -> [String?] {
                let document = try place.succeed(
                    ["device", "list", place.path("hub.db"), "--json"] + own("a")
                )
                .document()
                let devices = try #require(document["devices"] as? [[String: Any]])
                return devices.map { $0["label"] as? String }
            }
            #expect(try labels() == ["phone"])
            #expect(try add("b.db", "b", tablet, ["--replace"]).status == 0)
            #expect(try labels() == ["tablet"])
            let revoked = try place.run(["device", "revoke", place.path("hub.db"), "nobody"] + own("a"))
            #expect(
                revoked.status == 1 && revoked.errors.contains("syncctl device list"), "\(revoked.errors)")
            #expect(server.stop() == 0)
        }

        @Test func watchingAStoreWithoutServersSaysWhatIsMissing() throws {
            try place.makeStore("b.db", "b", rows: 0..<1)
            let result = try place.run(["watch", place.path("b.db")] + own("b"))
            #expect(result.status == 64 && result.errors.contains("no remote is named"), "\(result.errors)")
            #expect(!result.errors.contains("default: there is no such file"))
        }

        @Test func aRemoteThatFailedIsForgotten() throws {
            try place.makeStore("b.db", "b", rows: 0..<1)
            try place.makeStore("other.db", "a", rows: 0..<1)
            let sync = ["sync", place.path("b.db"), "--remote", place.path("other.db")] + own("b")
            #expect(try place.run(sync + ["--remote-passphrase-file", place.secret("a")]).status == 14)
            let remove = ["remote", "remove", place.path("b.db"), place.path("other.db")] + own("b")
            try place.succeed(remove)
            #expect(try place.run(remove).status == 1)
        }
    }
#endif
