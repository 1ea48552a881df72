import NIOCore
import Synchronization

/// Bounds the connections of each address that are open at a time, so that one of them can't take what is there for all.
package final class AddressConnections: Sendable {
    private let countMax: Int
    private let counts = Mutex<[String: Int]>([:])

    /// Creates a bound.
    ///
    /// - parameter countMax: The most connections of one address.
    package init(countMax: Int) { self.countMax = countMax }

    /// How many connections an address has.
    ///
    /// - parameter address: As ``AddressRates/name(_:)`` has it.
    package func count(of address: String) -> Int { counts.withLock { $0[address] ?? 0 } }

    /// Counts a connection.
    ///
    /// - returns: false when there are as many of the address as may be. Then it is not counted.
    func open(_ address: String) -> Bool {
        counts.withLock { counts in
            let count = counts[address] ?? 0
            guard count < countMax else { return false }
            counts[address] = count + 1
            return true
        }
    }

    /// Counts that a connection has ended.
    func close(_ address: String) {
        counts.withLock { counts in
            let count = (counts[address] ?? 0) - 1
            counts[address] = count > 0 ? count : nil
        }
    }
}

/// Ends a connection at once when its address has as many as it may have.
///
/// It comes before anything is read, so that whoever connects without end costs neither a handshake nor memory.
final class AddressBound: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny

    private let connections: AddressConnections
    /// Whose connection is counted; nil when it is not.
    private var counted: String?

    init(_ connections: AddressConnections) { self.connections = connections }

    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { count(context) }
    }

    func channelActive(context: ChannelHandlerContext) {
        // Those after this one have to know of a connection before they hear of its end.
        context.fireChannelActive()
        count(context)
    }

    func channelInactive(context: ChannelHandlerContext) {
        forget()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { forget() }

    private func count(_ context: ChannelHandlerContext) {
        guard counted == nil else { return }
        let address = AddressRates.name(context.channel.remoteAddress)
        if connections.open(address) {
            counted = address
        } else {
            context.close(promise: nil)
        }
    }

    private func forget() {
        if let address = counted { connections.close(address) }
        counted = nil
    }
}
