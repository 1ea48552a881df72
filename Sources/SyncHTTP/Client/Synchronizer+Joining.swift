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
    ///     - invite: The invitation. It is used up when the new store is made. A failure before gives it back, so that
    ///       this can be repeated; a process that was killed can't, and the server lets another try in ten minutes later.
    ///     - path: Where the new store goes; no file may be there.
    ///     - passphrase: The passphrase of the new store.
    /// - throws: ``RemoteError``; ``StoreError``, ``DatabaseError``. No file is left at `path` then.
    public static func join(
        _ invite: InviteLink, at path: String, passphrase: borrowing Passphrase,
        options: HTTPTransport.Options = HTTPTransport.Options(), environment: SyncEnvironment = .system,
        progress: StoreProgressHandler? = nil, onBytes: SyncProgressHandler? = nil
    ) throws {
        try FileReplacement.requireFree(path)
        let key = DeviceKey()
        let enrolment = try Enrolment(invite, key: key, options: options, environment: environment)
        defer { enrolment.connection.close() }
        do {
            try begin(
                enrolment, key, at: path, passphrase: passphrase, options: options, environment: environment,
                progress: progress, onBytes: onBytes)
        } catch {
            enrolment.release(after: error)
            throw error
        }
    }

    /// Makes the new store of an enrolment.
    private static func begin(
        _ enrolment: Enrolment, _ key: DeviceKey, at path: String, passphrase: borrowing Passphrase,
        options: HTTPTransport.Options, environment: SyncEnvironment,
        progress: StoreProgressHandler?, onBytes: SyncProgressHandler?
    ) throws {
        let remote = try enrolment.run(name: RemoteBook.defaultName)
        let isWhole = remote.terms.scope == nil
        if isWhole {
            let snapshot =
                path + ".snapshot-" + ByteText.hex(withUnsafeBytes(of: environment.random()) { Array($0) })
            let identityPath = snapshot + ".key"
            defer { for name in [snapshot, identityPath] { unlink(name) } }
            let identity = try ArchiveIdentity.make(file: identityPath)
            try enrolment.fetchSnapshot(to: snapshot, identity.recipient.description, options, onBytes)
            try restore(
                archive: snapshot, to: path, opening: ArchiveSecret(identity), passphrase: passphrase,
                environment: environment, progress: progress)
        }
        do {
            var configuration = Configuration()
            configuration.encryption = .required
            configuration.requiresExistingFile = isWhole
            configuration.usePassphrase(passphrase)
            let definitions = isWhole ? nil : try enrolment.definitions()
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            let synchronizer: Synchronizer
            if let definitions {
                synchronizer = try Synchronizer(
                    newReplicaOf: enrolment.invite.store, queue, tables: definitions, environment: environment
                )
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
