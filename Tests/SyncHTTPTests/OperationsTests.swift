import AsyncHTTPClient
import CipherStore
import Foundation
import Logging
import SyncWire
import Synchronization
import Testing

@testable import SyncEngine
@testable import SyncHTTP

/// Keeps what is logged.
final class LogLines: LogHandler, Sendable {
    let lines = Mutex<[String]>([])
    var metadata: Logger.Metadata {
        get { [:] }
        set {}
    }
    var logLevel: Logger.Level {
        get { .trace }
        set {}
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { nil }
        set {}
    }

    func log(
        level: Logger.Level, message: Logger.Message, metadata: Logger.Metadata?, source: String,
        file: String, function: String, line: UInt
    ) {
        lines.withLock { $0.append("\(message) \(metadata ?? [:])") }
    }
}

/// What operates a server.
@Suite(.serialized) struct OperationsTests {
    private func get(
        _ server: RunningServer, _ path: String, _ headers: [String: String] = [:]
    ) async throws -> (status: Int, text: String) {
        let (status, body) = try await Attacker.send(server.address.url, "GET", path, headers, [])
        return (status, String(decoding: body, as: UTF8.self))
    }

    @Test func theServerHandsOutItsDescription() async throws {
        var root = URL(fileURLWithPath: #filePath)
        for _ in 0..<3 { root.deleteLastPathComponent() }
        let file = try String(
            contentsOf: root.appendingPathComponent("Schemas/openapi.yaml"), encoding: .utf8)
        #expect(OpenAPIDocument.text == file, "run Scripts/embed-openapi")
        let stores = try ServedStores()
        let hub = try stores.create("hub.db")
        try await RunningServer.serving(hub, tls: .plaintextOnLoopback) { server in
            let (status, text) = try await get(server, "/openapi.yaml")
            #expect(status == 200 && text == file)
        }
    }

    @Test func metricsAreForProgramsHereAndNameNobody() async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db", rows: 5)
        try await RunningServer.serving(hub, tls: .plaintextOnLoopback) { server in
            let phone = try await stores.join(try server.invite("my phone"), "phone.db")
            try phone.insert(3, "phone")
            try hub.insert(2, "hub")
            _ = try await phone.sync(with: RemoteBook(phone).transport(options: .hasty))
            _ = try await get(server, "/v1/x/y/z\"\n{")
            let (status, text) = try await get(server, "/metrics")
            #expect(status == 200)
            for line in [
                "cipherstore_rows_total{direction=\"in\"} 3", "cipherstore_rows_total{direction=\"out\"} 2",
                "cipherstore_stores 1", "cipherstore_requests_total{route=\"greeting\",status=\"200\"} 3",
                "cipherstore_requests_total{route=\"other\",status=\"404\"} 1",
                "# TYPE cipherstore_streams gauge",
            ] { #expect(text.contains(line + "\n"), "\(line)") }
            #expect(!text.contains("phone") && !text.contains("note"))
            // Each line is a comment, or a series and a number.
            for line in text.split(separator: "\n") where !line.hasPrefix("#") {
                let parts = line.split(separator: " ")
                #expect(parts.count == 2 && Double(parts[1]) != nil, "\(line)")
            }
            for name in ["X-Forwarded-For", "Forwarded", "Via"] {
                #expect(try await get(server, "/metrics", [name: "1.2.3.4"]).status == 404)
            }
        }
    }

    @Test func nothingSecretIsLogged() async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db", rows: 3)
        let log = LogLines()
        let link = Mutex("")
        let server = try HubServer(
            [hub], options: .init(host: "127.0.0.1", port: 0), logger: Logger(label: "test") { _ in log })
        let (ports, continuation) = AsyncStream.makeStream(of: HubServer.Listening.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run { continuation.yield($0) } }
            var iterator = ports.makeAsyncIterator()
            let listening = try #require(await iterator.next())
            let running = RunningServer(port: listening.port, trust: listening.trust, hub: hub)
            let invite = try running.invite()
            link.withLock { $0 = invite.description }
            let phone = try await stores.join(invite, "phone.db")
            try phone.insert(1, "a value of a row")
            let transport = try RemoteBook(phone).transport(options: .hasty)
            _ = try await phone.sync(with: transport)
            await #expect(throws: RemoteError.self) { _ = try await stores.join(invite, "thief.db") }
            try running.register.revoke("phone")
            await #expect(throws: RemoteError.self) { _ = try await phone.sync(with: transport) }
            let key = try RemoteBook(phone).deviceKey()
            let secrets = [
                ByteText.base64(invite.secret), ByteText.hex(invite.secret), ByteText.base64(key.publicKey),
                "a value of a row", "passphrase of",
            ]
            let text = log.lines.withLock { $0.joined(separator: "\n") }
            #expect(text.contains("invalidInvite") && text.contains("revokedDevice"))
            for secret in secrets { #expect(!text.contains(secret), "\(secret)") }
            group.cancelAll()
        }
    }

    @Test func devicesWithWrongClocksAreServed() async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db", rows: 2)
        try await RunningServer.serving(hub) { server in
            for (name, days) in [("past", Int64(-4000)), ("future", 4000)] {
                let environment = SyncEnvironment(
                    milliseconds: { 1_700_000_000_000 + days * 86_400_000 },
                    random: { UInt64.random(in: .min ... .max) })
                let (link, path) = (try server.invite(name), stores.path(name))
                try await blocking {
                    try Synchronizer.join(
                        link, at: path, passphrase: Passphrase("passphrase of \(name)"), options: .hasty,
                        environment: environment)
                }
                let queue = try DatabaseQueue(path: path, configuration: ServedStores.configuration(name))
                let device = try Synchronizer(queue, environment: environment)
                try device.insert(3, name)
                try hub.insert(1, "hub")
                let report = try await device.sync(with: RemoteBook(device).transport(options: .hasty))
                #expect(report.pushed?.rowCount == 3)
                #expect(try device.rows() == hub.rows())
            }
            #expect(try hub.titles() == ["from hub.db": 2, "past": 3, "future": 3, "hub": 2])
        }
    }

    @Test(arguments: [true, false])
    func whatComesTwiceIsDoneOnce(isEncrypted: Bool) async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db", rows: 3)
        try await RunningServer.serving(hub, tls: isEncrypted ? .selfSigned : .plaintextOnLoopback) {
            server in
            let phone = try await stores.join(try server.invite(), "phone.db")
            let proxy = CuttingProxy(to: server.port, cuts: [], duplicates: true)
            defer { proxy.close() }
            let remote = try RemoteBook(phone).remote()
            let address = try ServerAddress(host: "127.0.0.1", port: proxy.port, trust: remote.address.trust)
            try RemoteBook(phone).save(
                Remote(
                    name: "twice", address: address, certificate: remote.certificate))
            let transport = try RemoteBook(phone).transport("twice", options: .hasty)
            for round in 0..<3 {
                try phone.insert(2, "phone \(round)")
                try hub.insert(1, "hub \(round)")
                // It fails or not, and nothing is lost, doubled or taken for something else.
                _ = try? await phone.sync(with: transport)
            }
            #expect(proxy.connectionCount > 0)
            _ = try await phone.sync(with: RemoteBook(phone).transport(options: .hasty))
            #expect(try hub.rows() == phone.rows() && hub.rows().count == 12)
            #expect(try hub.conflicts().isEmpty && phone.conflicts().isEmpty)
        }
    }

    @Test func aStoreIsBackedUpWhileItIsServed() async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db", rows: 500)
        try await RunningServer.serving(hub) { server in
            let phone = try await stores.join(try server.invite(), "phone.db")
            let transport = try RemoteBook(phone).transport(options: .hasty)
            // Another process makes the archives.
            let backup = try stores.open("hub.db")
            async let writing: Void = {
                for _ in 0..<5 {
                    try phone.insert(20, "phone")
                    _ = try await phone.sync(with: transport)
                }
            }()
            for number in 0..<3 {
                let archive = stores.path("backup-\(number).csa")
                try await blocking {
                    try backup.writer.writeWithoutTransaction { db in
                        try StoreArchive.write(
                            of: db, to: archive,
                            lock: ArchiveLock(passphrase: Passphrase("of the archive"), cost: .minimum))
                    }
                }
                let path = stores.path("restored-\(number).db")
                try Synchronizer.restore(
                    archive: archive, to: path, opening: ArchiveSecret(Passphrase("of the archive")),
                    passphrase: Passphrase("passphrase of restored-\(number).db"))
                let restored = try stores.open("restored-\(number).db")
                let titles = try restored.titles()
                // A whole number of transactions.
                #expect(titles["from hub.db"] == 500 && (titles["phone"] ?? 0) % 20 == 0)
                #expect(try restored.problems().isEmpty)
            }
            try await writing
            #expect(try hub.rows() == phone.rows() && hub.rows().count == 600)
        }
    }
}

extension Synchronizer {
    fileprivate func problems() throws -> [StoreProblem] {
        try database.read { try MetadataCheck.problems(of: $0, isDeep: true) }
    }
}
