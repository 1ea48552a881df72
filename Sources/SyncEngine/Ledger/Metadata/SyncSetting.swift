import CipherStore
import Foundation
import SyncWire

/// The settings of a store: one value for each name.
package enum SyncSetting {
    /// A value that is text.
    static func text(_ db: Database, _ name: String) throws -> String? {
        try String.fetchOne(db, sql: "SELECT value FROM _sync_setting WHERE name = ?", arguments: [name])
    }

    /// A value of bytes.
    static func data(_ db: Database, _ name: String) throws -> Data? {
        try Data.fetchOne(db, sql: "SELECT value FROM _sync_setting WHERE name = ?", arguments: [name])
    }

    /// A value that is a number; nil when there is none.
    package static func integer(_ db: Database, _ name: String) throws -> Int64? {
        try Int64.fetchOne(db, sql: "SELECT value FROM _sync_setting WHERE name = ?", arguments: [name])
    }

    /// Sets a value, or removes it.
    package static func set(_ db: Database, _ name: String, _ value: (any DatabaseValueConvertible)?) throws {
        guard let value else {
            return try db.execute(sql: "DELETE FROM _sync_setting WHERE name = ?", arguments: [name])
        }
        try db.execute(
            sql: "INSERT OR REPLACE INTO _sync_setting (name, value) VALUES (?, ?)", arguments: [name, value])
    }

    /// Sets a value that is there. Where there is none, it stays so.
    static func replace(_ db: Database, _ name: String, _ value: any DatabaseValueConvertible) throws {
        try db.execute(sql: "UPDATE _sync_setting SET value = ? WHERE name = ?", arguments: [value, name])
    }

    // MARK: Files in folders, buckets and relays

    private static let paddingName = "padding"
    private static let padme = "padme"

    /// How the files that the store writes there are padded. A word of a later version counts as none.
    static func padding(_ db: Database) throws -> SealedFilePadding {
        try text(db, paddingName) == padme ? .padme : .none
    }

    /// Sets it.
    static func setPadding(_ db: Database, _ padding: SealedFilePadding) throws {
        try set(db, paddingName, padding == .padme ? padme : nil)
    }

    // MARK: Devices of a server

    private static let devicePrefix = "device."

    /// What is counted of a device.
    static func name(ofDevice device: Int64, _ account: String) -> String {
        "\(devicePrefix)\(device).\(account)"
    }

    /// Removes what was counted of a device that is forgotten: a later one gets its number.
    package static func removeAll(_ db: Database, ofDevice device: Int64) throws {
        try removeAll(db, withPrefix: name(ofDevice: device, ""))
    }

    /// Removes what was counted of all devices.
    static func removeAllOfDevices(_ db: Database) throws {
        try removeAll(db, withPrefix: devicePrefix)
    }

    // MARK: Settings of a kind

    /// The settings whose names begin with a word, and go on with what tells them apart, which is returned.
    static func texts(_ db: Database, withPrefix prefix: String) throws -> [(name: String, value: String)] {
        try Row.fetchAll(
            db,
            sql: """
                SELECT substr(name, length(?1) + 1), value FROM _sync_setting
                WHERE substr(name, 1, length(?1)) = ?1 ORDER BY name
                """, arguments: [prefix]
        ).map { (try $0.decode(atIndex: 0), try $0.decode(atIndex: 1)) }
    }

    /// Removes settings whose names begin with a word.
    static func removeAll(_ db: Database, withPrefix prefix: String) throws {
        try db.execute(
            sql: "DELETE FROM main._sync_setting WHERE substr(name, 1, length(?1)) = ?1", arguments: [prefix])
    }

    /// Removes those of them that have a value.
    static func removeAll(_ db: Database, withPrefix prefix: String, value: String) throws {
        try db.execute(
            sql: "DELETE FROM _sync_setting WHERE value = ?2 AND substr(name, 1, length(?1)) = ?1",
            arguments: [prefix, value])
    }
}
