import CipherStore
import Foundation
import Hummingbird
import HummingbirdCore
import HummingbirdTLS
import Logging
import NIOCore
import ServiceLifecycle
import SyncEngine
import SyncWire

/// Serves stores to devices over HTTPS.
///
/// ```swift
/// let server = try HubServer([synchronizer], options: .init(host: "0.0.0.0", port: 7443))
/// try await server.run { print("listening on port", $0.port) }
/// ```
///
/// A server is a replica like any other: what devices send is merged into its store. Who may reach it
/// is in the store's ``DeviceRegister``. It listens until its task is cancelled or, when asked for, a signal
/// arrives; requests that are running are finished then.
public struct HubServer: Sendable {
    /// How clients know the server.
    public enum TLS: Sendable {
        /// A certificate of its own, made at the first start and kept in the first store; clients know its
        /// fingerprint from their invitation.
        case selfSigned
        /// A certificate chain and its key in PEM files.
        case files(certificate: String, key: String)
        /// No TLS, on an address of this machine only.
        case plaintextOnLoopback
    }

    /// How a server is run.
    public struct Options: Sendable {
        /// The address to listen on.
        public var host: String
        /// The port; 0 for any that is free.
        public var port: Int
        /// How clients know the server.
        public var tls: TLS
        /// Bounds.
        public var limits: Limits

        /// Makes options.
        public init(
            host: String = "127.0.0.1", port: Int = 7443, tls: TLS = .selfSigned, limits: Limits = Limits()
        ) {
            self.host = host
            self.port = port
            self.tls = tls
            self.limits = limits
        }
    }

    /// Bounds on what others can make a server do.
    public struct Limits: Sendable {
        /// The most connections at a time; others wait.
        public var connectionCountMax = 16_384
        /// The most connections of one address at a time; further ones are closed. Behind a load balancer all devices have
        /// one address: raise it there, up to ``connectionCountMax``. Without TLS, where all come from this machine, there is no such bound.
        public var addressConnectionCountMax = 4_096
        /// The most sessions at a time.
        public var sessionCountMax = 10_000
        /// The most bytes of a bundle in either direction, uncompressed, and of a snapshot.
        public var transferByteCountMax: Int64 = 4 << 30
        /// The most bytes that wait to be fetched by all devices of a store, on the disk beside it. One bundle or snapshot may
        /// always wait.
        public var downloadByteCountMax: Int64 = 16 << 30
        /// The most bytes of a row that a device sends, uncompressed.
        public var rowByteCountMax: Int64 = 64 << 20
        /// The most uploads that wait for their rest at a time.
        public var uploadCountMax = 64
        /// How long the bundle of a device may take to apply, in seconds, while nobody else can write. One that takes
        /// longer is refused, and its device sends less at once. A device without bounds may ask for more time, and gets
        /// it; one with bounds that can't divide a bundle gets it for what its changes do to other rows, and for its own
        /// rows twice as long after each one that was refused, up to 8 times and 16 seconds.
        public var applicationSeconds: Double = 2
        /// How long a connection may be silent, and how long the least progress may take, in seconds.
        public var silenceSeconds: Double = 30
        /// How long the answer to one request may take to send, in seconds.
        public var answerSeconds: Double = 300
        /// Strangers and new sessions per second; ten times as many at once.
        public var admissionsPerSecond: Double = 100
        /// The same of one address, so that nobody takes the place of all. Of IPv6, 64 bits count as one.
        public var addressAdmissionsPerSecond: Double = 20

        /// The most streams of one device at a time: each program that watches has one. The oldest makes room.
        public var deviceStreamCountMax = 4
        /// The most streams of live changes at a time.
        public var streamCountMax = 10_000
        /// How often an idle stream is said to be alive, in seconds. Devices wait 40 seconds for that.
        public var heartbeatSeconds: Double = 15
        /// Requests of one device per second; ten times as many at once.
        public var deviceRequestsPerSecond: Double = 100

        /// Makes the default limits.
        public init() {}
    }

    /// Where a server listens.
    public struct Listening: Sendable {
        /// The port.
        public let port: Int
        /// How clients check its certificate.
        public let trust: ServerAddress.Trust
    }

    let stores: [HubStore]
    private let milliseconds: @Sendable () -> Int64
    private let options: Options
    private let logger: Logger
    private let certificate: ReloadableCertificate?
    private let metrics: ServerMetrics

    /// Prepares a server.
    ///
    /// - parameters:
    ///     - synchronizers: The stores. Pools serve several devices better than queues.
    ///     - options: How it is done.
    ///     - logger: Where requests that failed are logged. No values of rows and no secrets are.
    /// - throws: ``RemoteError`` of code `cannotServe`; `SyncError`, `DatabaseError`.
    public init(_ synchronizers: [Synchronizer], options: Options, logger: Logger? = nil) throws {
        guard let first = synchronizers.first else {
            throw RemoteError(.cannotServe, "there is no store to serve")
        }
        if case .plaintextOnLoopback = options.tls, !ServerAddress.isLoopback(options.host) {
            throw RemoteError(
                .cannotServe,
                "without TLS a server listens on this machine's own address only, such as 127.0.0.1")
        }
        let logger = PrintableLogHandler.logger(
            logger ?? Logger(label: "SyncHTTP") { _ in SwiftLogNoOpLogHandler() })
        let metrics = ServerMetrics()
        self.metrics = metrics
        stores = try synchronizers.map {
            try HubStore($0, limits: options.limits, logger: logger, metrics: metrics)
        }
        guard Set(stores.map(\.store)).count == stores.count else {
            throw RemoteError(
                .cannotServe, "two of the stores are replicas of one database; serve one of them")
        }
        certificate =
            switch options.tls {
            case .selfSigned: try ReloadableCertificate(ServerCertificate.ofStore(first))
            case .files(let chain, let key): try ReloadableCertificate(certificate: chain, key: key)
            case .plaintextOnLoopback: nil
            }
        self.options = options
        self.logger = logger
        milliseconds = first.surroundings.milliseconds
    }

    /// How clients check the certificate.
    public var trust: ServerAddress.Trust {
        guard let certificate = certificate?.current else { return .loopback }
        return certificate.isSelfSigned ? .fingerprint(certificate.fingerprint) : .systemRoots
    }

    /// When the certificate of files is valid; nil for others. Devices refuse it at other times.
    public var certificateValidity: ClosedRange<Date>? { certificate?.current.validity }

    /// Reads the files of the certificate again, as after a renewal: connections from now on get the new one.
    ///
    /// - returns: Whether there are such files.
    /// - throws: ``RemoteError`` of code `cannotServe`, which names the file, when it can't be read, is not valid now, or
    ///   when devices would not know the server any more. The server goes on with the certificate before.
    @discardableResult public func reloadCertificate() throws -> Bool {
        try certificate?.reload(at: Date()) ?? false
    }

    /// Listens and serves. Returns when it was asked to end and what was running is finished.
    ///
    /// - parameters:
    ///     - endsBySignal: Whether SIGTERM and SIGINT end it.
    ///     - onListening: Called once, when devices can connect.
    /// - throws: ``RemoteError`` of code `cannotServe` when the address is taken or not this machine's.
    public func run(
        endsBySignal: Bool = false, onListening: @escaping @Sendable (Listening) -> Void = { _ in }
    ) async throws {
        let addresses = AddressConnections(
            countMax: certificate == nil
                ? options.limits.connectionCountMax : options.limits.addressConnectionCountMax,
            logger: logger, onRefusal: { [metrics] in metrics.count(.connectionsClosed) })
        let http = HTTPServerBuilder.accepting(
            silence: options.limits.silenceSeconds, refused: HubResponder.refusedBodies, addresses)
        let builder =
            try certificate.map { try HTTPServerBuilder.tls(http, tlsConfiguration: $0.configuration()) }
            ?? http
        let trust = trust
        let console = try ConsoleResponder(
            stores, limits: options.limits, isEncrypted: certificate != nil, logger: logger,
            milliseconds: milliseconds)
        let responder = HubResponder(
            stores: stores, fingerprint: fingerprint, limits: options.limits, logger: logger,
            metrics: metrics, console: console, milliseconds: milliseconds)
        let application = Application(
            responder: responder, server: builder,
            configuration: ApplicationConfiguration(
                address: .hostname(options.host, port: options.port), serverName: nil,
                availableConnectionsDelegate: MaximumAvailableConnections(options.limits.connectionCountMax)),
            onServerRunning: { channel in
                onListening(Listening(port: channel.localAddress?.port ?? 0, trust: trust))
            }, logger: logger)
        var configuration = ServiceGroupConfiguration(
            // The last one is ended first: streams that stay open would keep the server from ending.
            services: [application, StreamEnding(feeds: stores.map(\.feed), console: console)],
            gracefulShutdownSignals: endsBySignal ? [.sigterm, .sigint] : [],
            logger: logger)
        configuration.maximumGracefulShutdownDuration = .seconds(60)
        do {
            try await ServiceGroup(configuration: configuration).run()
        } catch let error as SocketAddressError.UnknownHost {
            throw RemoteError(
                .cannotServe, "cannot listen on \(error.host):\(error.port): no such host is known")
        } catch let error as IOError {
            throw RemoteError(
                .cannotServe,
                "cannot listen on \(options.host):\(options.port): \(RemoteConnection.text(of: error))")
        }
    }

    /// Serves on this thread, which it blocks. See ``run(endsBySignal:onListening:)``.
    public func runAndWait(
        endsBySignal: Bool = false, onListening: @escaping @Sendable (Listening) -> Void = { _ in }
    ) throws {
        try Blocking.run {
            try await run(endsBySignal: endsBySignal, onListening: onListening)
        }
    }

    /// What devices sign as the one that they take for the server.
    private var fingerprint: [UInt8] {
        if case .fingerprint(let bytes) = trust { return bytes }
        return []
    }
}

/// Ends the streams when the server ends.
private struct StreamEnding: Service {
    let feeds: [HubFeed]
    let console: ConsoleResponder

    func run() async throws {
        defer {
            for feed in feeds { feed.endAll() }
            console.endAll()
        }
        try await gracefulShutdown()
    }
}
