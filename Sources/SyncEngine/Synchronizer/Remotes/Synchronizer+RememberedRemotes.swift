import CipherStore

extension Synchronizer {
    /// Remembers where a remote is that this store was synchronized with. Another name of the same place is forgotten.
    package func remember(remote: RememberedRemote) throws {
        // Nothing is written where nothing changed: others look at the file after each commit.
        guard try !rememberedRemotes().contains(remote) else { return }
        try database.write { db in
            try MetadataSchema.upgrade(db)
            try db.execute(
                sql: "DELETE FROM _sync_setting WHERE value = ? AND \(RememberedRemotes.isRemote)",
                arguments: [remote.location])
            try db.execute(
                sql: "INSERT OR REPLACE INTO _sync_setting (name, value) VALUES (?, ?)",
                arguments: [RememberedRemotes.prefix + remote.name, remote.location])
        }
    }

    /// The remotes that are remembered, by name.
    package func rememberedRemotes() throws -> [RememberedRemote] {
        try database.read { db in
            guard try db.tableExists("_sync_setting", in: "main") else { return [] }
            return try Row.fetchAll(
                db,
                sql: """
                    SELECT substr(name, 8), value FROM _sync_setting WHERE \(RememberedRemotes.isRemote) ORDER BY name
                    """
            ).map { RememberedRemote(name: try $0.decode(atIndex: 0), location: try $0.decode(atIndex: 1)) }
        }
    }

    /// Forgets a remote: where it is, and how the synchronizations with it went. What is exchanged with it stays chosen.
    ///
    /// - parameter name: Its name, or its place.
    /// - returns: Whether anything was known of it.
    package func forget(remote name: String) throws -> Bool {
        let remembered = try rememberedRemotes().filter { $0.name == name || $0.location == name }
        try database.write { db in
            for remote in remembered {
                try db.execute(
                    sql: "DELETE FROM _sync_setting WHERE name = ?",
                    arguments: [RememberedRemotes.prefix + remote.name])
            }
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
}
