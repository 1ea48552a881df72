#if os(Linux)
    import Foundation
    import Testing

    /// The commands for stores that are served, against a server that is another process.
    @Suite(.serialized) struct RemoteCommandTests {
        private static func passphrase(_ place: Workplace, _ name: String) -> [String] {
            ["--passphrase-file", place.secret(name)]
        }

        /// Invites a device and returns the link.
        private static func invite(_ place: Workplace, _ label: String, store: String = "hub.db") throws
            -> String
        {
            let result = try place.succeed(
                ["invite", place.path(store), "--label", label, "--json"] + passphrase(place, "a"))
            return try #require(try result.document()["link"] as? String)
        }

        private static func join(_ place: Workplace, _ name: String, _ link: String) throws {
            try place.succeed(["init", place.path(name), "--join", link] + passphrase(place, "b"))
        }

        private static func insert(
            _ place: Workplace, _ name: String, _ passphrase: String, _ rows: Range<Int>
        )
            throws
        {
            let queue = try place.open(name, passphrase)
            try StoreProbe.insert(rows, into: queue)
            try queue.close()
        }

        private static func items(_ result: CommandResult, _ name: String) throws -> [[String: Any]] {
            try #require(try result.document()[name] as? [[String: Any]])
        }

        @Test func aDeviceJoinsSynchronizesAndIsRevoked() throws {
            let place = try Workplace()
            try place.makeStore("hub.db", "a")
            let server = try ServerProcess(place, ["hub.db"], "a")
            let port = try #require(server.port, "\(server.errors)")
            let link = try Self.invite(place, "phone")
            #expect(link.hasPrefix("cipherstore://127.0.0.1:\(port)/"))
            try Self.join(place, "phone.db", link)
            #expect(try place.rows("phone.db", "b") == place.rows("hub.db", "a"))
            try Self.insert(place, "hub.db", "a", 100..<103)
            try Self.insert(place, "phone.db", "b", 200..<202)
            let sync = ["sync", place.path("phone.db"), "--json"] + Self.passphrase(place, "b")
            let report = try place.succeed(sync).document()
            #expect(report["pulled"] as? Int == 3 && report["pushed"] as? Int == 2)
            #expect(try place.rows("phone.db", "b") == place.rows("hub.db", "a"))
            let remotes = try Self.items(
                place.succeed(
                    ["remote", "list", place.path("phone.db"), "--json"] + Self.passphrase(place, "b")),
                "remotes")
            #expect(remotes.map { $0["name"] as? String } == ["default"])
            #expect(remotes.first?["url"] as? String == "https://127.0.0.1:\(port)")
            let list = ["device", "list", place.path("hub.db"), "--json"] + Self.passphrase(place, "a")
            let devices = try Self.items(place.succeed(list), "devices")
            #expect(devices.count == 1 && devices.first?["label"] as? String == "phone")
            #expect(devices.first?["replica"] as? String != nil && devices.first?["revoked"] == nil)
            // The link was used.
            let thief = try place.run(
                ["init", place.path("thief.db"), "--join", link] + Self.passphrase(place, "b"))
            #expect(thief.status == 14 && thief.errors.contains("syncctl invite"))
            #expect(try !place.contents().contains("thief.db"))
            try place.succeed(
                ["device", "revoke", place.path("hub.db"), "phone"] + Self.passphrase(place, "a"))
            let refused = try place.run(sync)
            #expect(refused.status == 14)
            #expect(try refused.errorDocument()["code"] as? Int == 14)
            #expect(try Self.items(place.succeed(list), "devices").first?["revoked"] as? String != nil)
            #expect(server.stop() == 0)
            #expect(!server.errors.contains("kestrel-4711") && !server.errors.contains(link))
        }

        @Test func aServiceGoesOnAfterTheSignalToReadItsCertificateAgain() throws {
            let place = try Workplace()
            try place.makeStore("hub.db", "a")
            let server = try ServerProcess(place, ["hub.db"], "a")
            try #require(server.port != nil, "\(server.errors)")
            try server.reload()
            #expect(server.waitForErrors(containing: "there is no certificate to read again"))
            try Self.join(place, "phone.db", Self.invite(place, "phone"))
            #expect(server.stop() == 0)
        }

        @Test func aLinkIsReadFromStandardInput() throws {
            let place = try Workplace()
            try place.makeStore("hub.db", "a")
            let server = try ServerProcess(place, ["hub.db"], "a", ["--plaintext-on-loopback"])
            _ = try #require(server.port, "\(server.errors)")
            let link = try Self.invite(place, "phone")
            let result = try CommandRunner.run(
                ["init", place.path("phone.db"), "--join", "-"] + Self.passphrase(place, "b"),
                input: link + "\n")
            #expect(result.status == 0, "\(result.errors)")
            #expect(try place.rows("phone.db", "b") == place.rows("hub.db", "a"))
        }

        @Test func severalStoresHaveOneAddress() throws {
            let place = try Workplace()
            try place.makeStore("notes.db", "a", rows: 0..<5)
            try place.makeStore("photos.db", "a", rows: 5..<12)
            let server = try ServerProcess(place, ["notes.db", "photos.db"], "a")
            _ = try #require(server.port, "\(server.errors)")
            for name in ["notes", "photos"] {
                try Self.join(place, "my-\(name).db", Self.invite(place, "phone", store: "\(name).db"))
                #expect(try place.rows("my-\(name).db", "b") == place.rows("\(name).db", "a"))
            }
            try Self.insert(place, "my-photos.db", "b", 20..<21)
            try place.succeed(["sync", place.path("my-photos.db")] + Self.passphrase(place, "b"))
            #expect(try place.rows("photos.db", "a").count == 8)
            #expect(try place.rows("notes.db", "a").count == 5)
            #expect(server.stop() == 0)
        }

        @Test func aReplicaIsEnrolledUnderANameAndForgetsIt() throws {
            let place = try Workplace()
            try place.makeStore("hub.db", "a")
            try place.makeReplica("b.db", "b", of: "hub.db", "a")
            try place.makeStore("stranger.db", "b")
            let server = try ServerProcess(place, ["hub.db"], "a", ["--plaintext-on-loopback"])
            _ = try #require(server.port, "\(server.errors)")
            let link = try Self.invite(place, "laptop")
            let stranger = try place.run(
                ["remote", "add", place.path("stranger.db"), link] + Self.passphrase(place, "b"))
            #expect(stranger.status == 14)
            try place.succeed(
                ["remote", "add", place.path("b.db"), link, "--name", "home"] + Self.passphrase(place, "b"))
            try Self.insert(place, "b.db", "b", 300..<304)
            let sync = ["sync", place.path("b.db"), "--remote", "home"] + Self.passphrase(place, "b")
            try place.succeed(sync)
            #expect(try place.rows("b.db", "b") == place.rows("hub.db", "a"))
            let verified = try place.succeed(
                ["verify", place.path("b.db"), "--remote", "home"] + Self.passphrase(place, "b"))
            #expect(verified.output.contains("hold the same"))
            let typo = try place.run(
                ["sync", place.path("b.db"), "-r", "hone"] + Self.passphrase(place, "b"))
            #expect(typo.status == 1)
            #expect(typo.errors.contains("no such file") && typo.errors.contains("--remote ./hone"))
            #expect(typo.errors.contains("home"))
            let file = try place.run(
                ["sync", place.path("b.db"), "-r", "hone.db"] + Self.passphrase(place, "b"))
            #expect(file.status == 10 && file.errors.contains("a server's name has no dot or slash"))
            // The one that is remembered is taken where none is named.
            try place.succeed(["sync", place.path("b.db")] + Self.passphrase(place, "b"))
            try place.succeed(["remote", "remove", place.path("b.db"), "home"] + Self.passphrase(place, "b"))
            #expect(try place.run(sync).status == 1)
            let unnamed = try place.run(["sync", place.path("b.db")] + Self.passphrase(place, "b"))
            #expect(unnamed.status == 64, "\(unnamed.errors)")
            #expect(unnamed.errors.contains("no remote is named"))
        }

        @Test func aReadOnlyDevicePullsOnly() throws {
            let place = try Workplace()
            try place.makeStore("hub.db", "a")
            let server = try ServerProcess(place, ["hub.db"], "a", ["--plaintext-on-loopback"])
            _ = try #require(server.port, "\(server.errors)")
            let result = try place.succeed(
                ["invite", place.path("hub.db"), "--label", "kiosk", "--read-only", "--json"]
                    + Self.passphrase(place, "a"))
            let link = try #require(try result.document()["link"] as? String)
            try Self.join(place, "kiosk.db", link)
            try Self.insert(place, "hub.db", "a", 100..<101)
            try Self.insert(place, "kiosk.db", "b", 200..<201)
            let sync = ["sync", place.path("kiosk.db")] + Self.passphrase(place, "b")
            let json = try place.run(sync + ["--json"])
            #expect(json.status == 3, "\(json.errors)")
            #expect(try json.document()["unsent"] as? Int == 1)
            let text = try place.run(sync)
            #expect(text.status == 3 && text.errors.contains("1 change stays here"), "\(text.errors)")
            #expect(try place.rows("kiosk.db", "b").count == 22)
            #expect(try place.rows("hub.db", "a").count == 21)
            let push = try place.run(["push", place.path("kiosk.db")] + Self.passphrase(place, "b"))
            #expect(push.status == 14 && push.errors.contains("may not send changes"))
        }

        @Test func aDeviceOfSomeRowsStaysWithinThem() throws {
            let place = try Workplace()
            try place.makeStore("hub.db", "a")
            let server = try ServerProcess(place, ["hub.db"], "a", ["--plaintext-on-loopback"])
            _ = try #require(server.port, "\(server.errors)")
            let hub = Self.passphrase(place, "a")
            let rows = "person.name='name of 1','name of 2'"
            let invited = try place.succeed(
                ["invite", place.path("hub.db"), "--label", "phone", "--rows", rows, "--json"] + hub
            ).document()
            #expect(invited["rows"] as? [String] == [rows])
            try Self.join(place, "phone.db", try #require(invited["link"] as? String))
            #expect(try place.rows("phone.db", "b").count == 2)
            let queue = try place.open("phone.db", "b")
            try queue.write { try $0.execute(sql: "UPDATE person SET name = 'elsewhere' WHERE stars = 1") }
            try queue.close()
            let sync = ["sync", place.path("phone.db")] + Self.passphrase(place, "b")
            let refused = try place.run(sync)
            #expect(refused.status == 3 && refused.errors.contains("stays here to be sent"))
            #expect(refused.errors.contains("table person") && refused.errors.contains("column name"))
            let document = try place.run(sync + ["--json"]).document()
            #expect((document["refused"] as? String)?.contains("person") == true)
            #expect(try place.run(["push"] + sync.dropFirst()).status == 3)
            #expect(try place.rows("hub.db", "a").allSatisfy { !$0.contains("elsewhere") })
            let scope = ["device", "scope", place.path("hub.db")]
            let changed = try place.succeed(scope + ["phone", "--everything", "--json"] + hub).document()
            #expect(changed["label"] as? String == "phone" && changed["rows"] == nil)
            try place.succeed(sync)
            #expect(try place.rows("phone.db", "b") == place.rows("hub.db", "a"))
            #expect(try place.rows("hub.db", "a").contains { $0.contains("elsewhere") })
            for (arguments, status) in [
                (["phone"], 64), (["phone", "--everything", "--rows", rows], 64),
                (["phone", "--rows", "person"], 64),
                (["phone", "--read-only", "--read-write"], 64),
                (["phone", "--rows", rows, "--rows", rows], 64),
                (["nobody", "--everything"], 1), (["phone", "--tables", "nothing"], 1),
            ] as [([String], Int32)] {
                #expect(try place.run(scope + arguments + hub).status == status, "\(arguments)")
            }
            let list = try place.succeed(["device", "list", place.path("hub.db")] + hub)
            #expect(list.output.contains("everything"))
        }

        @Test func whatCanNotBeServedIsSaid() throws {
            let place = try Workplace()
            try place.makeStore("hub.db", "a")
            let never = try place.run(
                ["invite", place.path("hub.db"), "--label", "phone"] + Self.passphrase(place, "a"))
            #expect(never.status == 1 && never.errors.contains("syncctl serve"))
            try place.makeReplica("twin.db", "a", of: "hub.db", "a")
            let missing = try ServerProcess(place, ["none.db"], "a")
            #expect(missing.port == nil && missing.waitForEnd() == 10)
            let wrong = try ServerProcess(place, ["hub.db"], "wrong")
            #expect(wrong.port == nil && wrong.waitForEnd() == 12)
            let twins = try ServerProcess(place, ["hub.db", "twin.db"], "a")
            #expect(twins.port == nil && twins.waitForEnd() == 1)
            #expect(twins.errors.contains("replicas of one database"))
            let open = try ServerProcess(
                place, ["hub.db"], "a", ["--listen", "0.0.0.0:0", "--plaintext-on-loopback"])
            #expect(open.port == nil && open.errors.contains("own address only") && open.waitForEnd() == 64)
            for arguments in [
                ["serve", place.path("hub.db"), "--listen", "nowhere"],
                ["serve", place.path("hub.db"), "--tls-cert", "x"], ["serve"],
                ["invite", place.path("hub.db"), "--label", "x", "--expires", "soon"],
                ["invite", place.path("hub.db"), "--label", "x", "--expires", "367d"],
                ["invite", place.path("hub.db"), "--label", ""],
                ["invite", place.path("hub.db"), "--label", String(repeating: "x", count: 101)],
                ["remote", "add", place.path("hub.db"), "cipherstore://x"] + Self.passphrase(place, "a"),
            ] {
                #expect(try place.run(arguments).status == 64, "\(arguments)")
            }
            // The port is taken.
            let first = try ServerProcess(place, ["hub.db"], "a")
            let port = try #require(first.port, "\(first.errors)")
            let second = try ServerProcess(place, ["hub.db"], "a", ["--listen", "127.0.0.1:\(port)"])
            #expect(second.port == nil && second.waitForEnd() == 1)
            #expect(second.errors.contains("cannot listen"))
        }
    }
#endif
