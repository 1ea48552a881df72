import SyncHTTP

extension RelayServer {
    /// How clients know the server.
    public typealias TLS = HubServer.TLS

    /// How a relay is run.
    public struct Options: Sendable {
        /// The address to listen on.
        public var host: String
        /// The port; 0 for any that is free.
        public var port: Int
        /// How clients know the relay. A certificate of its own is kept in the storage.
        public var tls: TLS
        /// What makes channels; nil when anybody may.
        public var admission: RelayToken?
        /// Bounds.
        public var limits: Limits
        /// The version of the program, which the relay's page shows; nil when it shows none.
        public var version: String?
        /// Whether `/`, `/page/…` and `/metrics` are answered to programs on the relay's machine.
        ///
        /// A proxy on the same machine that does not say for whom it asks can't be told from them. Before such a one, turn
        /// this off.
        public var showsPage = true

        /// Makes options.
        ///
        /// - parameters:
        ///     - host: The address to listen on.
        ///     - port: The port; 0 for any that is free.
        ///     - tls: How clients know the relay.
        ///     - admission: What makes channels; nil when anybody may.
        ///     - limits: Bounds.
        public init(
            host: String = "127.0.0.1", port: Int = 7444, tls: TLS = .selfSigned,
            admission: RelayToken? = nil, limits: Limits = Limits()
        ) {
            self.host = host
            self.port = port
            self.tls = tls
            self.admission = admission
            self.limits = limits
        }
    }

    /// Bounds on what others can make a relay do.
    ///
    /// What a channel may have is a bound of the storage.
    public struct Limits: Sendable {
        /// The most connections at a time; others wait.
        public var connectionCountMax = 16_384
        /// The most connections of one address at a time; further ones are closed.
        public var addressConnectionCountMax = 4_096
        /// How long a connection may be silent, and how long the least progress may take, in seconds.
        public var silenceSeconds: Double = 30
        /// How long whoever goes on sending a body that was refused has to read the answer, in seconds. Then the connection ends.
        public var refusalSeconds: Double = 5
        /// Requests of one address a second. Behind a proxy all have one address: raise it there.
        public var requestsPerSecond: Double = 50
        /// How many requests of one address may come at once.
        public var requestBurst: Double = 200
        /// Requests of one address a second that have a wrong token, or ask for an invitation that there isn't.
        public var wrongTokensPerSecond: Double = 5
        /// How many of these may come at once.
        public var wrongTokenBurst: Double = 20
        /// New channels of one address a second. One that is there is asked for as often as anything else.
        public var newChannelsPerSecond: Double = 1
        /// How many of these may come at once.
        public var newChannelBurst: Double = 100
        /// The most bytes of requests in memory, of all together. Others are told to come again.
        public var heldByteCountMax = 128 << 20
        /// The same of one address.
        public var addressHeldByteCountMax = 32 << 20
        /// The most bytes of answers in memory that were not read yet, of all together. Others are told to come again.
        public var heldAnswerByteCountMax = 256 << 20
        /// The same of one address.
        public var addressHeldAnswerByteCountMax = 64 << 20
        /// The most watches at a time. Each has a connection, and some connections are left for other requests.
        public var watchCountMax = 15_000
        /// The most watches of one address at a time.
        public var addressWatchCountMax = 3_750
        /// The most watches of one channel at a time, whatever addresses they come from.
        public var channelWatchCountMax = 3_750
        /// How often a watch is told that the relay is alive, in seconds.
        public var heartbeatSeconds: Double = 20
        /// How long a watch lasts, in seconds.
        public var watchSeconds: Double = 600

        /// Makes the default limits.
        public init() {}

        /// Makes the default limits with other ones for each address.
        ///
        /// Behind a proxy or a load balancer all devices have one address. So what an address may do grows with the number:
        /// requests that come at once, wrong tokens, new channels, connections, watches, and the bytes that its requests and
        /// their answers hold in memory.
        ///
        /// - parameter requestsPerSecond: The most requests of one address a second, from 1 to 1,000,000,000; 50 are the default.
        public init(requestsPerSecond: Double) {
            // NaN is not greater than anything, so it counts as 1.
            let asked = requestsPerSecond >= 1 ? min(requestsPerSecond, 1e9) : 1
            let factor = asked / self.requestsPerSecond
            self.requestsPerSecond *= factor
            requestBurst *= factor
            wrongTokensPerSecond *= max(factor, 1)
            wrongTokenBurst *= max(factor, 1)
            newChannelsPerSecond *= max(factor, 1)
            newChannelBurst *= max(factor, 1)
            // Who allows less does not forbid a large file.
            func scaled(_ count: Int, upTo all: Int) -> Int {
                Int(min(Double(count) * max(factor, 1), Double(all)))
            }
            addressConnectionCountMax = scaled(addressConnectionCountMax, upTo: connectionCountMax)
            addressWatchCountMax = scaled(addressWatchCountMax, upTo: watchCountMax)
            addressHeldByteCountMax = scaled(addressHeldByteCountMax, upTo: heldByteCountMax)
            addressHeldAnswerByteCountMax = scaled(
                addressHeldAnswerByteCountMax, upTo: heldAnswerByteCountMax)
        }
    }

    /// Where a relay listens.
    public struct Listening: Sendable {
        /// The port.
        public let port: Int
        /// How clients check its certificate.
        public let trust: ServerAddress.Trust
    }
}
