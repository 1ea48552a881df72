import CipherStore
import Foundation
import SyncEngine
import Testing

@testable import SyncHTTP

/// Bundles that are compressed between a device and a server.
@Suite(.serialized) struct CompressionTests {
    /// Rows of digits, which take half their bytes.
    private static func insert(_ count: Int, into replica: Synchronizer) throws {
        var generator = SystemRandomNumberGenerator()
        try replica.writer.write { db in
            for _ in 0..<count {
                let text = (0..<600).map { _ in String(generator.next(), radix: 16) }.joined()
                try db.execute(
                    sql: "INSERT INTO note (id, title) VALUES (?, ?)",
                    arguments: [withUnsafeBytes(of: UUID().uuid) { Data($0) }, text])
            }
        }
    }

    @Test(arguments: [HTTPTransport.Compression.always, .automatic, .never])
    func bothDirectionsAreCompressedWhereThatIsWanted(compression: HTTPTransport.Compression) async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db")
        try await RunningServer.serving(hub) { server in
            let phone = try await stores.join(server.invite(), "phone.db")
            for replica in [hub, phone] { try Self.insert(300, into: replica) }
            // Connections break here only when more travels than what is compressed.
            let proxy = CuttingProxy(to: server.port, cuts: [5_000_000])
            let transport = try stores.transport(of: phone, to: server, through: proxy) {
                $0.compression = compression
            }
            let report = try await phone.sync(with: transport)
            #expect(report.pulled?.rowCount == 300 && report.pushed?.rowCount == 300)
            #expect(try phone.rows() == hub.rows() && phone.rows().count == 600)
            // The server is on this machine, where nothing is gained.
            #expect(proxy.connectionCount == (compression == .always ? 1 : 2))
            proxy.close()
        }
        #expect(try stores.leftovers().isEmpty)
    }

    @Test func aCompressedTransferGoesOnWhereItsConnectionBroke() async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db")
        try await RunningServer.serving(hub) { server in
            let phone = try await stores.join(server.invite(), "phone.db")
            for replica in [hub, phone] { try Self.insert(1000, into: replica) }
            let proxy = CuttingProxy(to: server.port, cuts: [2_000_000, 1_000_000, 3_000_000, 2_500_000])
            let transport = try stores.transport(of: phone, to: server, through: proxy) {
                $0.compression = .always
            }
            let report = try await phone.sync(with: transport)
            #expect(report.pulled?.rowCount == 1000 && report.pushed?.rowCount == 1000)
            #expect(try phone.rows() == hub.rows() && phone.rows().count == 2000)
            #expect(proxy.connectionCount == 5)
            proxy.close()
        }
        #expect(try stores.leftovers().isEmpty)
    }

    @Test func whereNothingIsGainedNothingIsCompressed() throws {
        func isUsed(_ compression: HTTPTransport.Compression, _ host: String) throws -> Bool {
            compression.isUsed(
                with: try ServerAddress(
                    host: host, port: 1, trust: .fingerprint([UInt8](repeating: 0, count: 32))))
        }
        for host in ["127.0.0.1", "localhost", "::1"] { #expect(try !isUsed(.automatic, host)) }
        for host in ["192.168.0.7", "hub.example.org", "fd00::1"] { #expect(try isUsed(.automatic, host)) }
        #expect(try isUsed(.always, "::1") && !isUsed(.never, "hub.example.org"))
    }

    /// A server of an older program names no codec, and ignores the one that it is asked for.
    @Test func aServerThatKnowsNoCodecIsSentPlainChunks() throws {
        let answer = #"{"session":"AA==","label":"phone","readOnly":false}"#
        #expect(try JSONDocument.decode(Message.Session.self, from: Array(answer.utf8)).codecs == nil)
        let hello = #"{"versions":[1]}"#
        #expect(try JSONDocument.decode(Message.PipeHello.self, from: Array(hello.utf8)).codecs == nil)
    }
}
