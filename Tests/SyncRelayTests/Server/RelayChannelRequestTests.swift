import Foundation
import NIOHTTP1
import Testing

@testable import SyncRelay

@Suite struct RelayChannelRequestTests {
    @Test func aChannelIsMadeReadAndRemoved() async throws {
        let relay = try await RunningRelay()
        let channel = TestChannel()
        let body = Data(try RelayJSON.encode(channel.registration))
        let made = try await relay.request(.PUT, channel.path, body: body)
        #expect(made.status == 201)
        #expect(try await relay.request(.PUT, channel.path, body: body).status == 200)
        let other = Data(try RelayJSON.encode(TestChannel().registration))
        let refused = try await relay.request(.PUT, channel.path, body: other)
        #expect(refused.status == 409 && refused.problem == .conflict)
        let state = try await relay.request(.GET, channel.path, token: channel.readToken)
        #expect(state.status == 200 && state.headers["content-type"] == "application/json")
        #expect(try state.document(RelayChannelState.self).position == 0)
        #expect(try await relay.request(.DELETE, channel.path, token: channel.readToken).status == 401)
        #expect(try await relay.request(.DELETE, channel.path, token: channel.writeToken).status == 204)
        #expect(try await relay.request(.GET, channel.path, token: channel.readToken).status == 401)
    }

    @Test func admissionLetsThoseMakeChannelsWhoHaveIt() async throws {
        let admission = RelayToken.random()
        let relay = try await RunningRelay { $0.admission = admission }
        let channel = TestChannel()
        let body = Data(try RelayJSON.encode(channel.registration))
        for token in [nil, RelayToken.random(), channel.writeToken] {
            #expect(
                try await relay.request(.PUT, channel.path, token: token, body: body).problem == .unauthorized
            )
        }
        #expect(try await relay.request(.PUT, channel.path, token: admission, body: body).status == 201)
        // It opens no channel.
        #expect(try await relay.request(.GET, channel.path, token: admission).status == 401)
        #expect(try await relay.put("a", Data([1]), in: channel).status == 201)
    }

    @Test func aWrongTokenAndAChannelThatIsNotThereAreTheSameAnswer() async throws {
        let relay = try await RunningRelay()
        let (there, gone) = (try await relay.channel(), TestChannel())
        let requests: [(HTTPMethod, String)] = [
            (.GET, ""), (.DELETE, ""), (.GET, "/files"), (.GET, "/watch"), (.POST, "/changes"),
            (.GET, "/files/\(TestChannel.folder)/a"), (.PUT, "/files/\(TestChannel.folder)/a"),
            (.DELETE, "/files/\(TestChannel.folder)/a"), (.PUT, "/invitations/\(RelayInvitationID.random())"),
            (.DELETE, "/invitations/\(RelayInvitationID.random())"),
        ]
        var answers: Set<Data> = []
        for (method, path) in requests {
            for (channel, token) in [
                (there, nil), (there, RelayToken.random()), (gone, gone.readToken), (gone, nil),
            ] {
                let answer = try await relay.request(
                    method, channel.path + path, token: token, body: method == .GET ? nil : Data("{}".utf8))
                #expect(
                    answer.status == 401 && answer.headers["www-authenticate"] == "Bearer",
                    "\(method) \(path)")
                answers.insert(answer.body + Data(answer.headers.sorted { $0.key < $1.key }.description.utf8))
            }
        }
        #expect(answers.count == 1)
    }

    @Test func aReadTokenDoesNotWrite() async throws {
        let relay = try await RunningRelay()
        let channel = try await relay.channel()
        _ = try await relay.put("a", Data([1]), in: channel)
        let requests: [(HTTPMethod, String)] = [
            (.DELETE, ""), (.POST, "/changes"), (.PUT, "/files/\(TestChannel.folder)/a"),
            (.DELETE, "/files/\(TestChannel.folder)/a"), (.PUT, "/invitations/\(RelayInvitationID.random())"),
            (.DELETE, "/invitations/\(RelayInvitationID.random())"),
        ]
        for (method, path) in requests {
            let answer = try await relay.request(
                method, channel.path + path, token: channel.readToken, body: Data("{}".utf8))
            #expect(answer.problem == .unauthorized, "\(method) \(path)")
        }
        // The write token reads.
        for path in ["", "/files", "/files/\(TestChannel.folder)/a"] {
            #expect(
                try await relay.request(.GET, channel.path + path, token: channel.writeToken).status == 200)
        }
    }

    @Test(arguments: [
        ("Bearer", 401), ("Bearer ", 401), ("Bearer 00", 401), ("Basic AAAA", 401), ("bearer \u{e9}", 401),
        ("Bearer " + String(repeating: "g", count: 64), 401),
        ("Bearer " + String(repeating: "0", count: 10_000), 401),
    ]) func whatIsNoTokenIsRefused(_ header: String, _ status: Int) async throws {
        let relay = try await RunningRelay()
        let channel = try await relay.channel()
        let answer = try await relay.request(.GET, channel.path, headers: [("authorization", header)])
        #expect(answer.status == status)
    }

    @Test(arguments: [
        "/v1/channels/0", "/v1/channels/" + String(repeating: "A", count: 32),
        "/v1/channels/" + String(repeating: "0", count: 33), "/v1/channels/..%2f..%2f",
    ]) func malformedChannelsAreRefused(_ path: String) async throws {
        let relay = try await RunningRelay()
        #expect(try await relay.request(.GET, path).problem == .malformed)
        #expect(try await relay.request(.PUT, path, body: Data("{}".utf8)).problem == .malformed)
    }

    @Test(arguments: [
        "/page", "//", "/v1", "/v1/channels", "/v2/channels/00", "/v1/invitations", "/health/",
        "/v1/channels/x/y/z/1/2",
    ]) func whatIsNotThereIsMissing(_ path: String) async throws {
        let relay = try await RunningRelay()
        let answer = try await relay.request(.GET, path)
        #expect(answer.status == 404 || (path.contains("/x/") && answer.status == 400))
        #expect(answer.headers["content-type"] == "application/problem+json")
    }

    @Test func otherMethodsAreMissing() async throws {
        let relay = try await RunningRelay()
        let channel = try await relay.channel()
        for method in [HTTPMethod.PATCH, .OPTIONS, .POST, .TRACE] {
            #expect(try await relay.request(method, channel.path, token: channel.writeToken).status == 404)
        }
        #expect(try await relay.request(.HEAD, channel.path, token: channel.writeToken).status == 404)
    }

    @Test(arguments: [
        "", "{", "[]", "null", "{\"readToken\":\"00\",\"writeToken\":\"00\"}",
        String(repeating: "[", count: 10_000),
        "{\"readToken\":\"\(String(repeating: "0", count: 64))\"}", "\u{0}",
    ]) func malformedRegistrationsAreRefused(_ text: String) async throws {
        let relay = try await RunningRelay()
        let answer = try await relay.request(.PUT, TestChannel().path, body: Data(text.utf8))
        #expect(answer.status == 400 && answer.problem == .malformed)
    }

    @Test func aDocumentThatIsTooLongIsRefused() async throws {
        let relay = try await RunningRelay()
        let answer = try await relay.request(.PUT, TestChannel().path, body: Data(count: 17 << 10))
        #expect(answer.status == 413 && answer.problem == .tooLarge)
    }

    // MARK: Listings

    @Test func listingsAreReadByPages() async throws {
        let relay = try await RunningRelay()
        let channel = try await relay.channel()
        for start in stride(from: 0, to: 1_200, by: 200) {
            _ = try await relay.storage.change(
                channel.id,
                (start..<start + 200).map {
                    .write(try .numbered(0, "f\($0)"), replacing: true, content: Data())
                })
        }
        let first = try await relay.request(.GET, channel.path + "/files", token: channel.readToken)
            .document(RelayListing.self)
        #expect(first.files.count == 1_000 && first.isComplete)
        let next = try #require(first.next)
        let second = try await relay.request(
            .GET, channel.path + "/files?page=\(next)", token: channel.readToken
        )
        .document(RelayListing.self)
        #expect(second.files.count == 200 && second.next == nil)
        let query = "/files?after=1199&epoch=\(first.epoch)"
        let last = try await relay.request(.GET, channel.path + query, token: channel.readToken)
            .document(RelayListing.self)
        #expect(last.files.count == 1 && !last.isComplete)
    }

    @Test(arguments: [
        ("after=0", true), ("epoch=EPOCH", true), ("after=9223372036854775807&epoch=EPOCH", true),
        ("after=0&epoch=EPOCH", false), ("after=0&epoch=00000000000000000000000000000000", true),
        ("other=1", true),
    ]) func listingsSayWhetherTheyAreComplete(_ query: String, _ isComplete: Bool) async throws {
        let relay = try await RunningRelay()
        let channel = try await relay.channel()
        let epoch = try await relay.storage.state(of: channel.id).epoch
        let text = query.replacingOccurrences(of: "EPOCH", with: epoch.description)
        let answer = try await relay.request(.GET, channel.path + "/files?" + text, token: channel.readToken)
        #expect(try answer.document(RelayListing.self).isComplete == isComplete)
    }

    @Test(arguments: [
        "after=-1", "after=9223372036854775808", "after=1.0", "after=%00", "after=",
        "after=99999999999999999999999999",
        "epoch=0", "after=0&epoch=x", "page=x", "page=",
    ]) func malformedListingsAreRefused(_ query: String) async throws {
        let relay = try await RunningRelay()
        let channel = try await relay.channel()
        for path in query.hasPrefix("page") ? ["/files"] : ["/files", "/watch"] {
            let answer = try await relay.request(
                .GET, channel.path + path + "?" + query, token: channel.readToken)
            #expect(answer.problem == .malformed)
        }
    }

    @Test func newChannelsAreLimitedMoreThanTheUseOfThoseThatThereAre() async throws {
        let relay = try await RunningRelay {
            $0.limits.newChannelBurst = 2
            $0.limits.newChannelsPerSecond = 0.001
        }
        func make(_ channel: TestChannel) async throws -> RunningRelay.Answer {
            let body = Data(try RelayJSON.encode(channel.registration))
            return try await relay.request(.PUT, channel.path, body: body)
        }
        let channels = (0..<3).map { _ in TestChannel() }
        for channel in channels.prefix(2) { #expect(try await make(channel).status == 201) }
        let refused = try await make(channels[2])
        #expect(refused.status == 429 && refused.problem == .busy && refused.headers["retry-after"] != nil)
        #expect(try await relay.storage.registration(of: channels[2].id) == nil)
        for _ in 0..<3 { #expect(try await make(channels[0]).status == 200) }
        #expect(try await relay.put("a", Data([1]), in: channels[1]).status == 201)
    }
}
