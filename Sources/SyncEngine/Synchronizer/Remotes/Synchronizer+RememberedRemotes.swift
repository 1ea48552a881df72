import CipherStore

extension Synchronizer {
    /// Remembers where a remote is that this store was synchronized with. Another name of the same place is forgotten.
    package func remember(remote: RememberedRemote) throws {
        // Nothing is written where nothing changed: others look at the file after each commit.
        guard try !rememberedRemotes().contains(remote) else { return }
        try database.write { db in
            try MetadataSchema.upgrade(db)
            try RememberedRemotes.add(db, remote)
        }
    }

    /// The remotes that are remembered, by name.
    package func rememberedRemotes() throws -> [RememberedRemote] {
        try database.read { db in
            guard try db.tableExists("_sync_setting", in: "main") else { return [] }
            return try RememberedRemotes.loadAll(db)
        }
    }

    /// Forgets a remote: where it is, and how the synchronizations with it went. The choice of what is
    /// exchanged with it stays.
    ///
    /// - parameter name: Its name, or its place.
    /// - returns: Whether anything was known of it.
    package func forget(remote name: String) throws -> Bool {
        let remembered = try rememberedRemotes().filter { $0.name == name || $0.location == name }
        try database.write { db in
            for remote in remembered { try RememberedRemotes.remove(db, named: remote.name) }
        }
        var isKnown = !remembered.isEmpty
        for name in Set([name] + remembered.map(\.name)).sorted() {
            if try forgetAttempts(withRemote: name) { isKnown = true }
        }
        return isKnown
    }

    /// The names of the servers that this store is enrolled with.
    package func serverNames() throws -> [String] {
        try database.read { db in
            guard try db.tableExists("_sync_remote", in: "main") else { return [] }
            return try String.fetchAll(db, sql: "SELECT name FROM _sync_remote ORDER BY name")
        }
    }

    /// The names of the relays that this store knows.
    package func relayNames() throws -> [String] {
        try database.read { try RelaySettings.loadAll($0).map(\.name) }
    }
}
