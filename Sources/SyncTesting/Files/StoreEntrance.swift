import CipherStore
import SyncEngine

/// Where others reach a store.
///
/// Some of them find a server that goes on running, and whose connection stays open; others open the file, as a
/// program does that is started for one synchronization.
final class StoreEntrance {
    private let path: String
    private let configuration: Configuration
    private var connection: DatabaseQueue?
    private var count = 0

    /// - parameter path: The file.
    init(path: String, configuration: Configuration) {
        self.path = path
        self.configuration = configuration
    }

    /// The way in: every third time, the file is opened for it.
    func transport() throws -> StoreTransport {
        count += 1
        if count % 3 == 0 { return StoreTransport(path: path, configuration: configuration) }
        let queue = try connection ?? DatabaseQueue(path: path, configuration: configuration)
        connection = queue
        return StoreTransport(open: queue, name: path)
    }

    /// Ends the server, before its file is replaced.
    func close() throws {
        try connection?.close()
        connection = nil
    }
}
