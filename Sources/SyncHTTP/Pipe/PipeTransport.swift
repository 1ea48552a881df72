import Foundation
import SyncEngine
import SyncWire

/// Reaches a replica that another process serves over a pipe (``PipeServer``).
///
/// A cancelled synchronization ends when the answer for which it waits has come: the other process could not get rid of
/// the rest of it otherwise.
public struct PipeTransport: Transport {
    /// The two ends of a pipe, and what ends it.
    public struct Pipe: Sendable {
        let input: Int32
        let output: Int32
        let close: @Sendable () -> Void

        /// Makes a pipe of descriptors.
        ///
        /// - parameters:
        ///     - input: Where answers come from.
        ///     - output: Where requests go.
        ///     - close: Called once, at the end: closes the descriptors, and waits for the other process.
        public init(input: Int32, output: Int32, close: @escaping @Sendable () -> Void) {
            self.input = input
            self.output = output
            self.close = close
        }
    }

    /// A name for status lines.
    public let name: String
    private let folder: String
    private let isCompressed: Bool
    private let open: @Sendable () throws -> Pipe

    /// Makes a transport.
    ///
    /// - parameters:
    ///     - name: A name for status lines, without secrets.
    ///     - folder: Where bytes wait that came and are not applied yet: encrypted, in files without names.
    ///     - isCompressed: Whether bundles are compressed on their way: worth it where a network is in between.
    ///     - open: Starts what serves the replica. The process has to ignore SIGPIPE.
    public init(
        name: String, folder: String, isCompressed: Bool = true, open: @escaping @Sendable () throws -> Pipe
    ) {
        self.name = name
        self.folder = folder
        self.isCompressed = isCompressed
        self.open = open
    }

    /// Starts the other process and asks which version it speaks.
    ///
    /// - throws: ``RemoteError``.
    public func connect(_ environment: SyncEnvironment) throws -> any SyncPeer {
        let peer = PipePeer(
            name, try open(), folder: folder, isCompressed: isCompressed, environment.cancellation)
        do {
            try peer.hello()
        } catch {
            peer.close()
            throw error
        }
        return peer
    }
}
