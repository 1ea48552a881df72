import CipherStore
import Crypto
import Foundation
import SyncEngine
import SyncWire

/// Invitations, and the devices that they enrol.
extension DeviceRegister {
    /// How long an invitation can be valid, in milliseconds.
    package static let expiries: ClosedRange<Int64> = 1000...366 * 86_400_000

    /// Whether a text can be what a device is called.
    package static func isLabel(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= labelByteCountMax
            && !text.unicodeScalars.contains { $0.properties.generalCategory == .control }
    }

    /// Makes an invitation for one device.
    ///
    /// - parameters:
    ///     - label: What people call the device; no other device that is not revoked may have it, and no other invitation
    ///       that can still be used: ``withdrawInvitations(where:)``.
    ///     - milliseconds: After how long it expires; up to a year.
    ///     - isReadOnly: Whether the device's changes are refused.
    ///     - scope: What the device may exchange: all tables or some, and of some of them some rows. It hears nothing
    ///       of others, and what it sends for others is refused.
    ///     - address: Where the device reaches the server.
    /// - throws: ``RemoteError`` of code `malformed`, for a label that is too long, empty, taken, invited already or has
    ///   control characters, and for an expiry out of range; `busy` when too many invitations are open.
    ///   `SyncError`: `noSuchTable` for a table that is not tracked, `unsuitableScope` for a column or values that
    ///   rows can't be chosen by.
    public func invite(
        label: String, expiresAfter milliseconds: Int64 = 900_000, isReadOnly: Bool = false,
        scope: SyncScope = .everything, address: ServerAddress
    ) throws -> InviteLink {
        guard Self.isLabel(label) else {
            throw RemoteError(
                .malformed, "a label has 1 to \(Self.labelByteCountMax) bytes and no control characters")
        }
        guard Self.expiries.contains(milliseconds) else {
            throw RemoteError(.malformed, "an invitation is valid for one second to one year")
        }
        let secret = Array(SymmetricKey(size: .bits128).withUnsafeBytes { Array($0) })
        let store = try synchronizer.identity().store
        let bounds = try synchronizer.bounds(of: scope).map { try DeviceScope($0).text }
        let now = now
        try synchronizer.writer.write { db in
            guard try !Self.isTaken(db, label) else {
                throw RemoteError(.malformed, "there is a device with the label \(label.debugDescription)")
            }
            guard try !Self.isInvited(db, label, now: now) else {
                throw RemoteError(
                    .malformed,
                    "an invitation with the label \(label.debugDescription) can still be used; withdraw it first, or give another label"
                )
            }
            // Those that were used stay for a day: a device may repeat its request.
            try db.execute(sql: "DELETE FROM _sync_invite WHERE expires < ?", arguments: [now - 86_400_000])
            let count = try Int.fetchOne(db, sql: "SELECT count(*) FROM _sync_invite") ?? 0
            guard count < Self.openInviteCountMax else {
                throw RemoteError(.busy, "\(count) invitations are open; they have to expire first")
            }
            try db.execute(
                sql:
                    "INSERT INTO _sync_invite (hash, label, readonly, scope, expires) VALUES (?, ?, ?, ?, ?)",
                arguments: [Data(Self.hash(secret)), label, isReadOnly, bounds, now + milliseconds])
        }
        return InviteLink(address: address, store: store, secret: secret)
    }

    /// Withdraws invitations that no device has used: their links let nobody in any more.
    ///
    /// - parameter isMeant: Whether invitations of a label are withdrawn.
    /// - returns: How many there were.
    /// - throws: A `DatabaseError`.
    @discardableResult
    public func withdrawInvitations(where isMeant: (_ label: String) -> Bool) throws -> Int {
        try synchronizer.writer.write { db in
            let open = try Row.fetchAll(db, sql: "SELECT id, label FROM _sync_invite WHERE device IS NULL")
            var count = 0
            for row in open where try isMeant(row.decode(String.self, atIndex: 1)) {
                let id: Int64 = try row.decode(atIndex: 0)
                try db.execute(sql: "DELETE FROM _sync_invite WHERE id = ?", arguments: [id])
                count += 1
            }
            return count
        }
    }

    /// Whether a device that is not revoked has a label. Text that looks the same may have other bytes, and both are one label
    /// for people.
    ///
    /// - parameter key: The device whose label it is to be; nil for one that is not known yet.
    private static func isTaken(_ db: Database, _ label: String, besides key: [UInt8] = []) throws -> Bool {
        try String.fetchAll(
            db, sql: "SELECT label FROM _sync_device WHERE revoked IS NULL AND key <> ?",
            arguments: [Data(key)]
        ).contains { $0 == label }
    }

    /// Whether an invitation with a label can still be used, and nobody has.
    package func isInvited(_ label: String) throws -> Bool {
        let now = now
        return try synchronizer.writer.read { try Self.isInvited($0, label, now: now) }
    }

    private static func isInvited(_ db: Database, _ label: String, now: Int64) throws -> Bool {
        try String.fetchAll(
            db, sql: "SELECT label FROM _sync_invite WHERE device IS NULL AND expires > ?", arguments: [now]
        ).contains { $0 == label }
    }

    static func hash(_ secret: [UInt8]) -> [UInt8] {
        Array(SHA256.hash(data: Array("cipherstore invite secret 1\0".utf8) + secret))
    }

    /// For how long an invitation is the key's that enrolled with it first, before another one may take its place.
    ///
    /// A join that fails releases it (``release(_:)``); one that was killed can't, and has forgotten its key.
    static let holdMilliseconds: Int64 = 10 * 60_000

    /// Enrols a device by an invitation. The same device may repeat it. It is used up when the device says
    /// which replica it is. Until then it is the first key's, and for ``holdMilliseconds`` no other one takes its place:
    /// whoever sees the link while it is used comes too late.
    ///
    /// - throws: ``RemoteError`` of code `invalidInvite`.
    func enrol(key: [UInt8], secret: [UInt8]) throws -> Device {
        try enrolMakingRoom(key: key, secret: secret).device
    }

    /// The same, and the number of the device that made room, if one did.
    func enrolMakingRoom(key: [UInt8], secret: [UInt8]) throws -> (device: Device, displaced: Int64?) {
        let now = now
        return try synchronizer.writer.write { db in
            let row = try Row.fetchOne(
                db,
                sql: "SELECT id, label, readonly, expires, device, scope FROM _sync_invite WHERE hash = ?",
                arguments: [Data(Self.hash(secret))])
            guard let row else { throw RemoteError(.invalidInvite, "the invitation is not known") }
            let user = try row.decodeIfPresent(Data.self, atIndex: 4)
            guard try row.decode(Int64.self, atIndex: 3) > now else {
                throw RemoteError(.invalidInvite, "the invitation has expired")
            }
            let holder = try user.map { try former(db, user: Array($0), for: key, now: now) }
            if let holder, user == Data(key) { return (holder, nil) }
            let invite: Int64 = try row.decode(atIndex: 0)
            let label: String = try row.decode(atIndex: 1)
            // Older programs made several open invitations with one label. People name devices by their labels.
            guard try !Self.isTaken(db, label, besides: key) else {
                throw RemoteError(
                    .invalidInvite,
                    """
                    there is a device with the label \(label.debugDescription) already; revoke it at the server, or make an \
                    invitation with another label
                    """)
            }
            // A key that comes again by another invitation has used up those before. With everything it may begin as any
            // replica; with bounds it goes on as the one that it was, of which it has what it has not sent.
            try db.execute(
                sql: "DELETE FROM _sync_invite WHERE device = ? AND id <> ?", arguments: [Data(key), invite])
            try db.execute(
                sql: """
                    INSERT OR REPLACE INTO _sync_device (id, key, label, readonly, scope, at, revision, replica)
                    VALUES (coalesce((SELECT id FROM _sync_device WHERE key = ?1),
                            max(?6, coalesce((SELECT max(id) FROM _sync_device), 0)) + 1), ?1, ?2, ?3, ?4, ?5,
                        coalesce((SELECT revision + 1 FROM _sync_device WHERE key = ?1), 0),
                        CASE WHEN ?4 IS NOT NULL THEN (SELECT replica FROM _sync_device WHERE key = ?1) END)
                    """,
                arguments: [
                    Data(key), label, try row.decode(Bool.self, atIndex: 2),
                    try row.decodeIfPresent(String.self, atIndex: 5), now, forgotten.last,
                ])
            try db.execute(
                sql: "UPDATE _sync_invite SET device = ? WHERE id = ?", arguments: [Data(key), invite])
            guard let device = try Self.device(db, key: key) else {
                throw RemoteError(.failed, "the device was not stored")
            }
            return (device, holder?.id)
        }
    }

    /// The device that an invitation enrolled: the one that asks, or another one that never got as far as being a replica
    /// and has made room, as its time is over.
    ///
    /// - throws: ``RemoteError`` of code `invalidInvite` when the invitation is another key's.
    private func former(_ db: Database, user: [UInt8], for key: [UInt8], now: Int64) throws -> Device {
        let former = try Self.device(db, key: user)
        guard let former, former.revokedMilliseconds == nil, user == key || former.replica == nil else {
            throw RemoteError(.invalidInvite, "the invitation was used already")
        }
        if user == key { return former }
        let age = now - former.enrolledMilliseconds
        // A clock that was set back far must not hold it for that long.
        guard abs(age) >= Self.holdMilliseconds else {
            let minutes = (Self.holdMilliseconds - age + 59_999) / 60_000
            throw RemoteError(
                .invalidInvite,
                """
                the invitation is in use by a device that began to join; if that was this one and it was ended, try again \
                in \(minutes) minutes; else revoke it at the server, and make another invitation
                """)
        }
        try forget(db, former)
        return former
    }

    /// Takes an enrolment back: the device is forgotten, and its invitation enrols another one as long as it is valid.
    /// A device asks for that whose join failed.
    ///
    /// - throws: ``RemoteError``: `malformed` of a device that is a replica already, which only a revocation ends;
    ///   `unknownDevice`, `revokedDevice`.
    func release(_ device: Device) throws {
        try synchronizer.writer.write { db in
            guard let current = try Self.device(db, id: device.id) else {
                throw RemoteError(
                    .unknownDevice, "the server does not know this device; it needs an invitation")
            }
            guard current.revokedMilliseconds == nil else {
                throw RemoteError(
                    .revokedDevice, "the device \(current.label.debugDescription) was revoked")
            }
            guard current.replica == nil else {
                throw RemoteError(.malformed, "the device is a replica already, and is revoked at the server")
            }
            try db.execute(
                sql: """
                    UPDATE _sync_invite SET device = NULL
                    WHERE device = (SELECT key FROM _sync_device WHERE id = ?)
                    """, arguments: [current.id])
            try forget(db, current)
        }
    }

    private func forget(_ db: Database, _ device: Device) throws {
        forgotten.note(device.id)
        try db.execute(sql: "DELETE FROM _sync_device WHERE id = ?", arguments: [device.id])
        try SyncSetting.removeAll(db, ofDevice: device.id)
    }
}
