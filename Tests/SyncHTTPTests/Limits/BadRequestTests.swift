import AsyncHTTPClient
import CipherStore
import Foundation
import NIOCore
import SyncEngine
import SyncWire
import Testing

@testable import SyncHTTP

/// Requests that a device of this program would not send.
@Suite(.serialized) struct BadRequestTests {
    private func serving(
        limits: HubServer.Limits = .init(), rows: Int = 3,
        _ body: @Sendable (RunningServer, Attacker) async throws -> Void
    ) async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db", rows: rows)
        let before = try hub.rows()
        try await RunningServer.serving(hub, tls: .plaintextOnLoopback, limits: limits) { server in
            let attacker = try await Attacker(server)
            try await body(server, attacker)
        }
        #expect(try hub.rows() == before)
        let report = try await hub.writer.read { try String.fetchOne($0, sql: "PRAGMA integrity_check") }
        #expect(report == "ok")
    }

    @Test func aRequestIsTakenOnceAndUnaltered() async throws {
        try await serving { _, attacker in
            let target = attacker.base + "/greeting"
            let headers = try attacker.headers(1, "GET", target, [])
            let first = try await Attacker.send(attacker.url, "GET", target, headers, [])
            #expect(first.0 == 200)
            let replayed = try await Attacker.send(attacker.url, "GET", target, headers, [])
            #expect(replayed.0 == 401)
            // Another number, path, query, method or body than was signed.
            var renumbered = try attacker.headers(2, "GET", target, [])
            renumbered["cipherstore-number"] = "3"
            let good = try attacker.headers(4, "GET", target, [])
            for (method, path, headers, body) in [
                ("GET", target, renumbered, []), ("GET", target + "?a=1", good, []),
                ("POST", target, good, []), ("DELETE", attacker.base + "/downloads/00", good, []),
                ("POST", target, try attacker.headers(5, "POST", target, [1]), [2 as UInt8]),
            ] {
                let (status, _) = try await Attacker.send(attacker.url, method, path, headers, body)
                #expect(status == 401)
            }
            let (status, _) = try await Attacker.send(attacker.url, "GET", target, good, [])
            #expect(status == 200)
        }
    }

    @Test func whoIsNotSignedInGetsNothing() async throws {
        try await serving { _, attacker in
            for (method, path) in [
                ("GET", "/greeting"), ("POST", "/greeting"), ("POST", "/downloads"), ("POST", "/snapshots"),
                ("POST", "/uploads"), ("PUT", "/uploads/00"), ("POST", "/identity"),
                ("POST", "/acknowledgement"),
            ] {
                let (status, body) = try await Attacker.send(
                    attacker.url, method, attacker.base + path, [:], method == "GET" ? [] : [1, 2, 3])
                #expect(status == 401, "\(method) \(path)")
                let problem = try JSONDocument.decode(Message.Problem.self, from: body)
                #expect(problem.status == 401 && problem.type.hasPrefix("urn:cipherstore:problem:"))
            }
            for path in [
                "//", "/v1", "/v1/stores", "/v1/stores/x/greeting", "/v2/hello", "/%00", "/v1/stores//",
            ] {
                let (status, _) = try await Attacker.send(attacker.url, "GET", path, [:], [])
                #expect((400..<500).contains(status), "\(path)")
            }
            let other = String(repeating: "0", count: 32)
            let (status, _) = try await Attacker.send(
                attacker.url, "GET", "/v1/stores/\(other)/greeting", [:], [])
            #expect(status == 404)
        }
    }

    @Test func garbageIsRefusedWithAProblem() async throws {
        try await serving { _, attacker in
            var number: UInt64 = 10
            let garbage: [[UInt8]] = [
                [], [0], Array("{}".utf8), Array("[1,2".utf8), [UInt8](repeating: 0xFF, count: 5000),
                Array("{\"vector\":{\"x\":1}}".utf8), Array("{\"vector\":{\"\(attacker.store)\":-1}}".utf8),
                Array("{\"forks\":[{\"replica\":\"zz\",\"common\":1}]}".utf8), [1, 255, 255, 255, 255],
                [1, 4, 0, 0, 0] + Array("CSBN".utf8), [16, 4, 0, 0, 0] + Array("CSHI".utf8),
                Array("{\"recipient\":\"csr1-00\"}".utf8),
                Array(repeating: UInt8(ascii: "["), count: 100_000),
            ]
            for path in [
                "/greeting", "/downloads", "/snapshots", "/uploads", "/identity", "/acknowledgement",
            ] {
                for body in garbage {
                    // A well-formed empty list is no garbage there.
                    number += 1
                    let (status, problem) = try await attacker.send(number, "POST", path, body)
                    #expect((400..<500).contains(status), "\(path) \(body.prefix(20)) \(status)")
                    #expect(problem?.status == status)
                }
            }
            for path in ["/uploads/00", "/uploads/" + String(repeating: "0", count: 64)] {
                number += 1
                let (status, _) = try await attacker.send(number, "PUT", path, [2, 1, 0, 0, 0, 0])
                #expect((400..<500).contains(status))
            }
            for query in ["", "?offset=", "?offset=-1", "?offset=x", "?offset=99999999999999999999"] {
                number += 1
                let (status, _) = try await attacker.send(number, "GET", "/downloads/00" + query)
                #expect((400..<500).contains(status))
            }
        }
    }

    @Test func aBodyThatIsTooLargeIsNotRead() async throws {
        try await serving { _, attacker in
            let large = [UInt8](repeating: 1, count: 5 << 20)
            let (status, problem) = try await attacker.send(1, "POST", "/identity", large)
            #expect(status == 413 && problem?.title == "tooLarge")
            // All names that a store takes in have their place in a request.
            for (number, path) in ["/downloads", "/answers"].enumerated() {
                let (status, problem) = try await attacker.send(UInt64(number) + 2, "POST", path, large)
                #expect((400..<500).contains(status) && problem?.title != "tooLarge")
            }
            let (stranger, _) = try await Attacker.send(
                attacker.url, "POST", attacker.base + "/sessions", [:], [UInt8](repeating: 1, count: 10_000))
            #expect(stranger == 413)
        }
    }

    @Test func aDeviceSendsOnlyItsOwnReplicasBundles() async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db", rows: 3)
        try hub.clone(to: stores.path("b.db"), passphrase: Passphrase("passphrase of b.db"))
        let other = try stores.open("b.db")
        try other.insert(1, "b")
        let before = try hub.rows()
        try await RunningServer.serving(hub, tls: .plaintextOnLoopback) { server in
            let attacker = try await Attacker(server)
            var bundle: [UInt8] = []
            _ = try other.localPeer.send(since: hub.identity().vector, progress: nil) { bundle += $0 }
            let (unbound, _) = try await attacker.send(1, "POST", "/uploads", bundle)
            #expect(unbound == 403)
            // It says that it is the server's own replica.
            let (own, problem) = try await attacker.send(
                2, "POST", "/greeting", hub.localPeer.greet().encode())
            #expect(own == 403 && problem?.title == "otherReplica")
            // It is that replica, and damages a chunk, and leaves one away.
            let (bound, _) = try await attacker.send(3, "POST", "/greeting", other.localPeer.greet().encode())
            #expect(bound == 200)
            // The end has 5 + 1 + 1 + 32 bytes; the chunk is before it.
            var damaged = bundle
            damaged[bundle.count - 50] ^= 1
            let (status, _) = try await attacker.send(4, "POST", "/uploads", damaged)
            #expect(status == 400)
            let (truncated, _) = try await attacker.send(5, "POST", "/uploads", Array(bundle.dropLast(7)))
            #expect(truncated == 400)
            let (unfinished, _) = try await attacker.send(
                6, "POST", "/uploads/" + String(repeating: "0", count: 64) + "/application")
            #expect(unfinished == 404)
        }
        #expect(try hub.rows() == before)
    }

    /// A download that begins beyond its end once ended the server.
    @Test func aDownloadBeginsNowhereBeyondItsEnd() async throws {
        try await serving(rows: 20_000) { _, attacker in
            let body = try JSONDocument.encode(Message.Transfer(TransferRequest(base: VersionVector())))
            let headers = try attacker.headers(1, "POST", attacker.base + "/downloads", body)
            let (status, answer) = try await Attacker.send(
                attacker.url, "POST", attacker.base + "/downloads", headers, body)
            #expect(status == 201)
            let download = try JSONDocument.decode(Message.Download.self, from: answer)
            #expect(download.content == nil)
            var number: UInt64 = 2
            for offset in ["9223372036854775807", "9223372036854775000", "-1", "99999999999999999999", "x"] {
                let (refused, _) = try await attacker.send(
                    number, "GET", "/downloads/\(download.download)?offset=\(offset)")
                #expect(refused == 400, "\(offset)")
                number += 1
            }
            let (alive, _) = try await attacker.send(number, "GET", "/greeting")
            #expect(alive == 200)
        }
    }

    @Test func strangersGetInOnlySoOften() async throws {
        var limits = HubServer.Limits()
        limits.admissionsPerSecond = 0.3
        try await serving(limits: limits) { _, attacker in
            // So many take less than the five minutes in which they would be let in.
            var status = 201
            for _ in 0..<100 where status == 201 {
                status = try await Attacker.send(attacker.url, "POST", "/v1/challenges", [:], []).0
            }
            #expect(status == 503)
            // Devices that are in are served.
            let (served, _) = try await attacker.send(1, "GET", "/greeting")
            #expect(served == 200)
        }
    }

    @Test func aDeviceMakesOnlySoManyRequests() async throws {
        var limits = HubServer.Limits()
        limits.deviceRequestsPerSecond = 0
        try await serving(limits: limits) { _, attacker in
            let (status, problem) = try await attacker.send(1, "GET", "/greeting")
            #expect(status == 503 && problem?.title == "busy")
        }
        let rate = RateLimit(perSecond: 0, burst: 3, "too many")
        for _ in 0..<3 { try rate.take() }
        #expect(throws: RemoteError.self) { try rate.take() }
    }
}
