import Logging
import NIOCore
import Synchronization

/// Bounds the connections of each address that are open at a time, so that one of them can't take what is there for all.
package final class AddressConnections: Sendable {
    /// How long a log says nothing more after it said that connections were refused.
    private static let quiet = Duration.seconds(60)

    private struct State {
        var counts: [String: Int] = [:]
        /// How many were refused that the log does not tell yet.
        var untoldCount = 0
        var quietUntil: ContinuousClock.Instant?

        /// Counts one that is refused.
        ///
        /// - returns: How many to tell of now; nil when nothing is said yet.
        mutating func refuse(at now: ContinuousClock.Instant) -> Int? {
            untoldCount += 1
            if let quietUntil, now < quietUntil { return nil }
            quietUntil = now + AddressConnections.quiet
            defer { untoldCount = 0 }
            return untoldCount
        }
    }

    private let countMax: Int
    private let logger: Logger?
    private let now: @Sendable () -> ContinuousClock.Instant
    private let onRefusal: @Sendable () -> Void
    private let state = Mutex(State())

    /// Creates a bound.
    ///
    /// - parameters:
    ///     - countMax: The most connections of one address.
    ///     - logger: Where it is told, at most once a minute, that connections were refused. No address is.
    ///     - onRefusal: Called for each that is refused.
    ///     - now: The time.
    package init(
        countMax: Int, logger: Logger? = nil,
        onRefusal: @escaping @Sendable () -> Void = {},
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.countMax = countMax
        self.logger = logger
        self.now = now
        self.onRefusal = onRefusal
    }

    /// How many connections an address has.
    ///
    /// - parameter address: As ``AddressRates/name(_:)`` has it.
    package func count(of address: String) -> Int { state.withLock { $0.counts[address] ?? 0 } }

    /// Counts a connection.
    ///
    /// - returns: false when there are as many of the address as may be. Then it is not counted.
    func open(_ address: String) -> Bool {
        let isOpen = state.withLock { state in
            let count = state.counts[address] ?? 0
            guard count < countMax else { return false }
            state.counts[address] = count + 1
            return true
        }
        if !isOpen { tellRefusal() }
        return isOpen
    }

    private func tellRefusal() {
        onRefusal()
        let now = now()
        guard let count = state.withLock({ $0.refuse(at: now) }) else { return }
        logger?.warning(
            "connections were closed at once: their address has as many as it may",
            metadata: ["closed": .stringConvertible(count), "most": .stringConvertible(countMax)])
    }

    /// Counts that a connection has ended.
    func close(_ address: String) {
        state.withLock { state in
            let count = (state.counts[address] ?? 0) - 1
            state.counts[address] = count > 0 ? count : nil
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
