import NIOCore
import NIOPosix

@testable import SyncRelay

/// A server on loopback that ends each connection at once, as a proxy does when there is no server behind it; or that says
/// nothing.
final class ClosingServer: Sendable {
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let channel: any Channel
    let address: RelayAddress

    init(isSilent: Bool = false) async throws {
        channel = try await ServerBootstrap(group: group)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { isSilent ? $0.eventLoop.makeSucceededVoidFuture() : $0.close() }
            .bind(host: "127.0.0.1", port: 0).get()
        address = try RelayAddress(
            host: "127.0.0.1", port: channel.localAddress?.port ?? 0,
            fingerprint: [UInt8](repeating: 7, count: 32))
    }

    deinit {
        channel.close(promise: nil)
        group.shutdownGracefully { _ in }
    }
}
