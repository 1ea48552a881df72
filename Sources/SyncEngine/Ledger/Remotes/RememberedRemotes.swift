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
    static let prefix = "remote "

    static let isRemote = "substr(name, 1, 7) = 'remote '"
}

extension RemoteSchema {
    /// Removes the remotes from a copy: it is another file, and may be on another machine.
    static func forgetRemembered(_ db: Database) throws {
        try db.execute(sql: "DELETE FROM main._sync_setting WHERE \(RememberedRemotes.isRemote)")
    }
}
