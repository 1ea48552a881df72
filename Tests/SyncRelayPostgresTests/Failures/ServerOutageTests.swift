import AsyncHTTPClient
import Foundation
import NIOCore
import SyncRelay
import TestSupport
import Testing

@testable import SyncRelayPostgres

/// A server that stops, is killed, hangs, and comes back.
@Suite(.needsPostgres, .fewAtATime, .serialized, .timeLimit(.minutes(5))) struct ServerOutageTests {
    let server: PostgresServer
    let database: TestDatabase

    init() throws {
        server = try PostgresServer()
        database = try TestDatabase(server)
    }

    @Test(arguments: [false, true])
    func nothingAcknowledgedIsLostAndTheRelayGoesOn(_ isKilled: Bool) async throws {
        let storage = try database.open { $0.lookSeconds = 3_600 }
        let channel = try await TestChannel(in: storage)
        let content = pattern(600_000)
        try await storage.upload("a", content, to: channel.id)
        let upload = try await storage.begin("b", content, to: channel.id)
        try await storage.append(content.prefix(262_144), at: 0, to: upload)
        let before = try await storage.state(of: channel.id)
        let told = ToldMoments(storage, channel.id)
        try isKilled ? server.kill() : server.stop()
        await expectProblem(.unavailable) { try await storage.put("c", Data([1]), in: channel.id) }
        await expectProblem(.unavailable) { try await storage.content("a", in: channel.id) }
        await expectProblem(.unavailable) { try await storage.list(channel.id, .all) }
        await expectProblem(.unavailable) { try await storage.figures() }
        await expectProblem(.unavailable) { try await storage.tidy() }
        await expectProblem(.unavailable) {
            try await storage.append(
                Data(content.dropFirst(262_144).prefix(262_144)), at: 262_144, to: upload)
        }
        try server.start()
        // Nobody can tell whether its files were put back meanwhile: another epoch has begun, and watches are told of it.
        // The first one that they are told of may still be where the channel stood before.
        let moment = await told.wait { $0.epoch != before.epoch }
        #expect(moment?.position == 1)
        while (try? await storage.state(of: channel.id)) == nil { await Task.yield() }
        let after = try await storage.state(of: channel.id)
        #expect(after.position == 1 && after.byteCount == 600_000 && after.epoch == moment?.epoch)
        #expect(try await storage.content("a", in: channel.id) == content)
        // The upload goes on where it was.
        try await storage.append(Data(content.dropFirst(262_144).prefix(262_144)), at: 262_144, to: upload)
        try await storage.append(Data(content.dropFirst(524_288)), at: 524_288, to: upload)
        #expect(try await storage.finish(upload).position == 2)
    }

    @Test func aServerThatHangsIsUnavailableInTime() async throws {
        let storage = try database.open {
            $0.secondsMax = 0.5
            $0.connectionCountMax = 2
        }
        let channel = try await TestChannel(in: storage)
        try server.hang()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<10 {
                group.addTask {
                    await expectProblem(.unavailable) {
                        try await storage.put("f\(number)", Data([1]), in: channel.id)
                    }
                }
                group.addTask { await expectProblem(.unavailable) { try await storage.figures() } }
            }
        }
        try server.goOn()
        while (try? await storage.put("after", Data([1]), in: channel.id)) == nil { await Task.yield() }
    }

    @Test func requestsAreToldToComeAgainMeanwhile() async throws {
        let storage = try database.open()
        var options = RelayServer.Options(port: 0, tls: .plaintextOnLoopback)
        options.limits.requestBurst = 1_000_000
        let relay = try await RelayServer(storage, options: options)
        let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
        let task = Task { try await relay.run { continuation.yield($0.port) } }
        defer { task.cancel() }
        var iterator = ports.makeAsyncIterator()
        let port = try #require(await iterator.next())
        let channel = try await TestChannel(in: storage)
        func get(_ path: String) async throws -> (status: UInt, retry: String?) {
            var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)" + path)
            request.headers.add(name: "authorization", value: channel.readToken.authorization)
            let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
            _ = try await response.body.collect(upTo: 1 << 20)
            return (response.status.code, response.headers.first(name: "retry-after"))
        }
        #expect(try await get("/v1/channels/\(channel.id)").status == 200)
        try server.stop()
        for path in ["/v1/channels/\(channel.id)", "/health", "/v1/channels/\(channel.id)/files"] {
            let answer = try await get(path)
            #expect(answer.status == 503 && answer.retry != nil, "\(path)")
        }
        try server.start()
        while try await get("/health").status != 200 { await Task.yield() }
        #expect(try await get("/v1/channels/\(channel.id)").status == 200)
    }
}
