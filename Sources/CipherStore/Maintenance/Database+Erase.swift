extension Database {
    /// Drops everything in the main schema and in the temporary one, and clears
    /// the numbers of the file's header that belong to the application.
    ///
    /// Objects are dropped one by one in a single transaction, because the
    /// other ways (the backup of an empty database, `SQLITE_DBCONFIG_RESET_DATABASE`)
    /// lose the encryption or are not there in old libraries.
    ///
    /// - parameter isWanted: Asked when nobody else can change the database any more; nothing is erased when it says no.
    func eraseContent(if isWanted: () throws -> Bool = { true }) throws {
        try withSetting("foreign_keys", isOn: false) {
            try inTransaction(.exclusive) {
                guard try isWanted() else { return .rollback }
                // The sync metadata go with everything else: nothing of them is to be kept.
                try withoutReportingSchemaChanges {
                    try dropObjects(in: "temp")
                    try dropObjects(in: "main")
                }
                try execute(sql: "PRAGMA main.user_version = 0; PRAGMA main.application_id = 0")
                return .commit
            }
        }
        // Where nothing was erased, another connection may have changed the schema since it was looked at.
        clearSchemaCache()
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
}
