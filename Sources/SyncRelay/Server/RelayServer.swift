import Foundation
import Hummingbird
import HummingbirdCore
import HummingbirdTLS
import Logging
import NIOCore
import ServiceLifecycle
import SyncHTTP

/// Serves the channels of a storage over HTTPS.
///
/// ```swift
/// let storage = try SQLiteRelayStorage(path: "relay.db")
/// let relay = try await RelayServer(storage, options: .init(host: "0.0.0.0"))
/// try await relay.run { print("listening on port", $0.port) }
/// ```
///
/// A relay can't read what it keeps, and knows nobody: who has a channel's token may use it. It listens until its task is
/// cancelled or, when asked for, a signal arrives; requests that are running are finished then, and watches end.
public struct RelayServer: Sendable {
    private let storage: any RelayStorage
    private let options: Options
    private let logger: Logger
    private let certificate: ReloadableCertificate?

    /// Prepares a relay.
    ///
    /// - parameters:
    ///     - storage: Where the channels are. It stays open when the relay ends.
    ///     - options: How it is done.
    ///     - logger: Where requests that failed are logged. No tokens are, and nothing that tells channels, files or
    ///       clients apart.
    /// - throws: `RemoteError` of code `cannotServe`; ``RelayProblem`` when the storage can't be used.
    public init(
        _ storage: any RelayStorage, options: Options = Options(), logger: Logger? = nil
    ) async throws {
        if case .plaintextOnLoopback = options.tls, !ServerAddress.isLoopback(options.host) {
            throw RemoteError(
                .cannotServe,
                "without TLS a relay listens on this machine's own address only, such as 127.0.0.1")
        }
        certificate =
            switch options.tls {
            case .selfSigned: try ReloadableCertificate(await RelayCertificate.kept(in: storage))
            case .files(let chain, let key): try ReloadableCertificate(certificate: chain, key: key)
            case .plaintextOnLoopback: nil
            }
        self.storage = storage
        self.options = options
        self.logger = PrintableLogHandler.logger(
            logger ?? Logger(label: "SyncRelay") { _ in SwiftLogNoOpLogHandler() })
    }

    /// Prepares a relay on this thread, which it blocks. See ``init(_:options:logger:)``.
    public static func prepare(
        _ storage: any RelayStorage, options: Options = Options(), logger: Logger? = nil
    ) throws -> RelayServer {
        try Blocking.run { try await RelayServer(storage, options: options, logger: logger) }
    }

    /// How clients check the certificate.
    public var trust: ServerAddress.Trust {
        guard let certificate = certificate?.current else { return .loopback }
        return certificate.isSelfSigned ? .fingerprint(certificate.fingerprint) : .systemRoots
    }

    /// When the certificate of files is valid; nil for others. Clients refuse it at other times.
    public var certificateValidity: ClosedRange<Date>? { certificate?.current.validity }

    /// Reads the files of the certificate again, as after a renewal: connections from now on get the new one.
    ///
    /// - returns: Whether there are such files.
    /// - throws: `RemoteError` of code `cannotServe`, which names the file, when it can't be read, is not valid now, or when
    ///   clients would not know the relay any more. The relay goes on with the certificate before.
    @discardableResult public func reloadCertificate() throws -> Bool {
        try certificate?.reload(at: Date()) ?? false
    }

    /// Listens and serves. Returns when it was asked to end and what was running is finished.
    ///
    /// - parameters:
    ///     - endsBySignal: Whether SIGTERM and SIGINT end it.
    ///     - onListening: Called once, when clients can connect.
    /// - throws: `RemoteError` of code `cannotServe` when the address is taken or not this machine's.
    public func run(
        endsBySignal: Bool = false, onListening: @escaping @Sendable (Listening) -> Void = { _ in }
    ) async throws {
        let watches = RelayWatches(limits: options.limits)
        let connections = RelayConnections(countMax: options.limits.connectionCountMax)
        let responder = RelayResponder(
            storage: storage, options: options, watches: watches, connections: connections,
            certificate: certificate, logger: logger)
        var configuration = ServiceGroupConfiguration(
            // The last one is ended first: watches that stay open would keep the relay from ending.
            services: [
                try application(responder, connections, onListening),
                RelayClock(storage: storage, watches: watches),
            ],
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

    private func application(
        _ responder: RelayResponder, _ connections: RelayConnections,
        _ onListening: @escaping @Sendable (Listening) -> Void
    ) throws -> some Service {
        let limits = options.limits
        let metrics = responder.metrics
        let addresses = AddressConnections(
            countMax: limits.addressConnectionCountMax, logger: logger,
            onRefusal: { metrics.count(.connectionsClosed) })
        let http = HTTPServerBuilder.accepting(
            silence: limits.silenceSeconds,
            refused: RefusedBodyBounds(
                keptByteCountMax: RelayResponder.unreadByteCountMax, seconds: limits.refusalSeconds),
            addresses)
        let builder =
            try certificate.map { try HTTPServerBuilder.tls(http, tlsConfiguration: $0.configuration()) }
            ?? http
        let trust = trust
        return Application(
            responder: responder, server: builder,
            configuration: ApplicationConfiguration(
                address: .hostname(options.host, port: options.port), serverName: nil,
                availableConnectionsDelegate: connections),
            onServerRunning: { channel in
                onListening(Listening(port: channel.localAddress?.port ?? 0, trust: trust))
            }, logger: logger)
    }
}
