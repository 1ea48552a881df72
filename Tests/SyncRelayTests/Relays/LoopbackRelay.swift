import Foundation
import SyncHTTP
import Synchronization

@testable import SyncRelay

/// A relay on loopback, which ends with this object.
final class LoopbackRelay: Sendable {
    private let folder: String
    private let storage: SQLiteRelayStorage
    private let task: Task<Void, any Error>
    let address: RelayAddress

    /// Starts a relay, and waits until it listens.
    ///
    /// - parameters:
    ///     - port: The port of one that ran before; 0 for any.
    ///     - file: The storage of one that ran before.
    init(
        _ options: RelayServer.Options = .init(port: 0), storage: SQLiteRelayStorage.Options = .init(),
        file: String? = nil
    ) async throws {
        folder = NSTemporaryDirectory() + "relay-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let storage = try SQLiteRelayStorage(path: file ?? folder + "/relay.db", options: storage)
        self.storage = storage
        let server = try await RelayServer(storage, options: options)
        let (ports, told) = AsyncStream.makeStream(of: RelayServer.Listening.self)
        task = Task.detached {
            defer { told.finish() }
            try await server.run { told.yield($0) }
        }
        var iterator = ports.makeAsyncIterator()
        guard let listening = await iterator.next(), case .fingerprint(let bytes) = listening.trust else {
            try await task.value
            throw RelayError(.failed, "the relay does not listen")
        }
        address = try RelayAddress(host: "127.0.0.1", port: listening.port, fingerprint: bytes)
    }

    deinit {
        task.cancel()
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// The file of its storage.
    var file: String { storage.path }

    /// Ends it, and waits until it has ended.
    func stop() async {
        task.cancel()
        _ = await task.result
        try? storage.close()
    }

    /// A client that waits only a moment between two attempts.
    func client(_ options: RelayClient.Options = .init(), attempts: Int = 3) -> RelayClient {
        var options = options
        options.attemptCountMax = attempts
        return RelayClient(address, options: options)
    }
}

/// Runs what blocks on a thread of its own: the pool's are for what it waits for.
func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread { continuation.resume(with: Result { try body() }) }.start()
    }
}
