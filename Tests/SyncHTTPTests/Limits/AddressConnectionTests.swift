import NIOCore
import NIOEmbedded
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
}
