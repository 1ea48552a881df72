import CipherStore

/// A remote other than a server that a store was synchronized with.
package struct RememberedRemote: Equatable, Sendable {
    /// What it was called, which is what its tables were chosen for.
    package let name: String
    /// Where it is, whatever folder a command is run in. No secret.
    package let location: String

    /// Makes a remote.
    package init(name: String, location: String) { (self.name, self.location) = (name, location) }
}

/// The remotes are settings of the store: names that begin with a word of their own.
enum RememberedRemotes {
    private static let prefix = "remote "

    /// The remotes, by name.
    static func loadAll(_ db: Database) throws -> [RememberedRemote] {
        try SyncSetting.texts(db, withPrefix: prefix).map {
            RememberedRemote(name: $0.name, location: $0.value)
        }
    }

    /// Remembers a remote. Another name of the same place is forgotten.
    static func add(_ db: Database, _ remote: RememberedRemote) throws {
        try SyncSetting.removeAll(db, withPrefix: prefix, value: remote.location)
        try SyncSetting.set(db, prefix + remote.name, remote.location)
    }

    /// Forgets a remote.
    static func remove(_ db: Database, named name: String) throws {
        try SyncSetting.set(db, prefix + name, nil)
    }

    /// Forgets all remotes.
    static func removeAll(_ db: Database) throws { try SyncSetting.removeAll(db, withPrefix: prefix) }
}

extension RemoteSchema {
    /// Removes the remotes from a copy: it is another file, and may be on another machine.
    static func forgetRemembered(_ db: Database) throws {
        try RememberedRemotes.removeAll(db)
        try RelaySettings.removeAll(db)
        try SnapshotRecord.removeAll(db)
        try CheckedFiles.removeAll(db)
        try OtherFounding.removeAll(db)
        try UnnamedRemote.replaceAll(db)
    }
}
