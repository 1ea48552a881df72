import HummingbirdCore
import Logging
import NIOCore
import Synchronization

/// A connection that was accepted, and may never be served.
///
/// A server that ends drops the connections that it accepted and did not look at yet, and an `NIOAsyncChannel` that is
/// dropped without a word ends the process (apple/swift-nio, issue 2637). This one closes it instead.
package final class AcceptedConnection: ServerChildChannelValue {
    fileprivate let connection: HTTP1Channel.Value
    private let isServed = Atomic(false)

    fileprivate init(_ connection: HTTP1Channel.Value) {
        self.connection = connection
    }

    deinit {
        guard !isServed.load(ordering: .acquiring) else { return }
        // The task holds the connection until both of its directions are closed.
        Task { [connection] in
            // Nobody waits for this connection, so there is nobody to tell that it was closed already.
            try? await connection.executeThenClose { _, _ in }
        }
    }

    package var channel: any Channel { connection.channel }

    /// The connection, for one who will close it.
    fileprivate func serve() -> HTTP1Channel.Value {
        isServed.store(true, ordering: .releasing)
        return connection
    }
}

/// HTTP 1.1 by connections that a server may drop at any time.
package struct AcceptedConnections: ServerChildChannel {
    private let http: HTTP1Channel

    /// Creates what serves connections.
    ///
    /// - parameters:
    ///     - configuration: How long a connection may be silent, and how requests are read.
    ///     - responder: Answers requests.
    package init(
        configuration: HTTP1Channel.Configuration, responder: @escaping HTTPChannelHandler.Responder
    ) {
        http = HTTP1Channel(responder: responder, configuration: configuration)
    }

    package func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<AcceptedConnection> {
        http.setup(channel: channel, logger: logger).map(AcceptedConnection.init)
    }

    package func handle(value: AcceptedConnection, logger: Logger) async {
        await http.handle(value: value.serve(), logger: logger)
    }
}

extension HTTPServerBuilder {
    /// HTTP 1.1 of a server that may end while devices connect.
    ///
    /// - parameters:
    ///     - silence: How long a connection may say nothing, or read nothing of what it was sent, in seconds.
    ///     - refused: How much is read of bodies that nobody wants.
    ///     - addresses: What bounds the connections of each address.
    package static func accepting(
        silence: Double, refused: RefusedBodyBounds, _ addresses: AddressConnections
    ) -> HTTPServerBuilder {
        let silence = TimeAmount.milliseconds(Int64(silence * 1000))
        return HTTPServerBuilder { responder in
            AcceptedConnections(
                configuration: .init(
                    additionalChannelHandlers: [
                        AddressBound(addresses), UnreadAnswers(silence: silence),
                        SilentRequests(silence: silence), RefusedBodies(refused, silence: silence),
                    ], idleTimeout: silence),
                responder: responder)
        }
    }
}
