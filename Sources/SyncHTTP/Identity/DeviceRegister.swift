import CipherStore
import Crypto
import Foundation
import SyncEngine
import SyncWire

/// A device that may synchronize with a store as its server.
public struct Device: Equatable, Sendable {
    /// Its number, for commands.
    public let id: Int64
    /// What people call it.
    public let label: String
    /// Whether its changes are refused.
    public let isReadOnly: Bool
    /// What it may exchange, by the names that tables and columns have now.
    public var scope: SyncScope { names?.scope ?? .everything }
    /// The tables that it may exchange, by name; nil for all.
    public var tables: [String]? { scope.tableNames }
    /// Which replica it is; nil when it has not said so yet.
    public let replica: ReplicaID?
    /// When it was enrolled, in milliseconds of Unix time.
    public let enrolledMilliseconds: Int64
    /// When it opened a session last; nil when it never did.
    public let lastSeenMilliseconds: Int64?
    /// Since when it is refused; nil when it is not.
    public let revokedMilliseconds: Int64?
    /// The SHA-256 of its public key, in part, for people to compare.
    public let keyFingerprint: String

    /// What it may exchange; nil for everything.
    let bounds: AccessBounds?
    /// The same by names.
    let names: AccessNames?
    /// How often that was changed.
    let revision: Int64
}

/// Who may synchronize with a store as their server.
///
/// ```swift
/// let register = try DeviceRegister(synchronizer)
/// let link = try register.invite(label: "phone", address: address)
/// print(link)                       // cipherstore://hub.example:7443/AQ…
/// try register.revoke("phone")      // at once, and for what is open
/// ```
///
/// It is in the store itself, so that a command in another process and the server see the same.
public struct DeviceRegister: Sendable {
    /// The longest label in bytes.
    public static let labelByteCountMax = 100
    /// The most invitations that are open at a time.
    static let openInviteCountMax = 1000

    let synchronizer: Synchronizer
    /// The numbers of devices that were forgotten.
    let forgotten = ForgottenNumbers()

    /// Makes the register of a store, whose metadata is upgraded if an older program made it.
    public init(_ synchronizer: Synchronizer) throws {
        self.synchronizer = synchronizer
        try synchronizer.upgradeMetadata()
    }

    var now: Int64 { synchronizer.surroundings.milliseconds() }

    // MARK: The server

    /// Notes where devices reach the server, for invitations that are made while it does not run or by
    /// another process.
    public func noteAddress(_ address: ServerAddress) throws {
        try synchronizer.writer.write { try ServerRecord.note($0, address: address) }
    }

    /// Where devices reach the server; nil when it never ran.
    ///
    /// - parameter authority: Host and port, where they are others than the server noted.
    public func address(authority: String? = nil) throws -> ServerAddress? {
        try synchronizer.writer.read { try ServerRecord.address($0, authority: authority) }
    }

    // MARK: Devices

    private static let columns = "id, label, readonly, replica, at, seen, revoked, key, scope, revision"

    /// The devices, the last one first. Revoked ones are among them.
    public func devices() throws -> [Device] {
        try synchronizer.writer.read { db in
            // A store of an older program that can't be written.
            guard try db.tableExists("_sync_device", in: "main") else { return [] }
            return try Row.fetchAll(db, sql: "SELECT \(Self.columns) FROM _sync_device ORDER BY id DESC")
                .map { try Self.device(db, $0) }
        }
    }

    private static func device(_ db: Database, _ row: Row) throws -> Device {
        let bounds = try DeviceScope.read(row.decodeIfPresent(atIndex: 8))?.bounds
        let replica = try row.decodeIfPresent(Data.self, atIndex: 3)
        let key = try row.decode(Data.self, atIndex: 7)
        return Device(
            id: try row.decode(atIndex: 0), label: try row.decode(atIndex: 1),
            isReadOnly: try row.decode(atIndex: 2),
            replica: replica.flatMap { $0.withUnsafeBytes { ReplicaID(bytes: $0) } },
            enrolledMilliseconds: try row.decode(atIndex: 4),
            lastSeenMilliseconds: try row.decodeIfPresent(atIndex: 5),
            revokedMilliseconds: try row.decodeIfPresent(atIndex: 6),
            keyFingerprint: ByteText.hex(SHA256.hash(data: key).prefix(8)), bounds: bounds,
            names: try bounds.map { try AccessNames(db, $0) }, revision: try row.decode(atIndex: 9))
    }

    static func device(_ db: Database, id: Int64) throws -> Device? {
        try Row.fetchOne(db, sql: "SELECT \(columns) FROM _sync_device WHERE id = ?", arguments: [id])
            .map { try device(db, $0) }
    }

    static func device(_ db: Database, key: [UInt8]) throws -> Device? {
        try Row.fetchOne(
            db, sql: "SELECT \(columns) FROM _sync_device WHERE key = ?", arguments: [Data(key)]
        ).map { try device(db, $0) }
    }

    /// The device with a public key.
    ///
    /// - throws: ``RemoteError``: `unknownDevice`, `revokedDevice`.
    func admitted(key: [UInt8]) throws -> Device {
        let device = try synchronizer.writer.read { try Self.device($0, key: key) }
        guard let device else {
            throw RemoteError(.unknownDevice, "the server does not know this device; it needs an invitation")
        }
        guard device.revokedMilliseconds == nil else {
            throw RemoteError(.revokedDevice, "the device \(device.label.debugDescription) was revoked")
        }
        return device
    }

    /// What became of a device.
    struct Standing {
        /// When it was enrolled: another process may give a number that was forgotten to another device.
        let enrolledMilliseconds: Int64
        /// How often what it may exchange was changed; nil when it is revoked.
        let revision: Int64?
    }

    /// What became of all devices, by their numbers.
    func standings() throws -> [Int64: Standing] {
        let rows = try synchronizer.writer.read {
            try Row.fetchAll(
                $0, sql: "SELECT id, at, CASE WHEN revoked IS NULL THEN revision END FROM main._sync_device")
        }
        var standings: [Int64: Standing] = [:]
        for row in rows {
            standings[try row.decode(atIndex: 0)] = Standing(
                enrolledMilliseconds: try row.decode(atIndex: 1),
                revision: try row.decodeIfPresent(atIndex: 2))
        }
        return standings
    }

    /// Notes that a device opened a session.
    func noteSeen(_ device: Device) throws {
        let now = now
        try synchronizer.writer.write { db in
            try db.execute(sql: "UPDATE _sync_device SET seen = ? WHERE id = ?", arguments: [now, device.id])
        }
    }

    /// Notes which replica a device is.
    ///
    /// Its first greeting says that, and its invitation is what that is believed for: to a device that may exchange
    /// everything, which can be a replica that was reached otherwise before. Later, and of a device with bounds, it can
    /// be one only under an id that nobody has heard of here, as a copy gets when it is given a new identity; or, when it
    /// may write everything, under one that came up after its former one: a file that was put back may have got it while it
    /// synchronized elsewhere. It never gets that of another device, revoked or not, or of the server.
    ///
    /// - throws: ``RemoteError`` of code `otherReplica`.
    func bind(_ device: Device, to replica: ReplicaID) throws {
        let own = try synchronizer.identity().replica
        guard device.replica != replica || replica == own else { return }
        // A device with bounds begins as a replica of its own, or it could write as one that synchronizes elsewhere.
        let mustBeNew = device.replica != nil || device.bounds != nil
        let isKnown = try mustBeNew && synchronizer.knows(replica) && !mayHaveBecome(device, replica)
        try synchronizer.writer.write { db in
            let isTaken = try Bool.fetchOne(
                db, sql: "SELECT EXISTS(SELECT 1 FROM _sync_device WHERE replica = ? AND id <> ?)",
                arguments: [Data(replica.bytes), device.id])
            guard isTaken != true, replica != own, !isKnown else {
                let isCopy =
                    isTaken == true || replica == own || device.replica != nil || device.bounds == nil
                throw RemoteError(
                    .otherReplica, isCopy ? Self.copied(replica) : Self.notNew(device, replica))
            }
            if let former = device.replica { try BundleInbox.forget(db, ofSender: former) }
            try db.execute(
                sql: "UPDATE _sync_device SET replica = ? WHERE id = ?",
                arguments: [Data(replica.bytes), device.id])
        }
    }

    private static func copied(_ replica: ReplicaID) -> String {
        "replica \(replica.shortDescription) is not this device's: was the store's file copied?"
    }

    /// Why a device with bounds is refused that was no device of this server before, as after the server's store was put
    /// back from an archive, which has no devices.
    private static func notNew(_ device: Device, _ replica: ReplicaID) -> String {
        """
        replica \(replica.shortDescription) is known at the server, not as this device's, and a device that may exchange \
        some tables or rows only begins as a new replica. To bring what it has not sent, let it exchange everything for one \
        synchronization (at the server: syncctl device scope <store> \(device.label.debugDescription) --everything), which \
        gives it everything, too. Or revoke this device and invite it anew, which takes a new link, then make a new store: \
        syncctl init <store> --join <link>
        """
    }

    /// Whether a device may have got an id that is known here already. One that may write everything gains nothing by it.
    private func mayHaveBecome(_ device: Device, _ replica: ReplicaID) throws -> Bool {
        guard device.bounds == nil, !device.isReadOnly, let former = device.replica else { return false }
        // The former one is not believed again: two copies of a file would take turns under one key.
        return try synchronizer.knows(replica, since: former)
    }

    /// Refuses a device from now on: its next request, and what it has open.
    ///
    /// - parameter name: Its label, or its number.
    /// - returns: The device.
    /// - throws: ``RemoteError``: `unknownDevice` when there is none that is not revoked, `malformed` for a label that
    ///   several have.
    @discardableResult
    public func revoke(_ name: String) throws -> Device {
        let now = now
        return try synchronizer.writer.write { db in
            let device = try Self.device(db, named: name)
            try db.execute(
                sql: "UPDATE _sync_device SET revoked = ? WHERE id = ?", arguments: [now, device.id])
            return device
        }
    }

    /// Changes what a device may exchange, from its next request on and for what it has open. What it has received
    /// stays on it; it learns of the change when it opens a session, and adapts its own choice.
    ///
    /// - parameters:
    ///     - name: Its label, or its number.
    ///     - scope: What it may exchange from now on; nil to leave that as it is.
    ///     - isReadOnly: Whether its changes are refused from now on; nil to leave that as it is.
    /// - returns: The device as it is now.
    /// - throws: ``RemoteError``: `unknownDevice` when there is none that is not revoked, `malformed` for a label that
    ///   several have; `SyncError`: `noSuchTable`, `unsuitableScope`. Nothing changes then.
    @discardableResult
    public func change(_ name: String, scope: SyncScope? = nil, isReadOnly: Bool? = nil) throws -> Device {
        let bounds = try scope.map { try synchronizer.bounds(of: $0) }
        return try synchronizer.writer.write { db in
            let device = try Self.device(db, named: name)
            let kept = bounds ?? device.bounds
            try db.execute(
                sql: "UPDATE _sync_device SET scope = ?, readonly = ?, revision = revision + 1 WHERE id = ?",
                arguments: [
                    try kept.map { try DeviceScope($0).text }, isReadOnly ?? device.isReadOnly, device.id,
                ])
            return try Self.device(db, id: device.id) ?? device
        }
    }

    /// A device that is not revoked, by its label or its number.
    private static func device(_ db: Database, named name: String) throws -> Device {
        let devices = try Row.fetchAll(
            db, sql: "SELECT id, label FROM _sync_device WHERE revoked IS NULL ORDER BY id"
        ).map { (id: try $0.decode(Int64.self, atIndex: 0), label: try $0.decode(String.self, atIndex: 1)) }
        // As for invitations, labels that look the same are one, whatever their bytes are.
        let labelled = devices.filter { $0.label == name }
        // Older programs let two devices have one label.
        guard labelled.count < 2 else {
            let numbers = labelled.map { String($0.id) }.joined(separator: ", ")
            throw RemoteError(
                .malformed,
                "several devices have the label \(name.debugDescription): say a number, of \(numbers)")
        }
        let number = Int64(name)
        let named = labelled.first ?? devices.first { $0.id == number }
        guard let named, let known = try device(db, id: named.id) else {
            throw RemoteError(.unknownDevice, "there is no device \(name.debugDescription)")
        }
        return known
    }
}
