import Logging
import NIOCore
import NIOEmbedded
import Synchronization
import Testing

@testable import SyncHTTP

/// Connections of which one address may have some.
@Suite struct AddressConnectionTests {
    private let connections = AddressConnections(countMax: 2)

    /// A connection from an address; its channel is not active when there were too many.
    private func connect(_ address: String) throws -> EmbeddedChannel {
        let channel = EmbeddedChannel()
        channel.remoteAddress = try SocketAddress(ipAddress: address, port: 1)
        try channel.pipeline.syncOperations.addHandler(AddressBound(connections))
        // One that is refused is closed in the midst of this.
        channel.connect(to: try SocketAddress(ipAddress: address, port: 1), promise: nil)
        channel.embeddedEventLoop.run()
        return channel
    }

    @Test func furtherConnectionsOfAnAddressAreClosed() throws {
        let first = [try connect("192.0.2.1"), try connect("192.0.2.1")]
        #expect(first[0].isActive && first[1].isActive)
        let third = try connect("192.0.2.1")
        #expect(!third.isActive)
        // Others are in nobody's way.
        let other = try connect("192.0.2.2")
        #expect(other.isActive && first[0].isActive && first[1].isActive)
        #expect(connections.count(of: AddressRates.name(first[0].remoteAddress)) == 2)
    }

    @Test func aConnectionThatEndsMakesRoom() throws {
        let first = [try connect("192.0.2.1"), try connect("192.0.2.1")]
        try first[0].close().wait()
        let next = try connect("192.0.2.1")
        #expect(next.isActive && first[1].isActive)
        let third = try connect("192.0.2.1")
        #expect(!third.isActive)
    }

    @Test func a64BitPrefixOfIPv6IsOneAddress() throws {
        let first = [try connect("2001:db8::1"), try connect("2001:db8::2")]
        let third = try connect("2001:db8::3")
        let other = try connect("2001:db8:0:1::1")
        #expect(!third.isActive && other.isActive)
        withExtendedLifetime(first) {}
    }
    @Test func refusalsAreCountedAndToldOnceAMinute() {
        let lines = LogLines()
        let now = Mutex(ContinuousClock.now)
        let count = Mutex(0)
        let refusalCount: () -> Int = { count.withLock { $0 } }
        let bound = AddressConnections(
            countMax: 1, logger: Logger(label: "test", factory: { _ in lines }),
            onRefusal: { count.withLock { $0 += 1 } }, now: { now.withLock { $0 } })
        let isFirstOpen = bound.open("4 192.0.2.1")
        #expect(isFirstOpen && refusalCount() == 0)
        for _ in 0..<3 { _ = bound.open("4 192.0.2.1") }
        now.withLock { $0 += .seconds(61) }
        _ = bound.open("4 192.0.2.1")
        #expect(refusalCount() == 4)
        let told = lines.lines.withLock { $0 }
        #expect(told.count == 2)
        #expect(told.first?.contains(#""closed": 1"#) == true)
        #expect(told.last?.contains(#""closed": 3"#) == true)
        // Whoever reads the log learns nothing of who it was.
        #expect(!told.contains { $0.contains("192.0.2.1") })
    }
}
