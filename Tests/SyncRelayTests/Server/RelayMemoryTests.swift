import Foundation
import TestSupport
import Testing

@testable import SyncRelay

/// What requests hold in memory.
@Suite struct RelayMemoryTests {
    /// How many bytes of requests are in memory; nil when the page was asked for too often.
    private func heldByteCount(_ relay: RunningRelay) async throws -> Int? {
        let answer = try await relay.request(.GET, "/page/state")
        guard answer.status == 200 else { return nil }
        let state = try JSONSerialization.jsonObject(with: answer.body) as? [String: Any]
        let loads = try #require(state?["loads"] as? [String: [String: Int]])
        return try #require(loads["memory"]?["count"])
    }

    @Test func changesCountUntilTheyAreWritten() async throws {
        let relay = try await RunningRelay { $0.limits.addressHeldByteCountMax = 100_000 }
        let channel = try await relay.channel()
        let changes = try RelayChanges([
            .write(.numbered(0, "a"), replacing: true, content: pattern(20_000))
        ])
        let body = Data(try RelayJSON.encode(changes))
        @Sendable func post() async throws -> RunningRelay.Answer {
            try await relay.request(.POST, channel.path + "/changes", token: channel.writeToken, body: body)
        }
        relay.storage.hold()
        let first = Task { try await post() }
        while relay.storage.waitingCount < 1 { await Task.yield() }
        #expect(try await heldByteCount(relay) == body.count)
        // While it is read, a document counts three times.
        let second = try await post()
        relay.storage.release()
        #expect(second.status == 503 && second.problem == .busy)
        #expect(try await first.value.status == 200)
        #expect(try await heldByteCount(relay) == 0)
        #expect(try await post().status == 200)
    }

    @Test(.timeLimit(.minutes(2))) func answersThatNobodyReadsTakeNoMoreMemoryThanTheyMay() async throws {
        let relay = try await RunningRelay { $0.limits.addressHeldAnswerByteCountMax = 1 << 20 }
        let channel = try await relay.channel()
        // More than what the system keeps of a connection.
        let large = Data(repeating: 7, count: 16 << 20)
        #expect(try await relay.put("large", large, in: channel).status == 201)
        #expect(try await relay.put("small", pattern(1_000), in: channel).status == 201)
        let request =
            "GET \(channel.path("large")) HTTP/1.1\r\nhost: relay\r\n"
            + "authorization: \(channel.readToken.authorization)\r\n\r\n"
        var clients = try (0..<2).map { _ in try #require(LoopbackSocket(port: relay.port)) }
        for client in clients { client.push(Data(request.utf8)) }
        // Each holds a piece that is being sent and the next one, so that there is no room for a third one.
        func part() async throws -> RunningRelay.Answer {
            try await relay.get("large", in: channel, headers: [("range", "bytes=0-99999")])
        }
        var answer = try await part()
        var partCount = 1
        while answer.status != 503 {
            answer = try await part()
            partCount += 1
            // A part that was on its way may have left no room for one of the clients.
            guard partCount % 20 == 0 else { continue }
            let client = try #require(LoopbackSocket(port: relay.port))
            client.push(Data(request.utf8))
            clients.append(client)
        }
        #expect(answer.problem == .busy && answer.headers["retry-after"] == "1")
        #expect(try await relay.get("small", in: channel).body == pattern(1_000))
        clients.removeAll()
        while try await part().status != 206 { await Task.yield() }
    }

    @Test func whatHoldsBytesAndIsDroppedHoldsNoneAnyMore() throws {
        let held = HeldBytes(countMax: 100, addressCountMax: 60)
        do {
            let answer = held.begin(of: "a")
            try answer.raise(to: 60)
            withExtendedLifetime(answer) { #expect(held.count == 60) }
        }
        #expect(held.count == 0)
        try held.begin(of: "a").raise(to: 60)
    }

    @Test(arguments: [true, false]) func announcedBytesThatDoNotComeTakeNoMemory(_ isFile: Bool)
        async throws
    {
        let relay = try await RunningRelay { $0.limits.heldByteCountMax = 1 << 20 }
        let channel = try await relay.channel()
        let line = isFile ? "PUT \(channel.path("large"))" : "POST \(channel.path)/changes"
        let head =
            "\(line) HTTP/1.1\r\nhost: relay\r\nauthorization: \(channel.writeToken.authorization)\r\n"
            + "content-digest: \(RelayDigest(of: Data()).contentDigest)\r\ncontent-length: \(4 << 20)\r\n\r\n"
        let clients = try (0..<10).map { _ in try #require(LoopbackSocket(port: relay.port)) }
        for client in clients { client.push(Data(head.utf8) + pattern(1_000)) }
        // What has come counts twice or three times.
        let countMin = isFile ? 20_000 : 30_000
        while try await heldByteCount(relay) ?? 0 < countMin { await Task.yield() }
        #expect(try await relay.put("a", pattern(1_000), in: channel).status == 201)
        withExtendedLifetime(clients) {}
    }
}
