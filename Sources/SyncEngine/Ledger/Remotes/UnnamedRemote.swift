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
        let scopes = ScopeStore(db: db)
        let hasMetWhole = try scopes.hasMetWhole()
        try SyncAttempts.forgetNames(db, hasMetWhole: hasMetWhole)
        try scopes.forgetNames(hasMetWhole: hasMetWhole)
        try PartialTable.forgetNames(db)
        // An archive keeps them until a store is made of it.
        try PeerRegister(db: db).forgetNames()
        try SyncSetting.renameAll(db, withPrefix: RowsSetAside.prefix, to: name)
    }
}
