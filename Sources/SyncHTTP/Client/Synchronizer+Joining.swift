import CipherStore
import Foundation
import SyncEngine
import SyncWire

extension Synchronizer {
    /// Makes a replica of a database that a server invites to: enrols a new device key, fetches a snapshot,
    /// and remembers the server as the remote `default`. What came after the snapshot comes with the
    /// first synchronization. A device that may exchange some tables or rows only begins with its tables, without
    /// rows: all of them come with the first synchronization.
    ///
    /// - parameters:
    ///     - invite: The invitation. It is used up when the new store is made, so a failure can be repeated
    ///       until then.
    ///     - path: Where the new store goes; no file may be there.
    ///     - passphrase: The passphrase of the new store.
    /// - throws: ``RemoteError``; ``StoreError``, ``DatabaseError``. No file is left at `path` then.
    public static func join(
        _ invite: InviteLink, at path: String, passphrase: borrowing Passphrase,
        options: HTTPTransport.Options = HTTPTransport.Options(), environment: SyncEnvironment = .system,
        progress: StoreProgressHandler? = nil, onBytes: SyncProgressHandler? = nil
    ) throws {
        guard !FileManager.default.fileExists(atPath: path) else {
            throw StoreError(.exists, "there is a file already", path: path)
        }
        let key = DeviceKey()
        let enrolment = try Enrolment(invite, key: key, options: options, environment: environment)
        defer { enrolment.connection.close() }
        let remote = try enrolment.run(name: RemoteBook.defaultName)
        let isWhole = remote.terms.scope == nil
        let secret = passphrase.copy()
        if isWhole {
            let snapshot =
                path + ".snapshot-" + ByteText.hex(withUnsafeBytes(of: environment.random()) { Array($0) })
            let identityPath = snapshot + ".key"
            defer { for name in [snapshot, identityPath] { unlink(name) } }
            let identity = try ArchiveIdentity.make(file: identityPath)
            try enrolment.fetchSnapshot(to: snapshot, identity.recipient.description, options, onBytes)
            try restore(
                archive: snapshot, to: path, opening: ArchiveSecret(identity), passphrase: secret,
                environment: environment, progress: progress)
        }
        do {
            var configuration = Configuration()
            configuration.encryption = .required
            configuration.requiresExistingFile = isWhole
            let held = HeldPassphrase(secret)
            configuration.prepareDatabase { try $0.usePassphrase(held.copy()) }
            let definitions = isWhole ? nil : try enrolment.definitions()
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            let synchronizer: Synchronizer
            if let definitions {
                synchronizer = try Synchronizer(
                    newReplicaOf: invite.store, queue, tables: definitions, environment: environment)
            } else {
                synchronizer = try Synchronizer(existing: queue, environment: environment)
            }
            let book = try RemoteBook(synchronizer)
            try book.save(remote, key: key)
            try enrolment.adopt(remote, in: book)
            enrolment.confirm(synchronizer)
            try queue.close()
        } catch {
            for suffix in ["", "-wal", "-shm", "-journal"] { unlink(path + suffix) }
            throw error
        }
    }

    /// Enrols this store, which is a replica already, with a server, and remembers that.
    ///
    /// - parameters:
    ///     - invite: The invitation. It is used up.
    ///     - name: The name of the remote; one of the same name is replaced.
    /// - throws: ``RemoteError``; ``SyncError`` of code `otherStore` or `sameReplica` before the invitation is used, and
    ///   `noSuchTable` or `unsuitableScope` when the invitation is for tables or rows that can't be chosen here.
    @discardableResult
    public func enrol(
        _ invite: InviteLink, as name: String = RemoteBook.defaultName,
        options: HTTPTransport.Options = HTTPTransport.Options()
    ) throws -> Remote {
        guard try identity().store == invite.store else {
            throw SyncError(.otherStore, "the invitation is to another database")
        }
        let book = try RemoteBook(self)
        try refuseOwn(invite)
        let enrolment = try Enrolment(
            invite, key: book.deviceKey(), options: options, environment: surroundings)
        defer { enrolment.connection.close() }
        let remote = try enrolment.run(name: name)
        try enrolment.adopt(remote, in: book)
        enrolment.confirm(self)
        return remote
    }

    /// A server that enrols with itself would use the invitation up, and then take its own store for a copy.
    private func refuseOwn(_ invite: InviteLink) throws {
        let hash = Data(DeviceRegister.hash(invite.secret))
        let isOwn = try writer.read { db in
            try Bool.fetchOne(
                db, sql: "SELECT EXISTS(SELECT 1 FROM main._sync_invite WHERE hash = ?)", arguments: [hash])
        }
        guard isOwn != true else {
            throw SyncError(.sameReplica, "the invitation is this store's own: it is for other devices")
        }
    }
}

/// The use of an invitation.
private struct Enrolment {
    let invite: InviteLink
    let connection: RemoteConnection
    private let certificate: [UInt8]?

    init(
        _ invite: InviteLink, key: DeviceKey, options: HTTPTransport.Options, environment: SyncEnvironment
    ) throws {
        self.invite = invite
        if case .fingerprint(let fingerprint) = invite.address.trust {
            certificate = try CertificateProbe.certificate(of: invite.address, fingerprint: fingerprint)
        } else {
            certificate = nil
        }
        connection = try RemoteConnection(
            invite.address, certificate: certificate, store: invite.store, key: key, options: options,
            environment: environment)
    }

    /// Enrols the device. A try whose answer was lost is repeated: the invitation knows its device.
    ///
    /// - returns: The server, with what it exchanges with the device.
    func run(name: String) throws -> Remote {
        var attempts = 0
        while true {
            do {
                let answer = try connection.enrol(secret: invite.secret)
                return Remote(
                    name: name, address: invite.address, certificate: certificate,
                    terms: DeviceTerms(scope: answer.scope, isReadOnly: answer.readOnly))
            } catch let error as RemoteError
                where [.unreachable, .busy, .sessionEnded].contains(error.code)
                && attempts < connection.options.repetitionCountMax
            {
                attempts += 1
                connection.pause(attempts)
            }
        }
    }

    /// Chooses what the server exchanges with the device, and remembers the server.
    func adopt(_ remote: Remote, in book: RemoteBook) throws {
        var former = remote
        former.terms = DeviceTerms(isReadOnly: !remote.isReadOnly)
        try ScopeAdoption(book: book, remote: former).adopt(remote.terms) { try definitions() }
    }

    /// Says which replica the device is, which uses the invitation up. If it fails, the first synchronization
    /// does that.
    func confirm(_ synchronizer: Synchronizer) {
        let folder = URL(fileURLWithPath: synchronizer.writer.path).deletingLastPathComponent().path
        let peer = HTTPPeer(connection, folder: folder, options: connection.options)
        _ = try? peer.meet(synchronizer.localPeer.greet())
    }

    /// How the tables are made that the device may exchange.
    func definitions() throws -> [SharedTable] {
        let answer = try connection.send(.init(method: "GET", path: connection.base + "/definitions"))
        return try JSONDocument.decode(Message.Definitions.self, from: answer).tables
    }

    func fetchSnapshot(
        to path: String, _ recipient: String, _ options: HTTPTransport.Options,
        _ progress: SyncProgressHandler?
    ) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw StoreError(.cannotWrite, "cannot write: \(String(cString: strerror(errno)))", path: path)
        }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        defer { try? file.close() }
        let transfer = RemoteDownload(connection, options)
        let download = try transfer.begin(
            "/snapshots", try JSONDocument.encode(Message.SnapshotRequest(recipient: recipient)))
        try transfer.fetch(download) { piece, completed in
            do {
                try file.write(contentsOf: piece)
            } catch {
                throw StoreError(.cannotWrite, "cannot write: \(error.localizedDescription)", path: path)
            }
            try progress?(completed, download.byteCount)
        }
    }
}

/// A passphrase that a closure can hold.
private final class HeldPassphrase: Sendable {
    private let passphrase: Passphrase

    init(_ passphrase: borrowing Passphrase) { self.passphrase = passphrase.copy() }

    func copy() -> Passphrase { passphrase.copy() }
}
