import Foundation
import SyncEngine
import SyncWire

/// Reaches a replica that is served over HTTPS.
///
/// ```swift
/// let transport = try RemoteBook(synchronizer).transport()       // the remote "default"
/// let report = try await synchronizer.sync(with: transport)
/// ```
///
/// When the task is cancelled, the request that waits ends, however silent the server is. What the server has applied
/// by then stays there.
public struct HTTPTransport: Transport {
    /// How patient a device is.
    public struct Options: Sendable {
        /// How long a connection may take to come about, in seconds.
        public var connectSeconds: Int64 = 10
        /// How long the server may work on a request, and may be silent in the midst of an answer, in seconds.
        public var patienceSeconds: Int64 = 900
        /// How often a request is repeated that made no progress.
        public var repetitionCountMax = 5
        /// The first pause before a repetition, in seconds; each is twice as long as the one before.
        public var pauseSeconds = 0.2
        /// The longest pause, in seconds.
        public var pauseSecondsMax = 10.0
        /// The most bytes of a transfer.
        public var transferByteCountMax: Int64 = 4 << 30
        /// The most bytes of one request of an upload.
        public var uploadByteCount = 2 << 20
        /// About how many changes go to the server in one bundle, so that others are served between two.
        public var changeCountMax: Int64 = 50_000
        /// A file of certificates in PEM that servers' chains may end in, instead of those of the system; for an
        /// authority of one's own. A certificate that an invitation pins needs none.
        public var trustRootsFile: String?
        /// Whether bundles are compressed on their way.
        public var compression = Compression.automatic
        /// When bundles are applied while they still come.
        var flow = Flow()
        /// Called before each request; an error that it throws cancels.
        public var onRequest: (@Sendable () throws -> Void)?

        /// Makes the default options.
        public init() {}
    }

    /// When bundles are compressed on their way, which takes time on both sides and saves bytes between them.
    ///
    /// Whoever sees how large encrypted bundles are, and can write rows that travel in them, can guess at rows beside
    /// those; where that matters, nothing should be compressed.
    public enum Compression: String, CaseIterable, Sendable {
        /// Unless the server is on this machine, where nothing is gained by it.
        case automatic
        /// Always.
        case always
        /// Never.
        case never

        func isUsed(with address: ServerAddress) -> Bool {
            switch self {
            case .automatic: !ServerAddress.isLoopback(address.host)
            case .always: true
            case .never: false
            }
        }
    }

    /// When a bundle is applied while its end still comes: when so much of it is here and came so fast that the
    /// transaction will hardly have to wait.
    struct Flow {
        /// How many bytes have to be here.
        var byteCount: Int64 = 4 << 20
        /// How many bytes must have come a second.
        var bytesPerSecond = 16.0 * 1024 * 1024
        /// How long the transaction waits for bytes in all, in seconds. Then nothing of it stays, and it
        /// begins anew when everything is here.
        var patienceSeconds = 0.5

        /// The same where bytes are compressed: they hold more than twice as many rows.
        var compressed: Flow {
            var flow = self
            flow.byteCount = byteCount * 2 / 5
            flow.bytesPerSecond = bytesPerSecond * 2 / 5
            return flow
        }
    }

    let remote: Remote
    let store: StoreID
    let key: DeviceKey
    /// Where bytes wait that are to be sent, or were received: encrypted, in files without names.
    let folder: String
    var options: Options

    /// A name for status lines: the address.
    public var name: String { remote.address.url }

    /// Connects, and shows who this device is.
    ///
    /// - throws: ``RemoteError``.
    public func connect(_ environment: SyncEnvironment) throws -> any SyncPeer {
        HTTPPeer(try connection(environment), folder: folder, options: options)
    }

    func connection(_ environment: SyncEnvironment) throws -> RemoteConnection {
        try RemoteConnection(
            remote.address, certificate: remote.certificate, store: store, key: key, options: options,
            environment: environment)
    }
}
