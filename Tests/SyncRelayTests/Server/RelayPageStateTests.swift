import Crypto
import Foundation
import NIOHTTP1
import SyncHTTP
import Synchronization
import Testing

@testable import SyncRelay

@Suite struct RelayPageStateTests {
    typealias JSON = [String: Any]

    private func state(_ relay: RunningRelay) async throws -> JSON {
        let answer = try await relay.request(.GET, "/page/state")
        #expect(answer.status == 200 && answer.headers["content-type"] == "application/json")
        #expect(answer.body.count <= RelayPageDocument.byteCountMax)
        return try #require(JSONSerialization.jsonObject(with: answer.body) as? JSON)
    }

    private func sum(_ state: JSON, _ name: String) -> Int64 {
        let series = (state["traffic"] as? [JSON])?.first?[name] as? [Int64]
        return series?.reduce(0, +) ?? -1
    }

    // MARK: What it says

    @Test func itSaysWhatTheRelayHoldsAndDoes() async throws {
        let relay = try await RunningRelay {
            $0.version = "1.2.3"
            $0.limits.connectionCountMax = 300
            $0.limits.watchCountMax = 20
        } storage: {
            $0.channelByteCountMax = 5_000
            $0.channelCountMax = 7
        }
        let channel = try await relay.channel()
        _ = try await relay.put("a", pattern(1_000), in: channel)
        _ = try await relay.get("a", in: channel)
        _ = try await relay.request(.GET, channel.path, token: .random())
        let watch = try await relay.open(.GET, channel.path + "/watch", token: channel.readToken)
        let state = try await state(relay)
        #expect(state["version"] as? Int == 1)
        let own = try #require(state["relay"] as? JSON)
        #expect(own["version"] as? String == "1.2.3" && own["needsAdmission"] as? Bool == false)
        let (now, started) = (state["now"] as? Int64 ?? 0, own["started"] as? Int64 ?? 0)
        #expect(started > 0 && now >= started && own["upSeconds"] as? Int64 ?? -1 >= 0)
        let storage = try #require(state["storage"] as? JSON)
        #expect(storage["kind"] as? String == "SQLite file")
        #expect(storage["channelBytesMax"] as? Int == 5_000 && storage["channelsMax"] as? Int == 7)
        #expect(storage["channelFilesMax"] as? Int == 100_000)
        let holds = try #require(storage["holds"] as? JSON)
        #expect(holds["channels"] as? Int == 1 && holds["files"] as? Int == 1)
        #expect(holds["fileBytes"] as? Int == 1_000 && holds["diskBytes"] as? Int ?? 0 > 1_000)
        let loads = try #require(state["loads"] as? [String: [String: Int]])
        #expect(loads["watches"] == ["count": 1, "max": 20])
        #expect(loads["connections"]?["max"] == 300 && loads["connections"]?["count"] ?? 0 >= 1)
        #expect(loads["memory"] == ["count": 0, "max": 128 << 20])
        #expect(state["certificate"] == nil)
        withExtendedLifetime(watch) {}
    }

    @Test func itSaysWhatBecameOfRequestsAndWhatWent() async throws {
        let relay = try await RunningRelay()
        let channel = try await relay.channel()
        let before = try await state(relay)
        _ = try await relay.put("a", pattern(600_000), in: channel)
        _ = try await relay.put("a", pattern(1_000), in: channel)
        _ = try await relay.get("a", in: channel)
        _ = try await relay.get("none", in: channel)
        let state = try await state(relay)
        let requests = try #require(state["requests"] as? [JSON])
        #expect(requests.map { $0["kind"] as? String } == ["make-channel", "read", "write"])
        #expect(
            requests[1]["answers"] as? [[String: Int]] == [
                ["status": 200, "count": 1], ["status": 404, "count": 1],
            ])
        #expect(
            requests[2]["answers"] as? [[String: Int]] == [
                ["status": 200, "count": 1], ["status": 201, "count": 1],
            ])
        #expect(requests.allSatisfy { $0["microseconds"] as? Int ?? -1 >= 0 })
        // Of the page itself nothing is counted.
        #expect(sum(state, "answered") - sum(before, "answered") == 3)
        #expect(sum(state, "refused") == 1)
        #expect(sum(state, "received") - sum(before, "received") == 601_000)
        #expect(sum(state, "sent") - sum(before, "sent") >= 1_000)
        #expect(sum(state, "sent") - sum(before, "sent") < 2_000)
    }

    @Test func itNamesNobody() async throws {
        let admission = RelayToken.random()
        let relay = try await RunningRelay { $0.admission = admission }
        let channel = TestChannel()
        let body = Data(try RelayJSON.encode(channel.registration))
        let path = "/v1/channels/\(channel.id)"
        #expect(try await relay.request(.PUT, path, token: admission, body: body).status == 201)
        _ = try await relay.put("secret.bundle", pattern(1_000), in: channel)
        _ = try await relay.request(.GET, "/" + String(repeating: "x", count: 50))
        _ = try await relay.request(.POST, "/v1/invitations/\(RelayInvitationID.random())")
        let answer = try await relay.request(.GET, "/page/state")
        let text = String(decoding: answer.body, as: UTF8.self)
        #expect(text.contains(#""needsAdmission":true"#))
        for word in [
            channel.id.description, TestChannel.folder, "secret", "xxx", channel.writeToken.secretText,
            channel.readToken.secretText, admission.secretText, channel.registration.readToken.description,
            channel.registration.writeToken.description, "127.0.0.1", relay.storage.path, "relay.db", "/",
        ] { #expect(!text.contains(word), "\(word)") }
    }

    @Test func aStorageThatCantBeUsedIsAPartOfWhatItSays() async throws {
        let relay = try await RunningRelay()
        try relay.storage.close()
        let storage = try #require(await state(relay)["storage"] as? JSON)
        #expect(storage["holds"] == nil && storage["kind"] as? String == "SQLite file")
    }

    @Test func itTellsTheCertificateAndItsLastDay() async throws {
        let folder = try StorageFolder()
        let key = P256.Signing.PrivateKey()
        let der = Data(try ServerCertificate.selfSigned(key))
        let (chain, secret) = (folder.path + ".pem", folder.path + ".key")
        let text = "-----BEGIN CERTIFICATE-----\n\(der.base64EncodedString())\n-----END CERTIFICATE-----\n"
        try text.write(toFile: chain, atomically: true, encoding: .utf8)
        try key.pemRepresentation.write(toFile: secret, atomically: true, encoding: .utf8)
        defer { withExtendedLifetime(folder) {} }
        let files = try ReloadableCertificate(certificate: chain, key: secret)
        let known = try #require(await reader(certificate: files).document().certificate)
        let digest = SHA256.hash(data: der).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        #expect(known.fingerprint == digest && known.isPinned)
        #expect(known.from == 0 && known.until == 253_402_300_799_000)
        // One that the relay made is valid at all times.
        let own = try ReloadableCertificate(ServerCertificate.selfSigned(Array(der), key))
        let made = try #require(await reader(certificate: own).document().certificate)
        #expect(made.fingerprint == digest && made.isPinned && made.until == nil)
    }

    // MARK: Bounds

    @Test func itsSizeIsBoundedWhateverWasCounted() async throws {
        var options = RelayServer.Options()
        options.version = String(repeating: "v", count: 10_000)
        options.limits.connectionCountMax = .max
        options.limits.watchCountMax = .max
        options.limits.heldByteCountMax = .max
        let metrics = RelayMetrics()
        let kinds = [
            "write", "read", "remove", "changes", "list", "watch", "state", "make-channel", "remove-channel",
            "invite", "take-invitation", "remove-invitation", "health", "metrics", "other", "page",
        ]
        for kind in kinds {
            for status in 400..<599 {
                let labels = [("request", kind), ("status", String(status))]
                metrics.count(.requests, labels.map { (name: $0.0, value: $0.1) }, by: 1e300)
            }
            metrics.count(.requestSeconds, [("request", kind)], by: .infinity)
        }
        let now = Mutex(ContinuousClock.now)
        let traffic = RelayTraffic { now.withLock { $0 } }
        for _ in 0..<(2 * RelayTraffic.pointCount) {
            for _ in 0..<2 {
                traffic.count(received: .max)
                traffic.countAnswer(200, byteCount: .max)
                traffic.countAnswer(503, byteCount: 0)
            }
            now.withLock { $0 += .seconds(1) }
        }
        let storage = CountingStorage(
            RelayStorageFigures(
                channelCount: .max, fileCount: .max, byteCount: .max, storageByteCount: .max))
        let document = await reader(storage, options: options, metrics: metrics, traffic: traffic).document()
        #expect(document.requests.count == kinds.count - 1)
        #expect(
            document.requests.allSatisfy {
                $0.answers.count == 32 && $0.microseconds <= 1_000_000_000_000_000
            })
        let bytes = try RelayJSON.encode(document)
        #expect(bytes.count <= RelayPageDocument.byteCountMax, "\(bytes.count)")
    }

    @Test func theStorageIsReadOnceForAllWhoLook() async throws {
        let now = Mutex(ContinuousClock.now)
        let storage = CountingStorage(
            RelayStorageFigures(channelCount: 1, fileCount: 2, byteCount: 3, storageByteCount: 4))
        let reader = reader(storage, time: .init(milliseconds: { 0 }, now: { now.withLock { $0 } }))
        for _ in 0..<50 { #expect(await reader.document().storage.holds?.files == 2) }
        #expect(storage.readCount == 1)
        now.withLock { $0 += .milliseconds(899) }
        _ = await reader.document()
        #expect(storage.readCount == 1)
        now.withLock { $0 += .milliseconds(1) }
        // One reads, and the others get what is known until it has.
        storage.onRead = { #expect(await reader.document().storage.holds?.files == 2) }
        _ = await reader.document()
        #expect(storage.readCount == 2)
        // A reading that took a second is not repeated for ten.
        storage.onRead = { now.withLock { $0 += .seconds(1) } }
        now.withLock { $0 += .seconds(1) }
        _ = await reader.document()
        now.withLock { $0 += .seconds(9) }
        _ = await reader.document()
        #expect(storage.readCount == 3)
        now.withLock { $0 += .seconds(1) }
        _ = await reader.document()
        #expect(storage.readCount == 4)
    }

    // MARK: Contract

    /// The names of a document's members, by their path.
    private func names(_ value: Any, _ path: String = "") -> Set<String> {
        if let members = value as? JSON {
            return members.reduce(into: []) { $0.formUnion(names($1.value, path + "." + $1.key)) }
        }
        if let items = value as? [Any] {
            return items.reduce(into: []) { $0.formUnion(names($1, path + "[]")) }
        }
        return [path]
    }

    @Test func itHasTheFormThatTheContractShows() async throws {
        let root = (0..<4).reduce(URL(fileURLWithPath: #filePath)) { url, _ in url.deletingLastPathComponent()
        }
        let contract = try String(
            contentsOf: root.appendingPathComponent("Schemas/relay/page-v1.md"), encoding: .utf8)
        let example = try #require(contract.firstMatch(of: #/```json\n(.*?)```/#.dotMatchesNewlines())?.1)
        var options = RelayServer.Options()
        options.version = "0.1.0"
        let metrics = RelayMetrics()
        metrics.count(.requests, [("request", "write"), ("status", "201")])
        let key = P256.Signing.PrivateKey()
        var certificate = try ServerCertificate.selfSigned(ServerCertificate.selfSigned(key), key)
        certificate.validity = Date(timeIntervalSince1970: 1)...Date(timeIntervalSince1970: 2)
        let storage = CountingStorage(
            RelayStorageFigures(channelCount: 1, fileCount: 2, byteCount: 3, storageByteCount: 4))
        let reader = reader(
            storage, options: options, metrics: metrics, certificate: try ReloadableCertificate(certificate))
        let document = try RelayJSON.encode(await reader.document())
        let ours = names(try JSONSerialization.jsonObject(with: Data(document)))
        #expect(ours == names(try JSONSerialization.jsonObject(with: Data(example.utf8))))
        #expect(contract.contains("at most \(RelayPageDocument.byteCountMax >> 10) KiB"))
        #expect(contract.contains("last \(RelayTraffic.pointCount) seconds"))
    }

    // MARK: Readers

    private func reader(
        _ storage: any RelayStorage = CountingStorage(nil), options: RelayServer.Options = .init(),
        metrics: RelayMetrics = RelayMetrics(), traffic: RelayTraffic = RelayTraffic(),
        certificate: ReloadableCertificate? = nil, time: RelayPageReader.Time = .init()
    ) -> RelayPageReader {
        RelayPageReader(
            storage: storage, options: options,
            sources: .init(
                watches: RelayWatches(limits: options.limits),
                connections: RelayConnections(countMax: options.limits.connectionCountMax),
                held: HeldBytes(
                    countMax: options.limits.heldByteCountMax,
                    addressCountMax: options.limits.addressHeldByteCountMax),
                metrics: metrics, traffic: traffic, certificate: certificate),
            time: time)
    }
}
