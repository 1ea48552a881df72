import Foundation
import Logging
import NIOHTTP1
import SyncHTTP
import Synchronization
import Testing

@testable import SyncRelay

@Suite struct RelayServiceTests {
    // MARK: Invitations

    @Test func anInvitationIsHandedOutOnceAndNotAfterItsTime() async throws {
        let relay = try await RunningRelay()
        let channel = try await relay.channel()
        func leave(_ id: RelayInvitationID, _ seconds: Int) async throws -> Int {
            let body = Data(#"{"sealed":"AQID","seconds":\#(seconds)}"#.utf8)
            return try await relay.request(
                .PUT, channel.path + "/invitations/\(id)", token: channel.writeToken, body: body
            ).status
        }
        func take(_ id: RelayInvitationID) async throws -> RunningRelay.Answer {
            try await relay.request(.POST, "/v1/invitations/\(id)")
        }
        let (once, late, removed) = (
            RelayInvitationID.random(), RelayInvitationID.random(), RelayInvitationID.random()
        )
        #expect(try await leave(once, 60) == 201)
        #expect(try await leave(late, 60) == 201)
        #expect(try await leave(removed, 60) == 201)
        let taken = try await take(once)
        #expect(taken.status == 200)
        #expect(
            try taken.document(RelayInvitation.self)
                == RelayInvitation(channel: channel.id, sealed: Data([1, 2, 3])))
        let path = channel.path + "/invitations/\(removed)"
        #expect(try await relay.request(.DELETE, path, token: channel.writeToken).status == 204)
        #expect(try await relay.request(.DELETE, path, token: channel.writeToken).status == 204)
        relay.folder.clock.advance(seconds: 60)
        // Used, expired, removed and unknown ones are the same answer.
        var answers: Set<Data> = []
        for id in [once, late, removed, .random()] {
            let answer = try await take(id)
            #expect(answer.status == 404 && answer.problem == .missing)
            answers.insert(answer.body)
        }
        #expect(answers.count == 1)
        #expect(try await relay.request(.POST, "/v1/invitations/x").problem == .malformed)
        #expect(try await leave(once, 30 * 86_400 + 1) == 400)
        #expect(try await leave(once, 0) == 400)
    }

    // MARK: Rates

    @Test func tooManyRequestsOfAnAddressAreToldToWait() async throws {
        let relay = try await RunningRelay {
            $0.limits.requestBurst = 3
            $0.limits.requestsPerSecond = 0.01
        }
        for _ in 0..<3 { #expect(try await relay.request(.GET, "/health").status == 200) }
        let answer = try await relay.request(.GET, "/health")
        #expect(answer.status == 429 && answer.problem == .busy)
        let seconds = try #require(answer.headers["retry-after"].flatMap { Int($0) })
        #expect((1...100).contains(seconds))
    }

    @Test func wrongTokensAndGuessedInvitationsAreLimitedMoreThanRightOnes() async throws {
        let relay = try await RunningRelay {
            $0.limits.wrongTokenBurst = 3
            $0.limits.wrongTokensPerSecond = 0.01
        }
        let channel = try await relay.channel()
        for _ in 0..<2 {
            #expect(try await relay.request(.GET, channel.path, token: .random()).status == 401)
        }
        #expect(try await relay.request(.POST, "/v1/invitations/\(RelayInvitationID.random())").status == 404)
        #expect(try await relay.request(.GET, channel.path, token: .random()).status == 429)
        #expect(try await relay.request(.POST, "/v1/invitations/\(RelayInvitationID.random())").status == 429)
        // Whoever has the token gets through.
        for _ in 0..<10 {
            #expect(try await relay.request(.GET, channel.path, token: channel.readToken).status == 200)
        }
    }

    @Test func manyDevicesBehindOneAddressMayAskForMore() {
        let usual = RelayServer.Limits()
        let many = RelayServer.Limits(requestsPerSecond: 500)
        #expect(many.requestsPerSecond == 500 && many.requestBurst == 10 * usual.requestBurst)
        #expect(many.wrongTokensPerSecond == 10 * usual.wrongTokensPerSecond)
        #expect(many.wrongTokenBurst == 10 * usual.wrongTokenBurst)
        #expect(many.newChannelsPerSecond == 10 * usual.newChannelsPerSecond)
        #expect(many.newChannelBurst == 10 * usual.newChannelBurst)
        #expect(many.addressConnectionCountMax == usual.connectionCountMax)
        #expect(many.addressWatchCountMax == usual.watchCountMax)
        #expect(many.channelWatchCountMax == usual.channelWatchCountMax)
        #expect(many.addressHeldByteCountMax == usual.heldByteCountMax)
        #expect(many.addressHeldAnswerByteCountMax == usual.heldAnswerByteCountMax)
        // Who allows less does not forbid a large file, or a mistyped token.
        let few = RelayServer.Limits(requestsPerSecond: 5)
        #expect(few.requestsPerSecond == 5 && few.requestBurst == usual.requestBurst / 10)
        #expect(few.wrongTokensPerSecond == usual.wrongTokensPerSecond)
        #expect(few.newChannelBurst == usual.newChannelBurst)
        #expect(few.addressConnectionCountMax == usual.addressConnectionCountMax)
        #expect(few.addressWatchCountMax == usual.addressWatchCountMax)
        #expect(few.addressHeldByteCountMax == usual.addressHeldByteCountMax)
        #expect(few.addressHeldAnswerByteCountMax == usual.addressHeldAnswerByteCountMax)
        for number in [-.infinity, .nan, 0] as [Double] {
            #expect(RelayServer.Limits(requestsPerSecond: number).requestsPerSecond == 1)
        }
        #expect(RelayServer.Limits(requestsPerSecond: .infinity).requestBurst.isFinite)
    }

    @Test func ratesAreOfEachAddressAndComeBackWithTime() throws {
        let now = Mutex(ContinuousClock.now)
        let rates = RelayRates(perSecond: 2, burst: 2, "", now: { now.withLock { $0 } })
        for address in ["a", "b"] {
            try rates.take(address)
            try rates.take(address)
            #expect(throws: RelayProblem.self) { try rates.take(address) }
        }
        now.withLock { $0 += .milliseconds(500) }
        try rates.take("a")
        #expect(throws: RelayProblem.self) { try rates.take("a") }
        now.withLock { $0 += .seconds(3_600) }
        try rates.take("a")
        try rates.take("a")
        #expect(throws: RelayProblem.self) { try rates.take("a") }
        for number in 0..<20_000 {
            now.withLock { $0 += .microseconds(1) }
            try rates.take("address \(number)")
        }
        #expect(rates.addressCount <= RelayRates.addressCountMax)
    }

    @Test func bytesInMemoryAreBounded() async throws {
        let held = HeldBytes(countMax: 100, addressCountMax: 60)
        func hold(_ count: Int, of address: String) async throws {
            try await held.hold(of: address) { try $0.raise(to: count) }
        }
        try await held.hold(of: "a") { first in
            for count in [20, 60, 10] { try first.raise(to: count) }
            #expect(held.count == 60)
            await expectProblem(.busy) { try await hold(1, of: "a") }
            try await held.hold(of: "b") { second in
                try second.raise(to: 40)
                await expectProblem(.busy) { try await hold(1, of: "c") }
                await expectProblem(.busy) { try second.raise(to: 41) }
                first.lower(to: 59)
                try await hold(1, of: "c")
            }
        }
        #expect(held.count == 0)
        // Whoever is alone gets through, however it comes.
        try await held.hold(of: "a") { alone in
            for count in [1_000, 2_000] { try alone.raise(to: count) }
        }
        await expectProblem(.missing) {
            try await held.hold(of: "a") { request in
                try request.raise(to: 1)
                throw RelayProblem(.missing, "")
            }
        }
        #expect(held.count == 0)
    }

    // MARK: What it tells of itself

    @Test func healthTellsWhetherTheStorageCanBeUsed() async throws {
        let relay = try await RunningRelay()
        let answer = try await relay.request(.GET, "/health")
        #expect(answer.status == 200 && answer.body == Data(#"{"status":"ok"}"#.utf8))
        try relay.storage.close()
        let closed = try await relay.request(.GET, "/health")
        #expect(
            closed.status == 503 && closed.problem == .unavailable && closed.headers["retry-after"] != nil)
    }

    @Test func healthDoesNotSumUpChannels() async throws {
        let (storage, options) = (CountingStorage(nil), RelayServer.Options())
        let responder = RelayResponder(
            storage: storage, options: options, watches: RelayWatches(limits: options.limits),
            connections: RelayConnections(countMax: 1), certificate: nil, logger: Logger(label: "test"))
        _ = try await responder.health()
        #expect(storage.readCount == 0)
    }

    @Test func metricsCountAndNameNobody() async throws {
        let relay = try await RunningRelay()
        let channel = try await relay.channel()
        _ = try await relay.put("a", pattern(1_000), in: channel)
        _ = try await relay.get("a", in: channel)
        _ = try await relay.request(.GET, channel.path, token: .random())
        _ = try await relay.request(.GET, "/" + String(repeating: "x", count: 50))
        let answer = try await relay.request(.GET, "/metrics")
        #expect(answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
        let text = String(decoding: answer.body, as: UTF8.self)
        for line in [
            #"cipherstore_relay_requests_total{request="write",status="201"} 1"#,
            #"cipherstore_relay_requests_total{request="state",status="401"} 1"#,
            #"cipherstore_relay_requests_total{request="other",status="404"} 1"#,
            #"cipherstore_relay_file_bytes_total{direction="in"} 1000"#,
            #"cipherstore_relay_file_bytes_total{direction="out"} 1000"#,
            "cipherstore_relay_channels 1", "cipherstore_relay_files 1", "cipherstore_relay_file_bytes 1000",
        ] { #expect(text.contains(line + "\n"), "\(line)") }
        for word in [
            channel.id.description, TestChannel.folder, "xxx", channel.writeToken.secretText, "127.0.0.1",
        ] {
            #expect(!text.contains(word))
        }
        // Whoever comes by way of a name from elsewhere gets none.
        let other = try await relay.request(.GET, "/metrics", headers: [("host", "relay.example")])
        #expect(other.status == 404)
    }

    @Test func logsNameNoTokenChannelFileOrAddress() async throws {
        let lines = Mutex<[String]>([])
        var logger = Logger(label: "test") { _ in
            CollectedLog(lines: { line in lines.withLock { $0.append(line) } })
        }
        logger.logLevel = .trace
        let relay = try await RunningRelay(logger: logger)
        let channel = try await relay.channel()
        _ = try await relay.put("a.bundle", pattern(10), in: channel)
        _ = try await relay.get("missing.bundle", in: channel)
        _ = try await relay.request(.GET, channel.path, token: .random())
        try await relay.storage.setPageCountMax(adding: 0)
        _ = try await relay.put("large.bundle", pattern(2_000_000), in: channel)
        let text = lines.withLock { $0 }.filter { $0.contains("a request failed") }.joined(separator: "\n")
        #expect(
            text.contains("missing") == true && text.contains("unauthorized") && text.contains("disk"))
        for word in [
            channel.id.description, TestChannel.folder, ".bundle", channel.writeToken.secretText,
            channel.readToken.secretText, "127.0.0.1",
        ] { #expect(!text.contains(word), "\(word)") }
    }

    // MARK: Certificates

    @Test func theCertificateIsMadeOnceAndKept() async throws {
        let folder = try StorageFolder()
        let relay = try await RunningRelay(folder, tls: .selfSigned)
        guard case .fingerprint(let first) = relay.server.trust else {
            Issue.record("the certificate has no fingerprint")
            return
        }
        #expect(first.count == 32)
        let port = relay.port
        #expect(await onThread { CertificateProbe.fingerprint(host: "127.0.0.1", port: port) } == first)
        await relay.end()
        try relay.storage.close()
        let again = try await RunningRelay(folder, tls: .selfSigned)
        #expect(again.server.trust == .fingerprint(first))
        let other = try await RunningRelay(tls: .selfSigned)
        #expect(other.server.trust != .fingerprint(first))
    }

    @Test func withoutTLSItListensOnThisMachineOnly() async throws {
        let storage = try StorageFolder().open()
        await #expect(throws: RemoteError.self) {
            _ = try await RelayServer(storage, options: .init(host: "0.0.0.0", tls: .plaintextOnLoopback))
        }
    }

    @Test func aPortThatIsTakenIsNamed() async throws {
        let relay = try await RunningRelay()
        let folder = try StorageFolder()
        let second = try await RelayServer(
            try folder.open(), options: .init(port: relay.port, tls: .plaintextOnLoopback))
        await #expect { try await second.run() } throws: {
            ($0 as? RemoteError)?.code == .cannotServe && "\($0)".contains("\(relay.port)")
        }
    }
}

/// Hands log lines on.
private struct CollectedLog: LogHandler {
    let lines: @Sendable (String) -> Void
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level = .trace

    init(lines: @escaping @Sendable (String) -> Void) { self.lines = lines }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { lines("\(event.message) \(event.metadata ?? [:])") }
}
