import HTTPTypes
import Hummingbird
import NIOCore
import SyncEngine
import SyncWire
import Testing

@testable import SyncHTTP

/// Uploads whose rest never comes.
@Suite(.serialized) struct UnfinishedUploadTests {
    /// The header of a bundle that brings one change.
    private func header(_ store: StoreID, by replica: ReplicaID) throws -> [UInt8] {
        let header = BundleHeader(
            store: store, sender: replica, base: VersionVector(), target: VersionVector([replica: 1]),
            replicas: [replica], tables: [], facts: ReplicaFacts())
        var frames: [[UInt8]] = []
        var writer = try BundleWriter(header: header) { frames.append(Array($0)) }
        try writer.finish()
        return try #require(frames.first)
    }

    /// What a device began under an identity that it has no more can't be finished, and would take the place of others'.
    @Test func aDeviceHasOneHoweverOftenItTakesAnotherIdentity() async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db", rows: 3)
        try await RunningServer.serving(hub, tls: .plaintextOnLoopback) { server in
            let store = try hub.identity().store
            let attacker = try await Attacker(server)
            for index in 1...6 as ClosedRange<UInt64> {
                let replica = ReplicaID(high: 77, low: index)
                let greeting = Greeting(
                    store: store, replica: replica, vector: VersionVector(), ownSequence: 0)
                let (met, _) = try await attacker.send(index * 2, "POST", "/greeting", greeting.encode())
                let (begun, problem) = try await attacker.send(
                    index * 2 + 1, "POST", "/uploads", try header(store, by: replica))
                #expect(met == 200 && begun == 200, "\(problem?.detail ?? "")")
            }
            let senders = try await hub.writer.read {
                try String.fetchAll($0, sql: "SELECT hex(sender) FROM _sync_inbox")
            }
            #expect(senders.count == 1 && senders.first?.hasSuffix("06") == true)
        }
    }

    /// A client that goes is nothing that an administrator has to look into.
    @Test func aBodyThatEndsEarlyIsAMalformedRequest() async throws {
        let stream = AsyncThrowingStream<ByteBuffer, any Error> { continuation in
            continuation.yield(ByteBuffer(string: "half"))
            continuation.finish(throwing: ChannelError.ioOnClosedChannel)
        }
        let head = HTTPRequest(method: .post, scheme: "http", authority: "127.0.0.1", path: "/")
        let request = Request(head: head, body: RequestBody(asyncSequence: stream))
        do {
            _ = try await RequestReading(HubServer.Limits()).body(of: request, upTo: 100)
            Issue.record("half a body was taken for all of it")
        } catch let error as RemoteError {
            #expect(error.code == .malformed)
        }
    }
}
