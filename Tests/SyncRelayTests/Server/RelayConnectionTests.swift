import AsyncHTTPClient
import Foundation
import TestSupport
import Testing

@testable import SyncRelay

/// Connections that clients do nothing good with.
@Suite struct RelayConnectionTests {
    /// How many connections there are, the one that asks included; nil when the page was asked for too often, or by a
    /// connection that had been silent for too long.
    private func count(_ relay: RunningRelay) async throws -> Int? {
        guard let answer = try? await relay.request(.GET, "/page/state"), answer.status == 200 else {
            return nil
        }
        let state = try JSONSerialization.jsonObject(with: answer.body) as? [String: Any]
        let loads = try #require(state?["loads"] as? [String: [String: Int]])
        return try #require(loads["connections"]?["count"])
    }

    @Test(.timeLimit(.minutes(2))) func connectionsOfAnAddressAreBounded() async throws {
        // A watch that nobody reads any more is noticed when it is written to.
        let relay = try await RunningRelay {
            ($0.limits.addressConnectionCountMax, $0.limits.heartbeatSeconds) = (3, 0.1)
        }
        let channel = try await relay.channel()
        let epoch = try await relay.storage.state(of: channel.id).epoch
        // Each watch has a connection, and the first one that which made the channel.
        var watches: [HTTPClientResponse] = []
        for _ in 0..<3 {
            watches.append(
                try await relay.open(
                    .GET, channel.path + "/watch?after=0&epoch=\(epoch)", token: channel.readToken))
        }
        #expect(watches.allSatisfy { $0.status == .ok })
        let port = relay.port
        let request = Data("GET /health HTTP/1.1\r\nhost: relay\r\nconnection: close\r\n\r\n".utf8)
        let ask: @Sendable () -> Data? = { LoopbackSocket(port: port)?.exchange(request) }
        #expect(await onThread(ask)?.isEmpty == true)
        watches.removeAll()
        // Where they were is room for another one.
        while await onThread(ask)?.isEmpty != false { await Task.yield() }
    }

    @Test(.timeLimit(.minutes(2))) func aRequestWithoutEndAfterALongAnswerEndsItsConnection() async throws {
        let relay = try await RunningRelay {
            ($0.limits.silenceSeconds, $0.limits.heartbeatSeconds) = (1, 0.1)
        }
        let channel = try await TestChannel(in: relay.storage)
        let head = "host: relay\r\nauthorization: \(channel.writeToken.authorization)\r\n"
        // One thread uses it at a time.
        nonisolated(unsafe) let client = try #require(LoopbackSocket(port: relay.port))
        client.push(Data("GET \(channel.path)/watch HTTP/1.1\r\n\(head)\r\n".utf8))
        // The watch lasts longer than a connection may be silent, which another one has begun later to see.
        let other = try await relay.open(.GET, channel.path + "/watch", token: channel.readToken)
        var lines = other.body.makeAsyncIterator()
        for _ in 0..<15 { _ = try await lines.next() }
        let digest = RelayDigest(of: Data()).contentDigest
        client.push(
            Data(
                "PUT \(channel.path("a")) HTTP/1.1\r\n\(head)content-digest: \(digest)\r\ncontent-length: 9\r\n\r\n"
                    .utf8))
        let told = await onThread { client.exchange(Data()) }
        #expect(told.starts(with: Data("HTTP/1.1 200".utf8)))
    }

    @Test(.timeLimit(.minutes(1))) func whoSendsALongBodyThatIsRefusedGetsTheAnswerAndTheEnd() async throws {
        let relay = try await RunningRelay {
            ($0.limits.silenceSeconds, $0.limits.refusalSeconds) = (600, 600)
        }
        let channel = try await relay.channel()
        let head =
            "PUT \(channel.path("a")) HTTP/1.1\r\nhost: relay\r\n"
            + "authorization: \(RelayToken.random().authorization)\r\ncontent-length: \(5 << 20)\r\n\r\n"
        let port = relay.port
        let answer = await onThread { () -> Data? in
            guard let client = LoopbackSocket(port: port) else { return nil }
            // All is sent before anything is read.
            client.push(Data(head.utf8) + Data(count: 5 << 20))
            return client.exchange(Data())
        }
        let text = String(decoding: answer ?? Data(), as: UTF8.self)
        #expect(text.hasPrefix("HTTP/1.1 401 "), "\(text)")
        #expect(text.localizedCaseInsensitiveContains("\r\nconnection: close\r\n"), "\(text)")
        #expect(text.contains("\"unauthorized\""), "\(text)")
    }

    @Test func whoSendsManyRequestsAndReadsNoAnswerIsLeft() async throws {
        let relay = try await RunningRelay { $0.limits.silenceSeconds = 1 }
        let channel = try await relay.channel()
        // Each answer has a page of files, so that a few of them fill all that the system keeps.
        for start in stride(from: 0, to: 1_000, by: 200) {
            _ = try await relay.storage.change(
                channel.id,
                (start..<start + 200).map {
                    .write(try .numbered(0, "f\($0)"), replacing: true, content: Data())
                })
        }
        let request =
            "GET \(channel.path)/files HTTP/1.1\r\nhost: relay\r\n"
            + "authorization: \(channel.readToken.authorization)\r\n\r\n"
        let requests = Data(String(repeating: request, count: 4_000).utf8)
        let port = relay.port
        let isLeft = await onThread { () -> Bool in
            guard let client = LoopbackSocket(port: port) else { return false }
            client.push(requests)
            return client.waitForReset(seconds: 60)
        }
        #expect(isLeft)
        while try await count(relay) != 1 { await Task.yield() }
    }
}
