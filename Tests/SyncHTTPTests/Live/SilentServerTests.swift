import SyncEngine
import Testing

@testable import SyncHTTP

/// A live synchronization whose server answers no more, as after a change of the network.
@Suite(.serialized, .timeLimit(.minutes(10))) struct SilentServerTests {
    /// Runs a live synchronization until its server is silent in the midst of an answer.
    private func untilSilent(
        silenceSeconds: Int64, _ body: @escaping @Sendable (Watching) async throws -> Void
    ) async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db")
        let gate = CuttingProxy.Gate(after: 2_000_000)
        let proxy = CuttingProxy(to: nil, gate: gate)
        defer { proxy.close() }
        try await RunningServer.serving(hub, behind: proxy) { server in
            defer { gate.open() }
            let phone = try await stores.join(try server.invite(), "phone.db")
            try hub.insertLarge(150, byteCount: 60_000)
            let watching = try Watching(phone, silenceSeconds: silenceSeconds)
            try await blocking { gate.waitUntilClosed() }
            try await body(watching)
        }
    }

    @Test func itIsStoppedAtOnce() async throws {
        try await untilSilent(silenceSeconds: PositionStream.silenceSeconds) { watching in
            watching.live.stop()
            try await watching.end()
        }
    }

    @Test func itConnectsAnewWhenTheStreamIsSilentToo() async throws {
        // Longer than the stream takes to come about, and shorter than the server's signs of life take.
        try await untilSilent(silenceSeconds: 3) { watching in
            try await watching.waitForConnection()
            try await watching.wait { if case .disconnected = $0 { true } else { false } }
            watching.live.stop()
            try await watching.end()
        }
    }
}
