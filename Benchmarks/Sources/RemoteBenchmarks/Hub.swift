import Foundation
import SyncEngine
import SyncHTTP

/// A store that is served by a process of its own, with devices.
final class Hub {
    private let folder: WorkFolder
    private let server: ChildProcess
    private let register: DeviceRegister
    private let address: ServerAddress
    let path: String

    init(_ folder: WorkFolder) throws {
        self.folder = folder
        path = folder.file("hub.db")
        try Stores.create(path)
        server = try ChildProcess("serve", [path])
        let serving = try server.next(Role.Serving.self)
        address = try ServerAddress(
            host: "127.0.0.1", port: serving.port, trust: .fingerprint(serving.fingerprint))
        register = try DeviceRegister(Synchronizer(existing: Stores.open(path)))
    }

    /// Makes a device.
    ///
    /// - returns: The path of its store.
    func join(_ name: String) throws -> String {
        let path = folder.file(name + ".db")
        try Synchronizer.join(
            register.invite(label: name, address: address), at: path, passphrase: Stores.secret())
        return path
    }

    /// Ends the server.
    ///
    /// - returns: What it took.
    func end() throws -> Usage {
        try server.end()
        let usage = try server.next(Usage.self)
        server.wait()
        return usage
    }
}

/// Synchronizes a store with its server, in a process of its own.
func exchange(
    _ direction: SyncDirection, _ path: String, _ compression: HTTPTransport.Compression
) throws -> Role.Exchanged {
    let child = try ChildProcess("exchange", [direction.rawValue, path, compression.rawValue])
    let result = try child.next(Role.Exchanged.self)
    child.wait()
    return result
}
