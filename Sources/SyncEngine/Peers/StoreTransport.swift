import CipherStore
import SyncWire

/// Reaches a replica that is another file on this machine, or on a mounted one.
public struct StoreTransport: Transport {
    private let connection: @Sendable () throws -> DatabaseQueue
    private let closes: Bool

    /// Makes a transport to a file.
    ///
    /// - parameters:
    ///     - path: The file.
    ///     - configuration: Opens the file with its own key.
    ///     - name: What the remote is called in the status and in the choice of its tables; nil for the path.
    public init(path: String, configuration: Configuration, name: String? = nil) {
        var configuration = configuration
        configuration.requiresExistingFile = true
        configuration.encryption = .required
        connection = { [configuration] in try DatabaseQueue(path: path, configuration: configuration) }
        closes = true
        self.name = name ?? path
    }

    /// Makes a transport to a file that is open, and stays so.
    package init(open queue: DatabaseQueue, name: String) {
        connection = { queue }
        closes = false
        self.name = name
    }

    /// What the remote is called: the path, unless something else was said.
    public let name: String

    /// Opens the file.
    public func connect(_ environment: SyncEnvironment) throws -> any SyncPeer {
        StorePeer(try connection(), environment, closes: closes)
    }
}
