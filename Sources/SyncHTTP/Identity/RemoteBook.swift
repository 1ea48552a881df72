import CipherStore
import Foundation
import NIOSSL
import SyncEngine
import SyncWire

/// A server that a store synchronizes with.
public struct Remote: Equatable, Sendable {
    /// The name that commands use; `default` is meant when none is given.
    public let name: String
    /// Where it is.
    public let address: ServerAddress
    /// Whether it takes no changes from this store.
    public var isReadOnly: Bool { terms.isReadOnly }
    /// The certificate that was pinned, in DER.
    let certificate: [UInt8]?
    /// What it said last of this store as its device.
    var terms = DeviceTerms(isReadOnly: false)
}

/// The servers that a store knows. They are in the store itself.
public struct RemoteBook: Sendable {
    /// The name of the remote that is meant when none is given.
    public static let defaultName = "default"

    let synchronizer: Synchronizer

    /// Makes the book of a store.
    public init(_ synchronizer: Synchronizer) throws {
        self.synchronizer = synchronizer
        try synchronizer.upgradeMetadata()
    }

    /// The remotes, by name.
    public func remotes() throws -> [Remote] {
        try synchronizer.writer.read { db in
            // A store of an older program that can't be written.
            guard try db.tableExists("_sync_remote", in: "main") else { return [] }
            return try Row.fetchAll(
                db,
                sql: """
                    SELECT name, host, port, trust, certificate, readonly, scope FROM _sync_remote ORDER BY name
                    """
            ).map(Self.remote)
        }
    }

    /// A remote by its name.
    ///
    /// - throws: ``RemoteError`` of code `noSuchRemote`.
    public func remote(_ name: String = defaultName) throws -> Remote {
        let remotes = try remotes()
        guard let remote = remotes.first(where: { $0.name == name }) else {
            throw RemoteError(
                .noSuchRemote, "the store knows no remote \(name.debugDescription)")
        }
        return remote
    }

    /// The transport to a remote.
    ///
    /// - throws: ``RemoteError`` of code `noSuchRemote`.
    public func transport(
        _ name: String = defaultName, options: HTTPTransport.Options = HTTPTransport.Options()
    ) throws -> HTTPTransport {
        let remote = try remote(name)
        let (store, key) = try (synchronizer.identity().store, deviceKey())
        let folder = URL(fileURLWithPath: synchronizer.writer.path).deletingLastPathComponent().path
        return HTTPTransport(remote: remote, store: store, key: key, folder: folder, options: options)
    }

    /// Remembers a remote. One of the same name is replaced.
    func save(_ remote: Remote, key: DeviceKey? = nil) throws {
        let (trust, certificate): (Int, Data?) =
            switch remote.address.trust {
            case .fingerprint: (0, remote.certificate.map { Data($0) })
            case .systemRoots: (1, nil)
            case .loopback: (2, nil)
            }
        let scope = try remote.terms.scope.map {
            String(decoding: try JSONDocument.encode($0), as: UTF8.self)
        }
        try synchronizer.writer.write { db in
            try key?.save(db)
            try db.execute(
                sql: """
                    INSERT OR REPLACE INTO _sync_remote (name, host, port, trust, certificate, readonly, scope)
                    VALUES (?, ?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    remote.name, remote.address.host, remote.address.port, trust, certificate,
                    remote.isReadOnly, scope,
                ])
        }
    }

    /// Forgets a remote.
    ///
    /// - throws: ``RemoteError`` of code `noSuchRemote`.
    public func remove(_ name: String) throws {
        _ = try remote(name)
        try synchronizer.writer.write { db in
            try db.execute(sql: "DELETE FROM _sync_remote WHERE name = ?", arguments: [name])
        }
    }

    /// The device key of the store, which is made if there is none.
    func deviceKey() throws -> DeviceKey {
        try synchronizer.writer.write { db in
            if let key = try DeviceKey.load(db) { return key }
            let key = DeviceKey()
            try key.save(db)
            return key
        }
    }

    private static func remote(_ row: Row) throws -> Remote {
        let certificate = try row.decodeIfPresent(Data.self, atIndex: 4).map { Array($0) }
        let trust: ServerAddress.Trust =
            switch try row.decode(Int.self, atIndex: 3) {
            case 0: .fingerprint(ServerCertificate.fingerprint(certificate ?? []))
            case 2: .loopback
            default: .systemRoots
            }
        return Remote(
            name: try row.decode(atIndex: 0),
            address: try ServerAddress(
                host: row.decode(atIndex: 1), port: row.decode(atIndex: 2), trust: trust),
            certificate: certificate,
            terms: DeviceTerms(
                scope: try row.decodeIfPresent(String.self, atIndex: 6).flatMap {
                    // One that can't be read is as none: what the server says next is adopted.
                    try? JSONDocument.decode(Message.Scope.self, from: Array($0.utf8))
                }, isReadOnly: try row.decode(atIndex: 5)))
    }
}
