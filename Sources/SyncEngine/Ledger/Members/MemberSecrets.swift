import CipherStore
import Foundation
import SyncMembers

/// What this file alone may know: the private keys of its device, and the content keys that it has opened.
///
/// No copy, archive, snapshot or export has them (``RemoteSchema/forget(_:)``): whoever opens one would be this device.
enum MemberSecrets {
    static let schema = """
        CREATE TABLE _sync_member_key (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            key BLOB NOT NULL
        );
        CREATE TABLE _sync_epoch_key (
            epoch BLOB PRIMARY KEY,
            key BLOB NOT NULL
        ) WITHOUT ROWID;

        """

    /// The keys of this file's device; nil while it is none.
    static func device(_ db: Database) throws -> MemberDeviceKeys? {
        guard var data = try Data.fetchOne(db, sql: "SELECT key FROM _sync_member_key WHERE id = 1") else {
            return nil
        }
        defer { data.resetBytes(in: data.startIndex..<data.endIndex) }
        do { return try MemberDeviceKeys(rawRepresentation: Array(data)) } catch {
            throw SyncError(.damagedMetadata, "the keys of this store's device are damaged")
        }
    }

    /// Makes this file the device that has these keys.
    static func setDevice(_ db: Database, _ keys: MemberDeviceKeys) throws {
        try overwriting(db) {
            try db.execute(
                sql: "INSERT OR REPLACE INTO _sync_member_key (id, key) VALUES (1, ?)",
                arguments: [Data(keys.rawRepresentation)])
        }
    }

    /// The content keys that were opened.
    static func epochs(_ db: Database) throws -> EpochKeyring {
        var keyring = EpochKeyring()
        for row in try Row.fetchAll(db, sql: "SELECT epoch, key FROM _sync_epoch_key") {
            let (name, secret): (Data, Data) = (try row.decode(atIndex: 0), try row.decode(atIndex: 1))
            guard let id = StatementID(Array(name)), let key = try? EpochKey(Array(secret)) else {
                throw SyncError(.damagedMetadata, "a content key of this store is damaged")
            }
            keyring.take(key, of: id)
        }
        return keyring
    }

    /// Keeps the content keys that are not kept yet.
    ///
    /// - parameter all: Whether this file may have none of them, because they were read from another one.
    static func keep(_ db: Database, _ keyring: EpochKeyring, all: Bool = false) throws {
        for epoch in (all ? keyring.opened : keyring.unkept).sorted() {
            guard let key = keyring[epoch] else { continue }
            try db.execute(
                sql: "INSERT OR IGNORE INTO _sync_epoch_key (epoch, key) VALUES (?, ?)",
                arguments: [Data(epoch.bytes), Data(key.bytes)])
        }
    }

    /// Forgets all of it, for a membership that is another one.
    static func removeAll(_ db: Database) throws {
        try overwriting(db) {
            try db.execute(sql: "DELETE FROM _sync_member_key")
            try db.execute(sql: "DELETE FROM _sync_epoch_key")
        }
    }

    /// Overwrites the bytes of what is deleted.
    private static func overwriting(_ db: Database, _ body: () throws -> Void) throws {
        let former = try Int64.fetchOne(db, sql: "PRAGMA secure_delete") ?? 0
        _ = try Int64.fetchOne(db, sql: "PRAGMA secure_delete = 1")
        defer { _ = try? Int64.fetchOne(db, sql: "PRAGMA secure_delete = \(former)") }
        try body()
    }
}
