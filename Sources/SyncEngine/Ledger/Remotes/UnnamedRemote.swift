import CipherStore

/// What a copy of a store keeps of the remotes of the original, without their names.
///
/// The names tell of folders, servers and machines. But which tables and rows are here, and whether all of them were ever exchanged,
/// holds of a copy as well.
enum UnnamedRemote {
    /// Stands for all of them. No file, folder or server is called so.
    static let name = "/"

    /// Replaces the names in a copy.
    static func replaceAll(_ db: Database) throws {
        let hasMetWhole = try ScopeStore(db: db).hasMetWhole()
        try db.execute(sql: "DELETE FROM main._sync_attempt")
        if hasMetWhole {
            try SyncAttempts.record(db, success: name, at: 0, skew: 0)
            // Beside an exchange of all tables, no choice of another remote counts.
            try db.execute(sql: "DELETE FROM main._sync_scope")
        } else {
            try db.execute(
                sql: """
                    INSERT OR IGNORE INTO main._sync_scope (remote, tbl)
                    SELECT DISTINCT ?, tbl FROM main._sync_scope
                    """, arguments: [name])
            try db.execute(sql: "DELETE FROM main._sync_scope WHERE remote <> ?", arguments: [name])
        }
        // An empty name says that nobody chose the rows.
        try db.execute(sql: "UPDATE main._sync_partial SET remote = ? WHERE remote <> ''", arguments: [name])
        // An archive keeps them until a store is made of it.
        try PeerRegister(db: db).forgetNames()
        try SyncSetting.renameAll(db, withPrefix: RowsSetAside.prefix, to: name)
    }
}
