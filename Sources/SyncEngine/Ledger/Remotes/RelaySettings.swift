import CipherStore

/// The relays that a store knows: settings of it, of which `SyncRelay` reads and writes the values. They hold keys, so no
/// copy of the file has them.
package enum RelaySettings {
    private static let prefix = "relay "

    /// What is kept of each, by name.
    package static func loadAll(_ db: Database) throws -> [(name: String, value: String)] {
        guard try db.tableExists("_sync_setting", in: "main") else { return [] }
        return try SyncSetting.texts(db, withPrefix: prefix)
    }

    /// Keeps something of a relay, or forgets it.
    package static func set(_ db: Database, _ name: String, _ value: String?) throws {
        try SyncSetting.set(db, prefix + name, value)
    }

    /// Forgets how the synchronizations through the relay at an address went.
    package static func forgetAttempts(_ db: Database, at url: String) throws {
        _ = try SyncAttempts.forget(db, name: url)
    }

    /// Forgets all relays.
    static func removeAll(_ db: Database) throws { try SyncSetting.removeAll(db, withPrefix: prefix) }
}
