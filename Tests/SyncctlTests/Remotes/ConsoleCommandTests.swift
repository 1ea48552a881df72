#if os(Linux)
    import Foundation
    import Testing

    /// `console`, against a server that is another process.
    @Suite(.serialized) struct ConsoleCommandTests {
        private static func console(_ place: Workplace, _ options: String...) -> [String] {
            ["console", place.path("hub.db"), "--passphrase-file", place.secret("a")] + options
        }

        @Test func aLinkNamesTheServerAndItsCertificate() throws {
            let place = try Workplace()
            try place.makeStore("hub.db", "a")
            let early = try place.run(Self.console(place))
            #expect(early.status == 1 && early.errors.contains("syncctl serve"))
            let server = try ServerProcess(place, ["hub.db"], "a")
            let port = try #require(server.port, "\(server.errors)")
            let document = try place.succeed(Self.console(place, "--json")).document()
            let link = try #require(document["link"] as? String)
            #expect(link.hasPrefix("https://127.0.0.1:\(port)/console#"))
            let fingerprint = try #require(document["fingerprint"] as? String)
            let listening = try #require(
                try JSONSerialization.jsonObject(with: Data(server.output.utf8)) as? [String: Any])
            #expect(
                fingerprint.replacing(":", with: "").lowercased() == listening["fingerprint"] as? String)
            let text = try place.succeed(
                Self.console(place, "--address", "hub.example:443", "--expires", "2m"))
            #expect(text.output.hasPrefix("https://hub.example:443/console#"))
            #expect(text.output.split(separator: "\n").count == 1 && text.errors.contains(fingerprint))
            let revoked = try place.succeed(Self.console(place, "--revoke", "--json")).document()
            #expect(revoked["revoked_links"] as? Int == 2)
            #expect(server.stop() == 0)
            #expect(try !server.errors.contains(#require(link.split(separator: "#").last)))
        }

        @Test(arguments: [
            ["--expires", "0s"], ["--expires", "2d"], ["--expires", "soon"], ["--address", "hub"],
            ["--revoke", "--address", "hub:1"],
        ]) func wrongOptionsAreUsageErrors(options: [String]) throws {
            let place = try Workplace()
            try place.makeStore("hub.db", "a")
            let result = try place.run(Self.console(place) + options)
            #expect(result.status == 64 && result.errors.contains(options[0]))
        }
    }
#endif
