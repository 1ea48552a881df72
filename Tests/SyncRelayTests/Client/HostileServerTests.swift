import AsyncHTTPClient
import Foundation
import NIOCore
import NIOPosix
import SyncBucket
import SyncEngine
import Synchronization
import Testing

@testable import SyncRelay

/// Answers that are wrong below the protocol: cut, endless, late, or none at all.
@Suite struct HostileServerTests {
    private let channel = RelayChannel.random()
    private let path = MailboxPath(folder: String(repeating: "0a", count: 16), name: "head")

    private static func answer(_ status: String, _ headers: [String] = [], _ body: String = "")
        -> HostileServer.Answer
    {
        .bytes("HTTP/1.1 \(status)\r\n" + headers.map { $0 + "\r\n" }.joined() + "\r\n" + body)
    }

    private func mailbox(_ server: HostileServer, attempts: Int = 1, silenceSeconds: Int64 = 60)
        -> RelayMailbox
    {
        var options = RelayClient.Options()
        options.silenceSeconds = silenceSeconds
        // Nothing is waited for between two attempts.
        var retry = RequestRetry(sleep: { _, check in try check() }, random: { 0 })
        retry.attemptCountMax = attempts
        let carrier = RelayHTTP(server.address, options)
        return RelayMailbox(
            channel, client: RelayClient(server.address, options, carrier: carrier, retry: retry))
    }

    @Test(arguments: [
        answer("200 OK", ["Content-Length: 100"], "{"),
        answer("200 OK", ["Transfer-Encoding: chunked"], "5\r\n{"),
        .end, answer("200 OK", ["Content-Length: -1"]), .bytes("nonsense\r\n\r\n"),
        .bytes(String(repeating: "x", count: 200_000)), answer("99999 OK"),
    ])
    func anAnswerThatIsCutIsNone(answer: HostileServer.Answer) async throws {
        let server = try await HostileServer([answer])
        let mailbox = mailbox(server)
        let error = await #expect(throws: MailboxError.self) {
            try await blocking { _ = try mailbox.folders() }
        }
        #expect(error?.code == .unreachable && server.requestCount == 1)
    }

    @Test func anAnswerWithoutAnEndIsLeft() async throws {
        let server = try await HostileServer([
            .endless(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
                piece: "4000\r\n" + String(repeating: "x", count: 0x4000) + "\r\n")
        ])
        let mailbox = mailbox(server, attempts: 5)
        let error = await #expect(throws: MailboxError.self) {
            try await blocking { _ = try mailbox.folders() }
        }
        // More of it would help nobody.
        #expect(error?.code == .failed && server.requestCount == 1)
        #expect(error?.message.contains("\(RelayBounds.listingByteCountMax)") == true)
    }

    @Test func anAnswerThatIsAnnouncedTooLongIsLeft() async throws {
        let server = try await HostileServer([
            Self.answer("200 OK", ["Content-Length: 9223372036854775807"], "x")
        ])
        let mailbox = mailbox(server)
        let error = await #expect(throws: MailboxError.self) {
            try await blocking { _ = try mailbox.open(path) }
        }
        #expect(error?.code == .failed)
    }

    @Test func aPinnedCertificateThatHasExpiredIsCalledThat() async throws {
        let now = Date()
        let server = try await HostileServer([.silence], validity: now - 2 * 86_400...now - 86_400)
        let mailbox = mailbox(server)
        let error = await #expect(throws: RelayError.self) {
            try await blocking { _ = try mailbox.folders() }
        }
        #expect(error?.code == .wrongCertificate && error?.message.contains("expired") == true)
        // The clock may be the one that is wrong.
        #expect(error?.mayPass == true)
        #expect(server.requestCount == 0)
    }

    @Test func aBucketWithACertificateThatNobodyVouchesForIsCalledThat() async throws {
        let server = try await HostileServer([.silence])
        let address = try BucketAddress(bucket: "notes", endpoint: server.address.url)
        let credentials = CredentialSource(try BucketCredentials(keyID: "id", secretKey: "secret"))
        let error = await #expect(throws: BucketError.self) {
            try await blocking { _ = try BucketMailbox(address, credentials: credentials).folders() }
        }
        #expect(error?.code == .wrongCertificate && error?.message.contains("relied on") == true)
        #expect(server.requestCount == 0)
    }

    @Test func redirectsAreNotFollowed() async throws {
        let server = try await HostileServer([
            Self.answer(
                "307 Temporary Redirect", ["Location: https://example.invalid/", "Content-Length: 0"])
        ])
        let mailbox = mailbox(server)
        let error = await #expect(throws: MailboxError.self) {
            try await blocking { _ = try mailbox.folders() }
        }
        #expect(error?.code == .failed && server.requestCount == 1)
    }

    @Test func aConnectionThatEndsIsTriedAgain() async throws {
        let server = try await HostileServer([
            .end, .end, Self.answer("401 Unauthorized", ["Content-Length: 0"]),
        ])
        let mailbox = mailbox(server, attempts: 5)
        let error = await #expect(throws: RelayError.self) {
            try await blocking { _ = try mailbox.folders() }
        }
        #expect(error?.code == .unauthorized && server.requestCount == 3)
    }

    @Test func aSilentRelayIsLeftAfterAWhile() async throws {
        let server = try await HostileServer([.silence])
        let mailbox = mailbox(server, silenceSeconds: 1)
        let error = await #expect(throws: MailboxError.self) {
            try await blocking { _ = try mailbox.folders() }
        }
        #expect(error?.code == .unreachable)
    }

    @Test(.timeLimit(.minutes(1))) func aRelayThatTakesNoMoreOfAFileIsLeftAfterAWhile() async throws {
        let server = try await HostileServer([.deafness])
        let mailbox = mailbox(server, silenceSeconds: 1)
        let error = await #expect(throws: MailboxError.self) {
            try await blocking { [path] in
                // More than the buffers of a connection hold.
                try mailbox.write(path, replacing: true) { sink in
                    for _ in 0..<16 { try sink(Data(count: 1 << 20)) }
                }
            }
        }
        #expect(error?.code == .unreachable && error?.message.contains("takes nothing") == true)
    }

    @Test func aDocumentIsSentAsTheConnectionTakesIt() async throws {
        var request = RelayRequest(kind: .put, method: "POST", path: "/changes")
        request.body = .document(Data(count: 1 << 20))
        let content = try #require(request.sent?.content)
        let body = RelayHTTP.collected(content, by: RelayAnswerCollector(byteCountMax: 0))
        #expect(body.contentLength == Int64(1 << 20))
        let given = Mutex<[Int]>([])
        let loop = MultiThreadedEventLoopGroup.singleton.any()
        let taken = loop.makePromise(of: Void.self)
        let writer = HTTPClient.Body.StreamWriter { piece in
            given.withLock { $0.append(piece.readableBytes) }
            return taken.futureResult
        }
        let sent = body.stream(writer)
        // The rest waits until the connection has taken the first piece: the relay is not silent as long as it does.
        let counts = given.withLock { $0 }
        #expect(counts == [RequestBody.pieceByteCount])
        taken.fail(ChannelError.ioOnClosedChannel)
        await #expect(throws: ChannelError.self) { try await sent.get() }
    }

    @Test func aRequestThatWaitsIsCancelled() async throws {
        let server = try await HostileServer([.silence])
        let cancellation = SyncCancellation()
        let mailbox = mailbox(server).cancelled(by: cancellation)
        let waiting = Task { try await blocking { _ = try mailbox.folders() } }
        while server.requestCount == 0 { await Task.yield() }
        cancellation.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
    }

    @Test func aRelayThatAnswersAnUploadBeforeItsEndIsBelieved() async throws {
        let server = try await HostileServer([Self.answer("507 Full", ["Content-Length: 0"])])
        let mailbox = mailbox(server)
        let error = await #expect(throws: MailboxError.self) {
            try await blocking { [path] in
                try mailbox.write(path, replacing: true) { sink in
                    for _ in 0..<8 { try sink(Data(count: 1 << 20)) }
                }
            }
        }
        // The connection may have been reset before the answer was read.
        #expect(error?.code == .full || error?.code == .unreachable)
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{}\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n{",
        "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n" + String(repeating: "x", count: 5000),
    ])
    func aWatchThatTellsNonsenseConnectsAnewLaterEachTime(answer: String) async throws {
        let server = try await HostileServer([
            .bytes(answer), .bytes(answer), Self.answer("401 Unauthorized", ["Content-Length: 0"]),
        ])
        let (failures, told) = AsyncStream.makeStream(of: Double.self)
        var options = RelayWatch.Options()
        options.pauseSeconds = 0.01
        options.onFailure = { _, seconds in told.yield(seconds) }
        let watch = RelayWatch(channel, client: RelayClient(server.address), options: options)
        let error = await #expect(throws: RelayError.self) { for try await _ in watch {} }
        told.finish()
        var seconds: [Double] = []
        for await pause in failures { seconds.append(pause) }
        #expect(error?.code == .unauthorized && seconds.count >= 2)
    }

    @Test func aWatchThatTellsWhatIsKnownAndEndsConnectsAnewLaterEachTime() async throws {
        let moment = RelayMoment(epoch: .random(), position: 7)
        let line = String(decoding: try RelayJSON.encode(moment), as: UTF8.self) + "\n"
        let answer =
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
            + "\(String(line.utf8.count, radix: 16))\r\n\(line)\r\n0\r\n\r\n"
        let server = try await HostileServer([
            .bytes(answer), .bytes(answer), Self.answer("401 Unauthorized", ["Content-Length: 0"]),
        ])
        let failures = Mutex(0)
        var options = RelayWatch.Options()
        options.pauseSeconds = 0.01
        options.onFailure = { _, _ in failures.withLock { $0 += 1 } }
        let watch = RelayWatch(
            channel, client: RelayClient(server.address), after: moment, options: options)
        let error = await #expect(throws: RelayError.self) { for try await _ in watch {} }
        let count = failures.withLock { $0 }
        #expect(error?.code == .unauthorized && count >= 2)
    }
}
