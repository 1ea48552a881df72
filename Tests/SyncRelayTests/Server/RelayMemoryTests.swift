import Foundation
import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import Synchronization
import TestSupport
import Testing

@testable import SyncRelay

/// What requests and their answers hold in memory.
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
        let relay = try await RunningRelay {
            $0.limits.addressHeldAnswerByteCountMax = 3 * RelayUpload.pieceByteCount
            // Nobody is left while this looks.
            $0.limits.silenceSeconds = 600
        }
        let channel = try await relay.channel()
        // More than what the system keeps of a connection.
        let large = Data(repeating: 7, count: 16 << 20)
        #expect(try await relay.put("large", large, in: channel).status == 201)
        #expect(try await relay.put("small", pattern(1_000), in: channel).status == 201)
        let request =
            "GET \(channel.path("large")) HTTP/1.1\r\nhost: relay\r\n"
            + "authorization: \(channel.readToken.authorization)\r\n\r\n"
        var clients: [LoopbackSocket] = []
        // Each holds one piece at most, so that there is room for three of them, and for nothing else once they are stuck.
        for _ in 0..<3 {
            // One thread uses it at a time.
            nonisolated(unsafe) let client = try #require(LoopbackSocket(port: relay.port))
            client.push(Data(request.utf8))
            let head = await onThread { client.receive() }
            #expect(head.starts(with: Data("HTTP/1.1 200".utf8)))
            clients.append(client)
        }
        func part() async throws -> RunningRelay.Answer {
            try await relay.get("large", in: channel, headers: [("range", "bytes=0-99999")])
        }
        var answer = try await part()
        while answer.status != 503 { answer = try await part() }
        #expect(answer.problem == .busy && answer.headers["retry-after"] == "1")
        #expect(try await relay.get("small", in: channel).body == pattern(1_000))
        clients.removeAll()
        while try await part().status != 206 { await Task.yield() }
    }

    /// Notes how much is counted whenever something is written, and takes it at once.
    private struct NotingWriter: ResponseBodyWriter {
        final class Notes: Sendable {
            let counts = Mutex<[Int]>([])
        }

        let held: HeldBytes
        let notes: Notes

        func write(_ buffer: ByteBuffer) async throws { note() }
        consuming func finish(_ trailingHeaders: HTTPFields?) async throws { note() }

        private func note() {
            let count = held.count
            notes.counts.withLock { $0.append(count) }
        }
    }

    @Test func aPieceCountsUntilItIsSentAndNoLonger() async throws {
        let relay = try await RunningRelay()
        let channel = try await relay.channel()
        #expect(try await relay.put("large", pattern(600_000), in: channel).status == 201)
        let file = try RelayFileName(folder: TestChannel.folder, name: "large")
        let version = try await relay.storage.version(of: file, in: channel.id)
        let options = RelayServer.Options()
        let responder = RelayResponder(
            storage: relay.storage, options: options, watches: RelayWatches(limits: options.limits),
            connections: RelayConnections(countMax: 1), certificate: nil, logger: Logger(label: "test"))
        let held = responder.heldAnswers
        let connection = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: relay.port).get()
        defer { connection.close(promise: nil) }
        let piece = RelayUpload.pieceByteCount
        let body = try responder.body(version, 0..<version.byteCount, held.begin(of: "a"), connection)
        #expect(held.count == piece)
        let notes = NotingWriter.Notes()
        try await body.write(NotingWriter(held: held, notes: notes))
        // The end is written when nothing is left of the last piece.
        let counts = notes.counts.withLock { $0 }
        #expect(counts == [piece, piece, 600_000 - 2 * piece, 0])
    }

    @Test func thereIsRoomInTurn() async throws {
        let held = HeldBytes(countMax: 100, addressCountMax: 60)
        let (a, b) = (held.begin(of: "a"), held.begin(of: "b"))
        try a.raise(to: 60)
        try b.raise(to: 40)
        let waiting = [held.begin(of: "a"), held.begin(of: "b"), held.begin(of: "c")]
        var turns: [Task<Void, any Error>] = []
        for (request, count) in zip(waiting, [50, 30, 30]) {
            turns.append(Task { try await request.takeTurn(for: count) })
            while held.waitingCount < turns.count { await Task.yield() }
        }
        // The first one's address has as much as it may, and is in nobody's way.
        b.lower(to: 0)
        #expect(held.count == 90 && held.waitingCount == 2)
        try await turns[1].value
        a.lower(to: 0)
        #expect(held.count == 80 && held.waitingCount == 1)
        try await turns[0].value
        waiting[2].giveUp()
        await expectProblem(.busy) { try await turns[2].value }
        #expect(held.count == 80 && held.waitingCount == 0)
        // One who waits for more than there may ever be has its turn when it is alone.
        let last = Task { try await waiting[2].takeTurn(for: 1_000) }
        while held.waitingCount < 1 { await Task.yield() }
        for request in waiting.prefix(2) { request.lower(to: 0) }
        try await last.value
        #expect(held.count == 1_000)
        withExtendedLifetime(waiting) {}
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
