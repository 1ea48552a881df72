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
        let greeting: Greeting?
        if remote.terms.scope == nil {
            try restoreSnapshot(
                enrolment, to: path, passphrase: passphrase, options: options, environment: environment,
                progress: progress, onBytes: onBytes)
            do {
                greeting = try settle(
                    enrolment, remote, key, at: path, passphrase: passphrase, environment: environment)
            } catch {
                // The restored store took its name where no file was.
                for suffix in ["", "-wal", "-shm", "-journal"] { unlink(path + suffix) }
                throw error
            }
        } else {
            let definitions = try enrolment.definitions()
            // Somebody may have made a store at the path while the server was asked. That one stays.
            let file = try FileReplacement(destination: path, purpose: "join")
            do {
                greeting = try settle(
                    enrolment, remote, key, at: file.temporary, passphrase: passphrase,
                    definitions: definitions, environment: environment)
                try FileReplacement.requireFree(path)
                try file.moveIntoPlace()
            } catch {
                file.discard()
                throw error
            }
        }
        // It uses the invitation up, so the store has its name before.
        if let greeting { enrolment.confirm(greeting, storeAt: path) }
    }

    /// Makes the new store of a snapshot that the server makes for it.
    ///
    /// The snapshot waits beside the store, and what opens it is in memory alone. What a process leaves that is killed
    /// meanwhile is opened by nobody, and removed by the next one that makes the store.
    private static func restoreSnapshot(
        _ enrolment: Enrolment, to path: String, passphrase: borrowing Passphrase,
        options: HTTPTransport.Options, environment: SyncEnvironment,
        progress: StoreProgressHandler?, onBytes: SyncProgressHandler?
    ) throws {
        let passphrase = passphrase.copy()
        try FileReplacement.removingLeftovers(of: path, purpose: "snapshot") {
            let snapshot = try FileReplacement(destination: path, purpose: "snapshot")
            defer { snapshot.discard() }
            let identity = try ArchiveIdentity.random()
            try enrolment.fetchSnapshot(to: snapshot, identity.recipient.description, options, onBytes)
            try restore(
                archive: snapshot.temporary, to: path, opening: ArchiveSecret(identity),
                passphrase: passphrase, environment: environment, progress: progress)
        }
    }

    /// Has a new store remember the server, and closes it.
    ///
    /// - parameter definitions: The tables to make in an empty file; nil for a store that was restored.
    /// - returns: How the new replica greets.
    private static func settle(
        _ enrolment: Enrolment, _ remote: Remote, _ key: DeviceKey, at path: String,
        passphrase: borrowing Passphrase, definitions: [SharedTable]? = nil, environment: SyncEnvironment
    ) throws -> Greeting? {
        var configuration = Configuration()
        configuration.encryption = .required
        configuration.requiresExistingFile = definitions == nil
        configuration.usePassphrase(passphrase)
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        let synchronizer: Synchronizer
        if let definitions {
            synchronizer = try Synchronizer(
                newReplicaOf: enrolment.invite.store, queue, tables: definitions, environment: environment)
        } else {
            synchronizer = try Synchronizer(existing: queue, environment: environment)
        }
        let book = try RemoteBook(synchronizer)
        try book.save(remote, key: key)
        try enrolment.adopt(remote, in: book)
        let greeting = try? synchronizer.localPeer.greet()
        try queue.close()
        return greeting
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
        if let greeting = try? localPeer.greet() { enrolment.confirm(greeting, storeAt: writer.path) }
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
