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
}
