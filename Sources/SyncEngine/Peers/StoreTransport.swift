import CipherStore
import SyncWire

/// Reaches a replica that is another file on this machine, or on a mounted one.
public struct StoreTransport: Transport {
    private let path: String
    private let configuration: Configuration

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
        self.path = path
        self.configuration = configuration
        self.name = name ?? path
    }

    /// What the remote is called: the path, unless something else was said.
    public let name: String

    /// Opens the file.
    public func connect(_ environment: SyncEnvironment) throws -> any SyncPeer {
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        return StorePeer(queue, environment, closes: true)
    }
}
