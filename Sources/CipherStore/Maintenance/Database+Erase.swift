extension Database {
    /// Drops everything in the main schema and in the temporary one, and clears
    /// the numbers of the file's header that belong to the application.
    ///
    /// Objects are dropped one by one in a single transaction, because the
    /// other ways (the backup of an empty database, `SQLITE_DBCONFIG_RESET_DATABASE`)
    /// lose the encryption or are not there in old libraries.
    func eraseContent() throws {
        try withSetting("foreign_keys", isOn: false) {
            try inTransaction(.exclusive) {
                // The sync metadata go with everything else: nothing of them is to be kept.
                try withoutReportingSchemaChanges {
                    try dropObjects(in: "temp")
                    try dropObjects(in: "main")
                }
                try execute(sql: "PRAGMA main.user_version = 0; PRAGMA main.application_id = 0")
                return .commit
            }
        }
        clearStatementCache()
    }

    private func dropObjects(in schema: String) throws {
        let list = schema == "temp" ? "sqlite_temp_master" : "sqlite_master"
        // Views and triggers first, so that nothing refers to a table that is gone; virtual
        // tables before others, because they drop their own shadow tables.
        for type in ["trigger", "view", "table"] {
            let objects = try Row.fetchAll(
                self,
                sql: """
                    SELECT name FROM \(schema).\(list)
                    WHERE type = ? AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
                    ORDER BY sql LIKE 'CREATE VIRTUAL%' DESC
                    """, arguments: [type])
            for object in objects {
                let name: String = object["name"]
                let isThere = try Bool.fetchOne(
                    self, sql: "SELECT EXISTS(SELECT 1 FROM \(schema).\(list) WHERE type = ? AND name = ?)",
                    arguments: [type, name])
                guard isThere == true else { continue }
                try execute(sql: "DROP \(type.uppercased()) \(schema).\(name.quotedDatabaseIdentifier)")
            }
        }
    }

    /// Writes a compact copy into a new file, under the same key, with a copy of the keyring that holds it.
    ///
    /// - throws: A ``StoreError`` when there is a file already, the keyring is missing, or the source is
    ///   damaged; a ``DatabaseError``. No file is left at `path` then.
    func vacuum(into path: String) throws {
        try FileReplacement.requireFree(path)
        let file = try FileReplacement(destination: path, purpose: "vacuum")
        do {
            try StoreCopy.fill(file.temporary, key: encryptionKey, from: self, progress: nil) { copy in
                try copy.execute(sql: "VACUUM")
            }
            if let encryptionKey {
                try StoreVerification.verify(
                    path: file.temporary, key: encryptionKey, rowCounts: nil, progress: nil)
            }
            // A copy that has its name opens.
            let keyring = try keyringContent()
            let storage = KeyringStorage(storePath: path)
            if let keyring { try storage.create(keyring) }
            do {
                try file.moveIntoPlace()
            } catch {
                if let keyring { storage.remove(ifContent: keyring) }
                throw error
            }
        } catch {
            file.discard()
            throw StoreError.explaining(error, path: path)
        }
    }

    /// The keyring that holds the key of this connection; nil when the key is derived from a passphrase.
    ///
    /// - throws: A ``StoreError``: `keyringMissing`, `keyringDamaged`, `cannotRead`, and `keyringMismatch` when the
    ///   keyring was changed for another one.
    private func keyringContent() throws -> [UInt8]? {
        guard let encryptionKey, encryptionKey.slotID != nil else { return nil }
        let keyring = Keyring(store: filePath)
        let content = try keyring.content()
        let file = try KeyringFile(parsing: content, path: keyring.path)
        guard encryptionKey.salt == file.activeSalt || encryptionKey.salt == file.pendingSalt else {
            throw Keyring.mismatch(keyring.path)
        }
        return content
    }
}
